// SPDX-License-Identifier: BSD-3-Clause
// DESI's files of spectra and coadds as desispec writes them: order, names and types of the HDUs
// (docs/fiberloom/formats.md).
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/formats/write_matrix.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;

void require(bool good, const std::string& path, const std::string& what) {
  if (!good) {
    throw Error(Status::kInternal,
                path + ": spectra to be written: " + what + " has another shape");
  }
}

void check_shapes(const std::string& path, const SpectraFile& file) {
  if (file.cameras.empty()) throw Error(Status::kInternal, path + ": spectra of no camera");
  const std::size_t n = file.nspec();
  for (const SpectraFile::Camera& camera : file.cameras) {
    const Spectra& s = camera.spectra;
    const std::size_t m = s.wave.size();
    const auto same = [&](const auto& a) { return a.rows() == n && a.cols() == m; };
    require(n > 0 && m > 0 && same(s.flux), path, camera.name + "_FLUX");
    require(same(s.ivar), path, camera.name + "_IVAR");
    require(s.mask.empty() || same(s.mask), path, camera.name + "_MASK");
    require(s.resolution.empty() || (s.resolution.planes() == n && s.resolution.cols() == m), path,
            camera.name + "_RESOLUTION");
  }
  require(!file.fibermap || file.fibermap->rows == n, path, "FIBERMAP");
  require(!file.scores || file.scores->rows == n, path, "SCORES");
}

void write_camera(FitsWriter& writer, const SpectraFile::Camera& camera) {
  const Spectra& s = camera.spectra;
  const std::string prefix = camera.name + "_";
  formats::write_wave(writer, prefix + "WAVELENGTH", s.wave);
  formats::write_matrix(writer, prefix + "FLUX", s.flux, PixelType::kFloat32, camera.header);
  formats::write_matrix(writer, prefix + "IVAR", s.ivar, PixelType::kFloat32);
  const Array2D<std::uint32_t> none(s.mask.empty() ? s.nspec() : 0, s.nwave(), 0U);
  formats::write_matrix(writer, prefix + "MASK", s.mask.empty() ? none : s.mask, PixelType::kInt32);
  if (s.resolution.empty()) return;
  writer.image(
      prefix + "RESOLUTION", std::span<const float>(s.resolution.data(), s.resolution.size()),
      {s.resolution.cols(), s.resolution.rows(), s.resolution.planes()}, PixelType::kFloat32);
}

}  // namespace

void write_spectra(const std::string& path, const SpectraFile& file, Overwrite overwrite) {
  check_shapes(path, file);
  fits::write_fits(path, overwrite, [&](FitsWriter& writer) {
    writer.primary(file.header);
    if (file.fibermap) writer.table("FIBERMAP", to_raw_table(*file.fibermap));
    if (file.exp_fibermap) writer.table("EXP_FIBERMAP", to_raw_table(*file.exp_fibermap));
    for (const SpectraFile::Camera& camera : file.cameras) write_camera(writer, camera);
    if (file.scores) writer.table("SCORES", to_raw_table(*file.scores));
  });
}

}  // namespace fiberloom
