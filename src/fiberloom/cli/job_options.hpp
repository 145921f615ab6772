// SPDX-License-Identifier: BSD-3-Clause
// What to extract and by which method: the same options for one frame and for many.
#pragma once

#include <array>
#include <string>

#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/program/options.hpp"

namespace fiberloom::cli {

/// Where the options go. The grid is text until parse_wavelength().
struct JobOptions {
  ExtractJob& job;
  std::string& wavelength;
  const char* wave_default;  ///< as help says it
};

/// Declares the rows of extract_option_rows() that stand under this heading, and begins it.
void add_job_options(Options& options, const char* group, const JobOptions& to);

/// "wmin,wmax,dw". Throws kUsage.
[[nodiscard]] std::array<double, 3> parse_wavelength(const std::string& text);

}  // namespace fiberloom::cli
