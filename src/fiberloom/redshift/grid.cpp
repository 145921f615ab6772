// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/grid.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/redshift/template.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift {
namespace {

constexpr double kMostRedshifts = 1e6;

/// numpy.arange(): the number of steps is rounded up, the stride is what one step leaves of `low`.
std::vector<double> arange(double low, double high, double step) {
  const double count = std::ceil((high - low) / step);
  const double stride = (low + step) - low;
  std::vector<double> out(static_cast<std::size_t>(std::max(count, 0.0)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = low + static_cast<double>(i) * stride;
  return out;
}

void check(const GridRule& rule, double span) {
  const bool good = rule.low > -1 && rule.high > rule.low && rule.step > 0 &&
                    std::isfinite(rule.high) && span / rule.step < kMostRedshifts;
  if (good) return;
  throw Error(Status::kUsage,
              print("redshifts from %g to %g by %g: expected -1 < from < to, a step above 0 and at "
                    "most %.0f of them",
                    rule.low, rule.high, rule.step, kMostRedshifts));
}

}  // namespace

std::vector<double> logarithmic_grid(const GridRule& rule) {
  check(rule, std::log10(1 + rule.high) - std::log10(1 + rule.low));
  std::vector<double> z = arange(std::log10(1 + rule.low), std::log10(1 + rule.high), rule.step);
  for (double& v : z) v = std::pow(10.0, v) - 1;
  return z;
}

std::vector<double> linear_grid(const GridRule& rule) {
  check(rule, rule.high - rule.low);
  return arange(rule.low, rule.high, rule.step);
}

std::vector<double> default_grid(std::string_view spectype, const GridRules& rules) {
  if (spectype == "GALAXY") return logarithmic_grid(rules.galaxy);
  if (spectype == "QSO") return logarithmic_grid(rules.qso);
  if (spectype == "STAR") return linear_grid(rules.star);
  return {};
}

std::vector<double> denser(std::span<const double> grid, double step_kms) {
  std::vector<double> out;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    const double gap = std::abs(velocity_kms(grid[i + 1], grid[i]));
    const double parts = std::max(1.0, std::ceil(gap / step_kms * (1 - 1e-12)));
    for (double k = 0; k < parts; ++k) out.push_back(grid[i] + (grid[i + 1] - grid[i]) * k / parts);
  }
  if (!grid.empty()) out.push_back(grid.back());
  return out;
}

}  // namespace fiberloom::redshift
