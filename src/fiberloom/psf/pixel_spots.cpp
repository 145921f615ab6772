// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/pixel_spots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace fiberloom {

namespace {

constexpr std::size_t kMaxPixels = static_cast<std::size_t>(kMaxShapeStamp) * kMaxShapeStamp;

/// sinc(s - d) exp(-((s - d) / damping)^2) for s = 10 ... -10: what the pixels from 10 before to 10
/// after count.
std::array<double, kSincTaps> sinc_weights(double d) {
  std::array<double, kSincTaps> w{};
  for (int k = 0; k < kSincTaps; ++k) {
    const double u = (kSincRadius - k) - d, a = u * std::numbers::pi;
    w[static_cast<std::size_t>(k)] =
        std::exp(-(u / kSincDamping) * (u / kSincDamping)) * (u == 0 ? 1.0 : std::sin(a) / a);
  }
  return w;
}

/// Along a run of n pixels, zero beyond its ends.
void shift_run(double d, long n, const double* run, double* out) {
  std::array<double, kMaxPixels + kSincTaps> padded;
  std::fill_n(padded.data(), kSincRadius, 0.0);
  std::copy_n(run, n, padded.data() + kSincRadius);
  std::fill_n(padded.data() + kSincRadius + n, kSincRadius, 0.0);
  const auto weight = sinc_weights(d);
  std::fill_n(out, n, 0.0);
  const double* in = padded.data();
  for (const double w : weight) {
    for (long i = 0; i < n; ++i) out[i] += w * in[i];
    ++in;
  }
}

}  // namespace

bool SpotShape::sum_of(const SpotPlace& /*place*/, ImageSum& /*sum*/) const noexcept {
  return false;
}

const TwoCores* SpotShape::cores() const noexcept { return nullptr; }

void make_unit_light(double* value, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    value[i] = value[i] > 0 ? value[i] : 0.0;
    sum += value[i];
  }
  const bool lit = sum > 0 && sum < 1e300;
  const double scale = lit ? 1 / sum : 0.0;
  for (std::size_t i = 0; i < n; ++i) value[i] = lit ? value[i] * scale : 0.0;
}

void sinc_shift(int ny, int nx, double dx, double dy, double* image) {
  const long n = static_cast<long>(ny) * nx;
  std::array<double, kMaxPixels> shifted, turned;
  if (std::abs(dx) > kLeastSincShift) {
    shift_run(dx, n, image, shifted.data());
    std::copy_n(shifted.data(), n, image);
  }
  if (std::abs(dy) <= kLeastSincShift) return;
  for (int r = 0; r < ny; ++r) {
    for (int c = 0; c < nx; ++c) turned[static_cast<std::size_t>(c * ny + r)] = image[r * nx + c];
  }
  shift_run(dy, n, turned.data(), shifted.data());
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

int floor_of(double x) { return static_cast<int>(std::floor(x)); }

/// The cell of an increasing axis in which a number lies, or the nearest: index of its end, and how
/// far into it.
struct Cell {
  std::size_t end;
  double share;
  [[nodiscard]] std::array<std::pair<std::size_t, double>, 2> ends() const {
    return {{{end - 1, 1 - share}, {end, share}}};
  }
};
Cell cell_of(const std::vector<double>& axis, double at) {
  const auto found = std::lower_bound(axis.begin(), axis.end(), at);
  const auto end = std::clamp<std::ptrdiff_t>(found - axis.begin(), 1,
                                              static_cast<std::ptrdiff_t>(axis.size()) - 1);
  const auto i = static_cast<std::size_t>(end);
  return {i, (at - axis[i - 1]) / (axis[i] - axis[i - 1])};
}

/// Divides by the largest absolute value: only shares count, and a float then holds them.
void make_largest_one(std::vector<double>& images) {
  double top = 0;
  for (const double v : images) top = std::max(top, std::abs(v));
  if (!(top > 1e-300 && top < 1e300)) return;
  for (double& v : images) v /= top;
}

int binned(std::size_t fine_pixels, int fine) {
  return static_cast<int>(fine_pixels) / fine + 1;  // one more: a spot begins within a pixel
}

/// Spots as CCD pixels see them that begin 0, 1 ... `last` fine pixels after the corner of one,
/// along each axis: any other place is a mean of four.
class BinnedSpots {
 public:
  BinnedSpots(int nx, int ny, int fine, int last)
      : nx_(nx), ny_(ny), fine_(fine), places_(static_cast<std::size_t>(last) + 1) {}
  void add(const FineSpot& spot) {
    const std::size_t n =
        in_float_packs(static_cast<std::size_t>(nx_) * static_cast<std::size_t>(ny_));
    for (std::size_t y = 0; y < places_; ++y) {
      for (std::size_t x = 0; x < places_; ++x) {
        const std::size_t end = images_.size();
        images_.resize(end + n, 0.0);
        spot.add_binned(-static_cast<double>(x), -static_cast<double>(y), fine_, 1, nx_, ny_,
                        images_.data() + end);
      }
    }
  }
  /// After the last: divides all by the largest.
  void finish() {
    make_largest_one(images_);
    narrow_.assign(images_.begin(), images_.end());
  }
  /// An image as floats.
  [[nodiscard]] const float* narrow(const double* image) const {
    return narrow_.data() + (image - images_.data());
  }
  /// [ny][nx] in whole packs.
  [[nodiscard]] const double* operator()(std::size_t spot, std::size_t y, std::size_t x) const {
    const std::size_t n =
        in_float_packs(static_cast<std::size_t>(nx_) * static_cast<std::size_t>(ny_));
    return images_.data() + ((spot * places_ + y) * places_ + x) * n;
  }

 private:
  int nx_, ny_, fine_;
  std::size_t places_;
  std::vector<double> images_;  ///< [spot][y][x][ny * nx]
  std::vector<float> narrow_;   ///< the same
};

/// Kinds whose spots are sums of images.
class ImageShape : public SpotShape {
 public:
  void evaluate(const SpotPlace& place, double* value) const final {
    const auto n = static_cast<std::size_t>(nx()) * static_cast<std::size_t>(ny());
    ImageSum sum;
    (void)sum_of(place, sum);
    std::fill_n(value, n, 0.0);
    for (std::size_t k = 0; k < sum.count; ++k) {
      for (std::size_t i = 0; i < n; ++i) value[i] += sum.weight[k] * sum.image[k][i];
    }
    sinc_shift(ny(), nx(), sum.dx, sum.dy, value);
    make_unit_light(value, n);
  }

 protected:
  using SpotShape::SpotShape;
};

class SpotGridShape final : public ImageShape {
 public:
  explicit SpotGridShape(const SpotGrid& g)
      : ImageShape(binned(g.spot_nx, g.fine), binned(g.spot_ny, g.fine)),
        wave_aa_(g.wave_aa),
        fine_(g.fine),
        spots_(nx(), ny(), g.fine, g.fine) {
    const std::size_t size = g.spot_ny * g.spot_nx;
    for (const double position : g.fiber_position)
      of_fiber_.push_back(cell_of(g.position, position));
    for (std::size_t i = 0; i < g.position.size() * wave_aa_.size(); ++i)
      spots_.add({g.spots.data() + i * size, g.spot_ny, g.spot_nx});
    spots_.finish();
  }
  [[nodiscard]] const char* kind() const noexcept override { return "SPOTGRID"; }
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return floor_of(x) - nx() / 2 + 1;
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return floor_of(y) - ny() / 2 + 1;
  }
  [[nodiscard]] bool sum_of(const SpotPlace& place, ImageSum& sum) const noexcept override {
    const Cell& p = of_fiber_[place.fiber];
    const Cell w = cell_of(wave_aa_, place.wave_aa);
    const Cell x = fine_cell(place.x), y = fine_cell(place.y);
    for (const auto& [i, in_p] : p.ends()) {
      for (const auto& [j, in_w] : w.ends()) {
        for (const auto& [r, in_y] : y.ends()) {
          for (const auto& [c, in_x] : x.ends()) {
            const double weight = in_p * in_w * (in_y * in_x);
            if (weight != 0) sum.add(spots_(i * wave_aa_.size() + j, r, c), weight);
          }
        }
      }
    }
    sum.narrow = spots_.narrow(sum.image[0]);
    return true;
  }

 private:
  /// The spot begins so many fine pixels after the corner of a CCD pixel.
  [[nodiscard]] Cell fine_cell(double center) const noexcept {
    const double at = (center - std::floor(center)) * fine_;
    const auto end = std::min(static_cast<std::size_t>(at) + 1, static_cast<std::size_t>(fine_));
    return {end, at - static_cast<double>(end - 1)};
  }

  std::vector<Cell> of_fiber_;  ///< along the slit
  std::vector<double> wave_aa_;
  int fine_;
  BinnedSpots spots_;  ///< [position][wave]
};

class MonoSpotShape final : public ImageShape {
 public:
  explicit MonoSpotShape(const MonoSpot& m)
      : ImageShape(binned(m.nx, m.fine), binned(m.ny, m.fine)),
        fine_(m.fine),
        spot_(nx(), ny(), m.fine, m.fine - 1) {
    spot_.add({m.spot.data(), m.ny, m.nx});
    spot_.finish();
  }
  [[nodiscard]] const char* kind() const noexcept override { return "MONOSPOT"; }
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return floor_of(x - nx() / 2 + 1);
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return floor_of(y - ny() / 2 + 1);
  }
  [[nodiscard]] bool sum_of(const SpotPlace& place, ImageSum& sum) const noexcept override {
    const auto [r, dy] = begin_of(place.y);
    const auto [c, dx] = begin_of(place.x);
    sum.add(spot_(0, r, c), 1);
    sum.narrow = spot_.narrow(sum.image[0]);
    sum.dx = dx;
    sum.dy = dy;
    return true;
  }

 private:
  /// The fine pixel of its CCD pixel in which a spot begins, and how far in it, CCD pixels.
  struct Begin {
    std::size_t pixel;
    double rest;
  };
  [[nodiscard]] Begin begin_of(double center) const noexcept {
    const double fine = center * fine_, within = fine - std::floor(fine / fine_) * fine_;
    // rounding may say that a spot begins with the next pixel
    const int pixel = std::clamp(floor_of(within), 0, fine_ - 1);
    return {static_cast<std::size_t>(pixel), (within - pixel) / fine_};
  }

  int fine_;
  BinnedSpots spot_;
};

double power(double base, int exponent) {
  double result = 1;
  for (int i = 0; i < exponent; ++i) result *= base;
  return result;
}

class PcaPixShape final : public ImageShape {
 public:
  explicit PcaPixShape(const PcaPix& pca)
      : ImageShape(static_cast<int>(pca.nx), static_cast<int>(pca.ny)),
        pca_(pca),
        pitch_(in_float_packs(pca.nx * pca.ny)) {
    const std::size_t n = pca.nx * pca.ny, images = pca.images.size() / n;
    pca_.images.assign(images * pitch_, 0.0);
    for (std::size_t i = 0; i < images; ++i)
      std::copy_n(pca.images.data() + i * n, n, pca_.images.data() + i * pitch_);
    make_largest_one(pca_.images);
    narrow_.assign(pca_.images.begin(), pca_.images.end());
  }
  [[nodiscard]] const char* kind() const noexcept override { return "PCA-PIX"; }
  // halves go to the even pixel, as Python rounds
  [[nodiscard]] int corner_x(double x) const noexcept override {
    return static_cast<int>(std::nearbyint(x)) - nx() / 2;
  }
  [[nodiscard]] int corner_y(double y) const noexcept override {
    return static_cast<int>(std::nearbyint(y)) - ny() / 2;
  }
  [[nodiscard]] bool sum_of(const SpotPlace& place, ImageSum& sum) const noexcept override {
    const std::size_t f = place.fiber, images = pca_.x_power.size();
    const double x = pca_.x_scale[f] * (place.x - pca_.x0[f]);
    const double y = pca_.y_scale[f] * (place.y - pca_.y0[f]);
    const std::size_t first = static_cast<std::size_t>(pca_.group[f]) * images * pitch_;
    const double* image = pca_.images.data() + first;
    for (std::size_t i = 0; i < images; ++i, image += pitch_)
      sum.add(image, power(x, pca_.x_power[i]) * power(y, pca_.y_power[i]));
    sum.narrow = narrow_.data() + first;
    sum.shared = true;
    sum.dx = place.x - std::nearbyint(place.x);
    sum.dy = place.y - std::nearbyint(place.y);
    return true;
  }

 private:
  PcaPix pca_;                 ///< its images in whole packs
  std::vector<float> narrow_;  ///< the same
  std::size_t pitch_;
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
