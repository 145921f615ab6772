// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_scan.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <memory>
#include <numbers>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/output_files.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "tomoloom/recipes/memory_plan.hpp"
#include "tomoloom/recipes/phase_source.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_files.hpp"
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
  const double above = job.centre.value_or(last / 2), below = job.centre_last.value_or(above);
  for (const double column : {above, below}) {
    if (column >= 0 && column <= last) continue;
    throw Error(kCentreRange, print("%s: --center %g: expected a column from 0 to %g",
                                    layout.path.c_str(), column, last));
  }
  summary.centre = (above + below) / 2;  // where a leaning axis is brought to
}

std::vector<double> radians(const ScanLayout& layout) {
  std::vector<double> theta;
  for (const double degrees : layout.theta_deg) theta.push_back(degrees * std::numbers::pi / 180);
  return theta;
}

/// The axis from rows spread over those that were asked for, searched in the middle half of the
/// row.
void look_for_centre(const ReconJob& job, const ScanLayout& layout, BlockSource& source,
                     ReconSummary& summary, Executor& executor, const Observer& observer) {
  const std::size_t count = std::min(kCentreRows, summary.slices), n = layout.columns;
  std::vector<float> rows(layout.angles * count * n), one;
  RawBlock raw;
  for (std::size_t r = 0; r < count; ++r) {
    stop_if_asked(observer);
    const std::size_t row = summary.first_row + (2 * r + 1) * summary.slices / (2 * count);
    read_block(source, row, 1, observer, raw);
    (void)prepare_block(job, layout, raw, executor, one);
    for (std::size_t a = 0; a < layout.angles; ++a) {
      std::copy_n(one.data() + a * n, n, rows.data() + (a * count + r) * n);
    }
  }
  const double width = static_cast<double>(n);
  const StackView view{
      .data = rows.data(), .slices = count, .angle_stride = count * n, .slice_stride = n};
  const bool pairs = job.search == AxisSearch::kPairs;
  const double low = width / 4, high = 3 * width / 4;
  const auto found = pairs ? find_centre_of_pairs(view, n, radians(layout), low, high)
                           : find_centre(view, n, radians(layout), low, high, executor);
  if (!found) {
    throw Error(Status::kUnsupported,
                layout.path +
                    (pairs ? ": --center pairs wants projections half a turn apart"
                           : ": --center auto wants angles over 180 degrees") +
                    ": give the column");
  }
  summary.centre = *found;
  observer.info(print("axis found at column %.2f", summary.centre));
}

SlicePlan plan_of(const ReconJob& job, const ReconSummary& summary) {
  Geometry geometry{.columns = summary.layout.columns,
                    .theta = radians(summary.layout),
                    .centre = summary.centre};
  if (job.acquisition == Acquisition::kHalf) {
    const HalfAcquisition half = half_acquisition(geometry.columns, summary.centre);
    geometry.columns = half.width;
    geometry.centre = half.centre;
  }
  return plan_slices(job, std::move(geometry));
}

/// Half acquisition wants a column, a direct method and angles over the whole turn. Throws
/// kUnsupported.
void check_acquisition(const ReconJob& job, const ScanLayout& layout) {
  if (job.acquisition != Acquisition::kHalf) return;
  const auto refuse = [&](const char* what) {
    throw Error(Status::kUnsupported, layout.path + ": --acquisition half " + what);
  };
  if (!job.centre || job.centre_last) refuse("wants --center COLUMN");
  if (job.method != Method::kExact && job.method != Method::kGridrec &&
      job.method != Method::kFbp) {
    refuse("goes with --method exact, gridrec or fbp");
  }
  std::vector<double> turn;
  for (const double degrees : layout.theta_deg) {
    turn.push_back(degrees - 360 * std::floor(degrees / 360));
  }
  std::sort(turn.begin(), turn.end());
  double gap = turn.front() + 360 - turn.back();
  for (std::size_t a = 1; a < turn.size(); ++a) gap = std::max(gap, turn[a] - turn[a - 1]);
  constexpr double kSteps = 4;  // as angle_weights() tells a wedge
  if (gap > kSteps * 360 / static_cast<double>(turn.size())) {
    refuse("wants angles over the whole turn");
  }
}

[[noreturn]] void too_little(const ScanLayout& layout, std::uint64_t wanted,
                             std::uint64_t granted) {
  throw Error(Status::kMemory,
              print("%s: a block of rows takes %s, %s are granted (--memory)", layout.path.c_str(),
                    gigabytes(wanted).c_str(), gigabytes(granted).c_str()));
}

/// What may be taken. Throws kMemory where it is too little in any case.
std::uint64_t granted_memory(const ReconJob& job, const ReconSummary& summary) {
  const std::uint64_t granted =
      job.memory > 0 ? job.memory : memory_share(find_memory_limits(process_environment()));
  const std::uint64_t least =
      least_memory(job, summary.layout, std::min(kSlicesPerGroup, summary.slices));
  if (least > granted) too_little(summary.layout, least, granted);
  return granted;
}

/// Throws kMemory where not even one block at a time fits.
void check_memory(const ReconJob& job, const ScanLayout& layout, ReconSummary& summary,
                  const SlicePlan& plan, const BlockSource& source, std::uint64_t before,
                  std::size_t threads, std::uint64_t granted) {
  const MemoryPlan memory =
      plan_memory(job, layout, plan, std::min(kSlicesPerGroup, summary.slices),
                  {.buffers = source.buffer_bytes(), .before = before}, threads, granted);
  summary.memory = memory.bytes;
  summary.overlap = memory.overlap;
  summary.spooled = source.spools();
  if (summary.memory > granted) too_little(layout, summary.memory, granted);
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

/// Blocks of rows on their way: read, worked on, written.
class BlockRun {
 public:
  BlockRun(const ReconJob& job, const ScanLayout& layout, const SlicePlan& plan,
           BlockSource& source, SliceSink& writer, ReconSummary& summary, const Observer& observer)
      : source_(source),
        writer_(writer),
        summary_(summary),
        observer_(observer),
        work_(job, layout, plan) {
    for (std::size_t done = 0; done < summary.slices; done += kSlicesPerGroup) {
      const Block block{done, std::min(kSlicesPerGroup, summary.slices - done)};
      if (!writer.done(block.first, block.count)) blocks_.push_back(block);
    }
    summary.resumed = writer.slices_done();
  }

  /// The next block is read and the last one written while one is worked on, where memory allows.
  void run(Executor& executor) {
    std::size_t slices = summary_.resumed;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      stop_if_asked(observer_);
      if (!next_.valid()) begin_read(i);
      auto [raw, read_time] = next_.get();
      summary_.read = summary_.read + read_time;
      if (summary_.overlap && i + 1 < blocks_.size()) begin_read(i + 1);
      StageClock clock;
      std::vector<float> out = std::move(free_slices_);
      work_.run(raw, executor, observer_, summary_.flaws, out);
      free_block_ = std::move(raw);
      summary_.compute = summary_.compute + clock.lap();
      finish_write();
      begin_write(blocks_[i].first, std::move(out));
      if (!summary_.overlap) finish_write();
      slices += blocks_[i].count;
      if (observer_.progress) observer_.progress("slices", slices, summary_.slices);
    }
    finish_write();
  }
  /// Of the blocks of this run.
  [[nodiscard]] std::size_t pixels() const {
    std::size_t rows = 0;
    for (const Block& block : blocks_) rows += block.count;
    return rows * summary_.layout.columns;
  }

 private:
  struct Block {
    std::size_t first, count;
  };
  void begin_read(std::size_t i) {
    next_ = std::async(
        std::launch::async, [this, block = blocks_[i], raw = std::move(free_block_)]() mutable {
          StageClock clock(CpuOf::kThread);
          read_block(source_, summary_.first_row + block.first, block.count, observer_, raw);
          return std::pair(std::move(raw), clock.lap());
        });
  }
  void begin_write(std::size_t first, std::vector<float> slices) {
    written_ = std::async(std::launch::async, [this, first, slices = std::move(slices)]() mutable {
      StageClock clock(CpuOf::kThread);
      writer_.write(first, slices);
      return std::pair(std::move(slices), clock.lap());
    });
  }
  void finish_write() {
    if (!written_.valid()) return;
    auto [slices, time] = written_.get();
    free_slices_ = std::move(slices);
    summary_.write = summary_.write + time;
  }

  BlockSource& source_;
  SliceSink& writer_;
  ReconSummary& summary_;
  const Observer& observer_;
  BlockReconstruction work_;
  std::vector<Block> blocks_;
  std::future<std::pair<RawBlock, StageTime>> next_;
  std::future<std::pair<std::vector<float>, StageTime>> written_;
  // what a block has taken is the next one's: fresh pages would be cleared twice
  RawBlock free_block_;
  std::vector<float> free_slices_;
};

/// Throws kScanMismatch where most flats are not above their darks.
void check_flaws(const ReconJob& job, const PixelFlaws& flaws, std::size_t pixels,
                 const Observer& observer) {
  const std::size_t blind = flaws.blind;
  if (2 * blind > pixels) {
    throw Error(kScanMismatch,
                print("%s: flats are not brighter than darks in %zu of %zu pixels: exchanged?",
                      job.scan.c_str(), blind, pixels));
  }
  if (blind > 0) {
    observer.warn(
        print("%s: %zu of %zu pixels have a flat that is not above their dark: taken to "
              "see nothing between",
              job.scan.c_str(), blind, pixels));
  }
  if (flaws.saturated > 0) {
    observer.warn(
        print("%s: flats of %zu of %zu pixels are saturated: what they saw is more, and line "
              "integrals there are too small",
              job.scan.c_str(), flaws.saturated, pixels));
  }
}

/// Whether another run may succeed from where this one ended.
bool can_go_on(const Error& error) {
  return error.status() == Status::kInterrupted || error.status() == Status::kDiskFull;
}

}  // namespace

ReconSummary reconstruct_scan(const ReconJob& job, Executor& executor, const Observer& observer) {
  const std::vector<NamedFile> outputs{{"-o", job.output}}, inputs{{"the scan", job.scan}};
  check_distinct(outputs, inputs);
  check_place(job.output);
  const std::unique_ptr<FrameSource> scan = open_scan(job);
  ReconSummary summary;
  summary.layout = scan->layout();
  settle_rows(job, summary);
  check_frames(job, summary.layout, observer);
  check_acquisition(job, summary.layout);
  const std::uint64_t granted = granted_memory(job, summary);
  const std::string folder = std::filesystem::path(job.output).parent_path().string();
  std::optional<PhaseSource> phase;
  if (job.phase.method != Phase::kNone) {
    phase.emplace(*scan, job, summary.first_row, summary.slices, executor, observer);
  }
  const FrameSource& frames = phase ? static_cast<const FrameSource&>(*phase) : *scan;
  const ReconJob rest = after_phase(job);
  BlockSource source(
      frames, {.first = summary.first_row, .rows = summary.slices, .block_rows = kSlicesPerGroup},
      folder, rest.input != InputKind::kCounts);
  make_folder_of(job.output);
  if (job.search != AxisSearch::kNone) {
    look_for_centre(rest, frames.layout(), source, summary, executor, observer);
  }
  const SlicePlan plan = plan_of(job, summary);
  summary.width = plan.image();
  summary.grid = plan.grid ? plan.grid->grid : plan.image();
  check_memory(rest, frames.layout(), summary, plan, source, phase ? phase->bytes() : 0,
               executor.concurrency(), granted);
  const std::vector<VolumeNote> notes = notes_of(job, summary);
  const std::unique_ptr<SliceSink> writer = open_volume(
      job, *scan, {.slices = summary.slices, .width = plan.image(), .first_row = summary.first_row},
      notes);
  try {
    BlockRun run(rest, frames.layout(), plan, source, *writer, summary, observer);
    if (summary.resumed > 0) {
      observer.info(print("%s: %zu of %zu slices are there from an earlier run", job.output.c_str(),
                          summary.resumed, summary.slices));
    }
    run.run(executor);
    if (phase) {
      summary.flaws = phase->flaws();
      summary.phase = phase->spent();
    }
    check_flaws(job, summary.flaws, phase ? phase->pixels() : run.pixels(), observer);
    writer->commit();
  } catch (const Error& error) {
    if (job.resume && can_go_on(error)) {
      observer.warn(hdf5::part_name(job.output) + " stays: the same command goes on from there");
    } else {
      writer->discard();
    }
    throw;
  }
  return summary;
}

}  // namespace tomoloom
