// SPDX-License-Identifier: BSD-3-Clause
// Templates that are fitted together and taken out of a detector's samples. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "skyloom/filters/joint_fit.hpp"
#include "skyloom/filters/joint_templates.hpp"

namespace skyloom {

struct JointOptions {
  bool on = false;
  double least_reciprocal = 1e-6;  ///< the peer's; see JointFit
};

/// Of an observation, for all of its detectors, from any thread.
class JointFilter {
 public:
  /// As JointTemplates.
  JointFilter(const JointOptions& options, const JointWishes& wishes,
              std::span<const double> azimuth, std::span<const double> angles,
              std::span<const Stretch> stretches)
      : options_(options),
        templates_(std::make_shared<const JointTemplates>(wishes, azimuth, angles, stretches)) {}

  [[nodiscard]] const JointTemplates& templates() const noexcept { return *templates_; }

  /// Subtracts from all samples of stretches the templates that fit those whose flag is 0 and whose
  /// value is within 1e30. Flags stretches whose good samples do not determine their polynomials,
  /// samples of bins of azimuth without a good one, and all where the fit as a whole is not
  /// determined. Returns how many stretches with good samples it flagged. To some eps of the
  /// largest value: fitted twice. `given`: further templates, of this detector alone.
  [[nodiscard]] std::size_t subtract(std::span<double> values, std::span<std::uint8_t> flags,
                                     std::vector<std::vector<double>> given = {}) const;

  /// Templates and the equations of samples with them.
  struct Fitted {
    std::shared_ptr<const JointTemplates> templates;
    std::shared_ptr<const JointFit> fit;
  };
  /// Of these samples, `good` 1 where one takes part. Without templates that are given the last
  /// ones are kept: most detectors have the same flags.
  [[nodiscard]] Fitted fit(std::vector<std::uint8_t> good,
                           std::vector<std::vector<double>> given = {}) const;

  /// What a fit takes, and what it keeps until the next one, bytes: at most. `given`: how many of
  /// the shared templates are.
  [[nodiscard]] static double work_bytes(double samples, double own, double shared,
                                         double stretches, double given) noexcept;

 private:
  JointOptions options_;
  std::shared_ptr<const JointTemplates> templates_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const JointFit> last_;
  mutable std::shared_ptr<const std::vector<std::uint8_t>> last_good_;
};

/// Which samples take part, 1 each.
[[nodiscard]] std::vector<std::uint8_t> good_samples(std::span<const double> values,
                                                     std::span<const std::uint8_t> flags);

}  // namespace skyloom
