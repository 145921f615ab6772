// SPDX-License-Identifier: BSD-3-Clause
// The recipes of `fiberloom templates`: what a set holds, and a template made from spectra.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/redshift/template.hpp"

namespace fiberloom {

/// One line for each template: type, vectors, method, IGM, wavelengths at rest, redshifts, at which
/// of them spectra of 3600-9824 Angstrom are covered, training spectra, version, hash; likewise of
/// archetypes. Each file by itself: two of one type need not fit into one set. None named: as
/// `fiberloom redshift` chooses. Throws what reading throws.
[[nodiscard]] std::vector<std::string> describe_templates(const std::vector<std::string>& paths);

struct MakeTemplateJob {
  std::vector<std::string> spectra;    ///< files of spectra or coadds
  std::vector<std::string> redshifts;  ///< tables with TARGETID, SPECTYPE, Z: truth, redrock ...
  std::string output, spectype = "GALAXY", subtype, version = "1";
  redshift::Method method = redshift::Method::kPca;
  std::size_t nbasis = 5;
  double step_log10 = 1e-4;
  Overwrite overwrite = Overwrite::kYes;
};

/// Puts the spectra of that type at rest on wavelengths equal in log10 (what no spectrum reaches is
/// left out), each scaled to a median of 1, makes a basis of them with their errors, and writes
/// it with the coefficients. Returns a line that says what was made. Throws kUsage where no target
/// of the type is found, kBadTemplate where a table lacks a column.
[[nodiscard]] std::string make_template(const MakeTemplateJob& job);

}  // namespace fiberloom
