// SPDX-License-Identifier: BSD-3-Clause
// The second level of a preconditioner: offsets that follow one another in a stream move together,
// and that small system is solved as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loom/linalg/banded_solver.hpp"
#include "skyloom/mapping/offset_system.hpp"

namespace skyloom {

class CoarseSpace {
 public:
  /// `prior`: the inverse covariance of each stream's offsets, or empty. Of several processes each
  /// has a space of its own offsets: no numbers travel.
  CoarseSpace(const OffsetSystem& system, const std::vector<std::vector<double>>& prior,
              Executor& executor);

  /// out += Z (Z^T A Z)^-1 Z^T r; nothing where that has no factor.
  void add(std::span<const double> r, std::span<double> out) const;
  [[nodiscard]] std::size_t members() const noexcept { return members_; }

 private:
  void add_prior(const OffsetSystem& system, const std::vector<std::vector<double>>& prior,
                 std::vector<double>& matrix) const;

  std::size_t members_ = 0;
  std::vector<std::uint32_t> member_of_;  ///< of each baseline
  std::vector<char> free_;                ///< baselines that are not left out
  std::optional<BandedSolver> factor_;
};

}  // namespace skyloom
