// SPDX-License-Identifier: BSD-3-Clause
// Standard stars of known spectrum, and the grid of models that they are found in.
#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/write_matrix.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

using fits::FitsReader;
using fits::FitsWriter;
using fits::Hdu;
using fits::PixelType;

/// Wavelengths of n bins by the keywords of the fluxes, as old files of models have them.
std::vector<double> wave_of_keywords(const FitsReader& file, const Hdu& hdu, std::size_t n) {
  const auto number = [&](const char* key) {
    const auto value = hdu.header.number(key);
    if (value && std::isfinite(*value)) return *value;
    throw file.error(Status::kMissingKeyword, hdu,
                     std::string("no number ") + key +
                         ", expected one where wavelengths have no HDU of their own");
  };
  const double start = number("CRVAL1"), step = number("CDELT1");
  const bool is_log = number("LOGLAM") == 1;
  const double origin = is_log ? start : start - step * (number("CRPIX1") - 1);
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    const double at = origin + step * static_cast<double>(i);
    out.push_back(is_log ? std::pow(10, at) : at);
  }
  return out;
}

std::vector<double> parameter(const FitsReader& file, const Hdu& hdu, const Table& table,
                              const char* name) {
  const auto values = table.column(name);
  if (!values) {
    throw file.error(Status::kMissingKeyword, hdu,
                     std::string("no column ") + name + " of single numbers");
  }
  for (const double v : *values) {
    if (!std::isfinite(v)) {
      throw file.error(Status::kCorrupt, hdu,
                       std::string("column ") + name + " has what is no number");
    }
  }
  return *values;
}

}  // namespace

namespace formats {

StandardStarFile parse_standard_stars(const FitsReader& file) {
  const Hdu& flux = file.require("FLUX");
  StandardStarFile out;
  out.path = file.path();
  out.header = flux.user_header();
  out.flux = read_matrix(file, flux);
  const Hdu& wave = file.require("WAVELENGTH");
  out.wave = read_wave(file, wave, flux);
  require_increasing(file, wave, out.wave);
  const Hdu& fibers = file.require("FIBERS");
  for (const double f : read_vector(file, fibers)) {
    constexpr double kMost = 1e9;
    if (!(f >= 0 && f < kMost)) {
      throw file.error(Status::kCorrupt, fibers,
                       "a fibre that is no number of one, expected 0 or more");
    }
    out.fibers.push_back(static_cast<std::int64_t>(f));
  }
  if (out.fibers.size() != out.flux.rows()) {
    throw file.error(Status::kWrongShape, fibers,
                     std::to_string(out.fibers.size()) + " fibres, expected one for each of " +
                         std::to_string(out.flux.rows()) + " stars");
  }
  out.metadata = find_rows(file, "METADATA", out.flux.rows());
  out.fibermap = find_rows(file, "FIBERMAP", out.flux.rows());
  return out;
}

StellarGridFile parse_stellar_grid(const FitsReader& file) {
  if (file.hdus().size() < 2) {
    throw file.error(Status::kMissingHdu,
                     std::to_string(file.hdus().size()) +
                         " HDU, expected fluxes, a table of TEFF, LOGG and FEH, and wavelengths");
  }
  const Hdu &flux = file.hdus()[0], &nodes = file.hdus()[1];
  require_image(file, flux, 2);
  StellarGridFile out;
  out.path = file.path();
  out.flux = Array2D<float>(flux.axes[1], flux.axes[0]);
  file.read_pixels<float>(flux, {out.flux.data(), out.flux.size()});
  const Table table = to_table(file.read_table(nodes));
  out.teff = parameter(file, nodes, table, "TEFF");
  out.logg = parameter(file, nodes, table, "LOGG");
  out.metal = parameter(file, nodes, table, "FEH");
  if (table.rows != out.nmodel()) {
    throw file.error(Status::kWrongShape, nodes,
                     std::to_string(table.rows) + " rows, expected one for each of " +
                         std::to_string(out.nmodel()) + " models");
  }
  const bool has_wave = file.hdus().size() > 2;
  const Hdu& wave = has_wave ? file.hdus()[2] : flux;
  out.wave = has_wave ? read_wave(file, wave, flux) : wave_of_keywords(file, flux, flux.axes[0]);
  require_increasing(file, wave, out.wave);
  return out;
}

}  // namespace formats

StandardStarFile read_standard_stars(const std::string& path, Verify verify) {
  return formats::parse_standard_stars(FitsReader::open(path, verify));
}

StellarGridFile read_stellar_grid(const std::string& path, Verify verify) {
  return formats::parse_stellar_grid(FitsReader::open(path, verify));
}

void write_standard_stars(const std::string& path, const StandardStarFile& file,
                          Overwrite overwrite) {
  const std::size_t nstar = file.flux.rows();
  const auto rows = [&](const std::optional<Table>& table) {
    return !table || table->rows == nstar;
  };
  if (file.wave.size() != file.flux.cols() || file.fibers.size() != nstar || !rows(file.metadata) ||
      !rows(file.fibermap) || (!file.coefficients.empty() && file.coefficients.rows() != nstar)) {
    throw Error(Status::kInternal, path + ": standard stars to be written: shapes differ");
  }
  fits::write_fits(path, overwrite, [&](FitsWriter& writer) {
    HeaderCards header = file.header;
    header.set("BUNIT", "10**-17 erg/(s cm2 Angstrom)");
    formats::write_matrix(writer, "FLUX", file.flux, PixelType::kFloat32, header);
    formats::write_wave(writer, "WAVELENGTH", file.wave);
    const std::vector<double> fibers(file.fibers.begin(), file.fibers.end());
    writer.image("FIBERS", std::span<const double>(fibers), {nstar}, PixelType::kInt32);
    if (file.metadata) writer.table("METADATA", to_raw_table(*file.metadata));
    if (!file.coefficients.empty()) {
      formats::write_matrix(writer, "COEFF", file.coefficients, PixelType::kFloat64);
    }
    if (file.fibermap) writer.table("FIBERMAP", to_raw_table(*file.fibermap));
    if (file.input_frames) writer.table("INPUT_FRAMES", to_raw_table(*file.input_frames));
  });
}

}  // namespace fiberloom
