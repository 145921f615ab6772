// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/spline.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "loom/linalg/banded_solver.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::size_t kOrder = 4;  ///< of a cubic: pieces with four coefficients

/// All knots, the ends four times.
std::vector<double> place_knots(std::span<const double> x, double spacing) {
  const double low = x.front(), high = x.back();
  const auto count = static_cast<std::size_t>((high - low) / spacing);
  const double step = (high - low) / static_cast<double>(count + 1);
  std::vector<double> knots(kOrder, low);
  for (std::size_t i = 0; i < count; ++i) {
    const double knot = low + step * (0.5 + static_cast<double>(i));
    const auto above = std::lower_bound(x.begin(), x.end(), knot);
    const double nearest = std::min(above == x.end() ? spacing + step : *above - knot,
                                    above == x.begin() ? spacing + step : knot - *(above - 1));
    if (nearest < step) knots.push_back(knot);
  }
  knots.insert(knots.end(), kOrder, high);
  return knots;
}

/// Each basis function needs an x of its own inside its support.
bool determined(std::span<const double> x, const std::vector<double>& knots) {
  const std::size_t count = knots.size() - kOrder;
  if (x.size() < count) return false;
  std::size_t i = 0;
  for (std::size_t b = 0; b < count; ++b, ++i) {
    const bool first = b == 0, last = b + 1 == count;  // the ends are theirs
    while (i < x.size() && !(x[i] > knots[b] || (first && x[i] >= knots[b]))) ++i;
    if (i == x.size() || !(x[i] < knots[b + kOrder] || (last && x[i] <= knots[b + kOrder]))) {
      return false;
    }
  }
  return true;
}

struct Basis {
  std::size_t first = 0;  ///< of the four functions that are not 0
  std::array<double, kOrder> value{};
};

/// Walks along increasing positions and gives the basis there (de Boor's recurrence).
class BasisWalk {
 public:
  explicit BasisWalk(const std::vector<double>& knots) : knots_(knots) {}
  Basis at(double x) {
    const std::size_t last = knots_.size() - kOrder - 1;
    if (x < knots_[piece_]) piece_ = kOrder - 1;
    while (piece_ < last && x >= knots_[piece_ + 1]) ++piece_;
    Basis out{piece_ + 1 - kOrder, {1}};
    for (std::size_t order = 1; order < kOrder; ++order) {
      double saved = 0;
      for (std::size_t r = 0; r < order; ++r) {
        const double right = knots_[piece_ + r + 1], left = knots_[piece_ + r + 1 - order];
        const double term = out.value[r] / (right - left);
        out.value[r] = saved + (right - x) * term;
        saved = (x - left) * term;
      }
      out.value[order] = saved;
    }
    return out;
  }

 private:
  const std::vector<double>& knots_;
  std::size_t piece_ = kOrder - 1;
};

std::vector<Basis> basis_at(std::span<const double> x, const std::vector<double>& knots) {
  std::vector<Basis> out;
  BasisWalk walk(knots);
  for (const double at : x) out.push_back(walk.at(at));
  return out;
}

/// The spline's coefficients of points whose basis is known; one of weight 0 is left out.
std::optional<std::vector<double>> coefficients_of(std::span<const Basis> basis, std::size_t count,
                                                   std::span<const double> y,
                                                   std::span<const double> weight) {
  loom::Array2D<double> normal(kOrder, count, 0.0);
  std::vector<double> coefficients(count, 0.0);
  for (std::size_t i = 0; i < basis.size(); ++i) {
    if (weight[i] == 0) continue;
    const Basis& b = basis[i];
    for (std::size_t p = 0; p < kOrder; ++p) {
      const double wp = weight[i] * b.value[p];
      coefficients[b.first + p] += wp * y[i];
      for (std::size_t q = p; q < kOrder; ++q) normal(q - p, b.first + p) += wp * b.value[q];
    }
  }
  const loom::BandedSolver solver(normal);
  if (!solver.positive_definite()) return std::nullopt;
  solver.solve(coefficients);
  return coefficients;
}

std::vector<double> evaluate(std::span<const Basis> basis, std::span<const double> coefficients) {
  std::vector<double> out(basis.size());
  for (std::size_t i = 0; i < basis.size(); ++i) {
    const Basis& b = basis[i];
    for (std::size_t p = 0; p < kOrder; ++p) out[i] += b.value[p] * coefficients[b.first + p];
  }
  return out;
}

}  // namespace

std::optional<std::vector<double>> fit_spline(std::span<const double> at, std::span<const double> x,
                                              std::span<const double> y,
                                              std::span<const double> weight, double spacing) {
  if (x.size() < kOrder || !(x.back() > x.front())) return std::nullopt;
  const std::vector<double> knots = place_knots(x, spacing);
  if (!determined(x, knots)) return std::nullopt;
  const auto coefficients = coefficients_of(basis_at(x, knots), knots.size() - kOrder, y, weight);
  if (!coefficients) return std::nullopt;
  return evaluate(basis_at(at, knots), *coefficients);
}

struct SplineOnGrid::Kept {
  std::vector<double> grid, knots;
  double spacing = 0;
  std::vector<Basis> basis;
  bool is_determined = false;  ///< by all points of the grid
};

SplineOnGrid::SplineOnGrid(std::span<const double> grid, double spacing) {
  auto kept = std::make_unique<Kept>();
  kept->grid.assign(grid.begin(), grid.end());
  kept->spacing = spacing;
  if (grid.size() >= kOrder && grid.back() > grid.front()) {
    kept->knots = place_knots(grid, spacing);
    kept->is_determined = determined(grid, kept->knots);
    kept->basis = basis_at(grid, kept->knots);
  }
  kept_ = std::move(kept);
}

SplineOnGrid::~SplineOnGrid() = default;

std::optional<std::vector<double>> SplineOnGrid::fit(std::span<const double> y,
                                                     std::span<const double> weight) const {
  const bool all = std::find(weight.begin(), weight.end(), 0.0) == weight.end();
  if (all && !kept_->is_determined) return std::nullopt;
  if (!all) {  // a hole may take a knot with it
    std::vector<double> x, here, w;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (weight[i] == 0) continue;
      x.push_back(kept_->grid[i]), here.push_back(y[i]), w.push_back(weight[i]);
    }
    if (x.size() < kOrder || !(x.back() > x.front())) return std::nullopt;
    const std::vector<double> knots = place_knots(x, kept_->spacing);
    if (knots != kept_->knots) return fit_spline(kept_->grid, x, here, w, kept_->spacing);
    if (!determined(x, knots)) return std::nullopt;
  }
  const auto coefficients = coefficients_of(kept_->basis, kept_->knots.size() - kOrder, y, weight);
  if (!coefficients) return std::nullopt;
  return evaluate(kept_->basis, *coefficients);
}

}  // namespace fiberloom::calibrate
