// SPDX-License-Identifier: BSD-3-Clause
// What a run over many scans shows of itself.
#include "loom/batch/plain_status.hpp"
#include "tomoloom/recipes/scans/many_scans.hpp"

namespace tomoloom::scans {
namespace {

PlainStatus shown() {
  return {.schema = "tomoloom-recon-status-1",
          .things = "scans",
          .input = "scan",
          .title = "volume",
          .columns = {{"slices", "slices", 0}, {"axis", "axis", 2}}};
}

}  // namespace

std::string status_json(const RunStatus& status) { return plain_json(status, shown()); }

std::string status_html(const RunStatus& status) { return plain_html(status, shown()); }

}  // namespace tomoloom::scans
