// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/sky_variance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "fiberloom/calibrate/sky_lines.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr double kStepAa = 0.005;
constexpr int kShifts = 399;
constexpr double kLargestAa = 2;
/// The median of chi2 of three numbers, divided by three.
constexpr double kMedianOfChi2 = 0.7888;

/// What the median fibre's residuals around one peak say.
class Peak {
 public:
  Peak(LineFibers rule, double share) : rule_(rule), share_(share) {}
  void add(double variance, double residual, double sky, double slope) {
    pixels_.push_back({variance + share_ * share_ * sky * sky, residual * residual, slope * slope});
  }
  void end_fiber() { ends_.push_back(pixels_.size()); }

  /// The smallest shift that explains them: chi2 falls as the shift grows.
  [[nodiscard]] double shift() const {
    if (!explained(kShifts - 1)) return kLargestAa;
    int low = -1, high = kShifts - 1;  // high explains, low does not
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (explained(middle) ? high : low) = middle;
    }
    return shift_aa(high);
  }

 private:
  struct Pixel {
    double variance, square, slope2;
  };
  [[nodiscard]] static double shift_aa(int i) { return kStepAa + i * kStepAa; }
  [[nodiscard]] bool explained(int i) const {
    std::vector<double> chi2;
    std::size_t first = 0;
    for (const std::size_t end : ends_) {
      double sum = 0;
      for (std::size_t p = first; p < end; ++p) {
        const Pixel& x = pixels_[p];
        sum += x.square / (x.variance + shift_aa(i) * shift_aa(i) * x.slope2);
      }
      if (end == first && rule_ == LineFibers::kAll) return false;
      if (end > first) chi2.push_back(sum / static_cast<double>(end - first));
      first = end;
    }
    return !chi2.empty() && median_of(chi2) / kMedianOfChi2 <= 1;
  }
  LineFibers rule_;
  double share_;
  std::vector<Pixel> pixels_;
  std::vector<std::size_t> ends_;
};

}  // namespace

void add_line_variance(const Spectra& spectra, std::span<const std::size_t> fibers,
                       const SkyOptions& options, SkyModel& sky) {
  const std::size_t n = sky.wave.size();
  const MeanSky mean = mean_sky(sky);
  constexpr std::size_t kNear = 2, kAround = 3;  // bins that are judged, and that get the variance
  for (const std::size_t peak : peaks_of(mean.level)) {
    if (peak < kAround) continue;
    Peak judge(options.line_fibers, options.line_share);
    for (const std::size_t s : fibers) {
      for (std::size_t i = peak - kNear; i < std::min(n, peak + kNear + 1); ++i) {
        if (!(spectra.ivar(s, i) > 0) || !(sky.stat_ivar(s, i) > 0)) continue;
        const double variance = 1 / spectra.ivar(s, i) + 1 / sky.stat_ivar(s, i);
        const double residual = spectra.flux(s, i) - sky.flux(s, i);
        const double worst = variance + std::pow(0.2 * mean.level[i], 2) +
                             std::pow(0.5 * mean.slope[i], 2);  // what is further off is no line
        if (!(residual * residual <= 9 * worst)) continue;
        judge.add(variance, residual, mean.level[i], mean.slope[i]);
      }
      judge.end_fiber();
    }
    const double shift = judge.shift();
    for (std::size_t i = peak - kAround; i < std::min(n, peak + kAround + 1); ++i) {
      const double more =
          std::pow(options.line_share * mean.level[i], 2) + std::pow(shift * mean.slope[i], 2);
      for (std::size_t s = 0; s < sky.ivar.rows(); ++s) {
        const double was = sky.stat_ivar(s, i);  // peaks may lie near each other: the last counts
        if (was > 0) sky.ivar(s, i) = 1 / (1 / was + more);
      }
    }
  }
}

}  // namespace fiberloom::calibrate
