// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/prior.hpp"

#include <cmath>
#include <limits>

namespace fiberloom::redshift {

double prior_chi2(const Prior& prior, double z) noexcept {
  const double t = (z - prior.z) / prior.sigma;
  switch (prior.shape) {
    case Prior::Shape::kGaussian:
      return t * t;
    case Prior::Shape::kLorentzian:
      return 2 * std::log1p(t * t);
    case Prior::Shape::kTopHat:
      return std::abs(z - prior.z) < prior.sigma / 2 ? 0 : HUGE_VAL;
    case Prior::Shape::kNone:
      break;
  }
  return 0;
}

std::vector<double> redrock_prior(const Prior& prior, std::span<const double> z) {
  std::vector<double> out(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) out[i] = prior_chi2(prior, z[i]);
  if (prior.shape != Prior::Shape::kTopHat) return out;
  std::size_t first = z.size(), last = 0;
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (out[i] == 0) {
      first = std::min(first, i);
      last = i;
    } else {
      out[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  if (first == z.size()) return out;
  out[first == 0 ? 0 : first - 1] = HUGE_VAL;
  out[last + 1 == z.size() ? last : last + 1] = HUGE_VAL;
  return out;
}

}  // namespace fiberloom::redshift
