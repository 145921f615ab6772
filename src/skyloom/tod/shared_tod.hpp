// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data shared out among processes: each has whole groups of detectors of observations
// that follow one another.
#pragma once

#include <cstddef>
#include <vector>

#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// Detectors [first, end) of an observation.
struct Share {
  std::size_t observation = 0, first = 0, end = 0;
};

/// What process `rank` of `size` has: groups of detectors, about as many samples for each process,
/// in their order. Empty where there are fewer groups than processes.
[[nodiscard]] std::vector<Share> share_of(const TodSource& source, std::size_t rank,
                                          std::size_t size);

/// Some detectors of another source, as observations of their own.
class SharedTod final : public TodSource {
 public:
  /// `source` outlives it.
  SharedTod(const TodSource& source, std::vector<Share> shares);

  [[nodiscard]] std::size_t observations() const override { return shares_.size(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return observations_[number];
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    return source_.boresight(shares_[number].observation);
  }
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override {
    return source_.motion(shares_[number].observation);
  }
  [[nodiscard]] NoisePsd noise(std::size_t number, std::size_t detector) const override {
    return source_.noise(shares_[number].observation, shares_[number].first + detector);
  }
  [[nodiscard]] bool has_spectra(std::size_t number) const override {
    return source_.has_spectra(shares_[number].observation);
  }
  [[nodiscard]] std::size_t group() const override { return source_.group(); }
  void prepare(std::size_t number, const Boresight& boresight, Executor& executor,
               const Observer& observer) const override {
    source_.prepare(shares_[number].observation, boresight, executor, observer);
  }
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override {
    source_.read(shares_[number].observation, boresight, shares_[number].first + first, signals);
  }
  [[nodiscard]] const JointFilter* joint(std::size_t number) const override {
    return source_.joint(shares_[number].observation);
  }
  [[nodiscard]] std::vector<std::vector<double>> own_templates(
      std::size_t number, const Boresight& boresight, std::size_t detector) const override {
    return source_.own_templates(shares_[number].observation, boresight,
                                 shares_[number].first + detector);
  }
  [[nodiscard]] std::size_t work_bytes() const override { return source_.work_bytes(); }
  [[nodiscard]] std::size_t shared_bytes() const override { return source_.shared_bytes(); }
  void rest() const override { source_.rest(); }
  /// Where it lies in the source.
  [[nodiscard]] const Share& share(std::size_t number) const { return shares_[number]; }

 private:
  const TodSource& source_;
  std::vector<Share> shares_;
  std::vector<Observation> observations_;
};

}  // namespace skyloom
