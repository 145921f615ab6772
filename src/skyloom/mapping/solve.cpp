// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/solve.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/stop.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = 1 << 13;  // of sums: their order is that of blocks, not of threads

double dot(const LinearSystem& system, std::span<const double> a, std::span<const double> b,
           Executor& executor) {
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

}  // namespace

Solution conjugate_gradients(const LinearSystem& system, const SolveLimits& limits,
                             Executor& executor, const Observer& observer) {
  const std::size_t n = system.right_side.size();
  Solution out;
  out.x.assign(n, 0.0);
  std::vector<double> r(system.right_side.begin(), system.right_side.end()), z(n), p(n), q(n);
  const double first = std::sqrt(dot(system, r, r, executor));
  if (!(first > system.rounding)) {
    out.converged = true;
    return out;
  }
  system.precondition(r, z);
  p = z;
  double rho = dot(system, r, z, executor);
  for (std::size_t i = 0; i < limits.iterations; ++i) {
    stop_if_asked(observer);
    system.apply(p, q);
    const double curvature = dot(system, p, q, executor);
    if (!(curvature > 0)) break;  // nothing left but directions that no data tell of
    const double step = rho / curvature;
    add_scaled(step, p, out.x);
    add_scaled(-step, q, r);
    out.residuals.push_back(std::sqrt(dot(system, r, r, executor)) / first);
    if (observer.progress) observer.progress("iterations", i + 1, limits.iterations);
    if (out.residuals.back() <= std::max(limits.tolerance, system.rounding / first)) {
      out.converged = true;
      break;
    }
    system.precondition(r, z);
    const double next = dot(system, r, z, executor);
    const double turn = next / rho;
    rho = next;
    for (std::size_t k = 0; k < n; ++k) p[k] = z[k] + turn * p[k];
  }
  return out;
}

}  // namespace skyloom
