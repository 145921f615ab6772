// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "loom/base/stop.hpp"
#include "tomoloom/prepare/air.hpp"
#include "tomoloom/prepare/circle.hpp"
#include "tomoloom/prepare/outlier.hpp"
#include "tomoloom/prepare/rings.hpp"
#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/recipes/card_block.hpp"
#include "tomoloom/recipes/on_card.hpp"
#include "tomoloom/reconstruct/shift_rows.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kFramesPerTask = 8;
constexpr std::size_t kAnglesLookedAt = 16;
/// A transmission that no body has, beyond the fringes of its edges.
constexpr float kBright = 1.25F;

/// Of frames [first, first + count) of a block; of none the number that stands for them.
std::vector<float> averaged(const FrameBlock& block, std::size_t first, std::size_t count,
                            double otherwise, Averaging averaging, std::size_t pixels) {
  if (block.frames == 0) return std::vector<float>(pixels, static_cast<float>(otherwise));
  const auto part = [&](const auto& values) {
    return average_frames(std::span(values).subspan(first * pixels, count * pixels), pixels,
                          averaging);
  };
  return block.counts.empty() ? part(block.floats) : part(block.counts);
}

/// What brings the axis of rows [first, first + rows) of all_rows, which the last row sees `lean`
/// columns from where the first does, to the column half way.
std::vector<double> lean_shifts(double lean, std::size_t all_rows, std::size_t first,
                                std::size_t rows) {
  const double last = std::max(1.0, static_cast<double>(all_rows) - 1);
  std::vector<double> shifts(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    shifts[r] = lean * (0.5 - static_cast<double>(first + r) / last);
  }
  return shifts;
}

/// What rows move by so that they have their axis at the common one.
std::vector<double> axis_shifts(const ScanLayout& layout, std::size_t first, std::size_t rows) {
  const double to = common_axis(layout);
  std::vector<double> shifts(rows);
  for (std::size_t r = 0; r < rows; ++r) shifts[r] = to - layout.axis[first + r];
  return shifts;
}

}  // namespace

void read_block(BlockSource& source, std::size_t first, std::size_t rows, const Observer& observer,
                RawBlock& block) {
  block.first = first;
  block.rows = block.slices = rows;
  block.before = 0;
  source.read(first, rows, block.projections, block.flats, block.darks, observer);
}

std::vector<Gain> gains_of(const ReconJob& job, const ScanLayout& layout, const RawBlock& block) {
  const std::size_t pixels = block.rows * layout.columns;
  if (job.input != InputKind::kCounts) {
    return {make_gain(std::vector<float>(pixels, 1), std::vector<float>(pixels, 0))};
  }
  const std::vector<float> dark =
      averaged(block.darks, 0, block.darks.frames, layout.dark_value, job.averaging, pixels);
  const std::size_t each = block.flats.frames / layout.flat_sets;
  std::vector<Gain> gains;
  for (std::size_t set = 0; set < layout.flat_sets; ++set) {
    gains.push_back(make_gain(
        averaged(block.flats, set * each, each, layout.flat_value, job.averaging, pixels), dark));
  }
  return gains;
}

std::size_t count_unlit(const ReconJob& job, const FrameBlock& block, std::size_t first,
                        std::size_t frames, const Gain& gain) {
  const auto is_zero = [](auto value) { return value == 0; };
  if (job.input == InputKind::kIntegrals ||
      std::all_of(gain.scale.begin(), gain.scale.end(), is_zero)) {
    return 0;
  }
  const std::size_t pixels = block.rows * block.columns;
  std::size_t count = 0;
  for (std::size_t f = first; f < first + frames; ++f) {
    const auto unlit = [&](const auto* frame) {  // most are known by their first pixel
      return std::all_of(frame, frame + pixels, is_zero);
    };
    count += (block.counts.empty() ? unlit(block.floats.data() + f * pixels)
                                   : unlit(block.counts.data() + f * pixels))
                 ? 1
                 : 0;
  }
  return count * block.rows;
}

std::size_t count_no_numbers(const ReconJob& job, const FrameBlock& block, BlockPart part,
                             Executor& executor) {
  if (block.floats.empty()) return 0;
  const float most =
      job.input == InputKind::kIntegrals ? kMostIntegral : std::numeric_limits<float>::infinity();
  std::vector<std::size_t> found(part.frames, 0);
  executor.run(part.frames, [&](std::size_t f) {
    const float* const from =
        block.floats.data() +
        ((part.first_frame + f) * block.rows + part.first_row) * block.columns;
    found[f] = static_cast<std::size_t>(
        std::count_if(from, from + part.rows * block.columns,
                      [most](float value) { return !(std::abs(value) < most); }));
  });
  return std::accumulate(found.begin(), found.end(), std::size_t{0});
}

void look_at_light(const ReconJob& job, const ScanLayout& layout, const FrameBlock& block,
                   std::size_t first, std::size_t frames, std::size_t angle,
                   const std::vector<Gain>& gains, PixelFlaws& flaws) {
  if (job.input == InputKind::kIntegrals) return;
  const std::size_t pixels = block.rows * block.columns;
  const std::size_t stride = (layout.angles + kAnglesLookedAt - 1) / kAnglesLookedAt;
  for (std::size_t f = 0; f < frames; ++f) {
    if ((angle + f) % stride != 0) continue;
    const Gain& gain = gains[layout.flat_set.empty() ? 0 : layout.flat_set[angle + f]];
    const auto look = [&](const auto* frame) {
      for (std::size_t i = 0; i < pixels; ++i) {
        const float light = static_cast<float>(frame[i]) - gain.dark[i];
        flaws.dim += gain.scale[i] > 0 && light * gain.scale[i] <= kLeastTransmission ? 1 : 0;
        flaws.bright += light * gain.scale[i] > kBright ? 1 : 0;
      }
    };
    flaws.looked_at += pixels;
    if (block.counts.empty()) {
      look(block.floats.data() + (first + f) * pixels);
    } else {
      look(block.counts.data() + (first + f) * pixels);
    }
  }
}

std::size_t count_blind(const std::vector<Gain>& gains) {
  std::size_t most = 0;
  for (const Gain& gain : gains) most = std::max(most, gain.blind);
  return most;
}

void to_transmissions(const ReconJob& job, const ScanLayout& layout, const FrameBlock& block,
                      std::size_t frame, std::size_t angle, const std::vector<Gain>& gains,
                      std::span<float> out) {
  const Gain& gain = gains[layout.flat_set.empty() ? 0 : layout.flat_set[angle]];
  const std::size_t pixels = out.size();
  if (block.counts.empty()) {
    normalize(std::span<const float>(block.floats.data() + frame * pixels, pixels), gain,
              Logarithm::kNone, out);
  } else {
    normalize(std::span<const std::uint16_t>(block.counts.data() + frame * pixels, pixels), gain,
              Logarithm::kNone, out);
  }
  if (job.air > 0) balance_air(out, layout.columns, job.air);
}

std::size_t count_saturated(const ReconJob& job, const RawBlock& block, const Gain& gain) {
  if (job.input != InputKind::kCounts) return 0;
  const FrameBlock& flats = block.flats;
  const std::size_t pixels = gain.scale.size();
  const auto found = flats.counts.empty() ? saturated_pixels(flats.floats, pixels)
                                          : saturated_pixels(flats.counts, pixels);
  return static_cast<std::size_t>(
      std::count_if(found.begin(), found.end(), [&](std::size_t i) { return gain.scale[i] > 0; }));
}

namespace {

/// Zingers are looked for among transmissions, before the logarithm.
bool looks_for_zingers(const ReconJob& job) {
  return job.outlier > 0 && job.input != InputKind::kIntegrals;
}

/// Sinograms one by one: transmissions -> line integrals where zingers are looked for, and without
/// stripes.
void clean_sinograms(const ReconJob& job, const ScanLayout& layout, std::size_t rows,
                     Executor& executor, std::span<float> integrals) {
  const std::size_t pixels = rows * layout.columns;
  executor.run(rows, [&](std::size_t row) {
    const SinogramView sinogram{.data = integrals.data() + row * layout.columns,
                                .angles = layout.angles,
                                .columns = layout.columns,
                                .stride = pixels};
    if (looks_for_zingers(job)) {
      (void)remove_outlier(sinogram, static_cast<float>(job.outlier), job.outlier_size);
      for (std::size_t a = 0; a < layout.angles; ++a) {
        minus_log({sinogram.data + a * pixels, layout.columns});
      }
    }
    remove_stripe(sinogram, job.stripe);
  });
}

}  // namespace

double common_axis(const ScanLayout& layout) {
  const auto [least, most] = std::minmax_element(layout.axis.begin(), layout.axis.end());
  return (*least + *most) / 2;
}

void straighten(std::span<float> integrals, const ScanLayout& layout, double lean,
                std::size_t first, std::size_t rows, Executor& executor) {
  if (lean != 0) {
    shift_rows(integrals, layout.columns, lean_shifts(lean, layout.rows, first, rows), executor);
  }
  if (!layout.axis.empty()) {
    shift_rows(integrals, layout.columns, axis_shifts(layout, first, rows), executor);
  }
}

void copy_integrals(const FrameBlock& block, std::size_t frame, std::span<float> out) {
  if (block.counts.empty()) {
    return copy_finite({block.floats.data() + frame * out.size(), out.size()}, out);
  }
  const std::span<const std::uint16_t> in(block.counts.data() + frame * out.size(), out.size());
  std::transform(in.begin(), in.end(), out.begin(),
                 [](std::uint16_t value) { return static_cast<float>(value); });
}

PixelFlaws flaws_of(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                    const std::vector<Gain>& gains, Executor& executor) {
  PixelFlaws flaws{
      .blind = count_blind(gains),
      .saturated = count_saturated(job, block, gains.front()),
      .unlit = count_unlit(job, block.projections, 0, layout.angles, gains.front()),
      .no_number = count_no_numbers(job, block.projections, slices_of(block, layout), executor)};
  look_at_light(job, layout, block.projections, 0, layout.angles, 0, gains, flaws);
  return flaws;
}

PixelFlaws prepare_block(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                         Executor& executor, LargeVector<float>& integrals) {
  const std::vector<Gain> gains = gains_of(job, layout, block);
  const PixelFlaws flaws = flaws_of(job, layout, block, gains, executor);
  const std::size_t pixels = block.rows * layout.columns;
  integrals.resize(layout.angles * pixels);
  const bool zingers = looks_for_zingers(job);
  const std::size_t tasks = (layout.angles + kFramesPerTask - 1) / kFramesPerTask;
  executor.run(tasks, [&](std::size_t task) {
    const std::size_t end = std::min(layout.angles, (task + 1) * kFramesPerTask);
    for (std::size_t a = task * kFramesPerTask; a < end; ++a) {
      const std::span<float> out(integrals.data() + a * pixels, pixels);
      if (job.input == InputKind::kIntegrals) {
        copy_integrals(block.projections, a, out);
        continue;
      }
      to_transmissions(job, layout, block.projections, a, a, gains, out);
      if (!zingers) minus_log(out);
    }
  });
  if (zingers || job.stripe.method != Stripe::kNone) {
    clean_sinograms(job, layout, block.rows, executor, integrals);
  }
  if (!layout.shift.empty()) {
    shift_projections(integrals, block.rows, layout.columns, layout.shift, executor);
  }
  straighten(integrals, layout, job.centre_last ? *job.centre_last - *job.centre : 0, block.first,
             block.rows, executor);
  if (job.window.bin > 1) {  // values stay those of the detector's pixel
    const float share = 1 / static_cast<float>(job.window.bin);
    executor.run(layout.angles, [&](std::size_t a) {
      for (std::size_t i = a * pixels; i < (a + 1) * pixels; ++i) integrals[i] *= share;
    });
  }
  return flaws;
}

PixelFlaws prepare_lines(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                         Executor& executor, LargeVector<float>& integrals) {
  const PixelFlaws flaws = prepare_block(job, layout, block, executor, integrals);
  if (job.acquisition == Acquisition::kHalf) {
    widen(half_acquisition(layout.columns, *job.centre), integrals);
  }
  return flaws;
}

void finish_slices(const ReconJob& job, std::size_t image, std::span<float> slices,
                   Executor& executor) {
  const auto half = static_cast<double>(image / 2), middle = (static_cast<double>(image) - 1) / 2;
  const bool peers = job.method == Method::kGridrec;  // whose axis is not in the middle
  const std::size_t size = image * image;
  executor.run(slices.size() / size, [&](std::size_t s) {
    const std::span<float> slice = slices.subspan(s * size, size);
    if (job.rings.width > 0) {
      remove_rings(slice, image, peers ? half - 1 : middle, peers ? half : middle, job.rings);
    }
    if (job.mask > 0) mask_circle(slice, image, job.mask);
  });
}

namespace {

/// Null for the CPU: also where the card has no room for counts beside its slices.
std::unique_ptr<CardBlock> prepare_on_card(const ReconJob& job, const ScanLayout& layout,
                                           SliceEngine& engine, const Observer& observer) {
  if (engine.card() == nullptr || !card_prepares(job, layout)) return nullptr;
  return open_on_card(WayOut::kCpu, "counts become line integrals on the CPU", observer,
                      [&] { return std::make_unique<CardBlock>(job, layout, *engine.card()); });
}

}  // namespace

BlockReconstruction::BlockReconstruction(const ReconJob& job, const ScanLayout& layout,
                                         std::size_t image, SliceEngine& engine,
                                         const Observer& observer)
    : job_(job),
      layout_(layout),
      engine_(engine),
      card_(prepare_on_card(job, layout, engine, observer)),
      image_(image) {}

BlockReconstruction::~BlockReconstruction() = default;

PixelFlaws BlockReconstruction::make_slices(const RawBlock& block, Executor& executor,
                                            const Observer& observer, const VolumeView& slices) {
  if (card_) return card_->run(block, slices, executor);
  const PixelFlaws flaws = prepare_lines(job_, layout_, block, executor, integrals_);
  engine_.reconstruct({.data = integrals_.data() + block.before * image_,
                       .slices = block.slices,
                       .angle_stride = block.rows * image_,
                       .slice_stride = image_,
                       .before = block.before,
                       .after = block.rows - block.before - block.slices},
                      slices, executor, [&](std::size_t) { stop_if_asked(observer); });
  return flaws;
}

void BlockReconstruction::run(const RawBlock& block, Executor& executor, const Observer& observer,
                              PixelFlaws& flaws, LargeVector<float>& out) {
  const std::size_t slice = image_ * image_;
  out.resize(block.slices * slice);
  const PixelFlaws own = make_slices(
      block, executor, observer, {.data = out.data(), .slice_stride = slice, .row_stride = image_});
  flaws += own;
  finish_slices(job_, image_, out, executor);
}

}  // namespace tomoloom
