// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_setup.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/runtime/memory_limit.hpp"
#include "tomoloom/recipes/memory_plan.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_files.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/reconstruct/shared_direct.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

/// Rows and axis that were asked for, or what the scan has. Throws kSliceRange, kCentreRange.
void settle_rows(const ReconJob& job, ReconSummary& summary) {
  const ScanLayout& layout = summary.layout;
  const std::size_t end = job.end_row.value_or(layout.rows);
  if (job.first_row >= end || end > layout.rows) {
    const std::size_t bin = job.window.bin;
    throw Error(kSliceRange,
                print("%s: rows %zu to %zu: the scan has rows 0 to %zu", layout.path.c_str(),
                      job.first_row * bin, end * bin, layout.rows * bin));
  }
  summary.first_row = job.first_row;
  summary.slices = end - job.first_row;
  const double last = static_cast<double>(layout.columns) - 1;
  const double middle = layout.axis.empty() ? middle_of_row(layout) : common_axis(layout);
  const double above = job.centre.value_or(middle), below = job.centre_last.value_or(above);
  std::vector<double> columns = layout.axis;
  columns.insert(columns.end(), {above, below});
  for (const double column : columns) {
    if (column >= 0 && column <= last) continue;
    const WindowChoice& window = job.window;
    throw Error(kCentreRange,
                print("%s: --center%s %g: expected a column from %g to %g", layout.path.c_str(),
                      layout.axis.empty() ? "" : "s", window.to_detector(column),
                      window.to_detector(0), window.to_detector(last)));
  }
  summary.centre = (above + below) / 2;  // where a leaning axis is brought to
}

SlicePlan plan_of(const ReconJob& job, const ReconSummary& summary, Executor& executor) {
  Geometry geometry{.columns = summary.layout.columns,
                    .theta = radians(summary.layout),
                    .centre = summary.centre,
                    .weight = summary.layout.weight};
  if (job.acquisition == Acquisition::kHalf) {
    const HalfAcquisition half = half_acquisition(geometry.columns, summary.centre);
    geometry.columns = half.width;
    geometry.centre = half.centre;
  }
  ReconJob how = job;
  if (takes_weights(how.filter.filter)) how.filter.weights = summary.layout.filter;
  return plan_slices(how, std::move(geometry), executor);
}

/// Half acquisition wants a column, a direct method and angles over the whole turn. Throws
/// kUnsupported.
void check_acquisition(const ReconJob& job, const ScanLayout& layout) {
  if (job.acquisition != Acquisition::kHalf) return;
  const auto refuse = [&](const char* what) {
    throw Error(Status::kUnsupported, layout.path + ": --acquisition half " + what);
  };
  if (!job.centre || job.centre_last || job.search != AxisSearch::kNone)
    refuse("wants --center COLUMN");
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

}  // namespace

void check_choices(const ReconJob& job) {
  const auto refuse = [&](const char* what) {
    throw Error(Status::kUnsupported, job.scan + ": " + what);
  };
  if (!job.centres.empty() &&
      (job.centre || job.search != AxisSearch::kNone || job.acquisition != Acquisition::kFull)) {
    refuse("--centers goes without --center and --acquisition half");
  }
  const bool integrals = job.input == InputKind::kIntegrals;
  if (integrals && job.air > 0) refuse("--air wants counts or transmissions (--input)");
  if (integrals && job.outlier > 0) refuse("--outlier wants counts or transmissions (--input)");
  if (integrals && job.phase.method != Phase::kNone) {
    refuse("--phase wants counts or transmissions (--input)");
  }
  if (job.input != InputKind::kCounts && !job.flats_at.empty()) {
    refuse("--flats-at wants counts (--input)");
  }
  check_method(job);
}

ReconJob in_window(ReconJob job, const ScanLayout& layout) {
  const WindowChoice& window = job.window;
  if (job.centre_last && window.bin > 1) {  // seen by the middles of the first and the last row
    const double rows = static_cast<double>(layout.rows * window.bin);
    const double half = (static_cast<double>(window.bin) - 1) / 2;
    const double step = (*job.centre_last - *job.centre) / std::max(1.0, rows - 1);
    *job.centre += step * half;
    *job.centre_last -= step * half;
  }
  for (std::optional<double>* column : {&job.centre, &job.centre_last}) {
    if (*column) **column = window.to_window(**column);
  }
  job.first_row /= window.bin;
  if (job.end_row) *job.end_row /= window.bin;
  job.phase.pixel_cm *= static_cast<double>(window.bin);
  return job;
}

ReconSetup::ReconSetup(const ReconJob& job, Executor& executor, const Observer& observer)
    : job_(job),
      executor_(executor),
      observer_(observer),
      scan_(open_scan(job)),
      own_(in_window(job, scan_->layout())),
      rest_(after_phase(own_)) {
  summary_.layout = scan_->layout();
  summary_.window = job.window;
  check_choices(job_);
  settle_rows(own_, summary_);
  check_frames(job, summary_.layout, observer);
  check_acquisition(job, summary_.layout);
  granted_ = granted_memory(job, summary_);
  if (job.phase.method != Phase::kNone) {
    phase_.emplace(*scan_, own_, summary_.first_row, summary_.slices, executor, observer);
  }
}

const FrameSource& ReconSetup::frames() const noexcept {
  return phase_ ? static_cast<const FrameSource&>(*phase_) : *scan_;
}

std::vector<SliceBlock> ReconSetup::blocks() const {
  std::vector<SliceBlock> blocks;
  for (std::size_t first = 0; first < summary_.slices; first += kSlicesPerGroup) {
    blocks.push_back({first, std::min(kSlicesPerGroup, summary_.slices - first)});
  }
  return blocks;
}

SliceBlock ReconSetup::rows_of(const SliceBlock& block) const {
  const std::size_t beside = rows_beside({.columns = summary_.layout.columns,
                                          .theta = {},
                                          .tilt = own_.tilt_deg * std::numbers::pi / 180});
  // retrieved are the rows that become slices alone
  const std::size_t least = phase_ ? summary_.first_row : 0;
  const std::size_t most = phase_ ? least + summary_.slices : summary_.layout.rows;
  const std::size_t row = summary_.first_row + block.first;
  const std::size_t first = std::max(least + beside, row) - beside;
  return {first, std::min(most, row + block.count + beside) - first};
}

void ReconSetup::open_rows(const std::vector<SliceBlock>& wanted) {
  const std::size_t first = rows_of(wanted.front()).first;
  const SliceBlock last = rows_of(wanted.back());
  const std::size_t rows = last.first + last.count - first;
  source_ = std::make_unique<BlockSource>(
      frames(), BlockRows{.first = first, .rows = rows, .block_rows = kSlicesPerGroup},
      std::filesystem::path(job_.output).parent_path().string(), rest_.input != InputKind::kCounts);
}

void ReconSetup::find_axis() {
  if (job_.search == AxisSearch::kNone) return;
  const AxisFinder finder(rest_, frames().layout(), summary_, *source_, executor_, observer_);
  set_axis(finder.find());
  const double lean = axis().last - axis().first;
  observer_.info(lean == 0
                     ? print("axis found at column %.2f", summary_.axis())
                     : print("axis found at column %.2f in the middle row, %+.2f columns from "
                             "the first row to the last",
                             summary_.axis(), lean * static_cast<double>(job_.window.bin)));
}

Axis ReconSetup::axis() const noexcept {
  if (!rest_.centre_last) return {summary_.centre, summary_.centre};
  return {*rest_.centre, *rest_.centre_last};
}

void ReconSetup::set_axis(const Axis& axis) {
  summary_.centre = (axis.first + axis.last) / 2;
  if (axis.first == axis.last) return;
  rest_.centre = axis.first;
  rest_.centre_last = axis.last;
}

void ReconSetup::make_plan(std::size_t threads, std::uint64_t beside, std::size_t team) {
  plan_ = plan_of(job_, summary_, executor_);
  summary_.width = plan_.image();
  summary_.grid = plan_.grid ? plan_.grid->grid : plan_.image();
  const std::size_t slices = std::min(kSlicesPerGroup, summary_.slices);
  if (team > 1 && plan_.grid) beside += SharedDirect::bytes(*plan_.grid, slices, team);
  const MemoryPlan memory = plan_memory(rest_, frames().layout(), plan_, slices,
                                        {.beside = 2 * plan_.beside(),
                                         .buffers = source_->buffer_bytes() + beside,
                                         .before = phase_ ? phase_->bytes() : 0},
                                        threads, granted_);
  summary_.memory = memory.bytes;
  summary_.overlap = memory.overlap;
  summary_.spooled = source_->spools();
  if (summary_.memory > granted_) too_little(frames().layout(), summary_.memory, granted_);
}

SliceEngine& ReconSetup::engine() {
  if (!engine_) engine_.emplace(plan_, job_.backend, observer_);
  return *engine_;
}

Backend ReconSetup::made_on() {
  const Backend slices = engine().made_on();
  return slices == Backend::kCpu && phase_ ? phase_->made_on() : slices;
}

std::vector<VolumeNote> ReconSetup::notes() const {
  std::vector<VolumeNote> notes;
  for (const auto& [key, text] : option_texts(recon_option_rows(), job_, true)) {
    notes.push_back({key, text});
  }
  notes.push_back({"axis", print("%.17g", summary_.axis())});
  if (const Axis found = axis(); found.first != found.last) {
    const double lean = (found.last - found.first) * static_cast<double>(job_.window.bin);
    notes.push_back({"axis_lean", print("%.17g", lean)});
  }
  return notes;
}

VolumeShape ReconSetup::shape() const noexcept {
  return {.slices = summary_.slices,
          .width = plan_.image(),
          .first_row = summary_.row(),
          .row_step = summary_.window.bin};
}

std::size_t ReconSetup::settle_flaws(std::size_t pixels) {
  if (!phase_) return pixels;
  summary_.flaws = phase_->flaws();
  summary_.phase = phase_->spent();
  return phase_->pixels();
}

void check_flaws(const ReconJob& job, const ReconSummary& summary, std::size_t pixels,
                 const Observer& observer) {
  const PixelFlaws& flaws = summary.flaws;
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
  if (flaws.unlit > 0) {
    observer.warn(print(
        "%s: %zu of %zu rows of projections hold 0 alone, as where nobody has written them "
        "(--skip leaves projections out)",
        job.scan.c_str(), flaws.unlit, pixels / summary.layout.columns * summary.layout.angles));
  }
  const auto tell_light = [&](std::size_t count, const char* what) {
    observer.warn(print("%s: %zu of %zu values of projections that were looked at are %s",
                        job.scan.c_str(), count, flaws.looked_at, what));
  };
  const std::size_t unlit = flaws.unlit * summary.layout.columns;
  if (2 * flaws.dim > flaws.looked_at && 2 * unlit < pixels * summary.layout.angles) {
    tell_light(flaws.dim,
               "not above their darks: are darks of another exposure, or numbers cut off?");
  }
  if (2 * flaws.bright > flaws.looked_at) {
    tell_light(flaws.bright,
               "a quarter and more above their flats: are those of another exposure?");
  }
  if (flaws.no_number > 0) {
    const bool integrals = job.input == InputKind::kIntegrals;
    observer.warn(print("%s: %zu of %zu values of projections are no numbers%s: taken to %s",
                        job.scan.c_str(), flaws.no_number, pixels * summary.layout.angles,
                        integrals ? ", or beyond 1e20" : "",
                        integrals ? "be 0" : "see nothing between"));
  }
  if (flaws.saturated > 0) {
    observer.warn(
        print("%s: flats of %zu of %zu pixels are saturated: what they saw is more, and line "
              "integrals there are too small",
              job.scan.c_str(), flaws.saturated, pixels));
  }
}

}  // namespace tomoloom
