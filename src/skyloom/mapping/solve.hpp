// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients for the offsets, told of as they go.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

/// A x = b with A symmetric and not negative; both verbs write all of `out`.
struct LinearSystem {
  std::span<const double> right_side;
  double rounding = 0;  ///< |r| below which it is what rounding left of larger numbers
  /// So many of the first unknowns are another process's too, which tells of them in sums.
  std::size_t others = 0;
  std::function<void(std::span<const double> x, std::span<double> out)> apply;
  std::function<void(std::span<const double> r, std::span<double> out)> precondition;
  /// Of a sum over own unknowns, over those of all processes; none: alone.
  std::function<double(double)> total = {};
};

struct SolveLimits {
  double tolerance = 1e-9;       ///< |r| / |b|
  std::size_t iterations = 200;  ///< at most
};

struct Solution {
  std::vector<double> x;
  std::vector<double> residuals;  ///< |r| / |b| after each iteration
  bool converged = false;
};

/// Where an iteration stands: what the next one needs of all before it.
struct SolverState {
  std::vector<double> x, r, p;
  double rho = 0;
  std::vector<double> residuals;
};

/// The vectors of an iteration, wherever they are, and what an iteration does to them.
class SolverVectors {
 public:
  /// Sums over all unknowns, of all processes.
  struct Moved {
    double residual = 0;  ///< r r
    double rho = 0;       ///< r z
  };
  virtual ~SolverVectors() = default;
  /// x, r and p of a state, which it may be left without; get() gives them back.
  virtual void put(SolverState& state) = 0;
  virtual void get(SolverState& state) = 0;
  /// q = A p; p q.
  [[nodiscard]] virtual double apply() = 0;
  /// x += step p, r -= step q, z = M r, M being the preconditioner.
  [[nodiscard]] virtual Moved move(double step) = 0;
  /// p = z + factor p.
  virtual void turn(double factor) = 0;
};

/// Keeps states elsewhere, so that a run that ended can be gone on with. Of several processes all
/// call the same verbs in the same order.
class SolverMemory {
 public:
  virtual ~SolverMemory() = default;
  /// The state to go on from; nullopt: there is none of this system.
  [[nodiscard]] virtual std::optional<SolverState> recall() = 0;
  /// Whether it is time for save(), after an iteration.
  [[nodiscard]] virtual bool due() = 0;
  virtual void save(const SolverState& state) = 0;
  /// The iterations are about to end because somebody wants it.
  virtual void save_at_stop(const SolverState& state) = 0;
};

/// Starts from 0, or from what `memory` recalls: the same bytes at the end either way. 0 is the
/// answer where |b| is rounding. Of directions in which A is 0 the answer has anything. Sums have a
/// fixed order. Observer: progress "iterations, residual R" of as many
/// as there will be if it goes on to fall as it did, stop. `elsewhere`: where the iterations are
/// made, with the same verbs; none: here.
[[nodiscard]] Solution conjugate_gradients(const LinearSystem& system, const SolveLimits& limits,
                                           Executor& executor, const Observer& observer = {},
                                           SolverMemory* memory = nullptr,
                                           SolverVectors* elsewhere = nullptr);

}  // namespace skyloom
