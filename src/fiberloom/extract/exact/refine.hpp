// SPDX-License-Identifier: BSD-3-Clause
// Weights of a bundle's pixels once a model is known: variance of the model instead of the data,
// outliers dropped. Knows neither spots nor equations: a model image comes in, weights go out.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fiberloom/extract/exact/normal_equations.hpp"

namespace fiberloom::exact {

/// How often a bundle is solved again at most. Weights settle after 2 or 3, long tracks after 5.
inline constexpr int kMostRefinements = 8;

/// Of a fibre's pixels that may be dropped: where more stand out they are no cosmic rays.
inline constexpr double kMostRejectedShare = 0.05;

/// What the refinement of a bundle came to.
struct RefineReport {
  int solved_again = 0;
  int unfit_fibers = 0;
};

/// What is known of a pixel.
enum class PixelState : std::uint8_t {
  kUnused,    ///< without weight, or off the CCD
  kUnjudged,  ///< weighed; no requested bin's spot reaches it
  kGood,
  kRejected,
  kPardoned,  ///< was dropped, fits a later model, and is not dropped again: so it comes to an end
};

struct RefineWork {
  Array2D<float> model;             ///< of the strip; A x of the last solution
  std::vector<std::uint8_t> stale;  ///< [row of the strip] whether the model has changed there
  GrowBuffer<float> light;          ///< LiveModel's
  GrowBuffer<double> lit;           ///< [fiber][bin]: flux that is in it
  GrowBuffer<float> read;           ///< of the strip: variance of the read noise
  GrowBuffer<float> variance;       ///< of the strip: of the model's light and the read noise
  GrowBuffer<float> pull;           ///< of the strip: (p - m) / sigma of pixels that may be off
  GrowBuffer<PixelState> state;     ///< of the strip
  GrowBuffer<std::uint16_t> owner;  ///< of the strip: fibre whose trace is nearest, from 0
  std::vector<double> diagonal;     ///< [fiber][bin] of N, without priors
  GrowBuffer<double> first_phi;     ///< as NormalEquations::phi_ before anything was dropped
  std::vector<CcdPixel> rejected;   ///< after finish(), by row and column
  [[nodiscard]] const double* first_phi_of(int fiber, const NormalEquations& n) const {
    return first_phi.data() + fiber * n.pitch + n.margin;
  }
  /// Whether a pixel of the strip had weight at the start.
  [[nodiscard]] bool weighed(long at) const {
    return state[static_cast<std::size_t>(at)] != PixelState::kUnused;
  }
};

/// Judges the pixels of a bundle, look by look. All rules are in docs/fiberloom/algorithm.md,
/// "Weights of the model" and "Outliers". Everything is decided for the whole bundle, whatever is
/// asked for of it.
class PixelJudge {
 public:
  /// `strip` holds the frame's pixels and weights; `guard`: bins at both ends that nobody asked
  /// for, whose pixels are weighed and not judged.
  PixelJudge(const CcdFrame& ccd, const ExtractOptions& options, double psferr,
             const BundleGeometry& geometry, const SpotPlan& plan, int guard, Strip& strip,
             RefineWork& work);

  /// Weights to begin with, where they shall be the model's: of the light that is known, else of
  /// the pixels themselves, smoothed as a model is.
  void weigh_first(const SpotPlan& plan);
  /// Looks at work.model where work.stale says. True: weights of the strip have changed, solve
  /// again. False: nothing is touched, and the solution belongs to the weights.
  bool look();
  /// Pixels of the strip whose weights the last look has changed, in order.
  [[nodiscard]] const std::vector<long>& changed() const { return changed_; }
  /// Lists what was dropped.
  void finish();
  [[nodiscard]] int unfit_fibers() const;

 private:
  void mark_stamps(const SpotPlan& plan, int guard);
  struct Columns {
    int first, end;  ///< of the CCD
  };
  /// Of each row of the strip, those that the bundle's own spots reach.
  [[nodiscard]] std::vector<Columns> touched_columns(const SpotPlan& plan) const;
  void set_model_to_light(const SpotPlan& plan);
  void set_model_to_pixels();  ///< a masked one as the one below
  /// Variances, pulls and suspects where the model is stale.
  void compare();
  /// Variances of rows [first, end) anew; `use`: of each row, with those it had before.
  using WeighedRow = std::function<void(long row, const float* before)>;
  void weigh_rows(long first, long end, const WeighedRow& use);
  void compare_rows(long first, long end);
  void weigh_row(long row, const double* sum, double rows);
  void judge_row(long row);
  [[nodiscard]] bool weights_differ() const;
  void accuse(std::vector<long>& dropped) const;
  void pardon_where_fitted(std::vector<long>& pardoned) const;
  void pardon_unfit_fibers(std::vector<long>& pardoned);
  void turn(const std::vector<long>& pixels, PixelState state);
  [[nodiscard]] bool stands_out(long at) const;
  [[nodiscard]] bool near(long at, std::span<const long> pixels) const;
  [[nodiscard]] bool beside_rejected(long at) const;
  [[nodiscard]] bool is(long at, PixelState state) const {
    return work_.state[static_cast<std::size_t>(at)] == state;
  }
  [[nodiscard]] double shape_error(long at) const;
  /// Electrons above the model.
  [[nodiscard]] double residual(long at) const {
    const auto i = static_cast<std::size_t>(at);
    return strip_.pixel[i] - static_cast<double>(work_.model.data()[i]);
  }
  [[nodiscard]] double weight_of(long at) const;
  void set_weights(std::vector<long> pixels);

  const CcdFrame& ccd_;
  const ExtractOptions& options_;
  double psferr_;
  const BundleGeometry& geometry_;
  Strip& strip_;
  RefineWork& work_;
  int looks_ = 0;
  bool weighed_by_model_ = false;
  std::size_t weighed_ = 0;          ///< pixels that had weight at the start
  std::vector<std::size_t> differ_;  ///< [row] weights that are not those of the model
  std::vector<long> suspects_;       ///< pixels whose pull is beyond the lower threshold
  std::vector<long> moved_;          ///< in order: weights to follow a variance that has changed
  std::vector<long> rejected_, changed_;       ///< in order
  std::vector<std::size_t> judged_, dropped_;  ///< pixels of each fibre
  std::vector<bool> unfit_;                    ///< fibres
};

}  // namespace fiberloom::exact
