// SPDX-License-Identifier: BSD-3-Clause
// One template ready to be fitted to the targets of a set: chi2 and coefficients at kLanes
// redshifts at a time, with each fibre's own resolution.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/constrained.hpp"
#include "fiberloom/redshift/evidence.hpp"
#include "fiberloom/redshift/sampler.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"

namespace fiberloom::redshift {

/// A penalty on galaxies whose model has negative [OII] flux, in units of the template.
enum class OiiPenalty {
  kNo,
  kUnlessBluer,  ///< but where the doublet lies bluewards of all cameras: nothing holds it there
  kYes,          ///< everywhere, as the peer
};

/// The likelihood with coefficients integrated out (evidence.hpp).
enum class WithEvidence { kNo, kYes };

struct FitOptions {
  Constrained constrained = Constrained::kChi2;
  OiiPenalty oii_penalty = OiiPenalty::kUnlessBluer;
  WithEvidence evidence = WithEvidence::kNo;
  IgmEdge igm_edge = IgmEdge::kShared;
};

/// Fits at kLanes redshifts.
struct PackFit {
  ZPack chi2{};  ///< after solve() alone: by how much it is less than without any model
  ZPack penalty{};
  ZPack evidence{};  ///< its logarithm, up to what no template changes; 0 where it is not asked for
  std::vector<double> coefficients;  ///< [nbasis][kLanes]
  std::vector<double> reduced;       ///< scratch: normal equations without the sky's continuum
  [[nodiscard]] double coefficient(std::size_t a, std::size_t lane) const noexcept {
    return coefficients[a * kLanes + lane];
  }
};

class Fitter {
 public:
  /// All three must outlive it. Throws kUnsupported where the template has more than kMostBasis
  /// vectors.
  Fitter(const TargetSet& set, const Template& source, const ScanKernels& kernels,
         const FitOptions& options = {});

  [[nodiscard]] const Template& source() const noexcept { return source_; }
  [[nodiscard]] const Sampler& sampler() const noexcept { return sampler_; }
  [[nodiscard]] const ScanKernels& kernels() const noexcept { return kernels_; }
  [[nodiscard]] bool has_evidence() const noexcept { return evidence_.components > 0; }
  [[nodiscard]] const EvidenceTable& evidence() const noexcept { return evidence_; }
  [[nodiscard]] const FitOptions& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t nbasis() const noexcept { return sampler_.nbasis(); }
  /// Doubles of the normal equations of kLanes fits; u of each of the set's sky_terms follows them.
  [[nodiscard]] std::size_t normal_doubles() const noexcept;
  /// Where u of a grid stands among them.
  [[nodiscard]] std::size_t sky_at(std::size_t grid) const noexcept;

  /// Part of a grid that is sampled, and fitted, before the next one: it stays in the caches.
  static constexpr std::size_t kPart = 128;
  /// Adds to `normal` what pixels [first, first + count) of the block say; both multiples of kTile.
  /// `part` begins with the halo of pixel `part_first` (Sampler::sample()).
  void accumulate(const Block& block, const double* part, std::size_t part_first, std::size_t first,
                  std::size_t count, double* normal) const noexcept;
  /// Of each grid the pixels that count at these redshifts.
  [[nodiscard]] std::vector<Sampler::Reach> reach(const ZPack& z) const;
  /// What the normal equations alone give: coefficients, gain and evidence. least_pivot: of the
  /// sums' rounding.
  void solve(const double* normal, double least_pivot, PackFit& out) const;
  /// What they become for a target: chi2 = sum w f^2 - gain; kHugeChi2 for one without a good
  /// pixel. Beyond `reach` a smooth spectrum stands for the template.
  void settle(const PreparedTarget& target, const ZPack& z, std::span<const Sampler::Reach> reach,
              PackFit& out) const;
  /// Both; what the sky's continuum takes of the equations comes first.
  void finish(const PreparedTarget& target, const ZPack& z, std::span<const Sampler::Reach> reach,
              const double* normal, double least_pivot, PackFit& out) const;
  /// All of it for a target and up to kLanes redshifts; `part` is scratch of part_doubles().
  void fit(const PreparedTarget& target, std::span<const double> z, std::span<double> part,
           PackFit& out) const;
  [[nodiscard]] std::size_t part_doubles() const noexcept { return sampler_.part_size(kPart); }
  /// The best model at z on the block's pixels, blurred: [pixels].
  [[nodiscard]] std::vector<double> model(const Block& block, double z,
                                          std::span<const double> coefficients) const;

 private:
  void solve_nonnegative(const double* normal, PackFit& out) const;
  [[nodiscard]] bool is_oii_bluer(double z) const noexcept;

  const TargetSet& set_;
  const Template& source_;
  const ScanKernels& kernels_;
  FitOptions options_;
  std::size_t halo_;
  Sampler sampler_;
  EvidenceTable evidence_;   ///< of no component: it is not asked for
  std::vector<double> oii_;  ///< sum of each vector around [OII]; empty: no penalty
};

/// `z` in packs: the last one is filled up with its last redshift.
[[nodiscard]] ZPack pack_of(std::span<const double> z) noexcept;

}  // namespace fiberloom::redshift
