// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/stripe_search.hpp"

#include <algorithm>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/simd/isa_tables.hpp"
#include "tomoloom/prepare/stripe_search_kernels.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(StripeSearchKernels, kStripeSearch, stripe_search_kernels_of)

const StripeSearchKernels& stripe_search_kernels(Isa isa) { return stripe_search_kernels_of(isa); }

namespace {

/// One row of the detector after the other, in memory of its own.
class RowSearch {
 public:
  RowSearch(std::span<const float> projections, const StackShape& shape, const StripeSearch& search,
            const WindowWalk& walk, Isa isa)
      : projections_(projections),
        shape_(shape),
        search_(search),
        walk_(walk),
        kernels_(stripe_search_kernels(isa)),
        step_((shape.columns + kRankLanes - 1) / kRankLanes * kRankLanes),
        across_(shape.angles * step_),
        along_(shape.angles * step_),
        line_(step_),
        ratios_(step_),
        window_(walk.size * kRankLanes) {}

  void run(std::size_t row, std::span<float> weights) {
    for (std::size_t a = 0; a < shape_.angles; ++a) add_rows(a, row);
    for (std::size_t a = 0; a < shape_.angles; ++a) find_ratios(a);
    for (std::size_t x = 0; x < shape_.columns; x += kRankLanes) {
      kernels_.ranks(across_.data() + x, step_, walk_, search_.size - 1,
                     std::min(kRankLanes, shape_.columns - x), window_.data(),
                     weights.data() + row * shape_.columns + x, shape_.rows * shape_.columns);
    }
  }

 private:
  /// Slopes of an angle, summed over three rows and over all of the radius.
  void add_rows(std::size_t a, std::size_t row) {
    float* const across = across_.data() + a * step_;
    float* const along = along_.data() + a * step_;
    const auto reach = static_cast<std::ptrdiff_t>(search_.radius);
    const auto add = [&](std::ptrdiff_t offset, float* sums) {
      const std::size_t at = MirroredWindow::place(row, offset, shape_.rows);
      kernels_.add_slopes(projections_.data() + (a * shape_.rows + at) * shape_.columns,
                          shape_.columns, sums);
    };
    std::fill_n(across, step_, 0.0F);
    for (std::ptrdiff_t d = -1; d <= 1; ++d) add(d, across);
    std::copy_n(across, step_, along);
    for (std::ptrdiff_t d = 2; d <= reach; ++d) {
      add(-d, along);
      add(d, along);
    }
  }
  /// In the place of the sums across, which no other angle needs.
  void find_ratios(std::size_t a) {
    const auto reach = static_cast<std::ptrdiff_t>(search_.radius);
    std::fill(line_.begin(), line_.end(), 0.0F);
    for (std::ptrdiff_t d = -reach; d <= reach; ++d) {
      kernels_.add_values(along_.data() + MirroredWindow::place(a, d, shape_.angles) * step_, step_,
                          line_.data());
    }
    float* const across = across_.data() + a * step_;
    kernels_.ratios(line_.data(), across, shape_.columns, search_.radius, ratios_.data());
    std::copy_n(ratios_.data(), shape_.columns, across);
  }

  std::span<const float> projections_;
  StackShape shape_;
  StripeSearch search_;
  WindowWalk walk_;
  const StripeSearchKernels& kernels_;
  std::size_t step_;  ///< between lines, a multiple of kRankLanes
  Buffer<float> across_, along_;
  std::vector<float> line_, ratios_, window_;
};

}  // namespace

void stripe_weights(std::span<const float> projections, const StackShape& shape,
                    const StripeSearch& search, std::span<float> weights, Executor& executor,
                    Isa isa) {
  const MirroredWindow window(shape.angles, search.size);
  run_in_parts(executor, shape.rows, 1, [&](std::size_t first, std::size_t count) {
    RowSearch rows(projections, shape, search, window.walk(), isa);
    for (std::size_t row = first; row < first + count; ++row) rows.run(row, weights);
  });
}

}  // namespace tomoloom
