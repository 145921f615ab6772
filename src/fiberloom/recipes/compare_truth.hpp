// SPDX-License-Identifier: BSD-3-Clause
// A frame against what was simulated: flux should be R x truth, with pulls of mean 0 and width 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/recipes/compare_frames.hpp"

namespace fiberloom {

/// Running moments of pulls.
class PullStatistics {
 public:
  void add(double pull) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] double mean() const noexcept;
  [[nodiscard]] double width() const noexcept;  ///< standard deviation
  [[nodiscard]] std::size_t beyond_5() const noexcept { return beyond_5_; }

 private:
  std::size_t count_ = 0, beyond_5_ = 0;
  double sum_ = 0, sum2_ = 0;
};

struct TruthComparison {
  struct Row {
    std::string name;  ///< "all", "S/N 3-10", "fibres 25-49"
    PullStatistics pulls;
  };
  std::size_t nspec = 0, nwave = 0;
  bool fine_truth =
      false;               ///< the truth's bins are smaller than the frame's: light off the centres
  std::size_t masked = 0;  ///< bins that are masked or not covered by the truth
  Row all;
  std::vector<Row> by_brightness;  ///< signal to noise of the true flux in a bin
  std::vector<Row> by_bundle;
};

/// A line for who wonders about wide pulls: empty, or that the truth's light lies off the centres
/// of the frame's bins, which no spectrum on these bins reproduces.
[[nodiscard]] std::string width_hint(const TruthComparison& comparison);

/// Truth averaged over each bin of `wave`: the overlap of its samples (each as wide as half way to
/// its neighbours) with the bin. NaN where the truth does not cover the whole bin. [nspec][nwave]
[[nodiscard]] Array2D<double> bin_truth(const TruthFile& truth, const std::vector<double>& wave);

/// R x truth for each bin of the frame, R as stored in it; NaN where the truth does not cover it or
/// has no such fibre. [nspec][nwave]. Throws as compare_truth().
[[nodiscard]] Array2D<double> expected_flux(const FrameFile& frame, const TruthFile& truth);

/// pull = (flux - R truth) sqrt(ivar), R as stored in the frame. Throws kMissingHdu without
/// RESOLUTION or WAVELENGTH, kWrongShape when no fibre is common.
[[nodiscard]] TruthComparison compare_truth(const FrameFile& frame, const TruthFile& truth,
                                            const CompareOptions& options, int bundle_size);

}  // namespace fiberloom
