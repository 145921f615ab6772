// SPDX-License-Identifier: BSD-3-Clause
// Frames as read back: ours, desispec's, spex's and exspec's; and truth files.
#include <algorithm>
#include <string>
#include <utility>

#include "fiberloom/formats/from_reader.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

void require_angstrom(const FitsReader& file, const Hdu& hdu) {
  const std::string unit = hdu.header.text("BUNIT").value_or("");
  const std::string known = loom::in_small_letters(unit);
  for (const char* other : {"nm", "nanometer", "nanometers", "um", "micron", "microns",
                            "micrometer", "mm", "cm", "m", "hz", "ghz", "ev", "1/cm"}) {
    if (known == other)
      throw file.error(Status::kUnsupported, hdu,
                       "wavelengths in '" + unit + "' (BUNIT), expected Angstrom");
  }
}

std::vector<double> read_wave(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_angstrom(file, hdu);
  std::vector<double> wave = read_vector(file, hdu);
  if (wave.size() != flux.axes[0]) {
    throw file.error(
        Status::kWrongShape, hdu,
        std::to_string(wave.size()) + " bins, but " + flux.name + " has " + flux.shape());
  }
  return wave;
}

void require_resolution(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_image(file, hdu, 3);
  if (hdu.axes[0] == flux.axes[0] && hdu.axes[2] == flux.axes[1] && hdu.axes[1] % 2 == 1) return;
  throw file.error(Status::kWrongShape, hdu,
                   "shape " + hdu.shape() + ", expected " + std::to_string(flux.axes[1]) +
                       " x (odd) x " + std::to_string(flux.axes[0]));
}

namespace {

/// Of finer bins, so many for each.
Array3D<float> read_fine_resolution(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_image(file, hdu, 3);
  if (hdu.axes[0] % flux.axes[0] != 0 || hdu.axes[2] != flux.axes[1] || hdu.axes[1] % 2 != 1) {
    throw file.error(Status::kWrongShape, hdu,
                     "shape " + hdu.shape() + ", expected " + std::to_string(flux.axes[1]) +
                         " x (odd) x a multiple of " + std::to_string(flux.axes[0]));
  }
  Array3D<float> out(hdu.axes[2], hdu.axes[1], hdu.axes[0]);
  file.read_pixels<float>(hdu, {out.data(), out.size()});
  return out;
}

Array3D<float> read_resolution(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_resolution(file, hdu, flux);
  Array3D<float> out(hdu.axes[2], hdu.axes[1], hdu.axes[0]);
  file.read_pixels<float>(hdu, {out.data(), out.size()});
  return out;
}

}  // namespace

const Hdu& require_like_flux(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_image(file, hdu, 2);
  if (hdu.axes != flux.axes) {
    throw file.error(
        Status::kWrongShape, hdu,
        "shape " + hdu.shape() + ", expected that of " + flux.name + ", " + flux.shape());
  }
  return hdu;
}

std::optional<Table> find_table(const FitsReader& file, const std::string& name) {
  const Hdu* hdu = file.find(name);
  if (hdu == nullptr) return std::nullopt;
  return to_table(file.read_table(*hdu));
}

Spectra read_spectra_hdus(const FitsReader& file, const std::string& prefix) {
  const Hdu& flux = file.require(prefix + "FLUX");
  Spectra out;
  out.flux = read_matrix(file, flux);
  out.ivar = read_matrix(file, require_like_flux(file, file.require(prefix + "IVAR"), flux));
  out.wave = read_wave(file, file.require(prefix + "WAVELENGTH"), flux);
  if (const Hdu* mask = file.find(prefix + "MASK")) {
    out.mask = read_bits(file, require_like_flux(file, *mask, flux));
  }
  if (const Hdu* resolution = file.find(prefix + "RESOLUTION")) {
    out.resolution = read_resolution(file, *resolution, flux);
  }
  return out;
}

FrameFile parse_frame(const FitsReader& file, FrameTables tables) {
  FrameFile out;
  static_cast<Spectra&>(out) = read_spectra_hdus(file, "");
  out.path = file.path();
  const Hdu& flux = file.require("FLUX");
  out.header = flux.user_header();
  if (const Hdu* chi2 = file.find("CHI2PIX")) {
    out.chi2pix = read_matrix(file, require_like_flux(file, *chi2, flux));
  }
  if (const Hdu* fine = file.find("RESOLUTION_FINE")) {
    out.fine_resolution = read_fine_resolution(file, *fine, flux);
  }
  if (const Hdu* next = file.find("CROSSCORR")) {
    out.fiber_correlation = read_resolution(file, *next, flux);
  }
  if (const Hdu* own = file.find("FIBER_WAVELENGTH")) {
    out.fiber_wave = read_matrix(file, require_like_flux(file, *own, flux));
  }
  if (const Hdu* factors = file.find("FIBER_HELIOCOR")) {
    out.fiber_heliocor = read_vector(file, *factors);
  }
  out.fibermap = find_rows(file, "FIBERMAP", out.nspec());
  if (tables == FrameTables::kAll) out.scores = find_table(file, "SCORES");
  return out;
}

TruthFile parse_truth(const FitsReader& file) {
  const Hdu& flux = file.require("FLUX");
  TruthFile out;
  out.path = file.path();
  out.header = flux.user_header();
  out.flux = read_matrix(file, flux);
  out.wave = read_wave(file, file.require("WAVELENGTH"), flux);
  if (auto map = find_table(file, "FIBERMAP")) out.fibermap = std::move(*map);
  return out;
}

}  // namespace formats

FrameFile read_frame(const std::string& path, Verify verify, FrameTables tables) {
  return formats::parse_frame(fits::FitsReader::open(path, verify), tables);
}

void require_one_grid(const FrameFile& frame) {
  if (frame.fiber_wave.empty()) return;
  throw Error(Status::kUnsupported,
              frame.path +
                  ": HDU FIBER_WAVELENGTH: each fibre has wavelengths of its own; expected "
                  "spectra on one grid");
}

TruthFile read_truth(const std::string& path, Verify verify) {
  return formats::parse_truth(fits::FitsReader::open(path, verify));
}

void write_truth(const std::string& path, const TruthFile& truth, Overwrite overwrite,
                 FilesTogether* together) {
  HeaderCards flux = truth.header, wave;
  flux.set("BUNIT", "electron/Angstrom");
  wave.set("BUNIT", "Angstrom");
  fits::write_fits(
      path, overwrite,
      [&](fits::FitsWriter& writer) {
        writer.image("FLUX", std::span<const double>(truth.flux.data(), truth.flux.size()),
                     {truth.flux.cols(), truth.flux.rows()}, fits::PixelType::kFloat64, flux);
        writer.image("WAVELENGTH", std::span<const double>(truth.wave), {truth.wave.size()},
                     fits::PixelType::kFloat64, wave);
        if (truth.fibermap.rows > 0) writer.table("FIBERMAP", to_raw_table(truth.fibermap));
      },
      0, together);
}

}  // namespace fiberloom
