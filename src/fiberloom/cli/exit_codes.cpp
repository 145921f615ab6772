// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/exit_codes.hpp"

#include <array>

#include "fiberloom/status.hpp"
#include "loom/program/exit_codes.hpp"

namespace fiberloom::cli {
namespace {

constexpr std::array kAll{Status::kOk,
                          Status::kDifferent,
                          Status::kUsage,
                          Status::kSomeFailed,
                          Status::kNotFound,
                          Status::kMissingHdu,
                          Status::kMissingKeyword,
                          Status::kWrongShape,
                          Status::kCorrupt,
                          Status::kUnsupported,
                          Status::kChanged,
                          kNotCovered,
                          kSizeMismatch,
                          kFiberRange,
                          Status::kUnwritable,
                          Status::kDiskFull,
                          Status::kOutputExists,
                          Status::kNumerical,
                          Status::kInterrupted,
                          Status::kDevice,
                          Status::kMemory,
                          Status::kInternal,
                          kBadTemplate,
                          kTemplateRange,
                          kBadQuery,
                          kNewerSchema,
                          kCatalogueBusy,
                          kServerGone};

}  // namespace

std::string exit_code_table() { return loom::exit_code_table(kAll, exit_code_name); }

std::string exit_codes_of(const ExitCodes& codes) {
  ExitCodeText text(exit_code_name, "fiberloom");
  for (const Status code : codes.more) text.code(code);
  if (codes.reads) {
    text.range(Status::kNotFound, Status::kChanged, "input missing or not good");
  }
  if (codes.matches) {
    text.range(kNotCovered, kFiberRange, "inputs and options do not fit each other");
  }
  if (codes.writes) text.range(Status::kUnwritable, Status::kOutputExists, "output not writable");
  return text.text();
}

}  // namespace fiberloom::cli
