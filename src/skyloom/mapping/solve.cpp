// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "skyloom/mapping/run_lane.hpp"

namespace skyloom {
namespace {

constexpr auto kBlock = static_cast<std::size_t>(kSumBlock);

double dot(const LinearSystem& system, std::span<const double> a, std::span<const double> b,
           Executor& executor) {
  a = a.subspan(system.others);
  b = b.subspan(system.others);
  const std::size_t blocks = (a.size() + kBlock - 1) / kBlock;
  std::vector<double> sums(blocks, 0.0);
  executor.run(blocks, [&](std::size_t k) {
    const std::size_t end = std::min(a.size(), (k + 1) * kBlock);
    double sum = 0;
    for (std::size_t i = k * kBlock; i < end; ++i) sum += a[i] * b[i];
    sums[k] = sum;
  });
  double all = 0;
  for (const double s : sums) all += s;
  return system.total ? system.total(all) : all;
}

/// For each i of [0, n): change(i), which writes what is i's own.
template <class Change>
void over_all(std::size_t n, Executor& executor, const Change& change) {
  executor.run((n + kBlock - 1) / kBlock, [&](std::size_t k) {
    const std::size_t end = std::min(n, (k + 1) * kBlock);
    for (std::size_t i = k * kBlock; i < end; ++i) change(i);
  });
}

/// Here, with the system's verbs.
class OwnVectors final : public SolverVectors {
 public:
  OwnVectors(const LinearSystem& system, Executor& executor)
      : system_(system),
        executor_(executor),
        z_(system.right_side.size()),
        q_(system.right_side.size()) {}
  void put(SolverState& state) override {
    at_.x = std::move(state.x);
    at_.r = std::move(state.r);
    at_.p = std::move(state.p);
  }
  void get(SolverState& state) override {
    state.x = at_.x;
    state.r = at_.r;
    state.p = at_.p;
  }
  double apply() override {
    system_.apply(at_.p, q_);
    return dot(system_, at_.p, q_, executor_);
  }
  Moved move(double step) override {
    over_all(z_.size(), executor_, [&](std::size_t i) {
      at_.x[i] += step * at_.p[i];
      at_.r[i] += -step * q_[i];
    });
    system_.precondition(at_.r, z_);
    return {dot(system_, at_.r, at_.r, executor_), dot(system_, at_.r, z_, executor_)};
  }
  void turn(double factor) override {
    over_all(z_.size(), executor_, [&](std::size_t i) { at_.p[i] = z_[i] + factor * at_.p[i]; });
  }

 private:
  const LinearSystem& system_;
  Executor& executor_;
  SolverState at_;
  std::vector<double> z_, q_;
};

/// x = 0, or where another run ended.
SolverState first_state(const LinearSystem& system, Executor& executor, SolverMemory* memory) {
  if (auto recalled = memory != nullptr ? memory->recall() : std::nullopt) {
    return std::move(*recalled);
  }
  const std::size_t n = system.right_side.size();
  SolverState at;
  at.x.assign(n, 0.0);
  at.r.assign(system.right_side.begin(), system.right_side.end());
  at.p.resize(n);
  system.precondition(at.r, at.p);
  at.rho = dot(system, at.r, at.p, executor);
  return at;
}

/// How far it is: the residual, and how many iterations there will be if it goes on to fall as it
/// did so far.
void tell(const Observer& observer, const std::vector<double>& residuals,
          const SolveLimits& limits) {
  if (!observer.progress) return;
  const std::size_t done = residuals.size();
  const double last = residuals.back(), fallen = std::log(last);
  double all = static_cast<double>(limits.iterations);
  if (fallen < 0 && limits.tolerance > 0 && limits.tolerance < 1) {
    all = std::min(all, std::ceil(static_cast<double>(done) * std::log(limits.tolerance) / fallen));
  }
  const std::size_t total = std::max(done, static_cast<std::size_t>(all));
  observer.progress(print("iterations, residual %.2g", last).c_str(), done, total);
}

}  // namespace

Solution conjugate_gradients(const LinearSystem& system, const SolveLimits& limits,
                             Executor& executor, const Observer& observer, SolverMemory* memory,
                             SolverVectors* elsewhere) {
  const std::size_t n = system.right_side.size();
  const double first = std::sqrt(dot(system, system.right_side, system.right_side, executor));
  if (!(first > system.rounding))
    return {.x = std::vector<double>(n), .residuals = {}, .converged = true};
  SolverState at = first_state(system, executor, memory);
  std::optional<OwnVectors> own;
  SolverVectors& vectors = elsewhere != nullptr ? *elsewhere : own.emplace(system, executor);
  vectors.put(at);
  bool converged = false;
  while (at.residuals.size() < limits.iterations) {
    if (memory != nullptr && observer.stop_requested && observer.stop_requested()) {
      vectors.get(at);
      memory->save_at_stop(at);
    }
    stop_if_asked(observer);
    const double curvature = vectors.apply();
    if (!(curvature > 0)) break;  // nothing left but directions that no data tell of
    const SolverVectors::Moved moved = vectors.move(at.rho / curvature);
    at.residuals.push_back(std::sqrt(moved.residual) / first);
    tell(observer, at.residuals, limits);
    if (at.residuals.back() <= std::max(limits.tolerance, system.rounding / first)) {
      converged = true;
      break;
    }
    vectors.turn(moved.rho / at.rho);
    at.rho = moved.rho;
    if (memory != nullptr && memory->due()) {
      vectors.get(at);
      memory->save(at);
    }
  }
  vectors.get(at);
  return {.x = std::move(at.x), .residuals = std::move(at.residuals), .converged = converged};
}

}  // namespace skyloom
