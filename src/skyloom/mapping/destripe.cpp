// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/destripe.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "loom/linalg/banded_solver.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kPart = 4096;  // of what all threads share
constexpr std::size_t kBand = 20;    // of the preconditioner, at first; doubled where a pivot fails

/// A system with its prior: what the two verbs of the solver do, stream by stream.
class PriorSystem {
 public:
  PriorSystem(const OffsetSystem& system, const OffsetVerb& apply, const OffsetPrior& prior,
              Preconditioner how, Executor& executor)
      : system_(system), apply_(apply), prior_(prior), executor_(executor), alone_(system.size()) {
    for (std::size_t b = 0; b < alone_.size(); ++b) {
      alone_[b] = system.diagonal()[b] > 0 ? 0 : 1;
    }
    factors_.resize(prior.size());
    if (how == Preconditioner::kDiagonal) return;
    executor.run(prior.size(), [&](std::size_t s) { factor(s); });
  }

  void apply(std::span<const double> x, std::span<double> out) const {
    apply_(x, out);
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
      if (factors_[s]) {
        factors_[s]->solve(out.subspan(first, end - first));
      } else {
        const double own = prior_[s].empty() ? 0 : prior_[s][0];
        for (std::size_t i = first; i < end; ++i) {
          if (alone_[i] == 0) out[i] /= system_.diagonal()[i] + own;
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
    for (std::size_t band = kBand;; band *= 2) {  // a filter cut short may lose its sign
      const std::size_t n = std::min({band, lags.size(), end - first});
      BandedSolver solver(diagonals(stream, n));
      if (solver.positive_definite()) {
        factors_[stream] = std::move(solver);
        return;
      }
      if (n < band) return;
    }
  }

  /// The main diagonal of A and the filter, and below it the filter's lags 1 ... `count` - 1.
  [[nodiscard]] Array2D<double> diagonals(std::size_t stream, std::size_t count) const {
    const std::vector<double>& lags = prior_[stream];
    const auto [first, end] = range(stream);
    Array2D<double> out(count, end - first, 0.0);
    for (std::size_t i = first; i < end; ++i) {
      out(0, i - first) = alone_[i] != 0 ? 1 : system_.diagonal()[i] + lags[0];
      for (std::size_t k = 1; k < count && i + k < end; ++k) {
        if (alone_[i] == 0 && alone_[i + k] == 0) out(k, i - first) = lags[k];
      }
    }
    return out;
  }

  const OffsetSystem& system_;
  const OffsetVerb& apply_;
  const OffsetPrior& prior_;
  Executor& executor_;
  std::vector<char> alone_;                           ///< baselines that are left out
  std::vector<std::optional<BandedSolver>> factors_;  ///< none: its diagonal alone
};

/// A is 0 on a constant: the one that gives offsets the mean 0, weighted by their samples.
void take_off_mean(const OffsetSystem& system, std::vector<double>& x) {
  const std::span<const double> diagonal = system.diagonal();
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[0] += diagonal[i] * x[i];
    sums[1] += diagonal[i];
  }
  if (system.company() != nullptr) system.company()->sum(sums);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (diagonal[i] > 0) x[i] -= sums[0] / sums[1];
  }
}

}  // namespace

Solution destripe(const OffsetSystem& system, const OffsetPrior& prior, const SolveLimits& limits,
                  Executor& executor, const Observer& observer, SolverMemory* memory,
                  Preconditioner preconditioner, const Elsewhere& elsewhere) {
  const auto total = [&](double sum) { return sum_of(system.company(), sum); };
  const OffsetVerb here = [&](std::span<const double> x, std::span<double> out) {
    system.apply(x, out, executor);
  };
  const OffsetVerb& apply = elsewhere.apply ? elsewhere.apply : here;
  // a process without streams has no filters, whatever the others have
  const bool has_prior = sum_of(system.company(), prior.empty() ? 0 : 1) > 0;
  if (!has_prior) {
    const std::span<const double> diagonal = system.diagonal();
    const auto by_diagonal = [&](std::span<const double> r, std::span<double> out) {
      run_in_parts(executor, out.size(), kPart, [&](std::size_t first, std::size_t count) {
        for (std::size_t i = first; i < first + count; ++i) {
          out[i] = lane::over_diagonal(r[i], diagonal[i]);
        }
      });
    };
    Solution solution = conjugate_gradients({.right_side = system.right_side(),
                                             .rounding = system.rounding(),
                                             .apply = apply,
                                             .precondition = by_diagonal,
                                             .total = total},
                                            limits, executor, observer, memory, elsewhere.vectors);
    if (!system.knows_constant()) take_off_mean(system, solution.x);
    return solution;
  }
  const PriorSystem whole(system, apply, prior, preconditioner, executor);
  return conjugate_gradients(
      {.right_side = system.right_side(),
       .rounding = system.rounding(),
       .apply = [&](std::span<const double> x, std::span<double> out) { whole.apply(x, out); },
       .precondition = [&](std::span<const double> r,
                           std::span<double> out) { whole.precondition(r, out); },
       .total = total},
      limits, executor, observer, memory);
}

}  // namespace skyloom
