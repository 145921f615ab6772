// SPDX-License-Identifier: BSD-3-Clause
// One pass for the weights, one for the residuals.
#include "fiberloom/recipes/report/wild_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fiberloom::report {
namespace {

constexpr double kWildPull = 10, kShapeError = 0.05, kHeavyFactor = 100, kUsualPart = 0.99;
constexpr std::size_t kSpotRows = 11;  // of a spot: light of bins beyond the grid reaches as far
constexpr std::size_t kListed = 20, kSample = 7;  // every seventh pixel tells the usual weight

bool is_lit(const Array2D<float>& model, const Array2D<float>& ivar, std::size_t i) {
  return ivar.data()[i] > 0 && model.data()[i] != 0.0F;
}

/// Whether the model goes on above and below: at the ends of the grid it lacks the light of the
/// bins beyond.
bool is_inside(const Array2D<float>& model, std::size_t row, std::size_t col) {
  return row >= kSpotRows && row + kSpotRows < model.rows() &&
         model(row - kSpotRows, col) != 0.0F && model(row + kSpotRows, col) != 0.0F;
}

double heavy_limit(const Array2D<float>& model, const Array2D<float>& ivar) {
  std::vector<float> weights;
  for (std::size_t i = 0; i < ivar.size(); i += kSample) {
    if (is_lit(model, ivar, i)) weights.push_back(ivar.data()[i]);
  }
  if (weights.empty()) return std::numeric_limits<double>::infinity();
  const auto at = weights.begin() +
                  static_cast<std::ptrdiff_t>(kUsualPart * static_cast<double>(weights.size() - 1));
  std::nth_element(weights.begin(), at, weights.end());
  return kHeavyFactor * *at;
}

/// The largest value of the pixel and its neighbours.
double local_peak(const Array2D<float>& model, std::size_t row, std::size_t col) {
  double out = 0;
  for (std::size_t r = row - std::min<std::size_t>(row, 1);
       r <= std::min(row + 1, model.rows() - 1); ++r) {
    for (std::size_t c = col - std::min<std::size_t>(col, 1);
         c <= std::min(col + 1, model.cols() - 1); ++c) {
      out = std::max<double>(out, model(r, c));
    }
  }
  return out;
}

}  // namespace

WildPixels wild_pixels(const Array2D<float>& residual, const Array2D<float>& model,
                       const Array2D<float>& ivar) {
  WildPixels out;
  const double limit = heavy_limit(model, ivar);
  for (std::size_t i = 0; i < residual.size(); ++i) {
    if (!is_lit(model, ivar, i)) continue;
    ++out.lit;
    const double w = ivar.data()[i];
    const std::size_t row = i / residual.cols(), col = i % residual.cols();
    if (w > limit) {
      ++out.heavy;
      if (out.heaviest.size() < kListed) out.heaviest.push_back({row, col, 0});
    }
    const double above = residual.data()[i] * std::sqrt(w);
    if (!(above > kWildPull) || !is_inside(model, row, col)) continue;  // most pixels end here
    const double shape = kShapeError * local_peak(model, row, col);
    const double pull = residual.data()[i] / std::sqrt(1 / w + shape * shape);
    if (!(pull > kWildPull)) continue;
    ++out.wild;
    out.worst.push_back({row, col, pull});
  }
  std::stable_sort(out.worst.begin(), out.worst.end(),
                   [](const WildPixel& a, const WildPixel& b) { return a.pull > b.pull; });
  out.worst.resize(std::min(out.worst.size(), kListed));
  return out;
}

}  // namespace fiberloom::report
