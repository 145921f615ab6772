// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/pixel_spots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace fiberloom {

namespace {

constexpr std::size_t kMaxPixels = static_cast<std::size_t>(kMaxShapeStamp) * kMaxShapeStamp;
constexpr int kTaps = 2 * kSincRadius + 1;

void slide_plainly(const double* in, const double* weight, int taps, long n, double* out) {
  std::fill_n(out, n, 0.0);
  for (int k = 0; k < taps; ++k) {
    for (long i = 0; i < n; ++i) out[i] += weight[k] * in[i + k];
  }
}

/// sinc(s - d) exp(-((s - d) / 3.25)^2) for s = 10 ... -10, in the order in which slide() wants it.
std::array<double, kTaps> sinc_weights(double d) {
  constexpr double kDamping = 3.25;
  std::array<double, kTaps> w{};
  for (int k = 0; k < kTaps; ++k) {
    const double u = (kSincRadius - k) - d, a = u * std::numbers::pi;
    w[static_cast<std::size_t>(k)] =
        std::exp(-(u / kDamping) * (u / kDamping)) * (u == 0 ? 1.0 : std::sin(a) / a);
  }
  return w;
}

/// Along a run of n pixels, zero beyond its ends.
void shift_run(const ShapeKernels& kernels, double d, long n, const double* run, double* out) {
  std::array<double, kMaxPixels + kTaps> padded;
  std::fill_n(padded.data(), kSincRadius, 0.0);
  std::copy_n(run, n, padded.data() + kSincRadius);
  std::fill_n(padded.data() + kSincRadius + n, kSincRadius, 0.0);
  kernels.slide(padded.data(), sinc_weights(d).data(), kTaps, n, out);
}

int floor_of(double x) { return static_cast<int>(std::floor(x)); }

}  // namespace

const ShapeKernels& reference_shape_kernels() {
  static const ShapeKernels kernels{slide_plainly};
  return kernels;
}

void make_unit_light(double* value, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    value[i] = std::max(value[i], 0.0);
    sum += value[i];
  }
  const double scale = sum > 0 && sum < 1e300 ? 1 / sum : 0.0;
  for (std::size_t i = 0; i < n; ++i) value[i] *= scale;
}

void sinc_shift(const ShapeKernels& kernels, int ny, int nx, double dx, double dy, double* image) {
  constexpr double kNoShift = 1e-6;
  const long n = static_cast<long>(ny) * nx;
  std::array<double, kMaxPixels> shifted, turned;
  if (std::abs(dx) > kNoShift) {
    shift_run(kernels, dx, n, image, shifted.data());
    std::copy_n(shifted.data(), n, image);
  }
  if (std::abs(dy) <= kNoShift) return;
  for (int r = 0; r < ny; ++r) {
    for (int c = 0; c < nx; ++c) turned[static_cast<std::size_t>(c * ny + r)] = image[r * nx + c];
  }
  shift_run(kernels, dy, n, turned.data(), shifted.data());
  for (int r = 0; r < ny; ++r) {
    for (int c = 0; c < nx; ++c) image[r * nx + c] = shifted[static_cast<std::size_t>(c * ny + r)];
  }
}

FineSpot::FineSpot(const double* value, std::size_t ny, std::size_t nx)
    : ny_(ny), nx_(nx), sum_((ny + 1) * (nx + 1), 0.0) {
  for (std::size_t r = 0; r < ny; ++r) {
    double row = 0;
    for (std::size_t c = 0; c < nx; ++c) {
      row += value[r * nx + c];
      sum_[(r + 1) * (nx + 1) + c + 1] = sum_[r * (nx + 1) + c + 1] + row;
    }
  }
}

/// Light of all fine pixels before (y, x).
double FineSpot::before(double y, double x) const {
  const double yc = std::clamp(y, 0.0, static_cast<double>(ny_));
  const double xc = std::clamp(x, 0.0, static_cast<double>(nx_));
  const auto r = std::min(static_cast<std::size_t>(yc), ny_ - 1);
  const auto c = std::min(static_cast<std::size_t>(xc), nx_ - 1);
  const double fy = yc - static_cast<double>(r), fx = xc - static_cast<double>(c);
  const double* top = sum_.data() + r * (nx_ + 1) + c;
  const double* low = top + nx_ + 1;
  return (1 - fy) * ((1 - fx) * top[0] + fx * top[1]) + fy * ((1 - fx) * low[0] + fx * low[1]);
}

void FineSpot::add_binned(double x, double y, int fine, double weight, int nx, int ny,
                          double* out) const {
  std::array<double, kMaxShapeStamp + 1> above{}, below{};
  for (int c = 0; c <= nx; ++c) above[static_cast<std::size_t>(c)] = before(y, x + c * fine);
  for (int r = 0; r < ny; ++r) {
    for (int c = 0; c <= nx; ++c) {
      below[static_cast<std::size_t>(c)] = before(y + (r + 1.0) * fine, x + c * fine);
    }
    for (int c = 0; c < nx; ++c) {
      const auto i = static_cast<std::size_t>(c);
      out[r * nx + c] += weight * ((below[i + 1] - below[i]) - (above[i + 1] - above[i]));
    }
    above = below;
  }
}

namespace {

/// The cell of an increasing axis in which a number lies, or the nearest: index of its end, and how
/// far into it.
struct Cell {
  std::size_t end;
  double share;
};
Cell cell_of(const std::vector<double>& axis, double at) {
  const auto found = std::lower_bound(axis.begin(), axis.end(), at);
  const auto end = std::clamp<std::ptrdiff_t>(found - axis.begin(), 1,
                                              static_cast<std::ptrdiff_t>(axis.size()) - 1);
  const auto i = static_cast<std::size_t>(end);
  return {i, (at - axis[i - 1]) / (axis[i] - axis[i - 1])};
}

int binned(std::size_t fine_pixels, int fine) {
  return static_cast<int>(fine_pixels) / fine + 1;  // one more: a spot begins within a pixel
}

class SpotGridShape final : public SpotShape {
 public:
  explicit SpotGridShape(const SpotGrid& g)
      : SpotShape(binned(g.spot_nx, g.fine), binned(g.spot_ny, g.fine)),
        fiber_position_(g.fiber_position),
        position_(g.position),
        wave_aa_(g.wave_aa),
        fine_(g.fine) {
    const std::size_t size = g.spot_ny * g.spot_nx;
    for (std::size_t i = 0; i < position_.size() * wave_aa_.size(); ++i)
      spots_.emplace_back(g.spots.data() + i * size, g.spot_ny, g.spot_nx);
  }
  [[nodiscard]] const char* kind() const noexcept override { return "SPOTGRID"; }
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return floor_of(x) - nx() / 2 + 1;
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return floor_of(y) - ny() / 2 + 1;
  }
  void evaluate(const SpotPlace& place, const ShapeKernels&, double* value) const override {
    const auto n = static_cast<std::size_t>(nx()) * static_cast<std::size_t>(ny());
    std::fill_n(value, n, 0.0);
    const Cell p = cell_of(position_, fiber_position_[place.fiber]);
    const Cell w = cell_of(wave_aa_, place.wave_aa);
    // the spot begins so many fine pixels after the corner of a CCD pixel
    const double x = (place.x - std::floor(place.x)) * fine_;
    const double y = (place.y - std::floor(place.y)) * fine_;
    for (const std::size_t i : {p.end - 1, p.end}) {
      for (const std::size_t j : {w.end - 1, w.end}) {
        const double weight =
            (i == p.end ? p.share : 1 - p.share) * (j == w.end ? w.share : 1 - w.share);
        if (weight == 0) continue;
        spots_[i * wave_aa_.size() + j].add_binned(-x, -y, fine_, weight, nx(), ny(), value);
      }
    }
    make_unit_light(value, n);
  }

 private:
  std::vector<double> fiber_position_, position_, wave_aa_;
  int fine_;
  std::vector<FineSpot> spots_;  ///< [position][wave]
};

class MonoSpotShape final : public SpotShape {
 public:
  explicit MonoSpotShape(const MonoSpot& m)
      : SpotShape(binned(m.nx, m.fine), binned(m.ny, m.fine)),
        fine_(m.fine),
        spot_(m.spot.data(), m.ny, m.nx) {}
  [[nodiscard]] const char* kind() const noexcept override { return "MONOSPOT"; }
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return floor_of(x - nx() / 2 + 1);
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return floor_of(y - ny() / 2 + 1);
  }
  void evaluate(const SpotPlace& place, const ShapeKernels& kernels, double* value) const override {
    const auto n = static_cast<std::size_t>(nx()) * static_cast<std::size_t>(ny());
    std::fill_n(value, n, 0.0);
    const double x = place.x * fine_, y = place.y * fine_;
    const double in_x = x - std::floor(x / fine_) * fine_, in_y = y - std::floor(y / fine_) * fine_;
    spot_.add_binned(-std::floor(in_x), -std::floor(in_y), fine_, 1, nx(), ny(), value);
    sinc_shift(kernels, ny(), nx(), (in_x - std::floor(in_x)) / fine_,
               (in_y - std::floor(in_y)) / fine_, value);
    make_unit_light(value, n);
  }

 private:
  int fine_;
  FineSpot spot_;
};

double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

class PcaPixShape final : public SpotShape {
 public:
  explicit PcaPixShape(const PcaPix& pca)
      : SpotShape(static_cast<int>(pca.nx), static_cast<int>(pca.ny)), pca_(pca) {}
  [[nodiscard]] const char* kind() const noexcept override { return "PCA-PIX"; }
  // halves go to the even pixel, as Python rounds
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return static_cast<int>(std::nearbyint(x)) - nx() / 2;
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return static_cast<int>(std::nearbyint(y)) - ny() / 2;
  }
  void evaluate(const SpotPlace& place, const ShapeKernels& kernels, double* value) const override {
    const std::size_t f = place.fiber, n = pca_.nx * pca_.ny, images = pca_.x_power.size();
    const double x = pca_.x_scale[f] * (place.x - pca_.x0[f]);
    const double y = pca_.y_scale[f] * (place.y - pca_.y0[f]);
    std::fill_n(value, n, 0.0);
    const auto group = static_cast<std::size_t>(pca_.group[f]);
    const double* image = pca_.images.data() + group * images * n;
    for (std::size_t i = 0; i < images; ++i, image += n) {
      const double weight = power(x, pca_.x_power[i]) * power(y, pca_.y_power[i]);
      for (std::size_t k = 0; k < n; ++k) value[k] += weight * image[k];
    }
    sinc_shift(kernels, ny(), nx(), place.x - std::nearbyint(place.x),
               place.y - std::nearbyint(place.y), value);
    make_unit_light(value, n);
  }

 private:
  PcaPix pca_;
};

}  // namespace

std::shared_ptr<const SpotShape> make_spot_grid(const SpotGrid& grid) {
  return std::make_shared<SpotGridShape>(grid);
}
std::shared_ptr<const SpotShape> make_mono_spot(const MonoSpot& spot) {
  return std::make_shared<MonoSpotShape>(spot);
}
std::shared_ptr<const SpotShape> make_pca_pix(const PcaPix& pca) {
  return std::make_shared<PcaPixShape>(pca);
}

}  // namespace fiberloom
