// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/sky_throughput.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/calibrate/medians.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

/// Lines of the dark sky, Angstrom in vacuum: those that desispec looks at.
constexpr auto kLines = std::to_array<double>(
    {4359.55, 5199.27, 5462.38, 5578.85, 5891.47, 5897.51, 5917.04, 5934.63, 5955.11, 5978.80,
     6172.39, 6204.48, 6223.56, 6237.36, 6259.62, 6266.96, 6289.21, 6302.06, 6308.70, 6323.09,
     6331.63, 6350.26, 6358.10, 6365.57, 6388.31, 6467.83, 6472.63, 6500.48, 6506.85, 6524.31,
     6534.88, 6545.95, 6555.44, 6564.59, 6570.69, 6579.14, 6606.02, 6831.19, 6836.16, 6843.66,
     6865.78, 6873.06, 6883.14, 6891.22, 6902.79, 6914.52, 6925.11, 6941.43, 6950.99, 6971.84,
     6980.36, 7005.76, 7013.36, 7050.01, 7242.08, 7247.18, 7255.13, 7278.23, 7286.57, 7298.03,
     7305.76, 7318.31, 7331.26, 7342.93, 7360.71, 7371.44, 7394.23, 7403.92, 7431.82, 7440.56,
     7468.66, 7473.57, 7475.80, 7481.74, 7485.52, 7495.74, 7526.02, 7532.80, 7559.59, 7573.90,
     7588.21, 7600.49, 7620.20, 7630.86, 7655.22, 7664.52, 7694.11, 7701.75, 7714.64, 7718.99,
     7725.76, 7728.26, 7737.35, 7752.67, 7759.19, 7762.17, 7775.53, 7782.58, 7794.17, 7796.27,
     7810.62, 7823.65, 7843.43, 7851.81, 7855.53, 7860.06, 7862.85, 7870.17, 7872.94, 7880.89,
     7883.89, 7892.04, 7915.75, 7921.90, 7923.29, 7933.51, 7947.89, 7951.41, 7966.84, 7970.48,
     7980.89, 7982.00, 7995.58, 8016.34, 8022.30, 8028.03, 8030.18, 8054.15, 8064.43, 8087.35,
     8096.04, 8104.77, 8141.35, 8149.00, 8190.40, 8197.67, 8280.73, 8283.97, 8290.79, 8298.52,
     8301.21, 8305.09, 8313.02, 8320.68, 8346.77, 8352.10, 8355.21, 8363.19, 8367.11, 8384.59,
     8401.53, 8417.58, 8432.54, 8436.62, 8448.87, 8454.61, 8467.72, 8477.00, 8495.82, 8507.19,
     8523.03, 8541.04, 8551.10, 8590.62, 8599.43, 8620.40, 8623.91, 8627.34, 8630.96, 8634.50,
     8638.26, 8642.53, 8643.38, 8649.38, 8652.98, 8657.70, 8662.46, 8667.36, 8672.49, 8677.88,
     8683.25, 8689.10, 8695.03, 8702.18, 8709.64, 8762.40, 8763.78, 8770.00, 8780.36, 8793.54,
     8812.37, 8829.35, 8831.74, 8835.98, 8838.89, 8847.90, 8852.27, 8864.96, 8870.02, 8888.31,
     8898.80, 8905.60, 8911.52, 8922.12, 8930.34, 8945.87, 8960.56, 8973.21, 8984.22, 8990.85,
     8994.99, 9003.85, 9023.44, 9030.80, 9040.55, 9052.03, 9067.36, 9095.13, 9105.32, 9154.58,
     9163.70, 9219.04, 9227.34, 9265.26, 9288.76, 9296.23, 9309.49, 9315.79, 9320.36, 9326.25,
     9333.54, 9340.43, 9351.84, 9364.59, 9370.52, 9378.34, 9385.63, 9399.67, 9404.72, 9422.34,
     9425.23, 9442.27, 9450.81, 9461.13, 9479.60, 9486.22, 9493.22, 9505.47, 9522.06, 9532.66,
     9539.71, 9555.14, 9562.95, 9570.04, 9610.34, 9623.30, 9656.01, 9661.88, 9671.38, 9676.93,
     9684.39, 9693.15, 9701.98, 9714.38, 9722.52, 9737.51, 9740.80, 9748.49, 9793.49, 9799.16,
     9802.55, 9810.34, 9814.71, 9819.99});

/// One line's factor in one fibre, the constant beside it left to itself.
struct Factor {
  double value = 0, variance = 0;
};

/// Sums over the bins [first, last) about a line.
bool fit_line(const double* flux, const double* ivar, const SkyModel& sky, std::size_t s,
              std::size_t first, std::size_t last, Factor& out) {
  double w = 0, wf = 0, ws = 0, wss = 0, wsf = 0;
  for (std::size_t i = first; i < last; ++i) {
    const double v = sky.ivar(s, i) > 0 ? ivar[i] : 0, m = sky.flux(s, i);
    if (v == 0) continue;  // the flux may be no number
    w += v, wf += v * flux[i], ws += v * m, wss += v * m * m, wsf += v * m * flux[i];
  }
  const double det = w * wss - ws * ws;
  if (!(w > 0) || det == 0) return false;
  out = {(w * wsf - ws * wf) / det, w / det};
  return true;
}

/// The weighted mean, outliers left out one by one; 1 where it is not known to 0.1.
double mean_factor(const std::vector<Factor>& all) {
  constexpr double kSystematic = 0.005, kOfOutliers = 0.02, kNsig = 3, kLeastKnown = 0.1;
  constexpr int kMostOutliers = 50;
  std::vector<double> weight, of_outliers;
  for (const Factor& f : all) {
    const bool good = f.variance > 0;
    weight.push_back(good ? 1 / (f.variance + kSystematic * kSystematic) : 0);
    of_outliers.push_back(good ? 1 / (f.variance + kOfOutliers * kOfOutliers) : 0);
  }
  double mean = 1, error = kLeastKnown + 1;
  for (int round = 0; round < kMostOutliers; ++round) {
    double sum = 0, sum_value = 0;
    for (std::size_t k = 0; k < all.size(); ++k) {
      sum += weight[k], sum_value += weight[k] * all[k].value;
    }
    if (!(sum > 0)) return 1;
    mean = sum_value / sum;
    error = 1 / std::sqrt(sum);
    std::vector<double> positive;
    std::size_t worst = 0;
    double most = -1;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double chi2 = of_outliers[k] * std::pow(all[k].value - mean, 2);
      if (chi2 > 0) positive.push_back(chi2);
      if (chi2 > most) most = chi2, worst = k;
    }
    if (positive.empty() || !(most > kNsig * kNsig * median_of(positive))) break;
    weight[worst] = of_outliers[worst] = 0;
  }
  return error > kLeastKnown ? 1 : mean;
}

}  // namespace

std::vector<double> line_throughput(const Array2D<double>& flux, const Array2D<double>& ivar,
                                    const SkyModel& sky) {
  constexpr double kAroundAa = 4;
  const std::vector<double>& wave = sky.wave;
  std::vector<std::pair<std::size_t, std::size_t>> windows;
  for (const double line : kLines) {
    if (line <= wave.front() || line >= wave.back()) continue;
    const auto first = std::lower_bound(wave.begin(), wave.end(), line - kAroundAa);
    const auto last = std::upper_bound(wave.begin(), wave.end(), line + kAroundAa);
    if (last - first < 2) continue;
    windows.emplace_back(first - wave.begin(), last - wave.begin());
  }
  std::vector<double> out(flux.rows(), 1.0);
  for (std::size_t s = 0; s < flux.rows(); ++s) {
    std::vector<Factor> found;
    for (const auto& [first, last] : windows) {
      Factor one;
      if (fit_line(flux.row(s), ivar.row(s), sky, s, first, last, one)) found.push_back(one);
    }
    if (!found.empty()) out[s] = mean_factor(found);
  }
  return out;
}

std::vector<std::size_t> bins_between_lines(std::span<const double> wave) {
  constexpr double kBluest = 5700, kNearAa = 2;
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < wave.size(); ++i) {
    const auto after =
        std::lower_bound(kLines.begin(), kLines.end(), std::max(kBluest, wave[i] - kNearAa));
    if (after == kLines.end() || *after > wave[i] + kNearAa) out.push_back(i);
  }
  return out;
}

void scale_lines(std::span<const double> wave, std::span<const std::size_t> between, double factor,
                 std::span<double> sky) {
  if (factor == 1 || between.empty()) return;
  std::vector<double> x, y;
  for (const std::size_t i : between) x.push_back(wave[i]), y.push_back(sky[i]);
  for (std::size_t i = 0; i < sky.size(); ++i) {
    sky[i] += (factor - 1) * std::max(0.0, sky[i] - interpolate(x, y, wave[i]));
  }
}

}  // namespace fiberloom::calibrate
