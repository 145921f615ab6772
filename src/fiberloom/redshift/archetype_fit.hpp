// SPDX-License-Identifier: BSD-3-Clause
// Archetypes at one redshift: each is fitted alone with a few Legendre polynomials that take up
// what calibration leaves, and the best one gives the subtype.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/constrained.hpp"
#include "fiberloom/redshift/sampler.hpp"

namespace fiberloom::redshift {

/// Polynomials of each camera, or the same coefficients (of each camera's own polynomials) for all.
enum class LegendreOf { kEachCamera, kAllCameras };

struct ArchetypeOptions {
  std::size_t legendre = 2;  ///< terms; 0: archetypes alone
  LegendreOf cameras = LegendreOf::kEachCamera;
  double prior_sigma = 0.1;  ///< of each Legendre coefficient; 0: no prior
  std::size_t nearest = 1;   ///< so many of the best ones are then fitted together
  Constrained constrained = Constrained::kChi2;
};

struct ArchetypeFit {
  double chi2 = 0;                   ///< of the spectra, without the prior's part
  std::string subtype;               ///< "ELG_12", or several: "ELG_12;LRG_3", best first
  std::vector<double> coefficients;  ///< of the archetypes, none below zero
  std::vector<double> legendre;      ///< camera after camera, term after term
};

class ArchetypeFitter {
 public:
  /// `set` and `archetypes` must outlive it. `igm`: the template's whose minimum is looked at.
  ArchetypeFitter(const TargetSet& set, const Archetypes& archetypes, Igm igm,
                  const ArchetypeOptions& options);
  /// Do the archetypes reach over the spectra?
  [[nodiscard]] bool covers(double z) const noexcept;
  /// Precondition: covers(z).
  [[nodiscard]] ArchetypeFit fit(const PreparedTarget& target, double z) const;
  /// The Legendre terms of each camera (or of all), blurred: [term][pixel of all blocks].
  [[nodiscard]] std::vector<std::vector<double>> legendre_columns(
      const PreparedTarget& target) const;
  /// The model of a candidate that has archetypes, on the pixels of each block.
  [[nodiscard]] std::vector<std::vector<double>> models(const PreparedTarget& target,
                                                        const Candidate& candidate) const;

 private:
  struct Columns;
  void add_archetypes(const PreparedTarget& target, double z, Columns& columns) const;
  [[nodiscard]] ArchetypeFit fit_columns(const PreparedTarget& target, const Columns& columns,
                                         const std::vector<std::size_t>& archetypes) const;

  const TargetSet& set_;
  const Archetypes& archetypes_;
  ArchetypeOptions options_;
  std::deque<Template> groups_;  ///< as many archetypes each as a kernel takes
  std::deque<Sampler> samplers_;
};

/// So many of a file's archetypes from `first` on, as vectors of a template: what a kernel takes.
[[nodiscard]] Template archetype_group(const Archetypes& archetypes, std::size_t first,
                                       std::size_t most, Igm igm);

/// The best archetype takes the place of the candidate's template. Throws kTemplateRange where
/// they do not reach over the spectra.
void take_archetype(const PreparedTarget& target, const ArchetypeFitter& fitter,
                    Candidate& candidate);

}  // namespace fiberloom::redshift
