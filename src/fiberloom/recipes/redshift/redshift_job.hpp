// SPDX-License-Identifier: BSD-3-Clause
// What a user asks of a search for redshifts: files, and how.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/redshift/grid.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom {

/// How redshifts are scanned and refined (docs/fiberloom/redshift-design.md).
enum class RedshiftMethod {
  kFast,     ///< products of matrices decide which minima are looked at with the fibre's own R
  kExact,    ///< the fibre's own R at every redshift
  kRedrock,  ///< the rules of redrock, to the letter
};

/// Legendre terms beside archetypes: of each camera, or for all; default by the number of cameras.
enum class PerCamera { kDefault, kYes, kNo };

/// All that the numbers depend on beside spectra and templates. Names and defaults are redrock's.
struct RedshiftOptions {
  RedshiftMethod method = RedshiftMethod::kFast;
  int minima = 0;        ///< kept of each spectral type; 0: 3, with archetypes 9
  int fine_points = 15;  ///< of kRedrock: samples around each minimum
  redshift::GridRules grids;
  double cosmics_nsig = 0;   ///< of kRedrock: rejection in the coadd; 0: none
  double negflux_nsig = 5;   ///< pixels below -n sigma are dropped
  double sigma_aa = 0;       ///< of spectra without any resolution: that of a Gaussian; 0: none
  bool mask_sky = true;      ///< 5572-5582 and 9792-9795 Angstrom are dropped
  bool subtract_sky = true;  ///< what is left of the sky's lines; kRedrock never does
  /// The likelihood gives the sky's continuum an amplitude a camera, as wide as fibres on the sky
  /// show it (redshift/sky_continuum.hpp). kRedrock never does, nor do archetypes, templates that
  /// reach over a part of the pixels and scans that were made before.
  bool sky_continuum = true;
  bool use_and_mask = false;  ///< of SDSS's spectra: pixels with a bit in ANDMASK are dropped
  bool use_frames = false;    ///< the spCFrame files that spPlates were made of, in place of these
  bool use_thing_id = true;   ///< of several spPlates: targets by THING_ID where all know it
  bool all_spectra = false;   ///< exposures each on their own instead of their coadd
  /// Share of the pixels that a template has to reach at a redshift at which it is tried; below 1 a
  /// smooth spectrum stands for it on the others. kRedrock wants all of them.
  double least_coverage = 1;
  int legendre_terms = 2;  ///< beside an archetype
  PerCamera legendre_percamera = PerCamera::kDefault;
  double legendre_prior = 0.1;  ///< sigma of their coefficients; not positive: none
  int nearest = 0;              ///< archetypes that are fitted together; 0: the best one alone
  bool no_legendre = false;
  /// Archetypes are tried at every redshift of their type's templates, not at these' minima alone.
  bool archetypes_everywhere = false;
  /// Probabilities, errors that know of second peaks, line fluxes and users' cuts; candidates in
  /// the order of probability. Never of kRedrock, nor of a scan that was made before.
  bool evidence = true;
  /// How common galaxies, quasars and stars are among the targets, before a spectrum is seen: not
  /// necessarily of a sum of 1, all above 0.
  std::array<double, 3> type_shares{1, 1, 1};
  int candidates = 5;  ///< of each target in the table of candidates; 0: no such table
};

struct RedshiftJob {
  std::vector<std::string> inputs;
  std::string output, details, model;                 ///< empty: not wanted
  std::vector<std::string> templates;                 ///< none: $RR_TEMPLATE_DIR
  std::string archetypes;                             ///< file or folder; empty: none
  std::string priors, chi2_scan;                      ///< empty: none
  std::vector<std::int64_t> target_ids;               ///< empty: all
  std::optional<std::size_t> first_target, ntargets;  ///< in each file
  RedshiftOptions options;
  Overwrite overwrite = Overwrite::kYes;
  fits::Verify verify = fits::Verify::kYes;
};

}  // namespace fiberloom
