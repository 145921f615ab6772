// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/photometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/calibrate/cubic_through.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

/// A flux of AB magnitude 0 times wavelength^2, 1e-17 erg/(s cm2 Angstrom) Angstrom^2.
constexpr double kSpeedOfLight = 2.99792458e18;  // Angstrom/s
constexpr double kAbZero = 3631e-23 * kSpeedOfLight * 1e17;

double trapezoid_weight(std::span<const double> x, std::size_t i) {
  const double low = i > 0 ? x[i] - x[i - 1] : 0, high = i + 1 < x.size() ? x[i + 1] - x[i] : 0;
  return 0.5 * (low + high);
}

/// Photons of a magnitude of 0, on the band's own points.
double photons_of_zero(const Passband& band) {
  double sum = 0;
  for (std::size_t i = 0; i < band.wave.size(); ++i) {
    sum += kAbZero / band.wave[i] * band.response[i] * trapezoid_weight(band.wave, i);
  }
  return sum;
}

/// Points of the band that have one more of it before them in the same interval of the grid.
std::vector<std::size_t> crowded(std::span<const double> grid, const Passband& band) {
  std::vector<std::size_t> out;
  const auto interval = [&](std::size_t k) {
    return std::lower_bound(grid.begin(), grid.end(), band.wave[k]) - grid.begin();
  };
  for (std::size_t k = 2; k < band.wave.size(); ++k) {
    if (interval(k) == interval(k - 1)) out.push_back(k - 1);
  }
  return out;
}

}  // namespace

BandIntegral::BandIntegral(const std::vector<double>& wave, const Passband& band) {
  if (band.wave.size() < 2 || wave.size() < 2 || wave.front() > band.wave.front() ||
      wave.back() < band.wave.back()) {
    throw Error(
        Status::kWrongShape,
        print("a grid from %.1f to %.1f Angstrom, expected to reach over the band's, %.1f "
              "to %.1f",
              wave.empty() ? 0 : wave.front(), wave.empty() ? 0 : wave.back(),
              band.wave.empty() ? 0 : band.wave.front(), band.wave.empty() ? 0 : band.wave.back()));
  }
  const auto start = std::upper_bound(wave.begin(), wave.end(), band.wave.front()) - 1;
  const auto stop = std::lower_bound(wave.begin(), wave.end(), band.wave.back()) + 1;
  const std::span<const double> grid(start, stop);
  first_ = static_cast<std::size_t>(start - wave.begin());
  struct Point {
    double wave, response;
    std::size_t below;  ///< of the grid
    double share;       ///< of the next point's flux
  };
  std::vector<Point> points;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const bool inside = grid[i] >= band.wave.front() && grid[i] <= band.wave.back();
    const double response = inside ? interpolate(band.wave, band.response, grid[i]) : 0;
    points.push_back({grid[i], response, i, 0});
  }
  for (const std::size_t k : crowded(grid, band)) {
    const double at = band.wave[k];
    const auto above = std::upper_bound(grid.begin(), grid.end() - 1, at) - grid.begin();
    const auto i = static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, above)) - 1;
    points.push_back({at, band.response[k], i, (at - grid[i]) / (grid[i + 1] - grid[i])});
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const Point& a, const Point& b) { return a.wave < b.wave; });
  std::vector<double> x;
  for (const Point& p : points) x.push_back(p.wave);
  x.front() = std::max(x.front(), band.wave.front());
  x.back() = std::min(x.back(), band.wave.back());
  weight_.assign(grid.size(), 0.0);
  const double zero = photons_of_zero(band);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& p = points[i];
    const double w = x[i] * p.response * trapezoid_weight(x, i) / zero;
    weight_[p.below] += (1 - p.share) * w;
    if (p.share > 0) weight_[p.below + 1] += p.share * w;
  }
}

template <class T>
double BandIntegral::magnitude(const T* flux) const {
  double sum = 0;
  for (std::size_t i = 0; i < weight_.size(); ++i) {
    sum += weight_[i] * static_cast<double>(flux[first_ + i]);
  }
  return -2.5 * std::log10(sum);
}
template double BandIntegral::magnitude(const float*) const;
template double BandIntegral::magnitude(const double*) const;

PhotometricSystem photometric_system(const std::string& photsys) noexcept {
  if (photsys == "N") return PhotometricSystem::kNorth;
  return photsys == "G" ? PhotometricSystem::kGaia : PhotometricSystem::kSouth;
}

std::span<const Band> bands_of(PhotometricSystem system) noexcept {
  static constexpr std::array kSouth{Band{"G", "decam2014-g", 0, 3.212},
                                     Band{"R", "decam2014-r", 0, 2.164},
                                     Band{"Z", "decam2014-z", 0, 1.211}};
  static constexpr std::array kNorth{Band{"G", "BASS-g", 0, 3.258}, Band{"R", "BASS-r", 0, 2.176},
                                     Band{"Z", "MzLS-z", 0, 1.199}};
  // zero points of DR2 as revised: Vega's less AB's
  static constexpr std::array kGaia{Band{"G", "gaiadr2-G", 25.6914396869 - 25.7915509947, 0},
                                    Band{"BP", "gaiadr2-BP", 25.3488107670 - 25.3861560855, 0},
                                    Band{"RP", "gaiadr2-RP", 24.7626744847 - 25.1161664528, 0}};
  switch (system) {
    case PhotometricSystem::kNorth:
      return kNorth;
    case PhotometricSystem::kGaia:
      return kGaia;
    case PhotometricSystem::kSouth:
      break;
  }
  return kSouth;
}

GaiaMagnitudes gaia_extinction(const GaiaMagnitudes& seen, double ebv) {
  // table 1 of Babusiaux et al. (2018): 1, c, c^2, c^3, A0, A0^2, c A0 of colour c = BP - RP
  using Row = std::array<double, 7>;
  constexpr Row kG{0.9761, -0.1704, 0.0086, 0.0011, -0.0438, 0.0013, 0.0099};
  constexpr Row kBp{1.1517, -0.0871, -0.0333, 0.0173, -0.0230, 0.0006, 0.0043};
  constexpr Row kRp{0.6104, -0.0170, -0.0026, -0.0017, -0.0078, 0.00005, 0.0006};
  constexpr double kOfMap = 0.86, kRv = 3.1;  // Schlafly and Finkbeiner (2011)
  constexpr int kTurns = 10;                  // the colour without dust is wanted, and unknown
  const double a0 = kRv * kOfMap * ebv;
  const auto dust = [&](const Row& p, double c) {
    return a0 *
           (p[0] + c * (p[1] + c * (p[2] + c * p[3])) + p[4] * a0 + p[5] * a0 * a0 + p[6] * c * a0);
  };
  GaiaMagnitudes out;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double colour = (seen.bp - out.bp) - (seen.rp - out.rp);
    out = {dust(kG, colour), dust(kBp, colour), dust(kRp, colour)};
  }
  return out;
}

namespace {

/// A(lambda) / E(B-V) of Fitzpatrick (1999), R_V 3.1: his ultraviolet formula below 2700 Angstrom,
/// a natural cubic spline in 1 / wavelength (1/micron) through his anchors above.
class Fitzpatrick {
 public:
  [[nodiscard]] double operator()(double wave_aa) const {
    const double x = inverse(wave_aa);
    return x >= inverse(kUltraviolet) ? ultraviolet(x) : optical_(x);
  }

 private:
  static constexpr double kRv = 3.1, kUltraviolet = 2700;
  static double inverse(double wave_aa) { return 1e4 / wave_aa; }
  static CubicThrough optical() {
    const auto polynomial = [&](std::initializer_list<double> c) {
      double sum = 0;
      for (const double one : c) sum = sum * kRv + one;
      return sum;
    };
    return CubicThrough({0, inverse(26500), inverse(12200), inverse(6000), inverse(5470),
                         inverse(4670), inverse(4110), inverse(kUltraviolet), inverse(2600)},
                        {0, 0.26469, 0.82925, polynomial({2.13572e-04, 1.00270, -4.22809e-01}),
                         polynomial({-7.35778e-05, 1.00216, -5.13540e-02}),
                         polynomial({-3.32598e-05, 1.00184, 7.00127e-01}),
                         polynomial({-4.45636e-05, 7.97809e-04, -5.46959e-03, 1.01707, 1.19456}),
                         ultraviolet(inverse(kUltraviolet)), ultraviolet(inverse(2600))},
                        Ends::kNatural);
  }
  static double ultraviolet(double x) {
    constexpr double kC2 = -0.824 + 4.717 / kRv, kC1 = 2.030 - 3.007 * kC2;
    constexpr double kX0 = 4.596, kGamma = 0.99, kC3 = 3.23;  // the bump at 2175 Angstrom
    constexpr double kC4 = 0.41, kFar = 5.9;
    const double d = x * x - kX0 * kX0, far = std::max(0.0, x - kFar);
    return kC1 + kC2 * x + kC3 * x * x / (d * d + x * x * kGamma * kGamma) +
           kC4 * far * far * (0.5392 + 0.05644 * far) + kRv;
  }
  CubicThrough optical_ = optical();
};

}  // namespace

std::vector<double> dust_transmission(std::span<const double> wave, double ebv) {
  static const Fitzpatrick curve;
  constexpr double kAtMicron = 1.029;  // magnitudes at 10000 Angstrom an E(B-V) of 1
  const double scale = kAtMicron * ebv / curve(1e4);
  std::vector<double> out;
  out.reserve(wave.size());
  for (const double w : wave) out.push_back(std::pow(10, -0.4 * scale * curve(w)));
  return out;
}

}  // namespace fiberloom::calibrate
