// SPDX-License-Identifier: BSD-3-Clause
// Data in parts, for null tests: which baselines belong to which part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "skyloom/tod/shared_tod.hpp"

namespace skyloom {

enum class SplitBy { kNothing, kDetectors, kObservations, kTime };

struct SplitOptions {
  SplitBy by = SplitBy::kNothing;
  std::size_t parts = 2;  ///< of time; detectors and observations are two: every other one
};

inline constexpr std::size_t kMostParts = 100;

/// 0: the data are one whole.
[[nodiscard]] constexpr std::size_t parts_of(const SplitOptions& options) noexcept {
  if (options.by == SplitBy::kNothing) return 0;
  return options.by == SplitBy::kTime ? options.parts : 2;
}

/// "none", "detectors", "observations" or "time=N". Throws kUsage with what was expected.
[[nodiscard]] SplitOptions split_of(const std::string& text);
[[nodiscard]] std::string split_text(const SplitOptions& options);

/// Says of each baseline in which part it is: as a whole in that in which it begins.
class SplitPlan {
 public:
  /// Throws kUsage where a part would get nothing: fewer detectors or observations than two.
  SplitPlan(const TodSource& source, const SplitOptions& options);

  /// 0: the data are one whole.
  [[nodiscard]] std::size_t parts() const noexcept { return parts_; }
  /// Of the baseline that begins with this sample of the observation.
  [[nodiscard]] std::size_t part(std::size_t observation, std::size_t detector,
                                 std::size_t sample) const noexcept;

 private:
  SplitBy by_;
  std::size_t parts_ = 0;
  /// Of each observation's detectors: the same for the same name, whichever others are left out.
  std::vector<std::vector<std::size_t>> numbers_;
  std::vector<double> begin_s_, rate_hz_;  ///< of observations, one after the other without gaps
  double all_s_ = 0;
};

/// Parts of the data, by the places that a rank's observations and detectors have in all of them.
struct Parts {
  const SplitPlan& plan;
  const SharedTod* shared = nullptr;  ///< null: all of them are here

  [[nodiscard]] std::size_t of(std::size_t number, std::size_t detector, std::size_t sample) const;
  /// Samples of a detector that belong to a part, which follow one another; `step`: of a baseline,
  /// 0: one.
  [[nodiscard]] Stretch samples(std::size_t part, std::size_t number, std::size_t detector,
                                std::size_t samples, std::size_t step) const;
};

}  // namespace skyloom
