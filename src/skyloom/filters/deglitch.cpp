// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/filters/deglitch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "loom/base/median.hpp"
#include "skyloom/good_sample.hpp"

namespace skyloom {
namespace {

constexpr int kRounds = 10;
constexpr double kNormalWidth = 1.482602218505602;  // of a normal distribution, over its median
constexpr std::uint8_t kGlitchFlag = 1;

/// Samples around the present one, in the order of their values; never none.
class SortedWindow {
 public:
  void add(double value) {
    sorted_.insert(std::upper_bound(sorted_.begin(), sorted_.end(), value), value);
  }
  void drop(double value) {
    sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), value));
  }
  [[nodiscard]] double median() const {
    const std::size_t n = sorted_.size();
    return n % 2 == 1 ? sorted_[n / 2] : (sorted_[n / 2 - 1] + sorted_[n / 2]) / 2;
  }

 private:
  std::vector<double> sorted_;
};

/// Distances of values from the median of those around them, as many before as behind: a slope is
/// no distance, at the ends too.
void find_distances(std::size_t half, const std::vector<double>& values, std::vector<double>& out) {
  const std::size_t n = values.size();
  SortedWindow window;
  std::size_t first = 0, end = 0;  // of the window
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t reach = std::min({half, i, n - 1 - i});
    while (end < i + reach + 1) window.add(values[end++]);
    while (first < i - reach) window.drop(values[first++]);
    out[i] = std::fabs(values[i] - window.median());
  }
}

/// Flags what is farther than `most`, with its neighbours. `places`: of the distances.
std::size_t flag_far(double most, std::size_t radius, const std::vector<std::size_t>& places,
                     const std::vector<double>& distances, std::span<std::uint8_t> flags) {
  std::size_t found = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (!(distances[k] > most)) continue;
    const std::size_t first = places[k] > radius ? places[k] - radius : 0;
    const std::size_t end = std::min(flags.size(), places[k] + radius + 1);
    for (std::size_t i = first; i < end; ++i) {
      found += flags[i] == 0 ? 1 : 0;
      flags[i] |= kGlitchFlag;
    }
  }
  return found;
}

}  // namespace

std::size_t flag_glitches(const DeglitchOptions& options, std::span<const double> values,
                          std::span<std::uint8_t> flags) {
  std::vector<std::size_t> places;
  std::vector<double> good, distances, sorted;
  std::size_t all = 0;
  for (int round = 0; round < kRounds; ++round) {
    places.clear();
    good.clear();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!takes_part(values[i], flags[i])) continue;
      places.push_back(i);
      good.push_back(values[i]);
    }
    if (good.empty()) return all;
    distances.resize(good.size());
    find_distances(options.window / 2, good, distances);
    sorted = distances;
    const double width = kNormalWidth * median_of(sorted);
    if (!(width > 0)) return all;  // more than half of them are alike: no noise to measure by
    const std::size_t found =
        flag_far(options.sigmas * width, options.radius, places, distances, flags);
    if (found == 0) return all;
    all += found;
  }
  return all;
}

}  // namespace skyloom
