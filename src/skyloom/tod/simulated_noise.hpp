// SPDX-License-Identifier: BSD-3-Clause
// The noise of simulated observations: streams of detectors, and those that detectors have in
// common. Knows no sky and no scan.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/work_pool.hpp"
#include "skyloom/noise/common_mode.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/tod/last_made.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// The stream that `uid` has in an observation.
[[nodiscard]] StreamName stream_name(const Observation& observation, std::uint64_t realization,
                                     std::uint32_t uid) noexcept;

class SimulatedNoise {
 public:
  SimulatedNoise(std::uint64_t realization, std::vector<CommonOptions> commons);
  ~SimulatedNoise();

  /// Observations that will be asked for, with their uids: adds what their detectors have in
  /// common. Throws kNoiseModel.
  void expect(Observation& observation);
  /// Streams that more than one pair of detectors have, as observation `number` has them, are made
  /// now; add() makes them otherwise.
  void prepare(const Observation& observation, std::size_t number, Executor& executor) const;
  /// Samples of one or two detectors from `first` on become their noise. Safe from any thread.
  void make(const Observation& observation, std::size_t number, std::size_t first,
            std::span<const Signal> signals) const;
  /// Bytes: of a thread, of all together.
  [[nodiscard]] std::size_t work_bytes() const noexcept;
  [[nodiscard]] std::size_t shared_bytes() const noexcept { return shared_bytes_; }
  void rest() const;

 private:
  struct Work;
  /// Of observations of one length.
  struct Maker {
    NoiseMaker maker;
    std::vector<double> amplitudes;            ///< of all detectors; empty: each has its own
    std::vector<std::vector<double>> commons;  ///< of the streams of modes, mode by mode
  };
  /// Streams that are kept for all threads, the others empty.
  using CommonSamples = std::vector<std::vector<double>>;
  [[nodiscard]] std::shared_ptr<const CommonSamples> common_samples(const Observation& observation,
                                                                    std::size_t number,
                                                                    Executor& executor) const;
  void make_common(const Observation& observation, std::size_t stream, Work& work,
                   std::vector<double>& out) const;
  void add_common(const Observation& observation, std::size_t number, std::size_t first, Work& work,
                  std::span<const Signal> signals) const;

  std::uint64_t realization_;
  std::vector<CommonOptions> commons_;
  std::map<std::size_t, Maker> makers_;  ///< by samples
  std::size_t shared_bytes_ = 0, pair_bytes_ = 0;
  mutable WorkPool<Work> works_;
  mutable LastMade<CommonSamples> common_samples_;
};

}  // namespace skyloom
