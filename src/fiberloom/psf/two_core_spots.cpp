// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/two_core_spots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "fiberloom/psf/pixel_spots.hpp"

namespace fiberloom {

namespace {

constexpr std::size_t kFunctions = kMaxCoreDegree + 1;
using Integrals = std::array<std::array<double, kMaxShapeStamp>, kFunctions>;

/// Of the Hermite functions over n pixels from `first` on: out[m][p].
void integrate(double center, double sigma, int first, int n, int degree, Integrals& out) {
  const double norm = 1.0 / std::sqrt(2.0 * std::numbers::pi);
  std::array<double, kFunctions> low{}, high{};
  const auto edge = [&](double u, std::array<double, kFunctions>& value) {
    value[0] = 0.5 * std::erf(u / std::numbers::sqrt2);
    const double g = norm * std::exp(-0.5 * u * u);
    double h0 = 1.0, h1 = u;
    for (int m = 1; m <= degree; ++m) {
      value[static_cast<std::size_t>(m)] = -h0 * g;
      const double h2 = u * h1 - m * h0;
      h0 = h1;
      h1 = h2;
    }
  };
  edge((first - 0.5 - center) / sigma, low);
  for (int p = 0; p < n; ++p) {
    edge((first + p + 0.5 - center) / sigma, high);
    for (std::size_t m = 0; m <= static_cast<std::size_t>(degree); ++m)
      out[m][static_cast<std::size_t>(p)] = high[m] - low[m];
    low = high;
  }
}

class TwoCoreShape final : public SpotShape {
 public:
  explicit TwoCoreShape(const TwoCores& cores)
      : SpotShape(2 * cores.hsize_x, 2 * cores.hsize_y), c_(cores) {}
  [[nodiscard]] const char* kind() const noexcept override { return "GAUSS-HERMITE2"; }
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return static_cast<int>(std::floor(x - c_.hsize_x));
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return static_cast<int>(std::floor(y - c_.hsize_y));
  }
  [[nodiscard]] const TwoCores* cores() const noexcept override { return &c_; }
  void evaluate(const SpotPlace& place, double* value) const override {
    const auto n = static_cast<std::size_t>(nx()) * static_cast<std::size_t>(ny());
    std::fill_n(value, n, 0.0);
    const std::size_t f = place.fiber;
    const double sx = c_.first.sigma_x(f, place.wave_aa), sy = c_.first.sigma_y(f, place.wave_aa);
    if (!(sx > 0) || !(sy > 0)) return;
    add_core(c_.first, place, value);
    const double cut = c_.cut_sigma(f, place.wave_aa);
    each_pixel(
        place,
        [&](double dx, double dy, double& v) {
          if (!(dx / sx * (dx / sx) + dy / sy * (dy / sy) < cut * cut)) v = 0;
        },
        value);
    add_core(c_.second, place, value);
    add_tails(place, value);
    make_unit_light(value, n);
  }

 private:
  /// use(dx, dy, value) of every pixel's centre relative to the spot's.
  template <class Use>
  void each_pixel(const SpotPlace& place, const Use& use, double* value) const {
    const int x0 = corner_x(place.x), y0 = corner_y(place.y);
    for (int r = 0; r < ny(); ++r) {
      for (int c = 0; c < nx(); ++c) use(x0 + c - place.x, y0 + r - place.y, value[r * nx() + c]);
    }
  }

  void add_core(const HermiteCore& core, const SpotPlace& place, double* value) const {
    const double sx = core.sigma_x(place.fiber, place.wave_aa);
    const double sy = core.sigma_y(place.fiber, place.wave_aa);
    if (!(sx > 0) || !(sy > 0)) return;
    Integrals x, y;
    integrate(place.x, sx, corner_x(place.x), nx(), core.degree_x, x);
    integrate(place.y, sy, corner_y(place.y), ny(), core.degree_y, y);
    std::array<double, kMaxShapeStamp> row;
    for (std::size_t j = 0; j <= static_cast<std::size_t>(core.degree_y); ++j) {
      row.fill(0);
      for (std::size_t i = 0; i <= static_cast<std::size_t>(core.degree_x); ++i) {
        const std::size_t at = j * (static_cast<std::size_t>(core.degree_x) + 1) + i;
        const double weight = core.coef[at](place.fiber, place.wave_aa);
        for (std::size_t c = 0; c < static_cast<std::size_t>(nx()); ++c) row[c] += weight * x[i][c];
      }
      for (int r = 0; r < ny(); ++r) {
        const double weight = y[j][static_cast<std::size_t>(r)];
        for (int c = 0; c < nx(); ++c)
          value[r * nx() + c] += weight * row[static_cast<std::size_t>(c)];
      }
    }
  }

  void add_tails(const SpotPlace& place, double* value) const {
    const auto of = [&](const LegendreSeries& series) {
      return series(place.fiber, place.wave_aa);
    };
    const double amp = of(c_.tails.amp), core = of(c_.tails.core);
    const double xs = of(c_.tails.xscale), ys = of(c_.tails.yscale);
    const double power = 1 + 0.5 * of(c_.tails.index);
    if (amp == 0) return;
    each_pixel(
        place,
        [&](double dx, double dy, double& v) {
          const double r2 = dx * xs * (dx * xs) + dy * ys * (dy * ys);
          const double tail = amp * r2 / std::pow(core * core + r2, power);
          if (std::isfinite(tail)) v += tail;
        },
        value);
  }

  TwoCores c_;
};

}  // namespace

std::shared_ptr<const SpotShape> make_two_cores(const TwoCores& cores) {
  return std::make_shared<TwoCoreShape>(cores);
}

}  // namespace fiberloom
