// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_scan.hpp"

#include <algorithm>
#include <future>
#include <numbers>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "tomoloom/exchange/volume_writer.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/reconstruct/centre.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

/// Rows and axis that were asked for, or what the scan has. Throws kSliceRange, kCentreRange.
void settle_rows(const ReconJob& job, ReconSummary& summary) {
  const ScanLayout& layout = summary.layout;
  const std::size_t end = job.end_row.value_or(layout.rows);
  if (job.first_row >= end || end > layout.rows) {
    throw Error(kSliceRange, print("%s: rows %zu to %zu: the scan has rows 0 to %zu",
                                   layout.path.c_str(), job.first_row, end, layout.rows));
  }
  summary.first_row = job.first_row;
  summary.slices = end - job.first_row;
  const double last = static_cast<double>(layout.columns) - 1;
  summary.centre = job.centre.value_or(last / 2);
  if (!(summary.centre >= 0 && summary.centre <= last)) {
    throw Error(kCentreRange, print("%s: --center %g: expected a column from 0 to %g",
                                    layout.path.c_str(), summary.centre, last));
  }
}

void check_frames(const ReconJob& job, const ScanLayout& layout, const Observer& observer) {
  if (layout.source == AngleSource::kAssumed) {
    observer.warn(
        layout.path + ": no " + layout.group +
        "/theta and no rotation_start, rotation_step: angles taken to be 0 to 180 degrees, "
        "both included");
  }
  if (job.input != InputKind::kCounts) return;
  if (layout.white.empty() && !layout.has_flat_value) {
    throw Error(kScanMismatch, layout.path + ": no flats (" + layout.group +
                                   "/data_white): expected some, or --input transmissions or "
                                   "integrals where the data are such");
  }
  if (layout.dark.empty() && !layout.has_dark_value) {
    observer.warn(layout.path + ": no darks (" + layout.group + "/data_dark): taken to be 0");
  }
}

std::vector<double> radians(const ScanLayout& layout) {
  std::vector<double> theta;
  for (const double degrees : layout.theta_deg) theta.push_back(degrees * std::numbers::pi / 180);
  return theta;
}

/// The axis from rows spread over those that were asked for, searched in the middle half of the
/// row.
void look_for_centre(const ReconJob& job, const ScanReader& reader, ReconSummary& summary,
                     Executor& executor, const Observer& observer) {
  const ScanLayout& layout = summary.layout;
  const std::size_t count = std::min(kCentreRows, summary.slices), n = layout.columns;
  std::vector<float> rows(layout.angles * count * n), one;
  for (std::size_t r = 0; r < count; ++r) {
    stop_if_asked(observer);
    const std::size_t row = summary.first_row + (2 * r + 1) * summary.slices / (2 * count);
    (void)prepare_block(job, layout, read_block(reader, job.input, row, 1), executor, one);
    for (std::size_t a = 0; a < layout.angles; ++a) {
      std::copy_n(one.data() + a * n, n, rows.data() + (a * count + r) * n);
    }
  }
  const double width = static_cast<double>(n);
  const auto found = find_centre(
      {.data = rows.data(), .slices = count, .angle_stride = count * n, .slice_stride = n}, n,
      radians(layout), width / 4, 3 * width / 4, executor);
  if (!found) {
    throw Error(Status::kUnsupported,
                layout.path + ": --center auto wants angles over 180 degrees: give the column");
  }
  summary.centre = *found;
  observer.info(print("axis found at column %.2f", summary.centre));
}

GridPlan plan_of(const ReconJob& job, const ReconSummary& summary) {
  const Geometry geometry{.columns = summary.layout.columns,
                          .theta = radians(summary.layout),
                          .centre = summary.centre};
  return job.method == Method::kExact ? plan_exact(geometry, job.filter)
                                      : plan_gridrec(geometry, job.filter);
}

/// Two blocks of input and two of output beside the one that is worked on.
std::uint64_t memory_of(const GridPlan& plan, const ScanLayout& layout, std::size_t rows) {
  const std::uint64_t pixels = layout.angles * rows * layout.columns;
  const std::uint64_t raw = pixels * (layout.counts ? 2 : 4);
  const std::uint64_t slices = std::uint64_t{rows} * plan.image * plan.image * 4;
  return plan.table_bytes() + plan.group_bytes() + 2 * raw + 4 * pixels + 2 * slices;
}

void check_memory(const ReconJob& job, ReconSummary& summary, const GridPlan& plan) {
  summary.memory = memory_of(plan, summary.layout, std::min(kSlicesPerGroup, summary.slices));
  const std::uint64_t granted =
      job.memory > 0 ? job.memory : memory_share(find_memory_limits(process_environment()));
  if (summary.memory > granted) {
    throw Error(Status::kMemory,
                print("%s: a block of rows takes %s, %s are granted (--memory)",
                      summary.layout.path.c_str(), gigabytes(summary.memory).c_str(),
                      gigabytes(granted).c_str()));
  }
}

/// What decided the numbers: the options, and what was found where they leave it open.
std::vector<VolumeNote> notes_of(const ReconJob& job, const ReconSummary& summary) {
  std::vector<VolumeNote> notes;
  for (const auto& [key, text] : option_texts(recon_option_rows(), job, true)) {
    notes.push_back({key, text});
  }
  notes.push_back({"axis", print("%.17g", summary.centre)});
  return notes;
}

StageTime operator+(StageTime a, StageTime b) { return {a.wall_s + b.wall_s, a.cpu_s + b.cpu_s}; }

/// All blocks: the next one is read and the last one written while one is worked on.
void run_blocks(const ReconJob& job, const ScanReader& reader, const GridPlan& plan,
                VolumeWriter& writer, ReconSummary& summary, Executor& executor,
                const Observer& observer) {
  BlockReconstruction work(job, reader.layout(), plan);
  const auto begin_read = [&](std::size_t done) {
    return std::async(std::launch::async, [&, done] {
      StageClock clock(CpuOf::kThread);
      RawBlock block = read_block(reader, job.input, summary.first_row + done,
                                  std::min(kSlicesPerGroup, summary.slices - done));
      return std::pair(std::move(block), clock.lap());
    });
  };
  std::future<std::pair<RawBlock, StageTime>> next = begin_read(0);
  std::future<StageTime> written;
  for (std::size_t done = 0; done < summary.slices;) {
    stop_if_asked(observer);
    auto [block, read_time] = next.get();
    summary.read = summary.read + read_time;
    if (done + block.rows < summary.slices) next = begin_read(done + block.rows);
    StageClock clock;
    std::vector<float> slices = work.run(block, executor, summary.blind);
    summary.compute = summary.compute + clock.lap();
    if (written.valid()) summary.write = summary.write + written.get();
    written = std::async(std::launch::async, [&writer, done, slices = std::move(slices)] {
      StageClock write_clock(CpuOf::kThread);
      writer.write(done, slices);
      return write_clock.lap();
    });
    done += block.rows;
    if (observer.progress) observer.progress("slices", done, summary.slices);
  }
  summary.write = summary.write + written.get();
}

}  // namespace

ReconSummary reconstruct_scan(const ReconJob& job, Executor& executor, const Observer& observer) {
  const std::vector<NamedFile> outputs{{"-o", job.output}}, inputs{{"the scan", job.scan}};
  check_distinct(outputs, inputs);
  check_place(job.output);
  const ScanReader reader(job.scan, job.group);
  ReconSummary summary;
  summary.layout = reader.layout();
  settle_rows(job, summary);
  check_frames(job, summary.layout, observer);
  if (job.find_centre) look_for_centre(job, reader, summary, executor, observer);
  const GridPlan plan = plan_of(job, summary);
  summary.grid = plan.grid;
  check_memory(job, summary, plan);
  make_folder_of(job.output);
  VolumeWriter writer(job.output, job.overwrite, summary.slices, plan.image, summary.first_row,
                      notes_of(job, summary));
  run_blocks(job, reader, plan, writer, summary, executor, observer);
  const std::size_t pixels = summary.slices * summary.layout.columns;
  if (2 * summary.blind > pixels) {
    throw Error(kScanMismatch,
                print("%s: flats are not brighter than darks in %zu of %zu pixels: exchanged?",
                      job.scan.c_str(), summary.blind, pixels));
  }
  if (summary.blind > 0) {
    observer.warn(
        print("%s: %zu of %zu pixels have a flat that is not above their dark: taken to "
              "see nothing between",
              job.scan.c_str(), summary.blind, pixels));
  }
  writer.commit();
  return summary;
}

}  // namespace tomoloom
