// SPDX-License-Identifier: BSD-3-Clause
// The options of `fiberloom extract`: ours, and every one of spex and desi_extract_spectra.
#pragma once

#include <cstddef>
#include <string>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/device_options.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/extract_frame.hpp"

namespace fiberloom::cli {

struct ExtractCommand {
  ExtractJob job;
  std::string wavelength;  ///< "wmin,wmax,dw"
  DeviceChoice device;
  std::size_t threads = 0;
  RankChoice ranks;
  std::string json, trace;
  LogOptions log;
};

/// Declares all options; values land in `command`.
void add_extract_options(Options& options, ExtractCommand& command);

/// After parsing: turns text into the job; one warning for each option that is accepted and does
/// nothing; throws kUnsupported for one that would change numbers in a way that is not there,
/// kUsage for nonsense.
void finish_extract_options(const Given& given, ExtractCommand& command, const Observer& observer);

}  // namespace fiberloom::cli
