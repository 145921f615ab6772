// SPDX-License-Identifier: BSD-3-Clause
// Vo's algorithm 1: what a polynomial over angles says of each column, against the same smoothed
// along the row.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// The polynomial W of degree `order` whose values at -half ... half are the weights with which a
/// least-squares fit over these points gives its value in the middle: a sum over polynomials
/// orthonormal on them (Gram's), by their recurrence.
class MiddleWeights {
 public:
  MiddleWeights(std::size_t half, std::size_t order) : points_(2 * static_cast<double>(half) + 1) {
    for (std::size_t k = 0; k <= order; ++k) steps_.push_back(step(static_cast<double>(k)));
    middle_ = values(0);
  }
  [[nodiscard]] double at(double x) const {
    const std::vector<double> here = values(x);
    double sum = 0;
    for (std::size_t k = 0; k < here.size(); ++k) sum += middle_[k] * here[k];
    return sum;
  }

 private:
  [[nodiscard]] double step(double k) const {
    return k == 0 ? 0 : k / 2 * std::sqrt((points_ * points_ - k * k) / (4 * k * k - 1));
  }
  [[nodiscard]] std::vector<double> values(double x) const {
    std::vector<double> p{1 / std::sqrt(points_)};
    for (std::size_t k = 1; k < steps_.size(); ++k) {
      const double before = k > 1 ? steps_[k - 1] * p[k - 2] : 0;
      p.push_back((x * p[k - 1] - before) / steps_[k]);
    }
    return p;
  }
  double points_;
  std::vector<double> steps_, middle_;
};

/// Chebyshev's polynomials at u in [-1, 1].
void chebyshev(double u, std::size_t terms, double* out) {
  for (std::size_t t = 0; t < terms; ++t) {
    out[t] = t == 0 ? 1 : t == 1 ? u : 2 * u * out[t - 1] - out[t - 2];
  }
}

/// Divides by what was fitted and multiplies with what of it is smooth.
void replace(Sinogram& s, const std::vector<float>& fit, const std::vector<float>& low,
             std::size_t pad) {
  const std::size_t width = s.columns + 2 * pad;
  double of_fit = 0, of_low = 0;
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      of_fit += static_cast<double>(fit[a * s.columns + x]);
      of_low += static_cast<double>(low[(a + pad) * width + x + pad]);
    }
  }
  if (of_low == 0) return;
  const auto scale = static_cast<float>(of_fit / of_low);
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      const float by = fit[a * s.columns + x];
      if (by != 0) s.at(a, x) = s.at(a, x) / by * scale * low[(a + pad) * width + x + pad];
    }
  }
}

}  // namespace

std::vector<float> fitted(const Sinogram& s, std::size_t order) {
  const std::size_t window = s.angles - (s.angles % 2 == 0 ? 1 : 0), half = window / 2;
  const std::size_t degree = std::min({order, window - 1, kMostTerms - 1}), terms = degree + 1;
  const MiddleWeights weights(half, degree);
  // an angle j as u = (j - middle) / reach in [-1, 1], those beyond the ends included
  const double middle = (static_cast<double>(s.angles) - 1) / 2;
  const double reach = middle + static_cast<double>(half);
  std::vector<double> basis((s.angles + 2 * half) * terms), value(s.angles * terms, 0);
  for (std::size_t j = 0; j < s.angles + 2 * half; ++j) {
    chebyshev((static_cast<double>(j) - static_cast<double>(half) - middle) / reach, terms,
              &basis[j * terms]);
  }
  // W(j - a) as a sum over the basis in j: exact from as many points as it has terms
  std::vector<double> at(terms);
  for (std::size_t g = 0; g < terms; ++g) {
    const double u =
        std::cos(std::numbers::pi * (static_cast<double>(g) + 0.5) / static_cast<double>(terms));
    chebyshev(u, terms, at.data());
    for (std::size_t a = 0; a < s.angles; ++a) {
      const double w = weights.at(u * reach + middle - static_cast<double>(a));
      for (std::size_t t = 0; t < terms; ++t) {
        value[a * terms + t] += (t == 0 ? 1 : 2) * w * at[t] / static_cast<double>(terms);
      }
    }
  }
  std::vector<float> out(s.values.size());
  stripe_kernels().fit({.in = s.values.data(),
                        .out = out.data(),
                        .angles = s.angles,
                        .columns = s.columns,
                        .half = half,
                        .terms = terms,
                        .basis = basis.data(),
                        .value = value.data()});
  return out;
}

void fitting(Sinogram& s, std::size_t order, double sigma_x, double sigma_y) {
  const std::vector<float> fit = fitted(s, order);
  const std::size_t pad = std::min<std::size_t>(150, s.angles / 10);
  const std::size_t width = s.columns + 2 * pad, height = s.angles + 2 * pad;
  std::vector<double> sum(s.columns, 0);
  for (std::size_t a = 0; a < s.angles; ++a) {
    for (std::size_t x = 0; x < s.columns; ++x) {
      sum[x] += static_cast<double>(fit[a * s.columns + x]);
    }
  }
  std::vector<float> mean(s.columns);
  for (std::size_t x = 0; x < s.columns; ++x) {
    mean[x] = static_cast<float>(sum[x] / static_cast<double>(s.angles));
  }
  std::vector<float> padded(width * height);  // ends of a line repeated; above and below the mean
  for (std::size_t y = 0; y < height; ++y) {
    const bool inside = y >= pad && y < pad + s.angles;
    const float* const from = inside ? &fit[(y - pad) * s.columns] : mean.data();
    float* const to = &padded[y * width];
    std::fill_n(to, pad, from[0]);
    std::copy_n(from, s.columns, to + pad);
    std::fill_n(to + pad + s.columns, pad, from[s.columns - 1]);
  }
  replace(s, fit,
          through_bands(gaussian_band(height, sigma_y, Shift::kSigns),
                        gaussian_band(width, sigma_x, Shift::kSigns), padded),
          pad);
}

}  // namespace tomoloom
