// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `tomoloom recon --preview`: three planes of a scan on a page that renews itself,
// while the scan is still being written too.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

struct PreviewChoice {
  std::string page;        ///< HTML; for who writes it
  double every_s = 2;      ///< between pages, and between looks at a scan that grows
  double patience_s = 60;  ///< for a scan that does not grow, or is not there yet
};

struct PreviewSummary {
  std::size_t projections = 0, expected = 0, pages = 0, bin = 1;
  double axis = 0;     ///< column of the detector
  double first_s = 0;  ///< from the first look to the first page
};

/// Returns when the scan is whole, or has not grown for the choice's patience; the last page says
/// which. Data Exchange alone. Pixels are averaged so that the planes fit on a page. The axis is
/// looked for, where the job says so, when the scan is whole: before, it is taken to be in the
/// middle. Throws what the last look threw where the scan never was there, kUnsupported (images,
/// half acquisition), kInterrupted, and what `show`, which gets the text of each page, throws.
PreviewSummary preview_scan(const ReconJob& job, const PreviewChoice& choice, Executor& executor,
                            const Observer& observer,
                            const std::function<void(const std::string& page)>& show);

/// Until the file can be opened for reading alone, or for so long. Throws kInterrupted.
void wait_for_writer(const std::string& scan, double patience_s, const Observer& observer);

}  // namespace tomoloom
