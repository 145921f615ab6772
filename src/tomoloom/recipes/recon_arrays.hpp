// SPDX-License-Identifier: BSD-3-Clause
// Slices of line integrals that lie in memory: what a program or Python has at hand. Knows no
// files.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "loom/base/executor.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// Slices [row][columns][columns] of a stack of line integrals (any number of rows), by the job's
/// method, filter, iterations and backend. `theta` in radians, one an angle. `centres`: the axis's
/// column, one for all rows or one each; rows side by side with the same axis share tables. Values
/// that are no numbers, or beyond 1e20, count as 0, as in files. `before` is called before each
/// group of slices and each iteration, from the caller's thread; what it throws ends the work. The
/// same bytes on any number of threads. Returns what made the slices. Throws kScanMismatch where
/// angles and projections do not fit, kCentreRange; kUnsupported where the axis is tilted and has
/// several columns; what SliceEngine does.
Backend reconstruct_arrays(const ReconJob& how, const StackView& integrals, std::size_t columns,
                           std::span<const double> theta, std::span<const double> centres,
                           std::span<float> slices, Executor& executor,
                           const std::function<void()>& before);

}  // namespace tomoloom
