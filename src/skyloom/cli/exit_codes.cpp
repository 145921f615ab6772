// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/cli/exit_codes.hpp"

#include <array>

#include "skyloom/status.hpp"

namespace skyloom::cli {
namespace {

constexpr std::array kAll{Status::kOk,
                          Status::kUsage,
                          Status::kNotFound,
                          Status::kMissingHdu,
                          Status::kMissingKeyword,
                          Status::kWrongShape,
                          Status::kCorrupt,
                          Status::kUnsupported,
                          kPixelisation,
                          kNoiseModel,
                          kNoGoodData,
                          Status::kUnwritable,
                          Status::kDiskFull,
                          Status::kOutputExists,
                          Status::kInterrupted,
                          Status::kDevice,
                          Status::kMemory,
                          Status::kInternal};

ExitCodeText with_output(ExitCodeText text) {
  text.range(Status::kUnwritable, Status::kOutputExists, "output not writable");
  text.code(Status::kInterrupted);
  return text;
}

}  // namespace

std::string all_exit_codes() { return loom::exit_code_table(kAll, exit_code_name); }

ExitCodeText exit_codes() { return {exit_code_name, "skyloom"}; }

ExitCodeText exit_codes_of_reader() {
  ExitCodeText text = exit_codes();
  text.range(Status::kNotFound, Status::kChanged, "input missing or not good");
  text.range(kPixelisation, kNoGoodData, "input that no map can be made of");
  return text;
}

ExitCodeText exit_codes_of_writer() { return with_output(exit_codes()); }

ExitCodeText exit_codes_of_maker() { return with_output(exit_codes_of_reader()); }

}  // namespace skyloom::cli
