// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/inspect.hpp"

#include <algorithm>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/fault.hpp"
#include "loom/batch/normal_path.hpp"
#include "loom/files/input_file.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;

/// Empty when the output is the one that the receipt tells of; else what is wrong with it.
std::string fault_of_output(const std::string& path, const MadeFile& made, const WorkKind& kind,
                            Check check) {
  const auto found = stamp_file(path);
  if (!found) return "the output is gone";
  if (found->size != made.stamp.size) {
    return "the output has " + std::to_string(found->size) + " bytes, " +
           std::to_string(made.stamp.size) + " were written";
  }
  if (check == Check::kStamps && found->mtime_ns == made.stamp.mtime_ns) return {};
  try {
    if (file_crc32(path) != made.crc32) return "the output's checksum differs";
    if (check == Check::kBytes) kind.verify_output(path);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// The same of all outputs.
std::string fault_of_outputs(const Task& task, const Receipt& receipt, const WorkKind& kind,
                             Check check) {
  std::string fault = fault_of_output(task.outputs.front(), receipt.output, kind, check);
  for (std::size_t i = 0; i < receipt.more.size() && fault.empty(); ++i) {
    fault = fault_of_output(task.outputs[i + 1], receipt.more[i], kind, check);
  }
  return fault;
}

/// Is the receipt of the files that the task makes?
bool is_of_outputs(const Receipt& receipt, const Task& task, const RunFolder& folder) {
  if (task.outputs.size() != receipt.more.size() + 1) return false;
  if (receipt.output.stamp.path != path_below(folder, task.outputs.front())) return false;
  for (std::size_t i = 0; i < receipt.more.size(); ++i) {
    if (receipt.more[i].stamp.path != path_below(folder, task.outputs[i + 1])) return false;
  }
  return true;
}

/// Is what the receipt tells of the same content, under other times?
bool same_content(const Receipt& receipt, const InputStamps& inputs) {
  if (receipt.input_sums.size() != receipt.inputs.size()) return false;
  if (inputs.files.size() != receipt.inputs.size()) return false;
  for (std::size_t i = 0; i < inputs.files.size(); ++i) {
    const FileStamp &now = inputs.files[i], &then = receipt.inputs[i];
    if (now.path != then.path || now.size != then.size) return false;
  }
  try {
    for (std::size_t i = 0; i < inputs.files.size(); ++i) {
      if (inputs.files[i] == receipt.inputs[i]) continue;
      if (file_crc32(inputs.files[i].path) != receipt.input_sums[i]) return false;
    }
  } catch (const Error&) {  // gone, or unreadable: who does the task will say so
    return false;
  }
  return true;
}

/// Is a file that is not there one that the receipt knows nothing of, packed or not?
bool is_new(const std::string& missing, const Receipt& receipt, const Task& task) {
  if (std::ranges::find(task.any_inputs, missing) != task.any_inputs.end()) return false;
  const std::string path = normal_path(missing);
  return std::ranges::none_of(receipt.inputs, [&](const FileStamp& then) {
    return then.path == path || then.path == path + ".gz" || then.path + ".gz" == path;
  });
}

/// Empty when the receipt is of this task as it is now. Inputs that are gone cannot differ.
std::string fault_of_receipt(const Receipt& receipt, const std::string& fingerprint,
                             const std::string& version, const InputStamps& inputs,
                             const Task& task) {
  if (receipt.version != version) return "made by version " + receipt.version;
  if (receipt.options != fingerprint) return "made with other options";
  const bool differ = inputs.missing.empty() && inputs.files != receipt.inputs;
  const bool other = std::ranges::any_of(
      inputs.missing, [&](const std::string& path) { return is_new(path, receipt, task); });
  if (other || (differ && !(task.by_content && same_content(receipt, inputs)))) {
    return "made from other inputs";
  }
  return {};
}

/// The page that the receipt tells of, if it is still there; whether the one that is asked for is.
void find_page(const Task& task, const RunFolder& folder, const Receipt& receipt,
               Finding& finding) {
  if (receipt.page) {
    const fs::path path = fs::path(folder.output()) / receipt.page->path;  // or as it is, absolute
    const auto found = stamp_file(path.string());
    if (found && found->size == receipt.page->size) finding.page = receipt.page->path;
  }
  finding.lacks_page = !task.page.empty() && finding.page != path_below(folder, task.page);
}

/// Of this task as it is now: the same failure is to be expected.
bool is_of(const Failure& failure, const std::string& fingerprint, const std::string& version,
           const InputStamps& inputs) {
  return failure.version == version && failure.options == fingerprint &&
         failure.inputs == inputs.files &&
         (failure.changed_ns.empty() || failure.changed_ns == inputs.changed_ns);
}

constexpr const char* kQuarantined =
    " (not tried again until an input, an option or the version changes, or with --retry)";

}  // namespace

Outcome outcome_of(const Finding& finding) {
  Outcome outcome;
  outcome.state = finding.state;
  outcome.message = finding.message;
  outcome.exit_code = finding.exit_code;
  outcome.attempts = finding.attempts;
  outcome.measures = finding.measures;
  outcome.page = finding.page;
  return outcome;
}

Finding inspect_task(const Task& task, const WorkKind& kind, const RunFolder& folder, Check check) {
  StampCache cache;
  return inspect_task(task, kind, folder, check, cache);
}

Finding inspect_task(const Task& task, const WorkKind& kind, const RunFolder& folder, Check check,
                     StampCache& cache) {
  Finding finding;
  finding.inputs = stamp_inputs(task, cache);
  const std::string& version = folder.program().version;
  if (const auto receipt = read_receipt(folder, task.name);
      receipt && is_of_outputs(*receipt, task, folder)) {
    finding.message =
        fault_of_receipt(*receipt, kind.fingerprint(task), version, finding.inputs, task);
    if (finding.message.empty()) finding.message = fault_of_outputs(task, *receipt, kind, check);
    if (finding.message.empty()) {
      finding.state = TaskState::kUpToDate;
      finding.measures = receipt->measures;
      find_page(task, folder, *receipt, finding);
      return finding;
    }
  }
  if (!finding.inputs.missing.empty()) {
    finding.state = TaskState::kMissing;
    finding.exit_code = static_cast<int>(Status::kNotFound);
    finding.message = finding.inputs.missing.front() + ": is not there";
    return finding;
  }
  const auto failure = read_failure(folder, task.name);
  if (!failure || !is_of(*failure, kind.fingerprint(task), version, finding.inputs)) return finding;
  finding.attempts = failure->attempts;
  if (fault_of(Status{failure->exit_code}, failure->system_error) == Fault::kMachine) {
    finding.message = "is tried again; last time: " + failure->message;
    return finding;
  }
  finding.state = TaskState::kFailed;
  finding.exit_code = failure->exit_code;
  finding.message = failure->message + kQuarantined;
  return finding;
}

}  // namespace loom::batch
