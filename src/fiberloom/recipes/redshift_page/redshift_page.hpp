// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom report` on redshifts: a table of targets, and for each its spectrum with
// models, lines and chi2(z), as one self-contained page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/formats/redshift_file.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"

namespace fiberloom::redshift_page {

/// A file of redshifts and what belongs to it. All but the first may be empty: then what lies
/// beside it is taken, by the names that `redshift` and the field give (coadd-X, spectra-X,
/// rrdetails-X.h5, rrmodel-X for redrock-X); "-" stands for none.
struct PageInput {
  std::string redshifts;
  std::vector<std::string> spectra;
  std::string details, model;
};

struct PageJob {
  std::vector<PageInput> inputs;
  std::vector<std::string> templates;  ///< none: $RR_TEMPLATE_DIR, or the built-in set if that was
                                       ///< what the redshifts were found with
  std::string archetypes;              ///< file or folder; empty: none
  std::vector<std::int64_t> target_ids;  ///< of these spectra are shown; empty: of all
  std::string only;                      ///< likewise, by conditions (row_filter.hpp)
  std::size_t most = 600;                ///< spectra on a page
  Verify verify = Verify::kYes;
};

/// Has the file a table of redshifts, and no frame?
[[nodiscard]] bool is_redshift_file(const std::string& path);

/// The inputs with what lies beside them.
[[nodiscard]] PageInput with_neighbours(PageInput input);

/// All files that the page is made of.
[[nodiscard]] std::vector<std::string> files_of(const PageJob& job);

/// The page. Equal inputs give equal bytes. Throws what reading throws, kUsage for conditions that
/// are none, kFiberRange where a file of spectra has none of the targets.
[[nodiscard]] std::string redshift_page_html(const PageJob& job, Executor& executor,
                                             const Observer& observer);

}  // namespace fiberloom::redshift_page
