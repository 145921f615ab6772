// SPDX-License-Identifier: BSD-3-Clause
// Templates that are fitted together: polynomials of each stretch, and beside them those that all
// stretches of an observation share, of azimuth and of a half-wave plate. Knows no fits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "skyloom/filters/ground_places.hpp"
#include "skyloom/filters/harmonics.hpp"
#include "skyloom/filters/harmonics_kernels.hpp"
#include "skyloom/pointing/stretch.hpp"

namespace skyloom {

/// What is taken out; trends of `ground` and `plate` are not fitted.
struct JointWishes {
  std::optional<std::size_t> polynomial = {};
  GroundTemplate ground = {};
  HarmonicTemplate plate = {};
  [[nodiscard]] bool any() const noexcept { return polynomial || ground.any() || plate.any(); }
};

/// Most templates that stretches share: their equations are dense.
inline constexpr std::size_t kMostShared = 2048;

/// Lowest order of azimuth: what a polynomial of time has is not fitted again.
[[nodiscard]] inline std::size_t lowest_ground_order(const JointWishes& wishes) noexcept {
  return wishes.polynomial ? *wishes.polynomial + 1 : 0;
}

/// What an observation has of shared ones at most, without making them.
[[nodiscard]] std::size_t most_shared(const JointWishes& wishes, std::span<const double> azimuth);

/// Of an observation, for all of its detectors. Keeps up to 28 bytes a sample.
class JointTemplates {
 public:
  /// `azimuth`, `angles`: rad, of each sample; empty where nothing asks for them. Beside
  /// polynomials the fullest bin of azimuth (or the one that is named) has no template: they have
  /// what all bins have in common. Throws kUsage where more than kMostShared are shared.
  JointTemplates(const JointWishes& wishes, std::span<const double> azimuth,
                 std::span<const double> angles, std::span<const Stretch> stretches);

  [[nodiscard]] std::span<const Stretch> stretches() const noexcept { return stretches_; }
  /// Templates of one stretch alone, and of all together.
  [[nodiscard]] std::size_t own() const noexcept { return own_; }
  [[nodiscard]] std::size_t shared() const noexcept { return shared_; }
  /// Which of the shared ones are not 0 all through a stretch, growing.
  [[nodiscard]] std::span<const std::uint32_t> shared_in(std::size_t stretch) const noexcept {
    return in_[stretch];
  }
  /// The same with `given`, [template][sample], as further shared ones, the last ones: such as a
  /// detector has for itself. Throws kUsage as the constructor.
  [[nodiscard]] JointTemplates with(std::vector<std::vector<double>> given) const;
  /// The shared template that is 1 at this sample, where it is of a bin that has one.
  [[nodiscard]] std::optional<std::uint32_t> bin_template(std::size_t sample) const noexcept;
  [[nodiscard]] std::size_t samples() const noexcept { return samples_; }

 private:
  friend class JointBlock;
  [[nodiscard]] std::size_t columns_a_harmonic() const noexcept {
    return wishes_.plate.drift ? 4 : 2;
  }
  [[nodiscard]] std::size_t rows_a_bin() const noexcept { return wishes_.ground.drift + 1; }
  void find_bins();
  void find_shared();
  void check_shared() const;

  JointWishes wishes_;
  std::vector<Stretch> stretches_;
  std::size_t samples_ = 0, own_ = 0, harmonics_ = 0, orders_ = 0, shared_ = 0;
  std::vector<double> cosines_, sines_;
  GroundPlaces ground_;
  std::vector<std::int32_t> of_bin_;  ///< the first template of a bin; -1: it has none
  std::vector<std::vector<double>> given_;
  std::vector<std::vector<std::uint32_t>> in_;
};

/// The templates at the samples of a block, one row each.
class JointBlock {
 public:
  explicit JointBlock(const JointTemplates& templates);

  /// Samples [first, first + n) of the observation, n <= kTemplateBlock, in this stretch.
  void make(std::size_t stretch, std::size_t first, std::size_t n);
  /// Rows that may not be 0: those of the stretch's own templates first.
  [[nodiscard]] std::size_t count() const noexcept { return number_.size(); }
  [[nodiscard]] const double* row(std::size_t k) const noexcept {
    return rows_.data() + k * kTemplateBlock;
  }
  /// Which template a row is: the stretch's own ones, then places in shared_in(stretch).
  [[nodiscard]] std::size_t number(std::size_t k) const noexcept { return number_[k]; }
  [[nodiscard]] const HarmonicKernels& kernels() const noexcept { return kernels_; }

  /// Calls use(first, n) with the rows of one block of the stretch after another.
  template <class Use>
  void over(std::size_t stretch, const Use& use) {
    const Stretch& of = templates_.stretches()[stretch];
    for (std::size_t first = of.first; first < of.end; first += kTemplateBlock) {
      const std::size_t n = of.end - first < kTemplateBlock ? of.end - first : kTemplateBlock;
      make(stretch, first, n);
      use(first, n);
    }
  }

 private:
  [[nodiscard]] double* add_row(std::size_t number);
  void add_orders(std::size_t first, std::size_t n);
  void add_bins(std::size_t first, std::size_t n);
  void add_given(std::size_t first, std::size_t n);
  [[nodiscard]] std::size_t place_of(std::uint32_t shared) const;

  const JointTemplates& templates_;
  const HarmonicKernels& kernels_;
  std::vector<double> rows_, scratch_;
  std::vector<double> still_ = std::vector<double>(kTemplateBlock);  ///< angles that none asks for
  std::vector<std::size_t> number_;
  std::vector<std::ptrdiff_t> row_of_;  ///< of a shared template in this block; -1: none
  std::size_t stretch_ = 0;
};

}  // namespace skyloom
