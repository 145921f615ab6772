// SPDX-License-Identifier: BSD-3-Clause
// From windows and guarded bins to the rows of the result.
#pragma once

#include "fiberloom/extract/exact/bundle.hpp"

namespace fiberloom::exact {

/// Writes flux, ivar, xflux and resolution of a fibre (result row `row`) from work.root; returns
/// the number of its bins without information.
std::size_t scatter_fiber(const FrameContext& frame, const Windows& windows,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result);

/// Writes chi2pix and pixmask_fraction of the bundle's requested fibres.
void scatter_diagnostics(const FrameContext& frame, const BundleGeometry& geometry,
                         const BundleWorkspace& work, ExtractResult& result);

/// Largest difference of neighbouring windows at the bins beside their common border, where each
/// has the other's answer in its skirt: in units of sigma for Q x, relative times Q x for Q 1.
[[nodiscard]] double seam_difference(const Windows& windows, int nd, const RootBuffers& root);

}  // namespace fiberloom::exact
