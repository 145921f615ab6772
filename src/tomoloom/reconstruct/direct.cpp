// SPDX-License-Identifier: BSD-3-Clause
// Three stages, each a set of tasks that write what is their own alone: projections -> samples,
// samples -> rows of the grid -> their transforms, columns of those -> rows of slices.
#include "tomoloom/reconstruct/direct.hpp"

#include <algorithm>
#include <array>

#include "loom/simd/isa_tables.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(GridKernels, kGrid, grid_kernels_of)

const GridKernels& grid_kernels(Isa isa) { return grid_kernels_of(isa); }

namespace {

constexpr std::size_t kAnglesPerTask = 4, kSliceRowsPerTask = 4;

std::size_t margin(const GridPlan& plan) { return static_cast<std::size_t>(plan.width) + 1; }
std::size_t row_elements(const GridPlan& plan) { return plan.grid + 2 * margin(plan); }

}  // namespace

std::unique_ptr<Buffer<float>> BorrowedFloats::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      auto piece = std::move(free_.back());
      free_.pop_back();
      return piece;
    }
  }
  return std::make_unique<Buffer<float>>(size_);
}

DirectEngine::DirectEngine(const GridPlan& plan, Isa isa)
    : plan_(plan),
      kernels_(grid_kernels(isa)),
      line_(plan.padded, fft::Sign::kPlus, isa),
      grid_(plan.grid, fft::Sign::kMinus, isa),
      samples_(plan.angles * 2 * plan.radii * kElementFloats),
      half_(plan.grid * plan.image * kElementFloats),
      line_work_(plan.columns * kElementFloats + line_.work_size()),
      row_work_(kRowsPerTask * row_elements(plan) * kElementFloats + grid_.work_size()),
      column_work_(grid_.work_size()) {}

std::size_t DirectEngine::thread_bytes(const GridPlan& plan) noexcept {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;  // what a piece may be rounded up to
  const std::size_t line = plan.columns + 2 * plan.padded, column = 2 * plan.grid;
  const std::size_t rows = kRowsPerTask * row_elements(plan) + 2 * plan.grid;
  return (line + column + rows) * kElementFloats * sizeof(float) + 3 * kHugePage;
}

void DirectEngine::reconstruct(const StackView& projections, const VolumeView& slices,
                               Executor& executor) {
  transform_projections(projections, {0, plan_.angles}, executor);
  fill_grid({0, plan_.grid}, executor);
  transform_columns(slices, projections.slices, {0, plan_.image}, executor);
}

void DirectEngine::transform_projections(const StackView& projections, const Stretch& angles,
                                         Executor& executor) {
  const std::size_t tasks = (angles.size() + kAnglesPerTask - 1) / kAnglesPerTask;
  executor.run(tasks, [&](std::size_t task) {
    line_work_.with([&](float* work) {
      float* const line = work;
      work += plan_.columns * kElementFloats;
      const std::size_t end = std::min(angles.end, angles.first + (task + 1) * kAnglesPerTask);
      for (std::size_t a = angles.first + task * kAnglesPerTask; a < end; ++a) {
        std::array<const float*, kSlicesPerGroup> rows{};
        for (std::size_t s = 0; s < projections.slices; ++s) {
          rows[s] = projections.data + (a - angles.first) * projections.angle_stride +
                    s * projections.slice_stride;
        }
        kernels_.gather(rows.data(), projections.slices, plan_.columns, line);
        const float* const spectrum = line_.run(line, 1, plan_.columns, work);
        kernels_.weigh(spectrum, plan_.padded, &plan_.coef[2 * plan_.point(a, 0)], plan_.radii,
                       samples_.data() + 2 * plan_.point(a, 0) * kElementFloats);
      }
    });
  });
}

void DirectEngine::fill_grid(const Stretch& rows, Executor& executor) {
  const std::size_t all = (plan_.grid + kRowsPerTask - 1) / kRowsPerTask;
  std::vector<std::size_t> blocks;
  for (std::size_t task = 0; task < all; ++task) {
    // from the middle outward: the middle has most of the samples, and late tasks should be short
    const std::size_t away = (task + 1) / 2, middle = all / 2;
    const std::size_t block = (task % 2 == 0 ? middle + away : middle - away) % all;
    const std::size_t row = block * kRowsPerTask;
    if (row >= rows.first && row < rows.end) blocks.push_back(block);
  }
  executor.run(blocks.size(), [&](std::size_t task) {
    row_work_.with([&](float* work) { fill_rows(blocks[task], work); });
  });
}

void DirectEngine::fill_rows(std::size_t block, float* work) {
  const std::size_t stride = row_elements(plan_) * kElementFloats, pad = margin(plan_);
  const auto half = static_cast<long>(plan_.grid / 2);
  const std::size_t first = block * kRowsPerTask;
  const std::size_t count = std::min(kRowsPerTask, plan_.grid - first);
  std::fill_n(work, count * stride, 0.0F);
  const SpreadView view{.angles = plan_.angles,
                        .radii = plan_.radii,
                        .slope = plan_.slope.data(),
                        .corner = plan_.corner.data(),
                        .weight = plan_.weight.data(),
                        .samples = samples_.data(),
                        .width = plan_.width};
  const GridRows rows{.first = static_cast<long>(first) - half,
                      .end = static_cast<long>(first + count) - half,
                      .data = work,
                      .stride = stride,
                      .origin = plan_.grid / 2 + pad};
  kernels_.spread(view, rows, 0);
  if (plan_.periodic) {
    const auto grid = static_cast<long>(plan_.grid), reach = static_cast<long>(pad);
    if (rows.first + grid < half + reach) kernels_.spread(view, rows, grid);
    if (rows.end - grid > -half - reach) kernels_.spread(view, rows, -grid);
  }
  for (std::size_t r = 0; r < count; ++r) {
    float* const row = work + r * stride;
    if (plan_.periodic) {
      for (std::size_t i = 0; i < pad * kElementFloats; ++i) {
        row[plan_.grid * kElementFloats + i] += row[i];
        row[pad * kElementFloats + i] += row[(plan_.grid + pad) * kElementFloats + i];
      }
    }
    const float* const line =
        grid_.run(row + pad * kElementFloats, 1, plan_.grid, work + kRowsPerTask * stride);
    kernels_.crop(line, plan_.grid, plan_.first, plan_.scale_v.data(), plan_.image,
                  half_.data() + (first + r) * plan_.image * kElementFloats);
  }
}

void DirectEngine::transform_columns(const VolumeView& slices, std::size_t count,
                                     const Stretch& cut, Executor& executor) {
  const std::size_t tasks = (cut.size() + kSliceRowsPerTask - 1) / kSliceRowsPerTask;
  executor.run(tasks, [&](std::size_t task) {
    column_work_.with([&](float* work) {
      const std::size_t end = std::min(cut.end, cut.first + (task + 1) * kSliceRowsPerTask);
      for (std::size_t k = cut.first + task * kSliceRowsPerTask; k < end; ++k) {
        const float* const line =
            grid_.run(half_.data() + k * kElementFloats, plan_.image, plan_.grid, work);
        std::array<float*, kSlicesPerGroup> rows{};
        for (std::size_t s = 0; s < count; ++s) {
          rows[s] = slices.data + s * slices.slice_stride + (cut.end - 1 - k) * slices.row_stride;
        }
        kernels_.scatter(line, plan_.grid, plan_.first, plan_.scale_u.data(), plan_.image,
                         rows.data(), count);
      }
    });
  });
}

}  // namespace tomoloom
