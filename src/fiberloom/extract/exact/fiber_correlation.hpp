// SPDX-License-Identifier: BSD-3-Clause
// How far the errors of neighbouring fibres go together, once each fibre is decorrelated by itself
// (docs/fiberloom/algorithm.md, "Correlation of neighbouring fibres").
#pragma once

#include "fiberloom/extract/exact/workspace.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {
struct ExtractResult;
}

namespace fiberloom::exact {

struct BundleGeometry;
struct BundleWorkspace;
struct FrameContext;

/// Large: not in an arena.
struct FiberCorrelationWork {
  GrowBuffer<double> inverse_root, next_root;  ///< S^(-1/2) of a fibre and of the next
  GrowBuffer<double> inverse, coupling, half_way, whitened, transposed, even, even2, product;
};

/// Half-width of what is kept of S^(-1/2), for a band of S and couplings that fall by `decay` from
/// bin to bin.
[[nodiscard]] int inverse_root_width(int band, double decay);
/// The same of the correlations while they are computed.
[[nodiscard]] int correlation_width(int ndiag);

/// Writes result.fiber_correlation of the bundle's fibres that were asked for together with the
/// next; `band`: of S. N must still be there.
void correlate_fibers(const FrameContext& frame, const BundleGeometry& geometry, int band,
                      BundleWorkspace& work, ExtractResult& result);

/// Correlations of bins without information become 0, and those that could not be computed, whose
/// number it returns.
[[nodiscard]] std::size_t clear_lost_correlations(ExtractResult& result);

}  // namespace fiberloom::exact
