// SPDX-License-Identifier: BSD-3-Clause
// What cannot be done whatever the inputs hold.
#include <string>
#include <vector>

#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "fiberloom/recipes/redshift/repeated_exposures.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

void check_options(const CoaddJob& job) {
  check_grid(job.grid);
  check_pixels(job.pixels);
  if (job.across_cameras && job.grid.wanted()) {
    throw Error(Status::kUsage,
                "--coadd-cameras: expected without --lin-step and --log10-step, which join cameras "
                "as well");
  }
}

void check_job(const CoaddJob& job, std::span<const NamedFile> more) {
  check_options(job);
  std::vector<NamedFile> outputs{{"output", job.output}}, inputs;
  outputs.insert(outputs.end(), more.begin(), more.end());
  for (const std::string& path : job.inputs) inputs.push_back({"input", path});
  check_distinct(outputs, inputs);
  require_different_files(job.inputs);
  check_output(job.output, job.overwrite);
}

}  // namespace fiberloom
