// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/simulate_scan.hpp"

#include <algorithm>
#include <numbers>
#include <optional>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/output_files.hpp"
#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/exchange/volume_writer.hpp"
#include "tomoloom/simulate/phantom.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kFramesAtOnce = 32;

using Frame = std::vector<std::uint16_t>;

/// Makes `count` frames, several at once, and hands them over in their order.
template <class Make, class Take>
void frames_in_order(std::size_t count, std::size_t pixels, Executor& executor, const Make& make,
                     const Take& take) {
  std::vector<Frame> frames(std::min(count, kFramesAtOnce), Frame(pixels));
  for (std::size_t first = 0; first < count; first += kFramesAtOnce) {
    const std::size_t n = std::min(kFramesAtOnce, count - first);
    executor.run(n, [&](std::size_t i) { make(first + i, frames[i]); });
    for (std::size_t i = 0; i < n; ++i) take(first + i, frames[i]);
  }
}

void write_scan(const SimulateJob& job, const Phantom& body, const Sight& sight,
                const std::vector<double>& theta, ScanWriter& writer, Executor& executor,
                const Observer& observer) {
  const Detector detector(job.rows, job.columns, job.detector);
  const std::size_t pixels = job.rows * job.columns;
  frames_in_order(
      job.flats, pixels, executor, [&](std::size_t i, Frame& f) { detector.flat(i, f); },
      [&](std::size_t i, const Frame& f) { writer.flat(i, f); });
  frames_in_order(
      job.darks, pixels, executor, [&](std::size_t i, Frame& f) { detector.dark(i, f); },
      [&](std::size_t i, const Frame& f) { writer.dark(i, f); });
  const auto expose = [&](std::size_t a, Frame& frame) {
    std::vector<double> integrals(pixels);
    for (std::size_t r = 0; r < job.rows; ++r) {
      project_row(body, sight, r, theta[a] * std::numbers::pi / 180,
                  std::span<double>(integrals).subspan(r * job.columns, job.columns));
    }
    detector.projection(a, job.angles, integrals, frame);
  };
  frames_in_order(job.angles, pixels, executor, expose, [&](std::size_t a, const Frame& frame) {
    stop_if_asked(observer);
    writer.projection(a, frame);
    if (observer.progress) observer.progress("projections", a + 1, job.angles);
  });
  writer.note("phantom", job.phantom);
  writer.note("centre", sight.centre);
  writer.note("scale", sight.scale);
  if (job.tilt_deg != 0) writer.note("tilt", job.tilt_deg);
}

void write_truth(const SimulateJob& job, const Phantom& body, const Sight& sight,
                 VolumeWriter& writer, Executor& executor, const Observer& observer) {
  for (std::size_t first = 0; first < job.rows; first += kFramesAtOnce) {
    stop_if_asked(observer);
    const std::size_t n = std::min(kFramesAtOnce, job.rows - first);
    std::vector<std::vector<float>> slices(n);
    executor.run(n, [&](std::size_t i) { slices[i] = true_slice(body, sight, first + i); });
    for (std::size_t i = 0; i < n; ++i) writer.write(first + i, slices[i]);
    if (observer.progress) observer.progress("true slices", first + n, job.rows);
  }
}

}  // namespace

void simulate_scan(const SimulateJob& job, Executor& executor, const Observer& observer) {
  const std::vector<NamedFile> outputs{{"-o", job.output}, {"--truth", job.truth}};
  check_distinct(outputs, {});
  for (const NamedFile& output : outputs) check_output(output.path, job.overwrite);
  const Phantom body = phantom(job.phantom);
  const double last = static_cast<double>(job.columns) - 1;
  const Sight sight{.columns = job.columns,
                    .rows = job.rows,
                    .centre = job.centre.value_or(last / 2),
                    .scale = job.absorption / static_cast<double>(job.columns),
                    .tilt = job.tilt_deg * std::numbers::pi / 180};
  if (!(sight.centre >= 0 && sight.centre <= last)) {
    throw Error(kCentreRange,
                print("--center %g: expected a column from 0 to %g", sight.centre, last));
  }
  std::vector<double> theta(job.angles);
  for (std::size_t a = 0; a < job.angles; ++a) {
    theta[a] = job.arc_deg * static_cast<double>(a) / static_cast<double>(job.angles);
  }
  const FolderOf folder(job.output);
  ScanWriter scan(job.output, job.overwrite,
                  {.angles = job.angles,
                   .rows = job.rows,
                   .columns = job.columns,
                   .flats = job.flats,
                   .darks = job.darks},
                  theta);
  std::optional<FolderOf> folder_of_truth;
  std::optional<VolumeWriter> truth;
  if (!job.truth.empty()) {
    folder_of_truth.emplace(job.truth);
    const std::vector<VolumeNote> notes{{"phantom", job.phantom}};
    truth.emplace(job.truth, job.overwrite, VolumeShape{.slices = job.rows, .width = job.columns},
                  notes);
  }
  write_scan(job, body, sight, theta, scan, executor, observer);
  if (truth) write_truth(job, body, sight, *truth, executor, observer);
  scan.commit();
  if (truth) truth->commit();
}

}  // namespace tomoloom
