// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/deglitch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/median.hpp"
#include "skyloom/filters/legendre.hpp"

namespace skyloom {
namespace {

constexpr int kRounds = 10;
constexpr double kNormalWidth = 1.482602218505602;  // of a normal distribution, over its median
constexpr std::uint8_t kGlitchFlag = 1;

/// Good samples within half a window of the present one, in the order of their values.
class SortedWindow {
 public:
  void add(double value) {
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
  }
  void drop(double value) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), value));
  }
  /// NaN of none.
  [[nodiscard]] double median() const {
    const std::size_t n = sorted_.size();
    if (n == 0) return NAN;
    return n % 2 == 1 ? sorted_[n / 2] : (sorted_[n / 2 - 1] + sorted_[n / 2]) / 2;
  }

 private:
  std::vector<double> sorted_;
};

/// Distances from the running median; 0 of samples that take no part.
void find_distances(std::size_t half, std::span<const double> values,
                    std::span<const std::uint8_t> flags, std::vector<double>& out) {
  const std::size_t n = values.size();
  const auto is_good = [&](std::size_t i) {
    return flags[i] == 0 && std::fabs(values[i]) <= kMostSignal;
  };
  SortedWindow window;
  for (std::size_t i = 0; i < std::min(half, n); ++i) {
    if (is_good(i)) window.add(values[i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (i + half < n && is_good(i + half)) window.add(values[i + half]);
    if (i > half && is_good(i - half - 1)) window.drop(values[i - half - 1]);
    out[i] = is_good(i) ? std::fabs(values[i] - window.median()) : 0;
  }
}

/// Flags what is farther than `most`, with its neighbours.
std::size_t flag_far(double most, std::size_t radius, const std::vector<double>& distances,
                     std::span<std::uint8_t> flags) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (!(distances[i] > most)) continue;
    const std::size_t first = i > radius ? i - radius : 0;
    const std::size_t end = std::min(distances.size(), i + radius + 1);
    for (std::size_t k = first; k < end; ++k) {
      found += flags[k] == 0 ? 1 : 0;
      flags[k] |= kGlitchFlag;
    }
  }
  return found;
}

}  // namespace

std::size_t flag_glitches(const DeglitchOptions& options, std::span<const double> values,
                          std::span<std::uint8_t> flags) {
  std::vector<double> distances(values.size()), good;
  std::size_t all = 0;
  for (int round = 0; round < kRounds; ++round) {
    find_distances(options.window / 2, values, flags, distances);
    good.clear();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (flags[i] == 0 && std::fabs(values[i]) <= kMostSignal) good.push_back(distances[i]);
    }
    if (good.empty()) return all;
    const double width = kNormalWidth * median_of(good);
    if (!(width > 0)) return all;  // more than half of them are alike: no noise to measure by
    const std::size_t found = flag_far(options.sigmas * width, options.radius, distances, flags);
    if (found == 0) return all;
    all += found;
  }
  return all;
}

}  // namespace skyloom
