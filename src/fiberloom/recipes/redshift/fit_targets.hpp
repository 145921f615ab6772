// SPDX-License-Identifier: BSD-3-Clause
// Redshifts of targets that are in memory: spectra in, candidates out. What the command, a survey
// and Python have in common; knows no files.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "fiberloom/redshift/archetype_fit.hpp"
#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/scan.hpp"
#include "fiberloom/redshift/sky_continuum.hpp"

namespace fiberloom {

/// chi2 of a scan that was made before: of one template, for the targets of one call.
struct GivenCurve {
  std::vector<double> z;
  Array2D<double> chi2, penalty;  ///< [target][z]
};

/// What is fitted. Everything outlives the fits.
struct RedshiftModels {
  redshift::TemplateSet templates;
  std::vector<redshift::Archetypes> archetypes;  ///< at most one of each spectral type
};

/// Fits of some targets, with all that was looked at.
struct TargetFits {
  std::unique_ptr<redshift::TargetSet> set;                  ///< the curves point to it
  std::vector<redshift::Curve> curves;                       ///< in the order of the templates
  std::vector<std::vector<redshift::Candidate>> candidates;  ///< of each target, best first
};

/// What is kept of a scan for its own sake.
enum class KeepScan { kNo, kCoefficients };

/// Throws kUsage where an option is out of its range; kTemplateRange, kUnsupported, kWrongShape as
/// its steps do. `priors`: one a target, or none. `given`: one a template, or none. `scanner`: who
/// scans instead of the CPU, or null. `sky`: what may be left of the sky's continuum; not taken
/// where has_sky_continuum() says no, nor with `given`.
[[nodiscard]] TargetFits fit_targets(std::span<const redshift::TargetView> targets,
                                     const RedshiftModels& models, const RedshiftOptions& options,
                                     std::span<const redshift::Prior> priors,
                                     std::span<const GivenCurve> given, KeepScan keep,
                                     Executor& executor, redshift::FastScanner* scanner = nullptr,
                                     std::span<const redshift::SkyWidth> sky = {});

/// Spectra and templates made ready as for a fit, and nothing fitted: curves without values, no
/// candidates. For models of fits that were made before. Throws what fit_targets() throws.
[[nodiscard]] TargetFits ready_targets(std::span<const redshift::TargetView> targets,
                                       const RedshiftModels& models, const RedshiftOptions& options,
                                       Executor& executor);
/// The spectra alone.
[[nodiscard]] TargetFits ready_spectra(std::span<const redshift::TargetView> targets,
                                       const RedshiftOptions& options, Executor& executor);

/// Is the sky's continuum in the likelihood, where its width is known?
[[nodiscard]] bool has_sky_continuum(const RedshiftOptions& options, const RedshiftModels& models);

/// How many minima of each spectral type are kept.
[[nodiscard]] std::size_t minima_of(const RedshiftOptions& options, const RedshiftModels& models);

/// The model of a candidate on the pixels of each wavelength grid of the set: blurred, with the
/// hydrogen between us and it; empty for a grid on which the target has no spectrum.
[[nodiscard]] std::vector<std::vector<double>> model_of(const TargetFits& fits, std::size_t target,
                                                        const redshift::Candidate& candidate,
                                                        const RedshiftModels& models,
                                                        const RedshiftOptions& options);

}  // namespace fiberloom
