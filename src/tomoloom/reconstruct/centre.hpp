// SPDX-License-Identifier: BSD-3-Clause
// Where the rotation axis is projected to, from the sinograms themselves.
#pragma once

#include <optional>
#include <span>

#include "loom/base/executor.hpp"
#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// Rows that find_centre() takes at once.
inline constexpr std::size_t kCentreRows = 8;

/// The axis's column in [low, high], to about 0.02 pixels where the data allow; up to kCentreRows
/// rows of the scan as a stack, all finite. nullopt: the angles do not cover a half turn.
///
/// Each projection, mirrored at the axis, is the one half a turn later. The whole turn's transform
/// F(m, k) over angle and column vanishes where |m| > radius |k| (Edholm, Lewitt & Lindholm 1986;
/// Vo et al. 2014 look for the axis there); with a wrong axis it does not. The energy beyond, for
/// ALL axes c, is E(c) = const + 2 Re sum_k D_k exp(-4 pi i k c / P) with D_k = sum over |m| >
/// radius k of (-1)^m conj(F(m, k)) F(m, -k) of the half turn: one transform in place of one for
/// each trial. Stripes are at m = 0 and do not matter. O(rows angles frequencies).
[[nodiscard]] std::optional<double> find_centre(const StackView& rows, std::size_t columns,
                                                std::span<const double> theta, double low,
                                                double high, Executor& executor);

/// The same from pairs of projections half a turn apart, by phase correlation (Kuglin & Hines 1975)
/// of the one with the mirror of the other, all rows and up to kCentrePairs pairs together: needs
/// no more than two projections, knows nothing of those between them. nullopt: no two are within
/// kPairDegrees of half a turn.
[[nodiscard]] std::optional<double> find_centre_of_pairs(const StackView& rows, std::size_t columns,
                                                         std::span<const double> theta, double low,
                                                         double high);

inline constexpr std::size_t kCentrePairs = 8;
inline constexpr double kPairDegrees = 2;

}  // namespace tomoloom
