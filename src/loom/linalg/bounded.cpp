// SPDX-License-Identifier: BSD-3-Clause
#include "loom/linalg/bounded.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace loom {
namespace {

enum class Place { kFree, kLower, kUpper };

/// A pivot below this part of its diagonal says nothing new.
constexpr double kRankLimit = 1e-13;
constexpr double kRounding = 1e-14;

class ActiveSet {
 public:
  ActiveSet(View2D<const double> m, std::span<const double> y, std::span<const double> lower,
            std::span<const double> upper)
      : m_(m), y_(y), lower_(lower), upper_(upper), n_(y.size()), c_(n_), place_(n_) {
    for (std::size_t i = 0; i < n_; ++i) {
      const bool bounded = std::isfinite(lower[i]) || std::isfinite(upper[i]);
      place_[i] = !bounded ? Place::kFree : std::isfinite(lower[i]) ? Place::kLower : Place::kUpper;
      if (std::isfinite(lower[i]) && std::isfinite(upper[i]) &&
          std::abs(upper[i]) < std::abs(lower[i])) {
        place_[i] = Place::kUpper;
      }
      c_[i] = bounded ? bound(i) : 0;
    }
  }

  BoundedSolution run() {
    bool converged = false;
    std::vector<bool> refused(n_, false);
    settle();
    for (std::size_t step = 0; step < 3 * n_ + 10 && !converged; ++step) {
      const std::size_t next = worst(refused);
      if (next == n_) {
        converged = true;
        break;
      }
      const std::vector<double> before = c_;
      const std::vector<Place> places = place_;
      const double gain = gain_of(c_);
      place_[next] = Place::kFree;
      settle();
      if (gain_of(c_) > gain) {
        std::fill(refused.begin(), refused.end(), false);
      } else {  // rounding: freeing it brought nothing
        c_ = before;
        place_ = places;
        refused[next] = true;
      }
    }
    return {c_, gain_of(c_), converged};
  }

 private:
  [[nodiscard]] double bound(std::size_t i) const {
    return place_[i] == Place::kLower ? lower_[i] : upper_[i];
  }

  [[nodiscard]] double gain_of(const std::vector<double>& c) const {
    double gain = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      double mc = 0;
      for (std::size_t j = 0; j < n_; ++j) mc += m_(i, j) * c[j];
      gain += c[i] * (2 * y_[i] - mc);
    }
    return gain;
  }

  /// The unknown at a bound that the gradient pushes inwards most, in units of its own curvature;
  /// n where there is none.
  [[nodiscard]] std::size_t worst(const std::vector<bool>& refused) const {
    std::size_t best = n_;
    double most = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (place_[i] == Place::kFree || refused[i] || !(m_(i, i) > 0)) continue;
      if (!(lower_[i] < upper_[i])) continue;
      double gradient = y_[i], size = std::abs(y_[i]);
      for (std::size_t j = 0; j < n_; ++j) {
        gradient -= m_(i, j) * c_[j];
        size += std::abs(m_(i, j) * c_[j]);
      }
      const double push = place_[i] == Place::kLower ? gradient : -gradient;
      const double gain = push * push / m_(i, i);
      if (push > kRounding * static_cast<double>(n_) * size && gain > most) best = i, most = gain;
    }
    return best;
  }

  /// The minimum over the free unknowns, the others where they are; unknowns that leave their
  /// bounds on the way are caught there, until the minimum itself is reached.
  void settle() {
    for (std::size_t round = 0; round <= n_; ++round) {
      const std::vector<double> target = free_minimum();
      double step = 1;
      for (std::size_t i = 0; i < n_; ++i) {
        if (place_[i] != Place::kFree) continue;
        const double move = target[i] - c_[i];
        if (target[i] < lower_[i]) step = std::min(step, (lower_[i] - c_[i]) / move);
        if (target[i] > upper_[i]) step = std::min(step, (upper_[i] - c_[i]) / move);
      }
      if (!(step < 1)) {
        c_ = target;
        return;
      }
      step = std::max(step, 0.0);
      for (std::size_t i = 0; i < n_; ++i) {
        if (place_[i] != Place::kFree) continue;
        const double move = target[i] - c_[i];
        const bool low = target[i] < lower_[i] && (lower_[i] - c_[i]) / move <= step;
        const bool high = target[i] > upper_[i] && (upper_[i] - c_[i]) / move <= step;
        if (low || high) {
          place_[i] = low ? Place::kLower : Place::kUpper;
          c_[i] = bound(i);
        } else {
          c_[i] += step * move;
        }
      }
    }
  }

  [[nodiscard]] std::vector<double> free_minimum() const {
    std::vector<std::size_t> free;
    for (std::size_t i = 0; i < n_; ++i) {
      if (place_[i] == Place::kFree && m_(i, i) > 0) free.push_back(i);
    }
    const std::size_t n = free.size();
    std::vector<double> l(n * n), z(n), inverse(n), out = c_;
    for (std::size_t j = 0; j < n; ++j) {
      const double scale = 1 / std::sqrt(m_(free[j], free[j]));
      double rhs = y_[free[j]];
      for (std::size_t i = 0; i < n_; ++i) {
        if (place_[i] != Place::kFree) rhs -= m_(free[j], i) * c_[i];
      }
      rhs *= scale;
      double pivot = 1;
      for (std::size_t k = 0; k < j; ++k) {
        double v = m_(free[j], free[k]) * scale / std::sqrt(m_(free[k], free[k]));
        for (std::size_t p = 0; p < k; ++p) v -= l[j * n + p] * l[k * n + p];
        l[j * n + k] = v * inverse[k];
        pivot -= l[j * n + k] * l[j * n + k];
        rhs -= l[j * n + k] * z[k];
      }
      inverse[j] = pivot > kRankLimit ? 1 / std::sqrt(pivot) : 0;
      z[j] = rhs * inverse[j];
    }
    for (std::size_t j = n; j-- > 0;) {
      for (std::size_t k = j + 1; k < n; ++k) z[j] -= l[k * n + j] * z[k];
      z[j] *= inverse[j];
      out[free[j]] = z[j] / std::sqrt(m_(free[j], free[j]));
    }
    return out;
  }

  View2D<const double> m_;
  std::span<const double> y_, lower_, upper_;
  std::size_t n_;
  std::vector<double> c_;
  std::vector<Place> place_;
};

}  // namespace

BoundedSolution bounded_least_squares(View2D<const double> m, std::span<const double> y,
                                      std::span<const double> lower,
                                      std::span<const double> upper) {
  return ActiveSet(m, y, lower, upper).run();
}

}  // namespace loom
