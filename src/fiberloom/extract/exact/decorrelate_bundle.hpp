// SPDX-License-Identifier: BSD-3-Clause
// Marginal precisions and roots of a bundle, with bands and skirts as wide as they must be.
#pragma once

#include "fiberloom/extract/exact/bundle.hpp"

namespace fiberloom::exact {

/// Writes flux, ivar, xflux and resolution of the fibres that were asked for, from the equations
/// and their solution in `work`. Bands and skirts are widened along fixed ladders until neither can
/// be seen any more; beside defects, where a small part of the bins asks for it, for these bins
/// alone.
BundleReport decorrelate_bundle(const FrameContext& frame, const BundleGeometry& geometry,
                                const SolveReport& solved, BundleWorkspace& work,
                                ExtractResult& result);

}  // namespace fiberloom::exact
