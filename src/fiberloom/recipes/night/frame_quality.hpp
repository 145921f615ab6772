// SPDX-License-Identifier: BSD-3-Clause
// Four numbers of a frame that is made, what limits say of them, and which frames stand out of a
// night. Small enough to go with the outcome: receipts, ledger, wire, status page.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "loom/batch/task.hpp"

namespace fiberloom::night {

/// Medians are over bins that have information.
struct FrameQuality {
  double snr = 0;         ///< median of flux x sqrt(ivar), a bin
  double chi2 = 0;        ///< median chi2pix
  double flagged = 0;     ///< fraction of bins with any bit of MASK
  double resolution = 0;  ///< median of wavelength / FWHM; 0 where it cannot be told
};

/// The four by number, in the order in which pages and tables show them.
inline constexpr std::size_t kMetrics = 4;
/// "snr", "chi2", "flagged", "resolution": as in --limit, receipts, ledger and status.json.
[[nodiscard]] const char* metric_name(std::size_t metric);
[[nodiscard]] double metric_value(const FrameQuality& quality, std::size_t metric);

/// As receipts, ledger and status keep them; nothing where a record has not all of them.
[[nodiscard]] std::vector<batch::Measure> to_measures(const FrameQuality& quality);
[[nodiscard]] std::optional<FrameQuality> quality_of(const std::vector<batch::Measure>& measures);

/// O(bins); equal results give equal numbers. Precondition: the mask is set.
[[nodiscard]] FrameQuality measure_quality(const ExtractResult& result);

/// Where a number begins to be odd, and bad.
struct Limit {
  double odd = 0, bad = 0;
};

/// The defaults are documented in docs/fiberloom/nights.md.
struct QualityLimits {
  Limit snr{0.5, 0.1};         ///< below
  Limit chi2{1.5, 3};          ///< above
  Limit flagged{0.05, 0.25};   ///< above
  Limit resolution{0.1, 0.3};  ///< away from the median of the same camera, as a fraction of it
};

/// "chi2=1.5,3": sets one limit. Throws kUsage.
void set_limit(const std::string& text, QualityLimits& limits);
[[nodiscard]] Limit limit_of(const QualityLimits& limits, std::size_t metric);

enum class Verdict { kGood, kOdd, kBad };

/// A frame among those of a night.
struct RatedFrame {
  std::string camera;
  FrameQuality quality;
};

/// A number far from those of the same camera.
struct Outlier {
  std::size_t frame = 0;  ///< index in the list that was rated
  std::size_t metric = 0;
  double value = 0, median = 0;
  double sigmas = 0;  ///< distance in units of the scatter (1.48 x median absolute deviation)
};

struct Ratings {
  std::vector<std::array<Verdict, kMetrics>> verdicts;  ///< of each frame
  std::vector<Outlier> outliers;                        ///< farthest first
};

/// Verdicts by the limits, and outliers: more than 5 sigma and 2 % from the camera's median over at
/// least 5 frames. O(n log n).
[[nodiscard]] Ratings rate_frames(const std::vector<RatedFrame>& frames,
                                  const QualityLimits& limits);

}  // namespace fiberloom::night
