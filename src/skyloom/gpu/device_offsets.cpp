// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/gpu/device_offsets.hpp"

#include <limits>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/device/device_stage.hpp"
#include "loom/device/send.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kMostRuns = std::numeric_limits<std::uint32_t>::max();

std::size_t pixels_of(const OffsetSystem& system) {
  std::size_t sum = 0;
  for (const auto& tile : system.inverses()) sum += tile.size();
  return sum;
}

std::size_t sum_blocks(std::size_t unknowns) {
  constexpr auto kBlock = static_cast<std::size_t>(kSumBlock);
  return (unknowns + kBlock - 1) / kBlock;
}

}  // namespace

struct DeviceOffsets::Arrays {
  Run* runs;
  std::uint64_t *pixel_starts, *baseline_starts;
  std::uint32_t *pixel_runs, *pixel_baselines, *first_pixels, *places;
  RunPart* parts;
  Symmetric3* inverses;
  Stokes* pixels;
  double *seen, *weights, *diagonal, *offsets, *out;  ///< offsets: p of an iteration; out: q
  double *values, *x, *r, *z, *sums;

  Arrays(const OffsetView& view, std::size_t pixel_count, Arena& arena)
      : runs(arena.take<Run>(view.runs.size())),
        pixel_starts(arena.take<std::uint64_t>(pixel_count + 1)),
        baseline_starts(arena.take<std::uint64_t>(view.weights.size() + 1)),
        pixel_runs(arena.take<std::uint32_t>(view.runs.size())),
        pixel_baselines(arena.take<std::uint32_t>(view.runs.size())),
        first_pixels(arena.take<std::uint32_t>(view.parts.size())),
        places(arena.take<std::uint32_t>(view.parts.size())),
        parts(arena.take<RunPart>(view.parts.size())),
        inverses(arena.take<Symmetric3>(pixel_count)),
        pixels(arena.take<Stokes>(pixel_count)),
        seen(arena.take<double>(view.parts.size())),
        weights(arena.take<double>(view.weights.size())),
        diagonal(arena.take<double>(view.weights.size())),
        offsets(arena.take<double>(view.weights.size())),
        out(arena.take<double>(view.weights.size())),
        values(arena.take<double>(view.weights.size())),
        x(arena.take<double>(view.weights.size())),
        r(arena.take<double>(view.weights.size())),
        z(arena.take<double>(view.weights.size())),
        sums(arena.take<double>(2 * sum_blocks(view.weights.size()))) {}
};

DeviceOffsets::~DeviceOffsets() = default;

std::size_t DeviceOffsets::device_bytes(const OffsetSystem& system) {
  Arena measure;
  const Arrays unused(system.view(), pixels_of(system), measure);
  return measure.used() + gpu::kRest;
}

DeviceOffsets::DeviceOffsets(const OffsetSystem& system, std::unique_ptr<Device> device)
    : system_(system),
      device_(std::move(device)),
      kernels_(gpu::sky_kernels(*device_)),
      stream_(device_->make_stream()),
      memory_(*device_, device_bytes(system)),
      staging_(*device_, gpu::kStaging) {
  const OffsetView view = system.view();
  if (view.runs.size() > kMostRuns) {
    throw Error(Status::kDevice, print("%zu runs are more than a device is given: %zu",
                                       view.runs.size(), kMostRuns));
  }
  number_pixels();
  Arena arena(memory_.data(), memory_.bytes(), stream_.get());
  arrays_ = std::make_unique<Arrays>(view, pixels_, arena);
  const Arrays& a = *arrays_;
  send(*stream_, a.runs, view.runs, staging_);
  send(*stream_, a.parts, view.parts, staging_);
  send(*stream_, a.places, view.part_places, staging_);
  send(*stream_, a.weights, view.weights, staging_);
  send(*stream_, a.diagonal, view.diagonal, staging_);
  const std::vector<std::uint64_t> starts(view.baseline_parts.begin(), view.baseline_parts.end());
  send(*stream_, a.baseline_starts, starts, staging_);
  send_runs();
}

void DeviceOffsets::number_pixels() {
  const TileMatrices& inverses = system_.inverses();
  first_pixels_.assign(inverses.size(), 0);
  std::vector<bool> shared(inverses.size());
  const auto number = [&](std::size_t tile) {
    first_pixels_[tile] = static_cast<std::uint32_t>(pixels_);
    pixels_ += inverses[tile].size();
  };
  for (const std::size_t tile : system_.view().shared) {
    shared[tile] = true;
    number(tile);
  }
  shared_pixels_ = pixels_;
  for (std::size_t tile = 0; tile < inverses.size(); ++tile) {
    if (!shared[tile]) number(tile);
  }
}

/// What a pixel, and what a part, has of the runs, and the pixels' matrices.
void DeviceOffsets::send_runs() {
  const OffsetView view = system_.view();
  std::vector<std::uint32_t> first_pixels(view.parts.size());
  std::vector<std::uint64_t> starts(pixels_ + 1, 0);
  std::vector<Symmetric3> inverses(pixels_);
  const auto over_runs = [&](const auto& use) {
    for (std::size_t tile = 0; tile < first_pixels_.size(); ++tile) {
      for (std::size_t k = view.tile_parts[tile]; k < view.tile_parts[tile + 1]; ++k) {
        const RunPart& part = view.parts[k];
        first_pixels[k] = first_pixels_[tile];
        for (std::uint64_t r = part.first_run; r < part.first_run + part.runs; ++r) {
          use(std::size_t{first_pixels_[tile]} + view.runs[r].place, r, part.baseline);
        }
      }
    }
  };
  over_runs([&](std::size_t pixel, std::uint64_t, std::uint32_t) { ++starts[pixel + 1]; });
  for (std::size_t p = 0; p < pixels_; ++p) starts[p + 1] += starts[p];
  std::vector<std::uint32_t> runs(view.runs.size()), baselines(view.runs.size());
  std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
  over_runs([&](std::size_t pixel, std::uint64_t run, std::uint32_t baseline) {
    const std::uint64_t at = next[pixel]++;
    runs[at] = static_cast<std::uint32_t>(run);
    baselines[at] = baseline;
  });
  for (std::size_t tile = 0; tile < first_pixels_.size(); ++tile) {
    const auto& own = system_.inverses()[tile];
    std::copy(own.begin(), own.end(), inverses.begin() + first_pixels_[tile]);
  }
  const Arrays& a = *arrays_;
  send(*stream_, a.pixel_starts, starts, staging_);
  send(*stream_, a.pixel_runs, runs, staging_);
  send(*stream_, a.pixel_baselines, baselines, staging_);
  send(*stream_, a.first_pixels, first_pixels, staging_);
  send(*stream_, a.inverses, inverses, staging_);
}

void DeviceOffsets::sum_shared() {
  Company* const company = system_.company();
  if (company == nullptr) return;
  std::vector<Stokes> values(shared_pixels_);
  fetch(*stream_, values, arrays_->pixels, staging_);
  std::vector<std::span<Stokes>> tiles;
  for (const std::size_t tile : system_.view().shared) {
    tiles.push_back(
        std::span(values).subspan(first_pixels_[tile], system_.inverses()[tile].size()));
  }
  company->begin(tiles);
  company->end(tiles);
  send(*stream_, arrays_->pixels, values, staging_);
}

void DeviceOffsets::apply(std::span<const double> a, std::span<double> out) {
  send(*stream_, arrays_->offsets, a, staging_);
  apply_there();
  fetch(*stream_, out, arrays_->out, staging_);
}

void DeviceOffsets::apply_there() {
  const Arrays& at = *arrays_;
  const auto pixels = static_cast<long>(pixels_), baselines = static_cast<long>(system_.size());
  {
    const DeviceStage stage(*stream_, "accumulate");
    kernels_.value(*stream_, baselines,
                   {.weights = at.weights, .offsets = at.offsets, .values = at.values});
    kernels_.accumulate(*stream_, pixels,
                        {.runs = at.runs,
                         .starts = at.pixel_starts,
                         .pixel_runs = at.pixel_runs,
                         .pixel_baselines = at.pixel_baselines,
                         .values = at.values,
                         .sums = at.pixels});
  }
  sum_shared();
  const DeviceStage stage(*stream_, "project");
  kernels_.weigh(*stream_, pixels, {.inverses = at.inverses, .pixels = at.pixels});
  kernels_.project(*stream_, static_cast<long>(system_.view().parts.size()),
                   {.runs = at.runs,
                    .parts = at.parts,
                    .first_pixels = at.first_pixels,
                    .pixels = at.pixels,
                    .seen = at.seen});
  kernels_.collect(*stream_, baselines,
                   {.seen = at.seen,
                    .starts = at.baseline_starts,
                    .places = at.places,
                    .weights = at.weights,
                    .diagonal = at.diagonal,
                    .offsets = at.offsets,
                    .out = at.out});
}

void DeviceOffsets::put(SolverState& state) {
  send(*stream_, arrays_->x, state.x, staging_);
  send(*stream_, arrays_->r, state.r, staging_);
  send(*stream_, arrays_->offsets, state.p, staging_);
}

void DeviceOffsets::get(SolverState& state) {
  for (auto* to : {&state.x, &state.r, &state.p}) to->resize(system_.size());
  fetch(*stream_, state.x, arrays_->x, staging_);
  fetch(*stream_, state.r, arrays_->r, staging_);
  fetch(*stream_, state.p, arrays_->offsets, staging_);
}

SolverVectors::Moved DeviceOffsets::fetch_sums() {
  std::vector<double> sums(2 * sum_blocks(system_.size()));
  fetch(*stream_, sums, arrays_->sums, staging_);
  Moved out;
  for (std::size_t k = 0; k < sums.size(); k += 2) {
    out.residual += sums[k];
    out.rho += sums[k + 1];
  }
  out.residual = sum_of(system_.company(), out.residual);
  out.rho = sum_of(system_.company(), out.rho);
  return out;
}

double DeviceOffsets::apply() {
  const Arrays& at = *arrays_;
  apply_there();
  kernels_.curve(
      *stream_, static_cast<long>(sum_blocks(system_.size())),
      {.count = static_cast<long>(system_.size()), .p = at.offsets, .q = at.out, .sums = at.sums});
  return fetch_sums().residual;
}

SolverVectors::Moved DeviceOffsets::move(double step) {
  const Arrays& at = *arrays_;
  kernels_.move(*stream_, static_cast<long>(sum_blocks(system_.size())),
                {.count = static_cast<long>(system_.size()),
                 .step = step,
                 .p = at.offsets,
                 .q = at.out,
                 .diagonal = at.diagonal,
                 .x = at.x,
                 .r = at.r,
                 .z = at.z,
                 .sums = at.sums});
  return fetch_sums();
}

void DeviceOffsets::turn(double factor) {
  kernels_.turn(*stream_, static_cast<long>(system_.size()),
                {.factor = factor, .z = arrays_->z, .p = arrays_->offsets});
}

}  // namespace skyloom
