// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/phase_source.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/stop.hpp"
#include "tomoloom/prepare/outlier.hpp"
#include "tomoloom/recipes/on_card.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/slice_plan.hpp"

namespace tomoloom {
namespace {

/// Two share a transform; where zingers are looked for, neighbours are read along with them.
constexpr std::size_t kPair = 2, kWithNeighbours = 8;
/// A scan that is stored in boxes of many projections is unpacked by boxes while they are so small.
constexpr std::uint64_t kMostBox = std::uint64_t{128} << 20;
/// Flats of so many bytes are averaged at once.
constexpr std::uint64_t kMostFlats = std::uint64_t{64} << 20;

/// Rows that the filter reaches, on one side. TomoPy's is that of whole projections.
std::size_t rows_beside(const PhaseChoice& choice, const ScanLayout& layout) {
  if (choice.method == Phase::kTomopy) return layout.rows;
  return phase_reach(choice, std::max(layout.rows, layout.columns));
}

}  // namespace

ReconJob after_phase(ReconJob job) {
  if (job.phase.method == Phase::kNone) return job;
  job.input = InputKind::kTransmissions;
  job.outlier = 0;
  job.air = 0;
  return job;
}

PhaseSource::PhaseSource(const FrameSource& scan, const ReconJob& job, std::size_t first,
                         std::size_t rows, Executor& executor, const Observer& observer)
    : scan_(scan), job_(job), executor_(executor), observer_(observer) {
  layout_ = scan.layout();
  if (job.input == InputKind::kIntegrals) {
    throw Error(Status::kUnsupported,
                layout_.path + ": --phase wants counts or transmissions (--input)");
  }
  const std::size_t beside = rows_beside(job.phase, layout_);
  seen_first_ = first - std::min(first, beside);
  seen_rows_ = std::min(layout_.rows, first + rows + beside) - seen_first_;
  for_card_ = on_card(job.backend) && DevicePhase::knows(job.phase, seen_rows_, layout_.columns);
  box_ = for_card_ ? DevicePhase::kImages : (job.outlier > 0 ? kWithNeighbours : kPair);
  const std::vector<std::size_t> stored = scan.chunk(layout_.data);
  const std::uint64_t frame_bytes = std::uint64_t{seen_rows_} * layout_.columns * sizeof(float);
  if (!stored.empty() && stored[0] * frame_bytes <= kMostBox) box_ = std::max(box_, stored[0]);
  layout_.counts = false;
  layout_.white.clear();
  layout_.dark.clear();
  layout_.flats = layout_.darks = 0;
  layout_.flat_set.clear();
  layout_.flat_sets = 1;
}

/// By itself only where it has the memory.
void PhaseSource::open_card() const {
  if (opened_ || !for_card_) return;
  opened_ = true;
  auto devices = open_devices(job_.backend, observer_);
  if (devices.empty()) return;
  const std::string name = devices.front()->info().name;
  card_ = open_on_card(way_out_of(job_.backend), "phases are retrieved on the CPU", observer_, [&] {
    return std::make_unique<DevicePhase>(job_.phase, seen_rows_, layout_.columns,
                                         std::move(devices.front()));
  });
  if (card_) observer_.info("phases are retrieved on " + name);
}

Backend PhaseSource::made_on() const {
  open_card();
  if (!card_) return Backend::kCpu;
  return job_.backend == Backend::kEmulate ? Backend::kEmulate : Backend::kCuda;
}

std::vector<std::size_t> PhaseSource::chunk(const std::string&) const {
  return {std::min(box_, layout_.angles), layout_.rows, layout_.columns};
}

std::size_t PhaseSource::halo() const noexcept { return job_.outlier > 0 ? job_.outlier_size : 0; }

void PhaseSource::find_gain() const {
  const ScanLayout& layout = scan_.layout();
  const bool counts = job_.input == InputKind::kCounts;
  const std::uint64_t row = (layout.flats + layout.darks) * layout.columns * sizeof(float);
  const std::size_t at_once = std::max(
      kSlicesPerGroup, static_cast<std::size_t>(kMostFlats / std::max<std::uint64_t>(row, 1)));
  RawBlock block;
  for (std::size_t r = 0; r < seen_rows_; r += at_once) {
    stop_if_asked(observer_);
    block.first = seen_first_ + r;
    block.rows = std::min(at_once, seen_rows_ - r);
    if (counts && layout.flats > 0) {
      scan_.frames(layout.white, 0, layout.flats, block.first, block.rows, block.flats);
    }
    if (counts && layout.darks > 0) {
      scan_.frames(layout.dark, 0, layout.darks, block.first, block.rows, block.darks);
    }
    const std::vector<Gain> part = gains_of(job_, layout, block);
    gains_.resize(part.size());
    for (std::size_t set = 0; set < part.size(); ++set) {
      Gain& whole = gains_[set];
      whole.dark.insert(whole.dark.end(), part[set].dark.begin(), part[set].dark.end());
      whole.scale.insert(whole.scale.end(), part[set].scale.begin(), part[set].scale.end());
    }
    flaws_.blind += count_blind(part);
    flaws_.saturated += count_saturated(job_, block, part.front());
  }
}

void PhaseSource::look(std::size_t frame, std::size_t frames) const {
  begin_ = frame - std::min(frame, halo());
  const std::size_t end = std::min(layout_.angles, frame + frames + halo());
  const std::size_t pixels = seen_rows_ * layout_.columns, count = end - begin_;
  scan_.frames(layout_.data, begin_, count, seen_first_, seen_rows_, raw_);
  flaws_.unlit += count_unlit(job_, raw_, frame - begin_, frames, gains_.front());
  flaws_.no_number += count_no_numbers(
      job_, raw_, {.first_frame = frame - begin_, .frames = frames, .rows = seen_rows_}, executor_);
  look_at_light(job_, scan_.layout(), raw_, frame - begin_, frames, frame, gains_, flaws_);
  seen_.resize(count * pixels);
  executor_.run(count, [&](std::size_t f) {
    to_transmissions(job_, scan_.layout(), raw_, f, begin_ + f, gains_,
                     {seen_.data() + f * pixels, pixels});
  });
  if (job_.outlier <= 0) return;
  executor_.run(seen_rows_, [&](std::size_t r) {
    (void)remove_outlier({.data = seen_.data() + r * layout_.columns,
                          .angles = count,
                          .columns = layout_.columns,
                          .stride = pixels},
                         static_cast<float>(job_.outlier), job_.outlier_size);
  });
}

void PhaseSource::retrieve(const float* from, std::size_t count, std::size_t first,
                           std::size_t rows, float* to) const {
  const std::size_t pixels = seen_rows_ * layout_.columns, wanted = rows * layout_.columns;
  const std::size_t together = card_ ? DevicePhase::kImages : kPair;
  for (std::size_t f = 0; f < count; f += together) {
    stop_if_asked(observer_);
    const std::size_t images = std::min(together, count - f);
    const std::span<const float> in(from + f * pixels, images * pixels);
    const std::span<float> out(to + f * wanted, images * wanted);
    if (card_) {
      card_->run(in, first - seen_first_, rows, out, executor_);
    } else {
      filter_->run({.first_in = in.first(pixels),
                    .second_in = in.subspan(pixels),
                    .first_out = out.first(wanted),
                    .second_out = out.subspan(wanted)},
                   first - seen_first_, rows, executor_);
    }
  }
}

void PhaseSource::frames(const std::string&, std::size_t frame, std::size_t frames,
                         std::size_t first, std::size_t rows, FrameBlock& out) const {
  StageClock clock;
  if (gains_.empty()) {
    open_card();
    flaws_ = {};
    find_gain();
    if (!card_) filter_.emplace(job_.phase, seen_rows_, layout_.columns);
  }
  const std::size_t columns = layout_.columns;
  out.frames = frames;
  out.rows = rows;
  out.columns = columns;
  out.floats.resize(frames * rows * columns);
  for (std::size_t done = 0; done < frames; done += box_) {
    const std::size_t count = std::min(box_, frames - done);
    look(frame + done, count);
    retrieve(seen_.data() + (frame + done - begin_) * seen_rows_ * columns, count, first, rows,
             out.floats.data() + done * rows * columns);
  }
  if (frame + frames == layout_.angles) {
    filter_.reset();
    gains_.clear();
    raw_ = {};
    seen_ = {};
  }
  const StageTime time = clock.lap();
  spent_.wall_s += time.wall_s;
  spent_.cpu_s += time.cpu_s;
}

std::uint64_t PhaseSource::bytes() const {
  const std::uint64_t pixels = std::uint64_t{seen_rows_} * layout_.columns;
  const std::uint64_t value = scan_.layout().counts ? sizeof(std::uint16_t) : sizeof(float);
  const std::uint64_t window = std::min(layout_.angles, box_ + 2 * halo());
  const ScanLayout& layout = scan_.layout();
  const std::uint64_t row = (layout.flats + layout.darks) * layout.columns * sizeof(float);
  const std::uint64_t flats = std::max(kMostFlats, kSlicesPerGroup * row);
  const std::uint64_t filter = for_card_ ? DevicePhase::host_bytes(seen_rows_, layout_.columns) : 0;
  const std::uint64_t plain =
      PhaseFilter::bytes(job_.phase, seen_rows_, layout_.columns, executor_.concurrency());
  return std::max(filter, plain) + window * pixels * (value + sizeof(float)) +
         2 * layout.flat_sets * pixels * sizeof(float) + scan_.buffer_bytes() +
         std::min(flats, row * seen_rows_);
}

}  // namespace tomoloom
