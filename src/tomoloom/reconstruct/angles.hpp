// SPDX-License-Identifier: BSD-3-Clause
// How much of the half turn each projection stands for.
#pragma once

#include <span>
#include <vector>

#include "tomoloom/reconstruct/geometry.hpp"

namespace tomoloom {

/// For each angle (radians, any order, any number of turns) half the way to its neighbours on both
/// sides, modulo pi: the weights of the integral over a half turn. Angles that see the same line
/// share its weight. A gap above four times the usual one (the one that half of what the scan
/// covers lies in gaps up to) is a missing wedge: nothing stands for it, and its edges count as if
/// the usual gap followed. Of one angle the weight is pi.
[[nodiscard]] std::vector<double> angle_weights(std::span<const double> theta);

/// angle_weights() of a geometry, each multiplied by the geometry's own weight, together as much as
/// without those. Angles of weight 0 are not there: their neighbours stand for what they saw.
[[nodiscard]] std::vector<double> angle_shares(const Geometry& geometry);

}  // namespace tomoloom
