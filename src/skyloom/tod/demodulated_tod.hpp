// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data of another source behind a half-wave plate that turns, demodulated as they are
// read: of each detector become three that stand 60 degrees apart, behind no plate.
#pragma once

#include <memory>
#include <vector>

#include "loom/base/work_pool.hpp"
#include "skyloom/filters/demodulate.hpp"
#include "skyloom/filters/plate.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// With the demodulated streams I, R and S of a detector stream k is I + R cos(120 k) + S sin(120
/// k) (degrees): what a detector sees without a plate that is turned by 60 k degrees, and the noise
/// of the three is independent where that of the detector is white around four turns of the plate
/// (docs/skyloom/algorithm.md). They have its name, and the same flags. prepare() before reading.
class DemodulatedTod final : public TodSource {
 public:
  static constexpr std::size_t kStreams = 3;

  /// `source` outlives it. Throws kMissingHdu where an observation has no plate, kUsage where it
  /// stands still, turns too fast for the rate, or streams would be kept too seldom; kNoGoodData
  /// where all observations are shorter than the filters' ends. Warns of observations and of
  /// samples, where the plate does not turn evenly, that are left out.
  DemodulatedTod(const TodSource& source, const DemodulationOptions& options,
                 const Observer& observer = {});
  ~DemodulatedTod() override;

  [[nodiscard]] std::size_t observations() const override { return observations_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number];
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override;
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override;
  [[nodiscard]] std::size_t group() const override { return kStreams * source_.group(); }
  void prepare(std::size_t number, const Boresight& boresight, Executor& executor,
               const Observer& observer) const override;
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;
  [[nodiscard]] std::size_t work_bytes() const override;
  [[nodiscard]] std::size_t shared_bytes() const override;
  void rest() const override;

 private:
  struct Work;
  struct Prepared;
  [[nodiscard]] Observation streams_of(std::size_t number, double turns) const;
  [[nodiscard]] bool too_short(std::size_t number) const;
  void check(std::size_t number, double turns) const;
  void tell_of_left_out(const Observer& observer) const;
  void demodulate(const Detector& detector, const Signal& from, std::span<const Signal> to,
                  Work& work) const;

  const TodSource& source_;
  DemodulationOptions options_;
  std::vector<EvenTurns> plates_;  ///< of each observation; uneven is what is left out
  std::vector<Observation> observations_;
  mutable std::unique_ptr<const Prepared> prepared_;
  mutable WorkPool<Work> works_;
};

}  // namespace skyloom
