// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program, one file each, and the options of its own that they share.
#pragma once

#include "fiberloom/formats/formats.hpp"
#include "loom/program/command.hpp"
#include "loom/program/common_options.hpp"
#include "loom/program/text_output.hpp"

namespace fiberloom::cli {

inline constexpr const char* kProgram = "fiberloom";

[[nodiscard]] Command make_extract();
[[nodiscard]] Command make_expose();
[[nodiscard]] Command make_night();
[[nodiscard]] Command make_status();
[[nodiscard]] Command make_coadd();
[[nodiscard]] Command make_redshift();
[[nodiscard]] Command make_fiberflat();
[[nodiscard]] Command make_sky();
[[nodiscard]] Command make_stdstars();
[[nodiscard]] Command make_fluxcalib();
[[nodiscard]] Command make_calibrate();
[[nodiscard]] Command make_qa();
[[nodiscard]] Command make_simulate();
[[nodiscard]] Command make_compare();
[[nodiscard]] Command make_info();
[[nodiscard]] Command make_templates();
[[nodiscard]] Command make_report();
[[nodiscard]] Command make_catalogue();
[[nodiscard]] Command make_bench();

/// --no-verify, for every command that reads FITS files.
void add_verify_option(Options& options, Verify& verify);

}  // namespace fiberloom::cli
