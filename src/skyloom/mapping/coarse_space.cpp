// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/coarse_space.hpp"

#include <algorithm>

namespace skyloom {
namespace {

constexpr std::size_t kMembers = 256;  // about; a stream has one at least
constexpr std::size_t kMostMembers = 1024;

}  // namespace

CoarseSpace::CoarseSpace(const OffsetSystem& system, const std::vector<std::vector<double>>& prior,
                         Executor& executor)
    : member_of_(system.size(), 0), free_(system.size()) {
  const std::span<const std::size_t> firsts = system.first_baselines();
  if (firsts.empty()) return;
  // members have about as many baselines each; where there are too many streams, some share one
  const std::size_t wanted = std::clamp(firsts.size(), kMembers, kMostMembers);
  const std::size_t length = std::max<std::size_t>(1, (system.size() + wanted - 1) / wanted);
  std::size_t inside = length;
  for (std::size_t s = 0; s < firsts.size(); ++s) {
    const std::size_t end = s + 1 < firsts.size() ? firsts[s + 1] : system.size();
    if (firsts.size() <= kMostMembers) inside = length;  // a stream begins a member
    for (std::size_t b = firsts[s]; b < end; ++b, ++inside) {
      if (inside >= length) {
        ++members_;
        inside = 0;
      }
      member_of_[b] = static_cast<std::uint32_t>(members_ - 1);
    }
  }
  for (std::size_t b = 0; b < free_.size(); ++b) free_[b] = system.diagonal()[b] > 0 ? 1 : 0;
  std::vector<double> matrix = system.coarse(member_of_, members_, executor);
  if (!prior.empty()) add_prior(system, prior, matrix);
  double trace = 0;
  for (std::size_t m = 0; m < members_; ++m) trace += matrix[m * members_ + m];
  const double lift = trace / static_cast<double>(members_ * members_);
  Array2D<double> diagonals(members_, members_, 0.0);
  for (std::size_t r = 0; r < members_; ++r) {
    for (std::size_t c = 0; c <= r; ++c) {
      double value = matrix[r * members_ + c];
      // A is 0 on a constant, which this makes a direction like others
      if (prior.empty() && !system.knows_constant()) value += lift;
      if (r == c && !(value > 0)) value = 1;  // all of its baselines are left out
      diagonals(r - c, c) = value;
    }
  }
  BandedSolver solver(std::move(diagonals));
  if (solver.positive_definite()) factor_ = std::move(solver);
}

void CoarseSpace::add_prior(const OffsetSystem& system,
                            const std::vector<std::vector<double>>& prior,
                            std::vector<double>& matrix) const {
  const std::span<const std::size_t> firsts = system.first_baselines();
  for (std::size_t s = 0; s < firsts.size(); ++s) {
    const std::vector<double>& lags = prior[s];
    const std::size_t end = s + 1 < firsts.size() ? firsts[s + 1] : system.size();
    for (std::size_t i = firsts[s]; i < end; ++i) {
      if (free_[i] == 0) continue;
      for (std::size_t k = 0; k < lags.size() && i + k < end; ++k) {
        if (free_[i + k] == 0) continue;
        matrix[member_of_[i] * members_ + member_of_[i + k]] += lags[k];
        if (k > 0) matrix[member_of_[i + k] * members_ + member_of_[i]] += lags[k];
      }
    }
  }
}

void CoarseSpace::add(std::span<const double> r, std::span<double> out) const {
  if (!factor_) return;
  std::vector<double> sums(members_, 0.0);
  for (std::size_t b = 0; b < r.size(); ++b) sums[member_of_[b]] += free_[b] != 0 ? r[b] : 0;
  factor_->solve(sums);
  for (std::size_t b = 0; b < out.size(); ++b) out[b] += free_[b] != 0 ? sums[member_of_[b]] : 0;
}

}  // namespace skyloom
