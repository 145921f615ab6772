// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/cli/exit_codes.hpp"

#include <array>

#include "tomoloom/status.hpp"

namespace tomoloom::cli {
namespace {

constexpr std::array kAll{Status::kOk,       Status::kUsage,        Status::kSomeFailed,
                          Status::kNotFound, Status::kMissingHdu,   Status::kWrongShape,
                          Status::kCorrupt,  Status::kUnsupported,  kScanMismatch,
                          kCentreRange,      kSliceRange,           Status::kUnwritable,
                          Status::kDiskFull, Status::kOutputExists, Status::kInterrupted,
                          Status::kMemory,   Status::kInternal};

ExitCodeText with_output(ExitCodeText text) {
  text.range(Status::kUnwritable, Status::kOutputExists, "output not writable");
  text.code(Status::kInterrupted);
  return text;
}

}  // namespace

std::string all_exit_codes() { return loom::exit_code_table(kAll, exit_code_name); }

ExitCodeText exit_codes() { return {exit_code_name, "tomoloom"}; }

ExitCodeText exit_codes_of_reader() {
  ExitCodeText text = exit_codes();
  text.range(Status::kNotFound, Status::kChanged, "input missing or not good");
  text.range(kScanMismatch, kSliceRange, "scan and options do not fit each other");
  return text;
}

ExitCodeText exit_codes_of_writer() { return with_output(exit_codes()); }

ExitCodeText exit_codes_of_maker() { return with_output(exit_codes_of_reader()); }

}  // namespace tomoloom::cli
