// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/frame_cost.hpp"

#include <algorithm>

namespace fiberloom::night {
namespace {

// Core-seconds, from docs/fiberloom/performance.md (one core with AVX-512): only order and forecast
// depend on them.
constexpr double kSecondsPerBin = 1.9e-6;
constexpr double kSecondsPerByte = 0.5e-9;        // reading, masking, writing
constexpr double kSecondsPerPackedByte = 3.5e-9;  // inflating, by unpacked byte

constexpr double kHeap = 1.3;  // what the heap takes for a frame, by what the frame asks for
// A bin that a device hands back: five doubles, eleven diagonals in float; a pixel that it takes,
// as two doubles. In the file a pixel has float32, twice, and a mask of 16 bits: the least.
constexpr std::uint64_t kStagedPerBin = 5 * 8 + 11 * 4;
constexpr std::uint64_t kFileBytesPerPixel = 4 + 4 + 2, kStagedPerPixel = 2 * 8;

}  // namespace

void estimate_cost(const FrameSize& size, FrameTask& task) {
  const ImageFileSize& file = size.file;
  const bool packed = file.unpacked_bytes > file.file_bytes;
  const std::uint64_t raw = std::max(file.unpacked_bytes, file.file_bytes);
  const std::uint64_t bins = size.engine.bins;
  // as on the CPU: what is staged is counted for each place of a device, not for each frame
  const FrameMemory need = frame_memory(task.job, Engine(task.job.method), size.engine, file, 0);
  task.image_bytes = file.file_bytes;
  task.memory_bytes = static_cast<std::uint64_t>(kHeap * static_cast<double>(need.holding()));
  task.workspace_bytes = size.engine.task;
  task.staging_bytes = raw / kFileBytesPerPixel * kStagedPerPixel + bins * kStagedPerBin;
  task.cost_s = kSecondsPerBin * static_cast<double>(bins) +
                kSecondsPerByte * static_cast<double>(raw) +
                (packed ? kSecondsPerPackedByte * static_cast<double>(raw) : 0.0);
}

PsfModel usual_camera(const std::array<double, 3>& wave) {
  constexpr std::size_t kFibers = 500, kBundle = 25;
  PsfModel psf;
  psf.npix_x = 4128;
  psf.npix_y = 4114;
  psf.gh_deg_x = psf.gh_deg_y = 0;
  const auto series = [&](double value, double slope) {
    LegendreSeries s{wave[0], std::max(wave[1], wave[0] + 1), Array2D<double>(kFibers, 2)};
    for (std::size_t f = 0; f < kFibers; ++f) {
      s.coef(f, 0) = value;
      s.coef(f, 1) = slope;
    }
    return s;
  };
  psf.x = series(0, 0);
  for (std::size_t f = 0; f < kFibers; ++f) {
    psf.x.coef(f, 0) =
        16.0 + 7.3 * static_cast<double>(f) + 22.0 * static_cast<double>(f / kBundle);
  }
  psf.y = series(0.5 * psf.npix_y, 0.4 * psf.npix_y);
  psf.sigma_x = series(1.1, 0);
  psf.sigma_y = series(1.1, 0);
  psf.gh = {series(1, 0)};
  return psf;
}

}  // namespace fiberloom::night
