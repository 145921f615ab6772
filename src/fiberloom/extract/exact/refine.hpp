// SPDX-License-Identifier: BSD-3-Clause
// Weights of a bundle's pixels once a model is known: variance of the model instead of the data,
// outliers dropped. Knows neither spots nor equations: a model image comes in, weights go out.
#pragma once

#include <cstdint>
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

struct RefineWork {
  Array2D<float> model;             ///< of the strip; A x of the last solution
  GrowBuffer<float> smooth;         ///< of the strip: the model's mean over neighbouring rows
  GrowBuffer<float> pull;           ///< of the strip: (p - m) / sigma of pixels that are judged
  GrowBuffer<std::uint8_t> state;   ///< of the strip
  GrowBuffer<std::uint16_t> owner;  ///< of the strip: fibre whose trace is nearest, from 0
  GrowBuffer<double> first_phi;     ///< as NormalEquations::phi_ before anything was dropped
  std::vector<CcdPixel> rejected;   ///< after finish(), by row and column
  [[nodiscard]] const double* first_phi_of(int fiber, const NormalEquations& n) const {
    return first_phi.data() + fiber * n.pitch + n.margin;
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

  /// Looks at work.model. True: weights of the strip have changed, solve again. False: nothing is
  /// touched, and the solution belongs to the weights.
  bool look();
  /// Lists what was dropped.
  void finish();
  [[nodiscard]] int unfit_fibers() const;

 private:
  void smooth_model();
  void mark_stamps(const SpotPlan& plan, int guard);
  /// Pulls and suspects; returns the share of weights that are not those of the model.
  double compare();
  void accuse(std::vector<long>& dropped) const;
  void pardon_where_fitted(std::vector<long>& pardoned) const;
  void pardon_unfit_fibers(std::vector<long>& pardoned);
  [[nodiscard]] bool stands_out(long at) const;
  [[nodiscard]] bool beside_rejected(long at) const;
  [[nodiscard]] bool is(long at, std::uint8_t state) const {
    return work_.state[static_cast<std::size_t>(at)] == state;
  }
  [[nodiscard]] double variance(long at) const;
  [[nodiscard]] double shape_error(long at) const;
  /// Electrons above the model.
  [[nodiscard]] double residual(long at) const {
    const auto i = static_cast<std::size_t>(at);
    return strip_.pixel[i] - static_cast<double>(work_.model.data()[i]);
  }
  void set_weights();

  const CcdFrame& ccd_;
  const ExtractOptions& options_;
  double psferr_;
  const BundleGeometry& geometry_;
  Strip& strip_;
  RefineWork& work_;
  int looks_ = 0;
  std::vector<long> suspects_;                 ///< pixels whose pull is beyond the lower threshold
  std::vector<std::size_t> judged_, dropped_;  ///< pixels of each fibre
  std::vector<bool> unfit_;                    ///< fibres
};

}  // namespace fiberloom::exact
