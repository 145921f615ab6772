// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_block.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/stop.hpp"
#include "tomoloom/prepare/circle.hpp"
#include "tomoloom/prepare/outlier.hpp"
#include "tomoloom/prepare/rings.hpp"
#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/reconstruct/shift_rows.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kFramesPerTask = 8;

std::vector<float> averaged(const FrameBlock& block, double otherwise, Averaging averaging,
                            std::size_t pixels) {
  if (block.frames == 0) return std::vector<float>(pixels, static_cast<float>(otherwise));
  return block.counts.empty() ? average_frames(block.floats, pixels, averaging)
                              : average_frames(block.counts, pixels, averaging);
}

}  // namespace

void read_block(BlockSource& source, std::size_t first, std::size_t rows, const Observer& observer,
                RawBlock& block) {
  block.first = first;
  block.rows = rows;
  source.read(first, rows, block.projections, block.flats, block.darks, observer);
}

Gain gain_of(const ReconJob& job, const ScanLayout& layout, const RawBlock& block) {
  const std::size_t pixels = block.rows * layout.columns;
  if (job.input != InputKind::kCounts) {
    return make_gain(std::vector<float>(pixels, 1), std::vector<float>(pixels, 0));
  }
  return make_gain(averaged(block.flats, layout.flat_value, job.averaging, pixels),
                   averaged(block.darks, layout.dark_value, job.averaging, pixels));
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
  const Gain unit =
      make_gain(std::vector<float>(layout.columns, 1), std::vector<float>(layout.columns, 0));
  executor.run(rows, [&](std::size_t row) {
    const SinogramView sinogram{.data = integrals.data() + row * layout.columns,
                                .angles = layout.angles,
                                .columns = layout.columns,
                                .stride = pixels};
    if (looks_for_zingers(job)) {
      (void)remove_outlier(sinogram, static_cast<float>(job.outlier), job.outlier_size);
      for (std::size_t a = 0; a < layout.angles; ++a) {
        const std::span<float> line(sinogram.data + a * pixels, layout.columns);
        normalize(std::span<const float>(line), unit, Logarithm::kMinusLog, line);
      }
    }
    remove_stripe(sinogram, job.stripe);
  });
}

/// What brings the axis of each row to the column between those of the first and the last row.
std::vector<double> shifts_of(const ReconJob& job, const ScanLayout& layout,
                              const RawBlock& block) {
  const double lean = *job.centre_last - *job.centre;
  const double last = std::max(1.0, static_cast<double>(layout.rows) - 1);
  std::vector<double> shifts(block.rows);
  for (std::size_t r = 0; r < block.rows; ++r) {
    shifts[r] = lean * (0.5 - static_cast<double>(block.first + r) / last);
  }
  return shifts;
}

}  // namespace

PixelFlaws prepare_block(const ReconJob& job, const ScanLayout& layout, const RawBlock& block,
                         Executor& executor, std::vector<float>& integrals) {
  const Gain gain = gain_of(job, layout, block);
  const PixelFlaws flaws{.blind = gain.blind, .saturated = count_saturated(job, block, gain)};
  const std::size_t pixels = block.rows * layout.columns;
  integrals.resize(layout.angles * pixels);
  const bool zingers = looks_for_zingers(job);
  const Logarithm first_pass = zingers ? Logarithm::kNone : Logarithm::kMinusLog;
  const std::size_t tasks = (layout.angles + kFramesPerTask - 1) / kFramesPerTask;
  const FrameBlock& raw = block.projections;
  executor.run(tasks, [&](std::size_t task) {
    const std::size_t end = std::min(layout.angles, (task + 1) * kFramesPerTask);
    for (std::size_t a = task * kFramesPerTask; a < end; ++a) {
      const std::span<float> out(integrals.data() + a * pixels, pixels);
      if (!raw.counts.empty()) {
        const std::span<const std::uint16_t> in(raw.counts.data() + a * pixels, pixels);
        if (job.input == InputKind::kIntegrals) {
          std::transform(in.begin(), in.end(), out.begin(),
                         [](std::uint16_t value) { return static_cast<float>(value); });
        } else {
          normalize(in, gain, first_pass, out);
        }
      } else if (job.input == InputKind::kIntegrals) {
        copy_finite({raw.floats.data() + a * pixels, pixels}, out);
      } else {
        normalize(std::span<const float>(raw.floats.data() + a * pixels, pixels), gain, first_pass,
                  out);
      }
    }
  });
  if (zingers || job.stripe.method != Stripe::kNone) {
    clean_sinograms(job, layout, block.rows, executor, integrals);
  }
  if (job.centre_last) {
    shift_rows(integrals, layout.columns, shifts_of(job, layout, block), executor);
  }
  return flaws;
}

BlockReconstruction::BlockReconstruction(const ReconJob& job, const ScanLayout& layout,
                                         const SlicePlan& plan)
    : job_(job), layout_(layout), engine_(plan), image_(plan.image()) {
  if (job.acquisition == Acquisition::kHalf) {
    half_ = half_acquisition(layout.columns, *job.centre);
  }
}

void BlockReconstruction::run(const RawBlock& block, Executor& executor, const Observer& observer,
                              PixelFlaws& flaws, std::vector<float>& out) {
  const PixelFlaws own = prepare_block(job_, layout_, block, executor, integrals_);
  flaws.blind += own.blind;
  flaws.saturated += own.saturated;
  if (half_.width > 0) widen(half_, integrals_);
  const std::size_t slice = image_ * image_;
  out.resize(block.rows * slice);
  engine_.reconstruct({.data = integrals_.data(),
                       .slices = block.rows,
                       .angle_stride = block.rows * image_,
                       .slice_stride = image_},
                      {.data = out.data(), .slice_stride = slice, .row_stride = image_}, executor,
                      [&](std::size_t) { stop_if_asked(observer); });
  const auto half = static_cast<double>(image_ / 2), middle = (static_cast<double>(image_) - 1) / 2;
  const bool peers = job_.method == Method::kGridrec;  // whose axis is not in the middle
  executor.run(block.rows, [&](std::size_t s) {
    const std::span<float> image = std::span<float>(out).subspan(s * slice, slice);
    if (job_.rings.width > 0) {
      remove_rings(image, image_, peers ? half - 1 : middle, peers ? half : middle, job_.rings);
    }
    if (job_.mask > 0) mask_circle(image, image_, job_.mask);
  });
}

}  // namespace tomoloom
