// SPDX-License-Identifier: BSD-3-Clause
// Frames and images as desispec writes them: order, names and types of the HDUs
// (docs/fiberloom/formats.md).
#include <algorithm>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/formats/write_matrix.hpp"
#include "fiberloom/spectrum/flux_unit.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using fits::PixelType;

void require(bool good, const std::string& path, const char* what) {
  if (!good) {
    throw Error(Status::kInternal, path + ": result to be written: " + what + " has another shape");
  }
}

void check_shapes(const std::string& path, const FrameFile& frame) {
  const Spectra& r = frame;
  const std::size_t n = r.nspec(), m = r.wave.size();
  const auto same = [&](const auto& a) { return a.rows() == n && a.cols() == m; };
  require(n > 0 && m > 0 && same(r.flux), path, "FLUX");
  require(same(r.ivar), path, "IVAR");
  require(r.mask.empty() || same(r.mask), path, "MASK");
  const auto& fine = frame.fine_resolution;
  require(fine.empty() || (fine.planes() == n && fine.cols() % m == 0), path, "RESOLUTION_FINE");
  const auto& next = frame.fiber_correlation;
  require(next.empty() || (next.planes() == n && next.cols() == m), path, "CROSSCORR");
  require(frame.fiber_wave.empty() || same(frame.fiber_wave), path, "FIBER_WAVELENGTH");
  require(frame.fiber_heliocor.empty() || frame.fiber_heliocor.size() == n, path, "FIBER_HELIOCOR");
  require(frame.chi2pix.empty() || same(frame.chi2pix), path, "CHI2PIX");
  require(r.resolution.empty() || (r.resolution.planes() == n && r.resolution.cols() == m), path,
          "RESOLUTION");
  require(!r.fibermap || r.fibermap->rows == n, path, "FIBERMAP");
}

/// Lowest fibre number of the frame: FIBERMAP, else spectrograph (SPECGRPH or CAMERA), else the
/// header's own FIBERMIN, else the first fibre extracted.
std::int64_t fiber_min(const FrameFile& frame) {
  if (frame.fibermap) {
    if (const auto fiber = lowest_fiber(*frame.fibermap)) return *fiber;
  }
  if (const auto given = frame.header.integer("FIBERMIN")) return *given;
  if (const auto spectrograph = spectrograph_of(frame.header)) {
    return kFibersOfSpectrograph * *spectrograph + frame.spec_min;
  }
  return frame.spec_min;
}

/// [plane][row][column], where there are any.
void write_planes(FitsWriter& writer, const char* name, const Array3D<float>& all) {
  if (all.empty()) return;
  writer.image(name, std::span<const float>(all.data(), all.size()),
               {all.cols(), all.rows(), all.planes()}, PixelType::kFloat32);
}

void write_hdus(FitsWriter& writer, const FrameFile& frame) {
  const Spectra& r = frame;
  HeaderCards header = frame.header;
  const bool is_calibrated = is_flux_unit(header.text("BUNIT").value_or(""));
  if (!is_calibrated) header.set("BUNIT", "electron/Angstrom");
  header.set("FIBERMIN", fiber_min(frame));
  formats::write_matrix(writer, "FLUX", r.flux, PixelType::kFloat32, header);
  formats::write_matrix(writer, "IVAR", r.ivar, PixelType::kFloat32);
  const Array2D<std::uint32_t> none(r.mask.empty() ? r.nspec() : 0, r.nwave(), 0U);
  formats::write_matrix(writer, "MASK", r.mask.empty() ? none : r.mask, PixelType::kUInt32);
  formats::write_wave(writer, "WAVELENGTH", r.wave);
  write_planes(writer, "RESOLUTION", r.resolution);
  if (r.fibermap) writer.table("FIBERMAP", to_raw_table(*r.fibermap));
  if (!frame.chi2pix.empty())
    formats::write_matrix(writer, "CHI2PIX", frame.chi2pix, PixelType::kFloat32);
  if (r.scores) writer.table("SCORES", to_raw_table(*r.scores));
  write_planes(writer, "RESOLUTION_FINE", frame.fine_resolution);
  write_planes(writer, "CROSSCORR", frame.fiber_correlation);
  if (!frame.fiber_wave.empty()) {
    HeaderCards unit;
    unit.set("BUNIT", "Angstrom");
    formats::write_matrix(writer, "FIBER_WAVELENGTH", frame.fiber_wave, PixelType::kFloat64, unit);
  }
  if (!frame.fiber_heliocor.empty()) {
    writer.image("FIBER_HELIOCOR", std::span<const double>(frame.fiber_heliocor),
                 {frame.fiber_heliocor.size()}, PixelType::kFloat64);
  }
}

}  // namespace

void write_frame(const std::string& path, const FrameFile& frame, Overwrite overwrite,
                 FilesTogether* together) {
  check_shapes(path, frame);
  fits::write_fits(
      path, overwrite, [&](FitsWriter& writer) { write_hdus(writer, frame); }, 0, together);
}

void write_image(const std::string& path, const Array2D<float>& image, const HeaderCards& header,
                 const std::string& extname, Overwrite overwrite, FilesTogether* together) {
  fits::write_fits(
      path, overwrite,
      [&](FitsWriter& writer) {
        writer.image(extname, std::span<const float>(image.data(), image.size()),
                     {image.cols(), image.rows()}, PixelType::kFloat32, header);
      },
      0, together);
}

}  // namespace fiberloom
