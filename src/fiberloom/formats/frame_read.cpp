// SPDX-License-Identifier: BSD-3-Clause
// Frames as read back: ours, desispec's, spex's and exspec's; and truth files.
#include "fiberloom/formats/from_reader.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

/// The HDU, whose shape must be [nspec][nwave] of FLUX.
const Hdu& require_like_flux(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_image(file, hdu, 2);
  if (hdu.axes != flux.axes) {
    throw file.error(Status::kWrongShape, hdu,
                     "shape " + hdu.shape() + ", expected that of FLUX, " + flux.shape());
  }
  return hdu;
}

std::vector<double> read_wave(const FitsReader& file, const Hdu& flux) {
  const Hdu& hdu = file.require("WAVELENGTH");
  std::vector<double> wave = read_vector(file, hdu);
  if (wave.size() != flux.axes[0]) {
    throw file.error(Status::kWrongShape, hdu,
                     std::to_string(wave.size()) + " bins, but FLUX has " + flux.shape());
  }
  return wave;
}

Array3D<double> read_resolution(const FitsReader& file, const Hdu& hdu, const Hdu& flux) {
  require_image(file, hdu, 3);
  if (hdu.axes[0] != flux.axes[0] || hdu.axes[2] != flux.axes[1] || hdu.axes[1] % 2 == 0) {
    throw file.error(Status::kWrongShape, hdu,
                     "shape " + hdu.shape() + ", expected " + std::to_string(flux.axes[1]) +
                         " x (odd) x " + std::to_string(flux.axes[0]));
  }
  Array3D<double> out(hdu.axes[2], hdu.axes[1], hdu.axes[0]);
  file.read_pixels<double>(hdu, {out.data(), out.size()});
  return out;
}

}  // namespace

FrameData parse_frame(const FitsReader& file) {
  const Hdu& flux = file.require("FLUX");
  FrameData out;
  out.path = file.path();
  out.header = flux.user_header();
  out.flux = read_matrix(file, flux);
  out.ivar = read_matrix(file, require_like_flux(file, file.require("IVAR"), flux));
  out.wave = read_wave(file, flux);
  if (const Hdu* mask = file.find("MASK")) {
    out.mask = read_bits(file, require_like_flux(file, *mask, flux));
  }
  if (const Hdu* resolution = file.find("RESOLUTION")) {
    out.resolution = read_resolution(file, *resolution, flux);
  }
  if (const Hdu* chi2 = file.find("CHI2PIX")) {
    out.chi2pix = read_matrix(file, require_like_flux(file, *chi2, flux));
  }
  if (const Hdu* map = file.find("FIBERMAP")) out.fibermap = file.read_table(*map);
  return out;
}

TruthFile parse_truth(const FitsReader& file) {
  const Hdu& flux = file.require("FLUX");
  TruthFile out;
  out.path = file.path();
  out.flux = read_matrix(file, flux);
  out.wave = read_wave(file, flux);
  if (const Hdu* map = file.find("FIBERMAP")) out.fibermap = file.read_table(*map);
  return out;
}

}  // namespace formats

FrameData read_frame(const std::string& path, Verify verify) {
  return formats::parse_frame(fits::FitsReader::open(path, verify));
}

TruthFile read_truth(const std::string& path, Verify verify) {
  return formats::parse_truth(fits::FitsReader::open(path, verify));
}

void write_truth(const std::string& path, const TruthFile& truth, Overwrite overwrite) {
  HeaderCards flux, wave;
  flux.set("BUNIT", "electron/Angstrom");
  wave.set("BUNIT", "Angstrom");
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    writer.image("FLUX", std::span<const double>(truth.flux.data(), truth.flux.size()),
                 {truth.flux.cols(), truth.flux.rows()}, fits::PixelType::kFloat64, flux);
    writer.image("WAVELENGTH", std::span<const double>(truth.wave), {truth.wave.size()},
                 fits::PixelType::kFloat64, wave);
    if (truth.fibermap.rows > 0) writer.table("FIBERMAP", truth.fibermap);
  });
}

}  // namespace fiberloom
