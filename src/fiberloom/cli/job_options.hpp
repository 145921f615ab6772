// SPDX-License-Identifier: BSD-3-Clause
// What to extract and by which method: the same options for one frame and for many.
#pragma once

#include <array>
#include <string>

#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/program/options.hpp"

namespace fiberloom::cli {

/// Declares -w, -s, -n, --bundlesize ... ; `wavelength` gets the text of -w.
void add_problem_options(Options& options, ExtractJob& job, std::string& wavelength,
                         const char* wave_default);

/// Declares --method, -r, --tolerance and those of the patch engine.
void add_method_options(Options& options, ExtractJob& job);

/// "wmin,wmax,dw". Throws kUsage.
[[nodiscard]] std::array<double, 3> parse_wavelength(const std::string& text);

}  // namespace fiberloom::cli
