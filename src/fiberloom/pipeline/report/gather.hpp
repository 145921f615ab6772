// SPDX-License-Identifier: BSD-3-Clause
// One frame with everything that its page shows, read and reduced; no markup here.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/pipeline/report/report.hpp"
#include "fiberloom/pipeline/report/statistics.hpp"
#include "fiberloom/pipeline/report/thumbnail.hpp"

namespace fiberloom::report {

enum class Scale { kSequential, kDiverging };

/// A thumbnail with the meaning of its colours.
struct Picture {
  std::string name, unit;  ///< "image", "electron a pixel"
  std::vector<std::uint8_t> png;
  std::size_t width = 0, height = 0, side = 1;  ///< blocks, and pixels a block
  Stretch stretch;
  Scale scale = Scale::kSequential;
};

/// A histogram of pulls with what it is made of, in words.
struct Pulls {
  std::string title, note;
  Histogram histogram;
};

struct FrameReport {
  FrameData frame;
  std::vector<std::int64_t> fibers;  ///< number of each row
  std::vector<std::string> targets;  ///< OBJTYPE of each row, or empty
  Array2D<std::uint8_t> flags;
  std::size_t stride = 1;  ///< of `sigma`, bins
  Array2D<float> sigma;    ///< resolution, bins; empty without RESOLUTION
  std::int64_t bundle_size = 25, first_fiber = 0;
  std::vector<BundleStatistics> bundles;
  std::vector<BadRun> runs;
  std::optional<Histogram> ivar;
  std::vector<Pulls> pulls;
  std::vector<Picture> pictures;
  nlohmann::ordered_json summary;                          ///< of extract; null without
  std::vector<std::pair<std::string, std::string>> facts;  ///< header cards, names of files
  std::vector<std::string> notes;                          ///< what is not there, and why
};

[[nodiscard]] FrameReport gather(const ReportInput& input, std::int64_t bundle_size);

}  // namespace fiberloom::report
