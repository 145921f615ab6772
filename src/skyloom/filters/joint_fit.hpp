// SPDX-License-Identifier: BSD-3-Clause
// The normal equations of templates that are fitted together, solved: stretch by stretch for the
// templates of each, and what is left of them for those that all share. Knows no detectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "skyloom/filters/joint_templates.hpp"

namespace skyloom {

/// Unknowns to which eigenvalues are taken where a fit is badly determined; beyond it what follows
/// from the templates before it to kLeastPivot is left out.
inline constexpr std::size_t kMostEigen = 500;
/// Eigenvalues below it, of the largest, are cut where a fit is badly determined.
inline constexpr double kLeastEigen = 1e-10;

/// Of samples that take part, each with the weight 1. F = (F_s | F_c), templates of stretches s and
/// shared ones c; F^T F has D_s = L_s L_s^T, B_s = L_s C_s beside it, and
///   S = F_c^T F_c - sum_s C_s^T C_s
/// is what is left for the shared ones, S^-1 = G^-1 R^T R G^-1 with G the lengths of these.
class JointFit {
 public:
  struct OfStretch {
    bool fitted = false;           ///< false: too few of its samples take part, or none
    std::vector<double> factor;    ///< L_s, [own][own]
    std::vector<double> coupling;  ///< C_s, [own][shared_in(stretch)]
    std::vector<double> lengths;   ///< of its own templates
  };

  /// `good`: of each sample, 1 where it takes part. `least`: the least reciprocal condition number
  /// of F^T F, its templates brought to length 1; below it directions of small eigenvalues are left
  /// out; below -least, where that is negative, all samples. O(n (own + shared)^2).
  JointFit(const JointTemplates& templates, std::span<const std::uint8_t> good, double least);

  /// False: the samples do not determine the templates, as `least` has it.
  [[nodiscard]] bool fitted() const noexcept { return fitted_; }
  [[nodiscard]] double reciprocal() const noexcept { return reciprocal_; }
  [[nodiscard]] std::size_t unknowns() const noexcept { return unknowns_; }
  [[nodiscard]] const OfStretch& stretch(std::size_t number) const noexcept {
    return stretches_[number];
  }
  /// Has a shared template a sample that takes part?
  [[nodiscard]] bool is_known(std::uint32_t shared) const noexcept { return lengths_[shared] > 0; }
  /// G, and R [rank][shared].
  [[nodiscard]] std::span<const double> lengths() const noexcept { return lengths_; }
  [[nodiscard]] std::span<const double> root() const noexcept { return root_; }
  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }

  /// F^T d and then the coefficients, in their place.
  struct Amounts {
    std::vector<std::vector<double>> own;  ///< [stretch][own]
    std::vector<double> shared;
  };
  [[nodiscard]] Amounts none() const;
  void solve(Amounts& amounts) const;
  [[nodiscard]] std::size_t bytes() const noexcept;

 private:
  class Sums;
  void add_stretch(std::size_t number, Sums& sums, std::span<const std::uint8_t> good);
  void scale();
  void estimate_condition();
  void cut();
  void cut_eigenvalues();
  void leave_out_templates();
  [[nodiscard]] Amounts product(const Amounts& x) const;
  [[nodiscard]] Amounts scaled(Amounts x, int power) const;

  const JointTemplates& templates_;
  std::vector<OfStretch> stretches_;
  std::vector<double> lengths_, left_, root_;  ///< left_: S between templates of length 1
  std::size_t rank_ = 0, unknowns_ = 0;
  double reciprocal_ = 0;
  bool fitted_ = false;
};

}  // namespace skyloom
