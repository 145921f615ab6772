// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/igm.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "loom/base/math_lane.hpp"

namespace fiberloom::redshift {
namespace {

/// tau = a (lambda / line)^b. Calura et al. 2012 eq. 5 for Lyman alpha; the ratios of the others
/// are those that the field uses with it.
struct PowerLine {
  double wave, a, b;
};
constexpr std::array kCalura{
    PowerLine{1215.67, 0.0023, 3.64}, PowerLine{1025.72, 0.0023 / 5.2615, 3.64},
    PowerLine{972.537, 0.0023 / 14.356, 3.64}, PowerLine{949.7431, 0.0023 / 29.85984, 3.64},
    PowerLine{937.8035, 0.0023 / 53.36202, 3.64}};
/// Kamble et al. 2020, Lyman alpha alone.
constexpr std::array kKamble{PowerLine{1215.67, 0.00554, 3.182}};

/// Inoue et al. 2014, table 2: Lyman series, forest (three ranges of redshift) and damped systems
/// (two).
struct InoueLine {
  double wave, forest[3], damped[2];
};
constexpr InoueLine inoue(double wave, double f1, double f2, double f3, double d1, double d2) {
  return {wave, {f1, f2, f3}, {d1, d2}};
}
constexpr std::array kInoue{
    inoue(1215.670, 1.68976e-02, 2.35379e-03, 1.02611e-04, 1.61698e-04, 5.38995e-05),
    inoue(1025.720, 4.69229e-03, 6.53625e-04, 2.84940e-05, 1.54539e-04, 5.15129e-05),
    inoue(972.537, 2.23898e-03, 3.11884e-04, 1.35962e-05, 1.49767e-04, 4.99222e-05),
    inoue(949.743, 1.31901e-03, 1.83735e-04, 8.00974e-06, 1.46031e-04, 4.86769e-05),
    inoue(937.803, 8.70656e-04, 1.21280e-04, 5.28707e-06, 1.42893e-04, 4.76312e-05),
    inoue(930.748, 6.17843e-04, 8.60640e-05, 3.75186e-06, 1.40159e-04, 4.67196e-05),
    inoue(926.226, 4.60924e-04, 6.42055e-05, 2.79897e-06, 1.37714e-04, 4.59048e-05),
    inoue(923.150, 3.56887e-04, 4.97135e-05, 2.16720e-06, 1.35495e-04, 4.51650e-05),
    inoue(920.963, 2.84278e-04, 3.95992e-05, 1.72628e-06, 1.33452e-04, 4.44841e-05),
    inoue(919.352, 2.31771e-04, 3.22851e-05, 1.40743e-06, 1.31561e-04, 4.38536e-05),
    inoue(918.129, 1.92348e-04, 2.67936e-05, 1.16804e-06, 1.29785e-04, 4.32617e-05),
    inoue(917.181, 1.62155e-04, 2.25878e-05, 9.84689e-07, 1.28117e-04, 4.27056e-05),
    inoue(916.429, 1.38498e-04, 1.92925e-05, 8.41033e-07, 1.26540e-04, 4.21799e-05),
    inoue(915.824, 1.19611e-04, 1.66615e-05, 7.26340e-07, 1.25041e-04, 4.16804e-05),
    inoue(915.329, 1.04314e-04, 1.45306e-05, 6.33446e-07, 1.23614e-04, 4.12046e-05),
    inoue(914.919, 9.17397e-05, 1.27791e-05, 5.57091e-07, 1.22248e-04, 4.07494e-05),
    inoue(914.576, 8.12784e-05, 1.13219e-05, 4.93564e-07, 1.20938e-04, 4.03127e-05),
    inoue(914.286, 7.25069e-05, 1.01000e-05, 4.40299e-07, 1.19681e-04, 3.98938e-05),
    inoue(914.039, 6.50549e-05, 9.06198e-06, 3.95047e-07, 1.18469e-04, 3.94896e-05),
    inoue(913.826, 5.86816e-05, 8.17421e-06, 3.56345e-07, 1.17298e-04, 3.90995e-05),
    inoue(913.641, 5.31918e-05, 7.40949e-06, 3.23008e-07, 1.16167e-04, 3.87225e-05),
    inoue(913.480, 4.84261e-05, 6.74563e-06, 2.94068e-07, 1.15071e-04, 3.83572e-05),
    inoue(913.339, 4.42740e-05, 6.16726e-06, 2.68854e-07, 1.14011e-04, 3.80037e-05),
    inoue(913.215, 4.06311e-05, 5.65981e-06, 2.46733e-07, 1.12983e-04, 3.76609e-05),
    inoue(913.104, 3.73821e-05, 5.20723e-06, 2.27003e-07, 1.11972e-04, 3.73241e-05),
    inoue(913.006, 3.45377e-05, 4.81102e-06, 2.09731e-07, 1.11002e-04, 3.70005e-05),
    inoue(912.918, 3.19891e-05, 4.45601e-06, 1.94255e-07, 1.10051e-04, 3.66836e-05),
    inoue(912.839, 2.97110e-05, 4.13867e-06, 1.80421e-07, 1.09125e-04, 3.63749e-05),
    inoue(912.768, 2.76635e-05, 3.85346e-06, 1.67987e-07, 1.08220e-04, 3.60734e-05),
    inoue(912.703, 2.58178e-05, 3.59636e-06, 1.56779e-07, 1.07337e-04, 3.57789e-05),
    inoue(912.645, 2.41479e-05, 3.36374e-06, 1.46638e-07, 1.06473e-04, 3.54909e-05),
    inoue(912.592, 2.26347e-05, 3.15296e-06, 1.37450e-07, 1.05629e-04, 3.52096e-05),
    inoue(912.543, 2.12567e-05, 2.96100e-06, 1.29081e-07, 1.04802e-04, 3.49340e-05),
    inoue(912.499, 1.99967e-05, 2.78549e-06, 1.21430e-07, 1.03991e-04, 3.46636e-05),
    inoue(912.458, 1.88476e-05, 2.62543e-06, 1.14452e-07, 1.03198e-04, 3.43994e-05),
    inoue(912.420, 1.77928e-05, 2.47850e-06, 1.08047e-07, 1.02420e-04, 3.41402e-05),
    inoue(912.385, 1.68222e-05, 2.34330e-06, 1.02153e-07, 1.01657e-04, 3.38856e-05),
    inoue(912.353, 1.59286e-05, 2.21882e-06, 9.67268e-08, 1.00908e-04, 3.36359e-05),
    inoue(912.324, 1.50996e-05, 2.10334e-06, 9.16925e-08, 1.00168e-04, 3.33895e-05)};

/// Redshifts at which the forest and the damped systems change their law.
constexpr double kForest1 = 1.2, kForest2 = 4.7, kDamped = 2.0;
constexpr double kLymanLimit = 911.8;

double inoue_line(const InoueLine& line, double wave) {
  const double x = wave / line.wave;
  const double forest = x < 1 + kForest1   ? line.forest[0] * std::pow(x, 1.2)
                        : x < 1 + kForest2 ? line.forest[1] * std::pow(x, 3.7)
                                           : line.forest[2] * std::pow(x, 5.5);
  const double damped = x < 1 + kDamped ? line.damped[0] * x * x : line.damped[1] * x * x * x;
  return forest + damped;
}

/// Inoue14 eq. 25 to 27 of the forest's Lyman continuum, x = lambda / limit < 1 + z.
double forest_continuum(double x, double z) {
  const double p = 1 + z, x21 = std::pow(x, 2.1);
  if (z < kForest1) return 0.3248 * (std::pow(x, 1.2) - std::pow(p, -0.9) * x21);
  if (z < kForest2) {
    const double far = 2.545e-2 * std::pow(p, 1.6) * x21;
    if (x >= 1 + kForest1) return far - 2.545e-2 * std::pow(x, 3.7);
    return far + 0.3248 * std::pow(x, 1.2) - 0.2496 * x21;
  }
  const double far = 5.221e-4 * std::pow(p, 3.4) * x21;
  if (x > 1 + kForest2) return far - 5.221e-4 * std::pow(x, 5.5);
  if (x >= 1 + kForest1) return far + 0.2182 * x21 - 2.545e-2 * std::pow(x, 3.7);
  return far + 0.3248 * std::pow(x, 1.2) - 3.140e-2 * x21;
}

/// Eq. 28, 29: damped systems.
double damped_continuum(double x, double z) {
  const double p = 1 + z, x03 = std::pow(x, -0.3);
  if (z < kDamped) {
    return 0.2113 * p * p - 0.07661 * std::pow(p, 2.3) * x03 - 0.1347 * x * x;
  }
  const double far = 0.04696 * p * p * p - 0.01779 * std::pow(p, 3.3) * x03;
  if (x >= 1 + kDamped) return far - 0.02916 * x * x * x;
  return far + 0.6340 - 0.1347 * x * x - 0.2905 * x03;
}

}  // namespace

IgmTable::IgmTable(Igm model, std::span<const double> wave, IgmEdge edge)
    : model_(model), edge_(edge), wave_(wave.begin(), wave.end()) {
  const auto fill = [&](const auto& lines, const auto& depth) {
    for (const auto& line : lines) lines_.push_back(line.wave);
    sums_.reserve(wave_.size() * (lines.size() + 1));
    for (const double w : wave_) {
      double sum = 0;
      sums_.push_back(sum);
      for (const auto& line : lines) sums_.push_back(sum += depth(line, w));
    }
  };
  const auto power = [](const PowerLine& line, double w) {
    return line.a * std::pow(w / line.wave, line.b);
  };
  if (model == Igm::kCalura12) fill(kCalura, power);
  if (model == Igm::kKamble20) fill(kKamble, power);
  if (model == Igm::kInoue14) fill(kInoue, inoue_line);
  const std::size_t n = wave_.size(), counts = lines_.empty() ? 0 : lines_.size() + 1;
  clear_.resize(n * counts, 1.0);
  for (std::size_t k = 1; k < counts; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      // exp is the same on every machine, unlike libm's
      clear_[k * n + i] = lane_math::exp(ScalarLane(-sums_[i * counts + k])).v;
    }
  }
}

std::size_t IgmTable::absorbed(double z) const noexcept {
  if (lines_.empty()) return 0;
  const double limit = lines_.front();
  const auto at = std::partition_point(wave_.begin(), wave_.end(),
                                       [&](double w) { return w / (1 + z) < limit; });
  const auto whole = static_cast<std::size_t>(at - wave_.begin());
  return edge_ == IgmEdge::kShared ? std::min(whole + 1, wave_.size()) : whole;
}

double IgmTable::continuum(std::size_t i, double z) const noexcept {
  if (model_ != Igm::kInoue14 || !(wave_[i] < kLymanLimit * (1 + z))) return 0;
  const double x = wave_[i] / kLymanLimit;
  return forest_continuum(x, z) + damped_continuum(x, z);
}

double IgmTable::transmission(std::size_t i, double z) const noexcept {
  if (lines_.empty()) return 1;
  const auto passed = [&](double wave) {  // lines redwards of it
    const double rest = wave / (1 + z);
    const auto at = std::partition_point(lines_.begin(), lines_.end(),
                                         [&](double line) { return rest < line; });
    return static_cast<std::size_t>(at - lines_.begin());
  };
  const auto through = [&](std::size_t lines) {
    const double more = lines == 0 ? 0 : continuum(i, z);
    if (more == 0) return clear_[lines * wave_.size() + i];
    return lane_math::exp(ScalarLane(-(sums_[i * (lines_.size() + 1) + lines] + more))).v;
  };
  const std::size_t n = passed(wave_[i]);
  if (edge_ == IgmEdge::kAtMiddle) return through(n);
  const double low = i > 0 ? 0.5 * (wave_[i - 1] + wave_[i]) : wave_[i];
  const double high = i + 1 < wave_.size() ? 0.5 * (wave_[i] + wave_[i + 1]) : wave_[i];
  const std::size_t most = passed(low), least = passed(high);
  if (most == least) return through(n);
  double sum = 0, from = low;  // stretches between the edges, from the blue
  for (std::size_t lines = most; lines > least; --lines) {
    const double edge = lines_[lines - 1] * (1 + z);
    sum += (edge - from) * through(lines);
    from = edge;
  }
  sum += (high - from) * through(least);
  return sum / (high - low);
}

IgmWalk::IgmWalk(const IgmTable& table, double z, std::size_t end) noexcept : table_(table), z_(z) {
  if (!table.lines_.empty()) enter(std::min(end, table.absorbed(z)));
}

void IgmWalk::enter(std::size_t end) noexcept {
  const std::vector<double>&wave = table_.wave_, &lines = table_.lines_;
  if (end == 0) return;
  const bool shared = table_.edge_ == IgmEdge::kShared;
  // what of a pixel is reddest, and what is bluest, as transmission() has it
  const auto reddest = [&](std::size_t i) {
    return shared && i + 1 < wave.size() ? 0.5 * (wave[i] + wave[i + 1]) : wave[i];
  };
  const auto bluest = [&](std::size_t i) {
    return shared && i > 0 ? 0.5 * (wave[i - 1] + wave[i]) : wave[i];
  };
  const double rest = reddest(end - 1) / (1 + z_);
  std::size_t passed = 0;
  while (passed < lines.size() && rest < lines[passed]) ++passed;
  clear_ = table_.clear_.data() + passed * wave.size();
  bluest_ = passed == lines.size();
  const auto is_beyond = [&](std::size_t i) {
    if (!bluest_) return bluest(i) / (1 + z_) < lines[passed];
    return table_.model_ == Igm::kInoue14 && wave[i] < kLymanLimit * (1 + z_);
  };
  std::size_t low = 0, high = end;  // the first that is not beyond
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (is_beyond(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  change_ = static_cast<long>(low) - 1;
}

double IgmWalk::at_change(std::size_t i) noexcept {
  if (bluest_) return table_.transmission(i, z_);
  const double here = table_.transmission(i, z_);
  // an edge lies in this pixel, or just redwards of its middle: the stretch begins behind it
  enter(table_.edge_ == IgmEdge::kShared ? i : i + 1);
  return here;
}

}  // namespace fiberloom::redshift
