// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/quality/exposure_depth.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/formats/desimodel_file.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/median.hpp"

namespace fiberloom {
namespace {

constexpr std::string_view kScore = "TSNR2_";

bool has_depth(const FrameFile& frame) {
  return frame.scores && std::any_of(frame.scores->columns.begin(), frame.scores->columns.end(),
                                     [](const Column& c) { return c.name.starts_with(kScore); });
}

std::optional<double> read_seconds(const std::string& kind, const std::string& desimodel) {
  for (const SnrTemplate& one : read_snr_templates(desimodel, 'r')) {
    if (one.kind == kind && one.seconds_of_snr2) return one.seconds_of_snr2;
  }
  throw Error(Status::kMissingKeyword,
              desimodel + ": no SNR2TIME in tsnr-ensemble-" + kind + ".fits");
}

}  // namespace

std::string kind_of_goal(const FrameFile& frame) {
  auto goal = frame.header.text("GOALTYPE");
  if (!goal && frame.fibermap) goal = HeaderCards{frame.fibermap->notes}.text("GOALTYPE");
  const std::string word = loom::in_small_letters(goal.value_or("dark"));
  return word == "bright" || word == "backup" ? "bgs" : "elg";
}

std::optional<double> seconds_of_tsnr2(const std::string& kind,
                                       std::span<const FrameFile* const> frames,
                                       const CalibrationJob& job, const Observer& observer) {
  const std::string desimodel = find_desimodel(job.desimodel);
  const bool any = std::any_of(frames.begin(), frames.end(),
                               [](const FrameFile* frame) { return has_depth(*frame); });
  if (desimodel.empty() || !any) {
    if (!job.desimodel.empty()) {
      observer.warn("no frame has a TSNR2 in its SCORES: no effective times");
    }
    return std::nullopt;
  }
  std::optional<double> out;
  with_desimodel(job, desimodel, "no effective times", observer,
                 [&] { out = read_seconds(kind, desimodel); });
  return out;
}

PetalDepth depth_of_petal(std::span<const FrameFile* const> cameras, const std::string& kind,
                          std::optional<double> seconds) {
  PetalDepth out;
  const std::string wanted = std::string(kScore) + loom::in_capitals(kind) + "_";
  std::vector<double> sums(cameras.front()->nspec(), 0.0);
  for (const FrameFile* frame : cameras) {
    if (!frame->scores) continue;
    for (const Column& column : frame->scores->columns) {
      const auto values =
          column.name.starts_with(kScore) ? frame->scores->column(column.name) : std::nullopt;
      if (!values) continue;
      std::vector<double> known;
      for (std::size_t f = 0; f < values->size(); ++f) {
        const double v = (*values)[f];
        if (!std::isfinite(v) || !(v > 0)) continue;
        known.push_back(v);
        if (f < sums.size() && column.name.size() == wanted.size() + 1 &&
            column.name.starts_with(wanted))
          sums[f] += v;
      }
      out.tsnr2[column.name] = known.empty() ? 0 : median_of(known);
    }
  }
  if (!seconds) return out;
  for (double& s : sums) s *= *seconds;
  out.seconds = std::move(sums);
  return out;
}

}  // namespace fiberloom
