// SPDX-License-Identifier: BSD-3-Clause
// The body of a build without toml++.
#include "fiberloom/recipes/night/job_file.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {

std::vector<JobSetting> read_job_file(const std::string& path, FrameRequest& /*request*/,
                                      const std::vector<std::string>& /*others*/) {
  throw Error(Status::kUnsupported, path + ": job files need a build with toml++");
}

}  // namespace fiberloom::night
