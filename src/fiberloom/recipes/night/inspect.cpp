// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/inspect.hpp"

#include <filesystem>

#include "fiberloom/recipes/night/fault.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/verify.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

/// Empty when the output is the one that the receipt tells of; else what is wrong with it.
std::string fault_of_output(const std::string& path, const Receipt& receipt, Check check) {
  const auto found = stamp_file(path);
  if (!found) return "the output is gone";
  if (found->size != receipt.output.size) {
    return "the output has " + std::to_string(found->size) + " bytes, " +
           std::to_string(receipt.output.size) + " were written";
  }
  if (check == Check::kStamps && found->mtime_ns == receipt.output.mtime_ns) return {};
  try {
    if (fits::file_crc32(path) != receipt.crc32) return "the output's checksum differs";
    if (check == Check::kBytes) fits::verify_checksums(path);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Empty when the receipt is of this task as it is now. Inputs that are gone cannot differ.
std::string fault_of_receipt(const FrameTask& task, const Receipt& receipt,
                             const InputStamps& inputs) {
  if (receipt.version != version()) return "made by version " + receipt.version;
  if (receipt.options != options_text(task.job)) return "made with other options";
  if (inputs.missing.empty() && inputs.files != receipt.inputs) return "made from other inputs";
  return {};
}

/// The page that the receipt tells of, if it is still there; whether the one that is asked for is.
void find_report(const FrameTask& task, const RunFolder& folder, const Receipt& receipt,
                 Finding& finding) {
  if (receipt.report) {
    const fs::path path =
        fs::path(folder.output()) / receipt.report->path;  // or as it is, absolute
    const auto found = stamp_file(path.string());
    if (found && found->size == receipt.report->size) finding.report = receipt.report->path;
  }
  finding.lacks_report = !task.report.empty() && finding.report != path_below(folder, task.report);
}

/// Of this task as it is now: the same failure is to be expected.
bool is_of(const Failure& failure, const FrameTask& task, const InputStamps& inputs) {
  return failure.version == version() && failure.options == options_text(task.job) &&
         failure.inputs == inputs.files &&
         (failure.changed_ns.empty() || failure.changed_ns == inputs.changed_ns);
}

constexpr const char* kQuarantined =
    " (not tried again until an input, an option or the version changes, or with --retry)";

}  // namespace

std::string path_below(const RunFolder& folder, const std::string& path) {
  const fs::path relative = fs::path(path).lexically_relative(folder.output());
  if (relative.empty() || *relative.begin() == "..") return path;
  return relative.string();
}

FrameOutcome outcome_of(const Finding& finding) {
  FrameOutcome outcome;
  outcome.state = finding.state;
  outcome.message = finding.message;
  outcome.exit_code = finding.exit_code;
  outcome.attempts = finding.attempts;
  outcome.quality = finding.quality;
  outcome.report = finding.report;
  return outcome;
}

Finding inspect_frame(const FrameTask& task, const RunFolder& folder, Check check) {
  Finding finding;
  finding.inputs = stamp_inputs(task.job);
  if (const auto receipt = read_receipt(folder.receipt(task.name));
      receipt && receipt->output.path == path_below(folder, task.job.output)) {
    finding.message = fault_of_receipt(task, *receipt, finding.inputs);
    if (finding.message.empty()) {
      finding.message = fault_of_output(task.job.output, *receipt, check);
    }
    if (finding.message.empty()) {
      finding.state = FrameState::kUpToDate;
      finding.quality = receipt->quality;
      find_report(task, folder, *receipt, finding);
      return finding;
    }
  }
  if (!finding.inputs.missing.empty()) {
    finding.state = FrameState::kMissing;
    finding.exit_code = static_cast<int>(Status::kNotFound);
    finding.message = finding.inputs.missing.front() + ": is not there";
    return finding;
  }
  const auto failure = read_failure(folder.failure(task.name));
  if (!failure || !is_of(*failure, task, finding.inputs)) return finding;
  finding.attempts = failure->attempts;
  if (fault_of(Status{failure->exit_code}, failure->system_error) == Fault::kMachine) {
    finding.message = "is tried again; last time: " + failure->message;
    return finding;
  }
  finding.state = FrameState::kFailed;
  finding.exit_code = failure->exit_code;
  finding.message = failure->message + kQuarantined;
  return finding;
}

}  // namespace fiberloom::night
