// SPDX-License-Identifier: BSD-3-Clause
// One frame with everything that its page shows, read and reduced; no markup here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/recipes/report/ccd_images.hpp"
#include "fiberloom/recipes/report/fiber_statistics.hpp"
#include "fiberloom/recipes/report/report.hpp"
#include "fiberloom/recipes/report/statistics.hpp"
#include "fiberloom/recipes/report/targets.hpp"
#include "fiberloom/recipes/report/traces.hpp"
#include "fiberloom/recipes/report/verdict.hpp"
#include "fiberloom/recipes/report/wild_pixels.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::report {

enum class PullKind { kTruth, kPixels, kNeighbours, kSky };

/// A histogram of pulls with what it is made of, in words.
struct Pulls {
  PullKind kind;
  std::string title, note;
  Histogram histogram;
};

struct FrameReport {
  FrameFile frame;
  std::vector<std::int64_t> fibers;  ///< number of each row
  Targets targets;
  Array2D<std::uint8_t> flags;
  std::size_t stride = 1;  ///< of `sigma`, bins
  Array2D<float> sigma;    ///< resolution, bins; empty without RESOLUTION
  std::int64_t bundle_size = 25, first_fiber = 0;
  std::vector<BundleStatistics> bundles;
  std::vector<FiberStatistics> fiber_table;  ///< one a row
  std::vector<BadRun> runs;
  std::optional<Histogram> ivar;
  std::vector<Pulls> pulls;
  std::vector<Picture> pictures;
  std::optional<Traces> traces;           ///< with the PSF
  std::optional<WildPixels> wild;         ///< with image and model
  Array2D<float> model_pull, truth_pull;  ///< (data - it) / sigma of each bin, NaN; or empty
  std::optional<double> noise;            ///< noise_ratio() where read noise and unit are known
  std::optional<double> truth_core;       ///< core width of the truth pulls of quiet bins
  std::optional<double> largest_bound;    ///< error bound of the summary's bundles, sigma
  Json summary;                           ///< of extract; null without
  std::vector<std::pair<std::string, std::string>> facts;  ///< header cards, names of files
  std::vector<std::string> notes;                          ///< what is not there, and why
  std::string band, exposure;  ///< "r"; what b, r and z of one exposure share; or empty
  Verdict verdict;
};

[[nodiscard]] FrameReport gather(const ReportInput& input, std::int64_t bundle_size);

}  // namespace fiberloom::report
