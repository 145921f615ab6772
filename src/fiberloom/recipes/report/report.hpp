// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom report`: frames, and what belongs to them, as one self-contained page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fiberloom/formats/formats.hpp"

namespace fiberloom::report {

/// The files of one extraction. All but the frame may be empty. What `summary` (the --json of
/// extract) names as image, PSF, model and residual is taken where nothing else is given and the
/// file is there.
struct ReportInput {
  std::string frame;
  std::string image, model, residual;
  std::string summary;
  std::string truth;
  std::string psf;
  Verify verify = Verify::kYes;  ///< of all these
};

struct ReportJob {
  std::vector<ReportInput> inputs;
  std::int64_t bundle_size = 0;  ///< 0: that of the summary's options, else 25
};

/// All files that the page is made of, those that summaries name too. Throws what reading a summary
/// throws.
[[nodiscard]] std::vector<std::string> files_of(const ReportJob& job);

/// The page. Equal inputs give equal bytes: it holds no time of its own. Throws what reading
/// throws, kSizeMismatch where images disagree, kCorrupt for a summary that is none.
[[nodiscard]] std::string report_html(const ReportJob& job);

}  // namespace fiberloom::report
