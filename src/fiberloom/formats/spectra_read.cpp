// SPDX-License-Identifier: BSD-3-Clause
// DESI's files of spectra and coadds: cameras side by side, tables for all of them.
#include <cmath>
#include <string_view>
#include <utility>

#include "fiberloom/formats/from_reader.hpp"

namespace fiberloom {
namespace formats {
namespace {

using fits::FitsReader;
using fits::Hdu;

constexpr std::string_view kWavelength = "_WAVELENGTH", kFlux = "_FLUX";

/// The camera of an HDU with this end to its name, or empty.
std::string camera_of(const Hdu& hdu, std::string_view end) {
  if (!std::string_view(hdu.name).ends_with(end)) return "";
  return hdu.name.substr(0, hdu.name.size() - end.size());
}

SpectraFile::Camera read_camera(const FitsReader& file, const std::string& name) {
  SpectraFile::Camera camera;
  camera.name = name;
  camera.spectra = read_spectra_hdus(file, name + "_");
  camera.header = file.require(name + "_FLUX").user_header();
  require_increasing(file, file.require(name + "_WAVELENGTH"), camera.spectra.wave);
  return camera;
}

/// A frame is a file of one camera.
SpectraFile::Camera read_frame_camera(const FitsReader& file) {
  require_one_grid(file);
  const HeaderCards header = file.require("FLUX").user_header();
  SpectraFile::Camera camera;
  camera.name = fits::normal_name(header.text("CAMERA").value_or("")).substr(0, 1);
  camera.spectra = read_spectra_hdus(file, "");
  if (const auto unit = header.text("BUNIT")) camera.header.set("BUNIT", *unit);
  require_increasing(file, file.require("WAVELENGTH"), camera.spectra.wave);
  return camera;
}

}  // namespace

void require_one_grid(const FitsReader& file) {
  if (const Hdu* own = file.find("FIBER_WAVELENGTH")) {
    throw file.error(Status::kUnsupported, *own,
                     "each fibre has wavelengths of its own; expected spectra on one grid");
  }
}

void require_increasing(const FitsReader& file, const Hdu& hdu, const std::vector<double>& wave) {
  for (std::size_t j = 0; j < wave.size(); ++j) {
    if (std::isfinite(wave[j]) && (j == 0 || wave[j] > wave[j - 1])) continue;
    throw file.error(Status::kCorrupt, hdu,
                     "bin " + std::to_string(j) + " is at " + std::to_string(wave[j]) +
                         " Angstrom, expected wavelengths that increase");
  }
}

std::optional<Table> find_rows(const FitsReader& file, const char* name, std::size_t nspec) {
  std::optional<Table> table = find_table(file, name);
  if (table && table->rows != nspec) {
    throw file.error(Status::kWrongShape, file.require(name),
                     std::to_string(table->rows) + " rows, expected one for each of " +
                         std::to_string(nspec) + " spectra");
  }
  return table;
}

std::vector<std::string> find_cameras(const FitsReader& file) {
  std::vector<std::string> names;
  for (const Hdu& hdu : file.hdus()) {
    const std::string name = camera_of(hdu, kWavelength);
    if (name.empty() || file.find(hdu.name) != &hdu) continue;  // of equal names the first counts
    const bool of_frame = file.find("FLUX") != nullptr && file.find(name + "_FLUX") == nullptr;
    if (!of_frame) names.push_back(name);  // FIBER_WAVELENGTH is no camera of a frame
  }
  for (const Hdu& hdu : file.hdus()) {  // a camera without its wavelengths is none
    const std::string name = camera_of(hdu, kFlux);
    if (!name.empty()) static_cast<void>(file.require(name + "_WAVELENGTH"));
  }
  return names;
}

SpectraFile parse_spectra(const FitsReader& file) {
  SpectraFile out;
  out.path = file.path();
  out.header = file.hdus().front().user_header();
  for (const std::string& name : find_cameras(file)) {
    out.cameras.push_back(read_camera(file, name));
    const SpectraFile::Camera& camera = out.cameras.back();
    if (camera.spectra.nspec() == out.nspec()) continue;
    throw file.error(Status::kWrongShape, file.require(name + "_FLUX"),
                     std::to_string(camera.spectra.nspec()) + " spectra, but " +
                         out.cameras.front().name + "_FLUX has " + std::to_string(out.nspec()));
  }
  out.is_frame =
      out.cameras.empty() && file.find("FLUX") != nullptr && file.find("WAVELENGTH") != nullptr;
  if (out.is_frame) out.cameras.push_back(read_frame_camera(file));
  if (out.cameras.empty()) static_cast<void>(file.require("B_WAVELENGTH"));  // throws
  out.fibermap = find_rows(file, "FIBERMAP", out.nspec());
  out.exp_fibermap = find_table(file, "EXP_FIBERMAP");
  out.scores = find_rows(file, "SCORES", out.nspec());
  return out;
}

}  // namespace formats

SpectraFile read_spectra(const std::string& path, Verify verify) {
  return formats::parse_spectra(fits::FitsReader::open(path, verify));
}

}  // namespace fiberloom
