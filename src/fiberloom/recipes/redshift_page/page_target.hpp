// SPDX-License-Identifier: BSD-3-Clause
// What a page shows of a target beside its row: spectra as they are fitted, fits with their models,
// chi2 over redshift. Structs, no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/spectrum/table.hpp"

namespace fiberloom::redshift_page {

/// A camera's spectrum; sigma 0 where a pixel is not fitted.
struct CameraSpectrum {
  std::size_t grid = 0;  ///< of the page's
  std::vector<double> flux, sigma;
  std::vector<std::vector<double>> models;  ///< of each fit; empty: not known
};

/// A fit: the first one is the row of the table.
struct ShownFit {
  redshift::Candidate fit;
  std::optional<double> probability;
};

/// chi2 of one class, on one of the page's redshift grids.
struct ClassCurve {
  std::string name;      ///< "GALAXY", "QSO:::HIZ"; STAR for all of its subtypes
  std::size_t grid = 0;  ///< of the page's redshift grids
  std::vector<double> chi2;
};

struct PageTarget {
  std::int64_t id = 0;
  std::vector<CameraSpectrum> cameras;
  std::vector<ShownFit> fits;
  std::vector<ClassCurve> curves;
};

/// The Legendre terms beside archetypes, as the columns of a table say.
struct LegendreTerms {
  std::size_t terms = 0;
  PerCamera cameras = PerCamera::kNo;
};
[[nodiscard]] LegendreTerms legendre_terms(const Table& table);

/// Row r of a table of redshifts or candidates. Columns that are not there leave what a fit has
/// without them.
[[nodiscard]] ShownFit fit_of_row(const Table& table, std::size_t row);

/// Of one type, within 100 km/s: one fit for who looks at it.
[[nodiscard]] bool same_fit(const redshift::Candidate& a, const redshift::Candidate& b);

/// Puts `best` first and drops the one of `others` that is the same.
[[nodiscard]] std::vector<ShownFit> ordered_fits(ShownFit best, std::vector<ShownFit> others);

/// Curves of one spectral type on one grid become one, the least of them at each redshift.
[[nodiscard]] std::vector<ClassCurve> joined_curves(std::vector<ClassCurve> curves);

/// A target as bytes: a little-endian length, so much JSON, then the arrays that it names, in order
/// (redshift_unpack.js).
[[nodiscard]] std::vector<std::uint8_t> target_bytes(const PageTarget& target,
                                                     const std::string& facts_json);

}  // namespace fiberloom::redshift_page
