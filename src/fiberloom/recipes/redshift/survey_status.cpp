// SPDX-License-Identifier: BSD-3-Clause
// What a survey shows of itself.
#include "fiberloom/recipes/redshift/survey.hpp"
#include "loom/batch/plain_status.hpp"

namespace fiberloom::survey {
namespace {

PlainStatus shown() {
  return {.schema = "fiberloom-redshift-status-1",
          .things = "files",
          .input = "spectra",
          .title = "spectra",
          .columns = {{"targets", "targets", 0}, {"ZWARN 0", "zwarn_0", 0}}};
}

}  // namespace

std::string status_json(const RunStatus& status) { return plain_json(status, shown()); }

std::string status_html(const RunStatus& status) { return plain_html(status, shown()); }

}  // namespace fiberloom::survey
