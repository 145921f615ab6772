// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data of another source, filtered as they are read: glitches are flagged, then goes
// what turns with a half-wave plate, then what depends on the azimuth, then polynomials of each
// detector, or all three of them together; then what all detectors have in common.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "skyloom/filters/deglitch.hpp"
#include "skyloom/filters/ground.hpp"
#include "skyloom/filters/harmonics.hpp"
#include "skyloom/filters/joint.hpp"
#include "skyloom/sky/template_map.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

struct FilterOptions {
  DeglitchOptions deglitch = {};
  HarmonicTemplate plate = {};
  GroundTemplate ground = {};
  std::optional<std::size_t> polynomial = {};  ///< its order; none: no such filter
  JointOptions joint =
      {};  ///< on: plate, ground and polynomials are fitted together, without trends
  // of these alone
  double ground_step_s = 0;  ///< templates of azimuth are anew after so many seconds; 0: never
  std::shared_ptr<const TemplateMap> deproject = {};  ///< what a detector sees of its columns
  bool common_mode = false;  ///< the mean of all detectors at a sample is taken out of each
  [[nodiscard]] bool any() const noexcept {
    return deglitch.any() || plate.any() || ground.any() || polynomial || common_mode ||
           deproject != nullptr;
  }
  /// What is fitted together, where that is on.
  [[nodiscard]] JointWishes together(double rate_hz) const {
    JointWishes out{.polynomial = polynomial, .ground = ground, .plate = plate};
    out.ground.step = ground_step_s * rate_hz;
    return out;
  }
  /// Templates beside those, of each detector alone.
  [[nodiscard]] std::size_t own_templates() const noexcept {
    return deproject ? deproject->columns.size() : 0;
  }
};

/// prepare() before reading. Keeps one or two numbers a sample of the observation that is prepared
/// where it takes out what turns with the plate, the ground or the common mode; for the latter all
/// detectors are read once more. Flagged samples take no part in a filter. Polynomials and
/// harmonics of the plate go over each stretch of an observation; where the good samples do not
/// determine one, the detector's stretch is flagged and counted.
class FilteredTod final : public TodSource {
 public:
  /// `source` outlives it.
  FilteredTod(const TodSource& source, const FilterOptions& options);

  [[nodiscard]] std::size_t observations() const override { return source_.observations(); }
  [[nodiscard]] const Observation& observation(std::size_t number) const override {
    return source_.observation(number);
  }
  [[nodiscard]] Boresight boresight(std::size_t number) const override {
    return source_.boresight(number);
  }
  [[nodiscard]] std::shared_ptr<const GroundMotion> motion(std::size_t number) const override {
    return source_.motion(number);
  }
  [[nodiscard]] NoisePsd noise(std::size_t number, std::size_t detector) const override {
    return source_.noise(number, detector);
  }
  [[nodiscard]] bool has_spectra(std::size_t number) const override {
    return source_.has_spectra(number);
  }
  void prepare(std::size_t number, const Boresight& boresight, Executor& executor,
               const Observer& observer) const override;
  void read(std::size_t number, const Boresight& boresight, std::size_t first,
            std::span<const Signal> signals) const override;
  [[nodiscard]] std::size_t group() const override { return source_.group(); }
  [[nodiscard]] const JointFilter* joint(std::size_t /*number*/) const override {
    return joint_.get();
  }
  [[nodiscard]] std::vector<std::vector<double>> own_templates(std::size_t number,
                                                               const Boresight& boresight,
                                                               std::size_t detector) const override;
  [[nodiscard]] std::size_t work_bytes() const override;
  [[nodiscard]] std::size_t shared_bytes() const override;
  void rest() const override;

  /// Stretches of a detector that have good samples, but not enough of them for a filter, of all
  /// that were read.
  [[nodiscard]] std::size_t failed() const noexcept { return failed_; }
  /// Samples that were flagged as glitches.
  [[nodiscard]] std::size_t glitches() const noexcept { return glitches_; }

 private:
  struct Counts {
    std::size_t failed = 0, glitches = 0;
  };
  Counts read_own(std::size_t number, const Boresight& boresight, std::size_t first,
                  std::span<const Signal> signals) const;

  [[nodiscard]] std::span<const double> turning_angles(const Observation& at,
                                                       const Boresight& boresight) const;
  void set_filters(std::size_t number, const Boresight& boresight) const;
  [[nodiscard]] Counts read_together(std::size_t number, const Boresight& boresight,
                                     std::size_t first, std::span<const Signal> signals) const;
  /// Glitches, and the plate's harmonics. A plate's signal would be all that glitches are measured
  /// by, so it goes before as well as behind.
  void take_plate(std::span<const Stretch> stretches, const Signal& signal, Counts& counts) const;

  const TodSource& source_;
  FilterOptions options_;
  // of the observation that was prepared
  mutable std::unique_ptr<const HarmonicFilter> plate_;
  mutable std::unique_ptr<const GroundFilter> ground_;
  mutable std::unique_ptr<const JointFilter> joint_;
  mutable std::vector<double> common_;
  mutable std::atomic<std::size_t> failed_ = 0, glitches_ = 0;
};

}  // namespace skyloom
