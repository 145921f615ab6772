// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/fault.hpp"

#include <cerrno>
#include <filesystem>
#include <new>
#include <system_error>

namespace loom::batch {

namespace fs = std::filesystem;

Error to_error(const std::exception_ptr& thrown, const std::string& name) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return {Status::kMemory, name + ": out of memory", ENOMEM};
  } catch (const std::system_error& error) {  // a thread that cannot be started, a file system
    return {Status::kInternal, name + ": " + error.what(), error.code().value()};
  } catch (const std::exception& error) {
    return {Status::kInternal, name + ": internal: " + error.what()};
  }
}

Fault fault_of(Status status, int system_error) noexcept {
  if (system_error != 0) return Fault::kMachine;  // the system refused; no content was judged
  switch (status) {
    case Status::kNotFound:  // stamped a moment ago, and yet not to be read
    case Status::kChanged:
    case Status::kUnwritable:
    case Status::kDiskFull:
    case Status::kOutputExists:
    case Status::kInterrupted:
    case Status::kDevice:
    case Status::kMemory:
      return Fault::kMachine;
    case Status::kOk:
    case Status::kDifferent:
    case Status::kUsage:
    case Status::kSomeFailed:
    case Status::kMissingHdu:
    case Status::kMissingKeyword:
    case Status::kWrongShape:
    case Status::kCorrupt:
    case Status::kUnsupported:
    case Status::kNumerical:
    case Status::kInternal:
      return Fault::kInput;
  }
  return Fault::kInput;  // a program's own codes: inputs that do not fit each other
}

bool ends_run(const Error& error, const WorkKind& kind, const RunFolder& folder) {
  if (error.status() == Status::kDiskFull || kind.ends_run(error)) return true;
  if (error.status() != Status::kUnwritable) return false;
  try {
    const std::string probe = folder.state() + "/probe";
    write_text_file(probe, "");
    fs::remove(probe);
    return false;  // it is this output alone
  } catch (const Error&) {
    return true;
  }
}

}  // namespace loom::batch
