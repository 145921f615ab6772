// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/calibration_file.hpp"

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/write_matrix.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

using fits::FitsReader;
using fits::FitsWriter;
using fits::Hdu;
using fits::PixelType;

void require_shape(bool good, const std::string& path, const char* what) {
  if (good) return;
  throw Error(Status::kInternal,
              path + ": calibration to be written: " + what + " has another shape");
}

template <class T>
bool like(const Array2D<T>& a, const Array2D<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols();
}

void write_vector(FitsWriter& writer, const char* name, const std::vector<double>& values,
                  const HeaderCards& header = {}) {
  writer.image(name, std::span<const double>(values), {values.size()}, PixelType::kFloat32, header);
}

Array2D<double> read_like(const FitsReader& file, const char* name, const Hdu& main) {
  return formats::read_matrix(file, formats::require_like_flux(file, file.require(name), main));
}

std::vector<double> read_increasing(const FitsReader& file, const Hdu& main) {
  const Hdu& hdu = file.require("WAVELENGTH");
  std::vector<double> wave = formats::read_wave(file, hdu, main);
  formats::require_increasing(file, hdu, wave);
  return wave;
}

/// One number a spectrum, where there is such an HDU.
std::vector<double> find_factors(const FitsReader& file, const char* name, const Hdu& main) {
  const Hdu* hdu = file.find(name);
  if (hdu == nullptr) return {};
  std::vector<double> out = formats::read_vector(file, *hdu);
  if (out.size() == main.axes[1]) return out;
  throw file.error(Status::kWrongShape, *hdu,
                   std::to_string(out.size()) + " values, expected one for each of " +
                       std::to_string(main.axes[1]) + " spectra");
}

/// What all of them have: `values` from the HDU of this name, and what stands beside them.
template <class File>
const Hdu& read_values(const FitsReader& file, const char* name, File& out,
                       Array2D<double>& values) {
  const Hdu& main = file.require(name);
  out.path = file.path();
  out.header = main.user_header();
  values = formats::read_matrix(file, main);
  out.ivar = read_like(file, "IVAR", main);
  const Hdu& mask = formats::require_like_flux(file, file.require("MASK"), main);
  out.mask = formats::read_bits(file, mask);
  out.wave = read_increasing(file, main);
  return main;
}

template <class File>
void require_shapes(const std::string& path, const File& file, const Array2D<double>& values) {
  require_shape(like(file.ivar, values), path, "IVAR");
  require_shape(like(file.mask, values), path, "MASK");
  require_shape(file.wave.size() == values.cols(), path, "WAVELENGTH");
}

template <class File>
void write_weights(FitsWriter& writer, const File& file) {
  formats::write_matrix(writer, "IVAR", file.ivar, PixelType::kFloat32);
  formats::write_matrix(writer, "MASK", file.mask, PixelType::kUInt32);
}

}  // namespace

namespace formats {

FiberFlatFile parse_fiber_flat(const FitsReader& file) {
  FiberFlatFile out;
  const Hdu& flat = read_values(file, "FIBERFLAT", out, out.flat);
  out.mean = read_wave(file, file.require("MEANSPEC"), flat);
  out.fibermap = find_rows(file, "FIBERMAP", out.flat.rows());
  return out;
}

SkyFile parse_sky(const FitsReader& file) {
  SkyFile out;
  const Hdu& sky = read_values(file, "SKY", out, out.flux);
  if (file.find("STATIVAR") != nullptr) out.stat_ivar = read_like(file, "STATIVAR", sky);
  out.throughput = find_factors(file, "THRPUTCORR", sky);
  return out;
}

FluxCalibrationFile parse_flux_calibration(const FitsReader& file) {
  FluxCalibrationFile out;
  const Hdu& calib = read_values(file, "FLUXCALIB", out, out.calib);
  const Hdu* sharp = file.find("DECONVOLVED_CALIB");
  if (sharp != nullptr) out.deconvolved = read_wave(file, *sharp, calib);
  const std::optional<Table> corrections = find_rows(file, "FIBERCORR", out.calib.rows());
  const auto factors = [&](const char* name) {
    const auto known = corrections ? corrections->column(name) : std::nullopt;
    return known.value_or(std::vector<double>());
  };
  out.flat_to_psf = factors("FLAT_TO_PSF_FLUX");
  out.psf_to_fiber = factors("PSF_TO_FIBER_FLUX");
  out.stars = find_table(file, "STDSTAR_FIBERMAP");
  return out;
}

}  // namespace formats

FiberFlatFile read_fiber_flat(const std::string& path, Verify verify) {
  return formats::parse_fiber_flat(FitsReader::open(path, verify));
}

HeaderCards read_fiber_flat_header(const std::string& path) {
  return FitsReader::open(path, Verify::kNo).require("FIBERFLAT").user_header();
}

SkyFile read_sky(const std::string& path, Verify verify) {
  return formats::parse_sky(FitsReader::open(path, verify));
}

FluxCalibrationFile read_flux_calibration(const std::string& path, Verify verify) {
  return formats::parse_flux_calibration(FitsReader::open(path, verify));
}

void write_fiber_flat(const std::string& path, const FiberFlatFile& file, Overwrite overwrite) {
  require_shapes(path, file, file.flat);
  require_shape(file.mean.size() == file.flat.cols(), path, "MEANSPEC");
  require_shape(!file.fibermap || file.fibermap->rows == file.flat.rows(), path, "FIBERMAP");
  fits::write_fits(path, overwrite, [&](FitsWriter& writer) {
    HeaderCards header = file.header, mean;
    header.set("BUNIT", "");
    mean.set("BUNIT", "electron/Angstrom");
    formats::write_matrix(writer, "FIBERFLAT", file.flat, PixelType::kFloat32, header);
    write_weights(writer, file);
    write_vector(writer, "MEANSPEC", file.mean, mean);
    formats::write_wave(writer, "WAVELENGTH", file.wave);
    if (file.fibermap) writer.table("FIBERMAP", to_raw_table(*file.fibermap));
  });
}

void write_sky(const std::string& path, const SkyFile& file, Overwrite overwrite,
               FilesTogether* together) {
  require_shapes(path, file, file.flux);
  require_shape(file.stat_ivar.empty() || like(file.stat_ivar, file.flux), path, "STATIVAR");
  require_shape(file.throughput.empty() || file.throughput.size() == file.flux.rows(), path,
                "THRPUTCORR");
  fits::write_fits(
      path, overwrite,
      [&](FitsWriter& writer) {
        HeaderCards header = file.header;
        header.set("BUNIT", "electron/Angstrom");
        formats::write_matrix(writer, "SKY", file.flux, PixelType::kFloat32, header);
        write_weights(writer, file);
        formats::write_wave(writer, "WAVELENGTH", file.wave);
        if (!file.stat_ivar.empty()) {
          formats::write_matrix(writer, "STATIVAR", file.stat_ivar, PixelType::kFloat32);
        }
        if (!file.throughput.empty()) write_vector(writer, "THRPUTCORR", file.throughput);
      },
      0, together);
}

void write_sky_adjustments(const std::string& path, const std::vector<double>& wave,
                           const Array2D<double>& shift, const Array2D<double>& width,
                           const HeaderCards& header, Overwrite overwrite,
                           FilesTogether* together) {
  require_shape(shift.cols() == wave.size() && like(shift, width), path, "DWAVE");
  fits::write_fits(
      path, overwrite,
      [&](FitsWriter& writer) {
        HeaderCards unit;
        unit.set("BUNIT", "Angstrom");
        formats::write_wave(writer, "WAVELENGTH", wave, header);
        formats::write_matrix(writer, "DWAVE", shift, PixelType::kFloat32, unit);
        formats::write_matrix(writer, "DLSF", width, PixelType::kFloat32, unit);
      },
      0, together);
}

void write_flux_calibration(const std::string& path, const FluxCalibrationFile& file,
                            Overwrite overwrite) {
  require_shapes(path, file, file.calib);
  require_shape(file.deconvolved.empty() || file.deconvolved.size() == file.calib.cols(), path,
                "DECONVOLVED_CALIB");
  for (const std::vector<double>* each : {&file.flat_to_psf, &file.psf_to_fiber})
    require_shape(each->empty() || each->size() == file.calib.rows(), path, "FIBERCORR");
  fits::write_fits(path, overwrite, [&](FitsWriter& writer) {
    HeaderCards header = file.header, sharp;
    header.set("BUNIT", "10**+17 cm2 count s / erg");
    sharp.set("BUNIT", "10**+17 cm2 count s / erg");
    formats::write_matrix(writer, "FLUXCALIB", file.calib, PixelType::kFloat64, header);
    write_weights(writer, file);
    formats::write_wave(writer, "WAVELENGTH", file.wave);
    Table corrections;
    if (!file.flat_to_psf.empty())
      corrections.add("FLAT_TO_PSF_FLUX", std::span<const double>(file.flat_to_psf));
    if (!file.psf_to_fiber.empty())
      corrections.add("PSF_TO_FIBER_FLUX", std::span<const double>(file.psf_to_fiber));
    if (!corrections.columns.empty()) writer.table("FIBERCORR", to_raw_table(corrections));
    if (file.stars) writer.table("STDSTAR_FIBERMAP", to_raw_table(*file.stars));
    if (!file.deconvolved.empty()) {
      writer.image("DECONVOLVED_CALIB", std::span<const double>(file.deconvolved),
                   {file.deconvolved.size()}, PixelType::kFloat64, sharp);
    }
  });
}

}  // namespace fiberloom
