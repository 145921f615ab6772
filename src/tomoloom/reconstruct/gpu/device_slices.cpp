// SPDX-License-Identifier: BSD-3-Clause
// Three stages as on the CPU: projections -> samples, samples -> rows of the grid -> their
// transforms, columns of those -> rows of slices. Lines, rows and columns go through in batches, so
// that their transforms take little memory.
#include "tomoloom/reconstruct/gpu/device_slices.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "loom/device/device_stage.hpp"
#include "loom/device/send.hpp"
#include "tomoloom/reconstruct/gpu/slice_kernels.hpp"

namespace tomoloom {

using gpu::kElement;
using gpu::kHalfElement;

namespace {

/// Lines, rows, columns whose transforms go on at the same time. A row of the grid is filled by 32
/// threads, one sample after the other: those of 128 rows leave a large card idle.
constexpr std::size_t kLeastBatch = 128, kMostBatch = 2048;
/// Angles whose line integrals are copied before the card begins with them.
constexpr std::size_t kAngles = 128;
/// Slices that come back together, while the host copies those before.
constexpr std::size_t kSlices = 8;

std::size_t margin_of(const GridPlan& plan) { return static_cast<std::size_t>(plan.width) + 1; }
std::size_t row_elements_of(const GridPlan& plan) { return plan.grid + 2 * margin_of(plan); }

const gpu::SliceKernels& kernels_of(const DeviceInfo& info) {
  return info.emulated ? gpu::emulated_slice_kernels() : gpu::cuda_slice_kernels();
}

}  // namespace

struct DeviceSlices::Arrays {
  double* slope;
  std::int32_t* corner;
  float *weight, *coef, *scale_u, *scale_v, *line_twiddles, *grid_twiddles;
  float *projections, *lines, *samples, *rows, *half, *work[2], *out;

  Arrays(const GridPlan& p, std::size_t batch, std::size_t line_twiddle_count,
         std::size_t grid_twiddle_count, Arena& arena)
      : slope(arena.take<double>(p.slope.size())),
        corner(arena.take<std::int32_t>(p.corner.size())),
        weight(arena.take<float>(p.weight.size())),
        coef(arena.take<float>(p.coef.size())),
        scale_u(arena.take<float>(p.scale_u.size())),
        scale_v(arena.take<float>(p.scale_v.size())),
        line_twiddles(arena.take<float>(line_twiddle_count)),
        grid_twiddles(arena.take<float>(grid_twiddle_count)),
        projections(arena.take<float>(p.angles * kSlicesPerGroup * p.columns)),
        lines(arena.take<float>(kAngles * p.columns * kElementFloats)),
        samples(arena.take<float>(2 * p.angles * p.radii * kElementFloats)),
        rows(arena.take<float>(batch * row_elements_of(p) * kElementFloats)),
        half(arena.take<float>(p.grid * p.image * kElementFloats)),
        out(arena.take<float>(kSlicesPerGroup * p.image * p.image)) {
    const std::size_t elements = std::max(kAngles * p.padded, batch * p.grid);
    for (float*& one : work) one = arena.take<float>(elements * kElementFloats);
  }
};

DeviceSlices::~DeviceSlices() = default;

namespace {

/// Of arrays over batches of so many.
template <class Arrays>
std::size_t bytes_with(const GridPlan& plan, std::size_t batch) {
  Arena measure;
  const fft::Plan<float> line(plan.padded, fft::Sign::kPlus), grid(plan.grid, fft::Sign::kMinus);
  const Arrays unused(plan, batch, line.twiddle_count(), grid.twiddle_count(), measure);
  constexpr std::size_t kRest = 4096;  // its pieces begin at multiples of 256
  return measure.used() + kRest;
}

}  // namespace

/// The most that half of what is free has room for.
std::size_t DeviceSlices::batch_for(const GridPlan& plan, std::size_t free_bytes) {
  std::size_t batch = std::min(kMostBatch, std::max(plan.grid, kLeastBatch));
  while (batch > kLeastBatch && bytes_with<Arrays>(plan, batch) > free_bytes / 2) {
    batch = std::max(batch / 2, kLeastBatch);
  }
  return batch;
}

std::size_t DeviceSlices::least_bytes(const GridPlan& plan) {
  return bytes_with<Arrays>(plan, kLeastBatch);
}

std::size_t DeviceSlices::host_bytes(const GridPlan& plan) noexcept {
  return kSlicesPerGroup * sizeof(float) *
         std::max(plan.angles * plan.columns, plan.image * plan.image);
}

DeviceSlices::DeviceSlices(const GridPlan& plan, std::unique_ptr<Device> device)
    : plan_(plan),
      device_(std::move(device)),
      info_(device_->info()),
      batch_(batch_for(plan, info_.free_bytes)),
      kernels_(kernels_of(info_)),
      stream_(device_->make_stream()),
      line_(plan.padded, fft::Sign::kPlus, info_),
      grid_(plan.grid, fft::Sign::kMinus, info_),
      memory_(*device_, bytes_with<Arrays>(plan, batch_)),
      staging_(*device_, host_bytes(plan)) {
  Arena arena(memory_.data(), memory_.bytes(), stream_.get());
  arrays_ =
      std::make_unique<Arrays>(plan, batch_, line_.twiddle_count(), grid_.twiddle_count(), arena);
  send_plan();
}

void DeviceSlices::send_plan() {
  const Arrays& a = *arrays_;
  send(*stream_, a.slope, plan_.slope, staging_);
  send(*stream_, a.corner, plan_.corner, staging_);
  send(*stream_, a.weight, plan_.weight, staging_);
  send(*stream_, a.coef, plan_.coef, staging_);
  send(*stream_, a.scale_u, plan_.scale_u, staging_);
  send(*stream_, a.scale_v, plan_.scale_v, staging_);
  line_.send(*stream_, a.line_twiddles, staging_);
  grid_.send(*stream_, a.grid_twiddles, staging_);
}

void DeviceSlices::make_samples(std::size_t slices, const LineFeed& feed) {
  const Arrays& a = *arrays_;
  const std::size_t columns = plan_.columns;
  for (std::size_t first = 0; first < plan_.angles; first += kAngles) {
    const std::size_t angles = std::min(kAngles, plan_.angles - first);
    feed(first, angles, a.projections, *stream_, staging_);
    const DeviceStage stage(*stream_, "projections");
    const auto count = static_cast<long>(angles);
    const auto n = static_cast<long>(columns), radii = static_cast<long>(plan_.radii);
    kernels_.gather(*stream_, count * n * kElement,
                    {.columns = n,
                     .slices = static_cast<long>(slices),
                     .projections = a.projections + first * slices * columns,
                     .lines = a.lines});
    const float* const spectra =
        line_.run(*stream_, count, {.data = a.lines, .line = n * kElement, .count = n}, a.work);
    kernels_.weigh(*stream_, count * radii * kHalfElement,
                   {.padded = static_cast<long>(plan_.padded),
                    .radii = radii,
                    .spectra = spectra,
                    .coef = a.coef + 2 * first * plan_.radii,
                    .samples = a.samples + 2 * first * plan_.radii * kElementFloats});
  }
}

void DeviceSlices::make_half() {
  const DeviceStage stage(*stream_, "grid");
  const Arrays& a = *arrays_;
  const std::size_t pad = margin_of(plan_), stride = row_elements_of(plan_) * kElementFloats;
  const auto grid = static_cast<long>(plan_.grid), image = static_cast<long>(plan_.image);
  for (std::size_t first = 0; first < plan_.grid; first += batch_) {
    const auto count = static_cast<long>(std::min(batch_, plan_.grid - first));
    const long from = static_cast<long>(first) - grid / 2;
    kernels_.spread(*stream_, count * kElement,
                    {.view = {.angles = plan_.angles,
                              .radii = plan_.radii,
                              .slope = a.slope,
                              .corner = a.corner,
                              .weight = a.weight,
                              .samples = a.samples,
                              .width = plan_.width},
                     .rows = {.first = from,
                              .end = from + count,
                              .data = a.rows,
                              .stride = stride,
                              .origin = plan_.grid / 2 + pad},
                     .grid = grid,
                     .periodic = plan_.periodic ? 1 : 0});
    const float* const rows = grid_.run(
        *stream_, count,
        {.data = a.rows + pad * kElementFloats, .line = static_cast<long>(stride), .count = grid},
        a.work);
    kernels_.crop(*stream_, count * image * kElement,
                  {.grid = grid,
                   .first = static_cast<long>(plan_.first),
                   .image = image,
                   .scale = a.scale_v,
                   .rows = rows,
                   .half = a.half + first * plan_.image * kElementFloats});
  }
}

void DeviceSlices::make_slices(std::size_t slices) {
  const DeviceStage stage(*stream_, "slices");
  const Arrays& a = *arrays_;
  const auto grid = static_cast<long>(plan_.grid), image = static_cast<long>(plan_.image);
  for (std::size_t first = 0; first < plan_.image; first += batch_) {
    const auto count = static_cast<long>(std::min(batch_, plan_.image - first));
    const float* const columns = grid_.run(
        *stream_, count,
        {.data = a.half + first * kElementFloats, .line = kElement, .step = image, .count = grid},
        a.work);
    kernels_.scatter(*stream_, count * static_cast<long>(slices) * image,
                     {.grid = grid,
                      .first = static_cast<long>(plan_.first),
                      .image = image,
                      .slices = static_cast<long>(slices),
                      .column = static_cast<long>(first),
                      .scale = a.scale_u,
                      .columns = columns,
                      .out = a.out});
  }
}

void DeviceSlices::fetch_slices(std::size_t count, const VolumeView& slices, Executor& executor) {
  const std::size_t n = plan_.image, slice = n * n;
  auto* const host = static_cast<float*>(staging_.data());
  const auto ask = [&](std::size_t first) {
    if (first >= count) return;
    stream_->copy_out(host + first * slice, arrays_->out + first * slice,
                      std::min(kSlices, count - first) * slice * sizeof(float));
  };
  ask(0);
  for (std::size_t first = 0; first < count; first += kSlices) {
    stream_->synchronize();
    ask(first + kSlices);
    const std::size_t rows = std::min(kSlices, count - first) * n;
    run_in_parts(executor, rows, 1, [&](std::size_t begin, std::size_t part) {
      for (std::size_t k = first * n + begin; k < first * n + begin + part; ++k) {
        std::copy_n(host + k * n, n,
                    slices.data + k / n * slices.slice_stride + k % n * slices.row_stride);
      }
    });
  }
}

void DeviceSlices::reconstruct(const StackView& projections, const VolumeView& slices,
                               Executor& executor) {
  const std::size_t columns = plan_.columns, pixels = projections.slices * columns;
  const auto bring = [&](std::size_t first, std::size_t count, float* all, Stream& stream,
                         HostMemory& staging) {
    const DeviceStage stage(stream, "lines");
    auto* const host = static_cast<float*>(staging.data());
    executor.run(count, [&](std::size_t k) {
      const std::size_t angle = first + k;
      for (std::size_t s = 0; s < projections.slices; ++s) {
        std::copy_n(
            projections.data + angle * projections.angle_stride + s * projections.slice_stride,
            columns, host + angle * pixels + s * columns);
      }
    });
    stream.copy_in(all + first * pixels, host + first * pixels, count * pixels * sizeof(float));
  };
  reconstruct(projections.slices, bring, slices, executor);
}

void DeviceSlices::reconstruct(std::size_t count, const LineFeed& feed, const VolumeView& slices,
                               Executor& executor) {
  make_samples(count, feed);
  make_half();
  make_slices(count);
  // the staging memory is written by the host again when all of it has come back
  fetch_slices(count, slices, executor);
}

}  // namespace tomoloom
