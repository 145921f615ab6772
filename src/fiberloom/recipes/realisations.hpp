// SPDX-License-Identifier: BSD-3-Clause
// What errors are worth: a frame's model with new noise, extracted many times.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

class Engine;
struct ExtractJob;
struct ExtractResult;
struct PreparedFrame;

/// More than this take longer than anyone waits.
inline constexpr int kMostRealisations = 100000;
/// Neighbouring bins whose errors are looked at together.
inline constexpr std::size_t kMostLag = 5;

/// Pulls of the drawn frames: (flux - R x) sqrt(ivar), x being the deconvolved flux of the
/// noiseless model and R the draw's own: weights that follow the noise change it.
struct RealisationReport {
  int draws = 0;
  std::size_t bins = 0;             ///< with information
  double mean = 0, mean_error = 0;  ///< bias in sigma, and the error of it
  double width = 0;                 ///< 1 where ivar says how large errors are
  double most_biased = 0;  ///< largest mean of a bin, in its own error (sigma / sqrt(draws))
  std::array<double, kMostLag> lags{};  ///< mean correlation with the bin 1 ... kMostLag further
  double fibers = 0;                    ///< with the same bin of the next fibre of the bundle
  double correlation_error = 0;         ///< of each of these
  /// R x deconvolved flux against flux of the noiseless model, in sigma: what RESOLUTION leaves
  /// out.
  double resolution_rms = 0, resolution_most = 0;
  struct Bundle {
    int first_fiber = 0, nfiber = 0;
    double mean = 0, width = 0;
  };
  std::vector<Bundle> bundles;
};

/// Draws noise of the variance that weights are of (1 / IVAR, or with model variance that of the
/// light and the read noise) on the model image of `result` (which has one), extracts as the
/// job says, `job.realisations` times. Draw i of seed 1 is a function of i and the pixel alone.
[[nodiscard]] RealisationReport realise(const ExtractJob& job, const PreparedFrame& frame,
                                        const ExtractResult& result, const Engine& engine,
                                        Executor& executor, const Observer& observer);

}  // namespace fiberloom
