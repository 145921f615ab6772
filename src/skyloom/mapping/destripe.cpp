// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/destripe.hpp"

#include <algorithm>
#include <utility>

#include "skyloom/mapping/banded_cholesky.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBand = 20;  // of the preconditioner, at first; doubled where a pivot fails

/// A system with its prior: what the two verbs of the solver do, stream by stream.
class PriorSystem {
 public:
  PriorSystem(const OffsetSystem& system, const OffsetPrior& prior, Executor& executor)
      : system_(system), prior_(prior), executor_(executor), alone_(system.size()) {
    for (std::size_t b = 0; b < alone_.size(); ++b) {
      alone_[b] = system.diagonal()[b] > 0 ? 0 : 1;
    }
    factors_.resize(prior.size());
    executor.run(prior.size(), [&](std::size_t s) { factor(s); });
  }

  void apply(std::span<const double> x, std::span<double> out) const {
    system_.apply(x, out, executor_);
    executor_.run(prior_.size(), [&](std::size_t s) {
      const std::vector<double>& lags = prior_[s];
      if (lags.empty()) return;
      const auto [first, end] = range(s);
      for (std::size_t i = first; i < end; ++i) {
        if (alone_[i] != 0) continue;
        double sum = lags[0] * x[i];
        for (std::size_t k = 1; k < lags.size(); ++k) {
          if (i >= first + k) sum += lags[k] * x[i - k];
          if (i + k < end) sum += lags[k] * x[i + k];
        }
        out[i] += sum;
      }
    });
  }

  void precondition(std::span<const double> r, std::span<double> out) const {
    std::copy(r.begin(), r.end(), out.begin());
    executor_.run(factors_.size(), [&](std::size_t s) {
      const auto [first, end] = range(s);
      if (factors_[s].good()) {
        factors_[s].solve(out.subspan(first, end - first));
      } else {
        for (std::size_t i = first; i < end; ++i) {
          if (alone_[i] == 0) out[i] /= system_.diagonal()[i];
        }
      }
      for (std::size_t i = first; i < end; ++i) {
        if (alone_[i] != 0) out[i] = 0;
      }
    });
  }

 private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> range(std::size_t stream) const {
    const auto firsts = system_.first_baselines();
    return {firsts[stream], stream + 1 < firsts.size() ? firsts[stream + 1] : system_.size()};
  }

  void factor(std::size_t stream) {
    const std::vector<double>& lags = prior_[stream];
    if (lags.empty()) return;
    const auto [first, end] = range(stream);
    std::vector<double> diagonal(end - first);
    for (std::size_t i = first; i < end; ++i) {
      diagonal[i - first] = alone_[i] != 0 ? 1 : system_.diagonal()[i] + lags[0];
    }
    const std::span<const char> alone(alone_.data() + first, end - first);
    for (std::size_t band = kBand;; band *= 2) {  // a filter cut short may lose its sign
      const std::size_t n = std::min(band, lags.size());
      factors_[stream] = BandedCholesky(diagonal, std::span(lags).first(n), alone);
      if (factors_[stream].good() || n == lags.size()) return;
    }
  }

  const OffsetSystem& system_;
  const OffsetPrior& prior_;
  Executor& executor_;
  std::vector<char> alone_;  ///< baselines that are left out
  std::vector<BandedCholesky> factors_;
};

/// A is 0 on a constant: the one that gives offsets the mean 0, weighted by their samples.
void take_off_mean(std::span<const double> diagonal, std::vector<double>& x) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += diagonal[i] * x[i];
    all += diagonal[i];
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (diagonal[i] > 0) x[i] -= sum / all;
  }
}

}  // namespace

Solution destripe(const OffsetSystem& system, const OffsetPrior& prior, const SolveLimits& limits,
                  Executor& executor, const Observer& observer) {
  if (prior.empty()) {
    const std::span<const double> diagonal = system.diagonal();
    const auto by_diagonal = [&](std::span<const double> r, std::span<double> out) {
      for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = diagonal[i] > 0 ? r[i] / diagonal[i] : 0;
      }
    };
    Solution solution = conjugate_gradients(
        {.right_side = system.right_side(),
         .rounding = system.rounding(),
         .apply = [&](std::span<const double> x,
                      std::span<double> out) { system.apply(x, out, executor); },
         .precondition = by_diagonal},
        limits, executor, observer);
    take_off_mean(diagonal, solution.x);
    return solution;
  }
  const PriorSystem whole(system, prior, executor);
  return conjugate_gradients(
      {.right_side = system.right_side(),
       .rounding = system.rounding(),
       .apply = [&](std::span<const double> x, std::span<double> out) { whole.apply(x, out); },
       .precondition = [&](std::span<const double> r,
                           std::span<double> out) { whole.precondition(r, out); }},
      limits, executor, observer);
}

}  // namespace skyloom
