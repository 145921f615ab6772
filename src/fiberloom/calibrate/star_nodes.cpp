// SPDX-License-Identifier: BSD-3-Clause
// Between the nodes of a grid of stellar models: where three numbers, one an axis, fit best.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/star_fit.hpp"

namespace fiberloom::calibrate {
namespace {

using Place = std::array<double, 3>;

/// The values that a parameter has among the models, in order.
std::vector<double> values_of(const std::vector<double>& all, std::span<const std::size_t> models) {
  std::vector<double> out;
  for (const std::size_t m : models) out.push_back(all[m]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

class BetweenNodes {
 public:
  BetweenNodes(std::span<const GridNode> nodes, const Array2D<double>& a) : nodes_(nodes), a_(a) {}

  NodeFit run() {
    chi2_ = chi2_of(shares(place_));
    scan();
    refine();
    NodeFit out{shares(place_), 0};
    out.chi2 = chi2_of(out.coefficients);
    return out;
  }

 private:
  static constexpr int kMostTurns = 50;
  static constexpr double kClose = 1e-3;  // steps of the grid

  /// Shares of the nodes at a place, 0 all of them where no node is near.
  [[nodiscard]] std::vector<double> shares(const Place& place) const {
    std::vector<double> out(nodes_.size());
    double sum = 0;
    for (std::size_t n = 0; n < out.size(); ++n) {
      double share = 1;
      for (std::size_t p = 0; p < 3; ++p) {
        share *= std::max(0.0, 1 - std::abs(nodes_[n].at[p] - place[p]));
      }
      out[n] = share;
      sum += share;
    }
    for (double& share : out) share = sum > 0 ? share / sum : 0;
    return out;
  }
  [[nodiscard]] std::vector<double> times_a(const std::vector<double>& x) const {
    std::vector<double> out(x.size(), 0.0);
    for (std::size_t r = 0; r < x.size(); ++r) {
      for (std::size_t c = 0; c < x.size(); ++c) out[r] += a_(r, c) * x[c];
    }
    return out;
  }
  static double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
  [[nodiscard]] double chi2_of(const std::vector<double>& x) const { return dot(x, times_a(x)); }

  /// Each axis in turn at 41 places: a mixture is no linear function of three numbers.
  void scan() {
    constexpr int kPlaces = 41;
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const Place before = place_;
      for (std::size_t p = 0; p < 3; ++p) {
        Place trial = place_;
        double least = 0;
        bool seen = false;
        for (int i = 0; i < kPlaces; ++i) {
          trial[p] = i + 1 == kPlaces ? 1 : -1 + 0.05 * i;
          const std::vector<double> x = shares(trial);
          if (dot(x, x) == 0) continue;
          const double chi2 = chi2_of(x);
          if (seen && !(chi2 < least)) continue;
          least = chi2, place_[p] = trial[p], seen = true;
        }
        chi2_ = least;
      }
      if (moved(before) < kClose) return;
    }
  }
  /// Each axis in turn by one step of Newton's, where that lowers chi2.
  void refine() {
    for (int turn = 0; turn < kMostTurns; ++turn) {
      const Place before = place_;
      for (std::size_t p = 0; p < 3; ++p) {
        if (std::abs(place_[p]) != 1) refine_axis(p);
      }
      if (moved(before) < kClose) return;
    }
  }
  void refine_axis(std::size_t p) {
    constexpr double kStep = 1e-3;
    Place trial = place_;
    const std::vector<double> here = shares(place_);
    trial[p] += kStep;
    std::vector<double> slope = shares(trial);
    for (std::size_t n = 0; n < slope.size(); ++n) slope[n] = (slope[n] - here[n]) / kStep;
    const double steep = dot(slope, times_a(slope));
    if (!(steep > 0)) return;
    trial = place_;
    trial[p] -= dot(slope, times_a(here)) / steep;
    if (trial[p] < -1 || trial[p] > 1) return;
    const double chi2 = chi2_of(shares(trial));
    if (chi2 < chi2_) place_ = trial, chi2_ = chi2;
  }
  [[nodiscard]] double moved(const Place& before) const {
    double most = 0;
    for (std::size_t p = 0; p < 3; ++p) most = std::max(most, std::abs(place_[p] - before[p]));
    return most;
  }

  std::span<const GridNode> nodes_;
  const Array2D<double>& a_;
  double chi2_ = 0;
  Place place_{};
};

}  // namespace

std::vector<GridNode> nodes_about(const StellarGrid& grid, std::span<const std::size_t> models,
                                  std::size_t best) {
  const std::array<const std::vector<double>*, 3> parameters{&grid.teff, &grid.logg, &grid.metal};
  std::array<std::vector<double>, 3> values;
  std::array<std::ptrdiff_t, 3> middle{};
  for (std::size_t p = 0; p < 3; ++p) {
    values[p] = values_of(*parameters[p], models);
    const double value = (*parameters[p])[models[best]];
    middle[p] = std::lower_bound(values[p].begin(), values[p].end(), value) - values[p].begin();
  }
  std::vector<GridNode> out;
  for (int number = 0; number < 27; ++number) {  // the last parameter fastest
    const std::array<std::ptrdiff_t, 3> away{number / 9 - 1, number / 3 % 3 - 1, number % 3 - 1};
    std::array<double, 3> wanted{};
    bool inside = true;
    for (std::size_t p = 0; p < 3; ++p) {
      const std::ptrdiff_t i = middle[p] + away[p];
      inside = inside && i >= 0 && i < static_cast<std::ptrdiff_t>(values[p].size());
      if (inside) wanted[p] = values[p][static_cast<std::size_t>(i)];
    }
    if (!inside) continue;
    const auto found = std::find_if(models.begin(), models.end(), [&](std::size_t m) {
      return grid.teff[m] == wanted[0] && grid.logg[m] == wanted[1] && grid.metal[m] == wanted[2];
    });
    if (found == models.end()) continue;
    out.push_back({static_cast<std::size_t>(found - models.begin()),
                   {static_cast<double>(away[0]), static_cast<double>(away[1]),
                    static_cast<double>(away[2])}});
  }
  return out;
}

NodeFit fit_between_nodes(std::span<const GridNode> nodes, const Array2D<double>& a) {
  return BetweenNodes(nodes, a).run();
}

}  // namespace fiberloom::calibrate
