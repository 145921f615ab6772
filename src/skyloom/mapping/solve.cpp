// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/solve.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = 1 << 13;  // of sums: their order is that of blocks, not of threads

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

/// to += factor * from
void add_scaled(double factor, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
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
                             Executor& executor, const Observer& observer, SolverMemory* memory) {
  const std::size_t n = system.right_side.size();
  const double first = std::sqrt(dot(system, system.right_side, system.right_side, executor));
  if (!(first > system.rounding))
    return {.x = std::vector<double>(n), .residuals = {}, .converged = true};
  std::vector<double> z(n), q(n);
  SolverState at;
  if (auto recalled = memory != nullptr ? memory->recall() : std::nullopt) {
    at = std::move(*recalled);
  } else {
    at.x.assign(n, 0.0);
    at.r.assign(system.right_side.begin(), system.right_side.end());
    system.precondition(at.r, z);
    at.p = z;
    at.rho = dot(system, at.r, z, executor);
  }
  bool converged = false;
  while (at.residuals.size() < limits.iterations) {
    if (memory != nullptr && observer.stop_requested && observer.stop_requested()) {
      memory->save_at_stop(at);
    }
    stop_if_asked(observer);
    system.apply(at.p, q);
    const double curvature = dot(system, at.p, q, executor);
    if (!(curvature > 0)) break;  // nothing left but directions that no data tell of
    const double step = at.rho / curvature;
    add_scaled(step, at.p, at.x);
    add_scaled(-step, q, at.r);
    at.residuals.push_back(std::sqrt(dot(system, at.r, at.r, executor)) / first);
    tell(observer, at.residuals, limits);
    if (at.residuals.back() <= std::max(limits.tolerance, system.rounding / first)) {
      converged = true;
      break;
    }
    system.precondition(at.r, z);
    const double next = dot(system, at.r, z, executor);
    const double turn = next / at.rho;
    at.rho = next;
    for (std::size_t k = 0; k < n; ++k) at.p[k] = z[k] + turn * at.p[k];
    if (memory != nullptr && memory->due()) memory->save(at);
  }
  return {.x = std::move(at.x), .residuals = std::move(at.residuals), .converged = converged};
}

}  // namespace skyloom
