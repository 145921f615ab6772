// SPDX-License-Identifier: BSD-3-Clause
// The rotation axis where a slice has the fewest different values (Donath et al. 2006).
#pragma once

#include <functional>
#include <span>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// The column in [low, high] whose slice, of the first row of `rows`, has the least entropy of its
/// histogram within the circle: needs no half turn, and a body of few materials. To about 0.05
/// columns where there is one least entropy. A sinogram that is moved is one with another axis, so
/// that the slices of 32 axes are made as a group. `before` is called before each group. O(columns)
/// slices.
[[nodiscard]] double find_centre_by_entropy(const StackView& rows, std::size_t columns,
                                            std::span<const double> theta, double low, double high,
                                            Executor& executor,
                                            const std::function<void()>& before = {});

}  // namespace tomoloom
