// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/run_program.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/program/console.hpp"
#include "loom/program/heap.hpp"
#include "loom/program/rank_options.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/runtime/launch.hpp"
#include "loom/runtime/stop_signal.hpp"

namespace loom {
namespace {

int run(const Command& program, const std::vector<std::string>& arguments) {
  const auto parsed = parse(program, arguments);
  if (const auto* text = std::get_if<std::string>(&parsed)) {
    put(*text);
    return static_cast<int>(Status::kOk);
  }
  const Chosen& chosen = std::get<Chosen>(parsed);
  return chosen.command->run({program, chosen.given});
}

/// Do the processes of a launch each do their own? Looked for where the command line may be wrong.
bool on_their_own(const Launch& launch, std::span<char* const> arguments) {
  bool mpi = false;
  for (const std::string_view word : arguments) {
    if (word == "--mpi=off" || (mpi && word == "off")) return true;
    mpi = word == "--mpi";
  }
  return launch.stray_tasks;
}

/// Of a launch's processes, before MPI is open. What is wrong with a command line of all, the first
/// one tells.
void tell(const std::string& program, const std::string& text, Status status,
          std::span<char* const> arguments) {
  const Launch launch = find_launch(process_environment());
  if (launch.rank == 0) return print_error(program, text);
  if (!on_their_own(launch, arguments)) {
    std::this_thread::sleep_for(kFirstTells);  // a launcher may end it when one goes
    if (status == Status::kUsage) return;
  }
  print_error(program, "rank " + std::to_string(launch.rank) + ": " + text);
}

/// What on_terminate() says: made while there is memory to make it.
std::string& last_words() {
  static std::string words;
  return words;
}

/// Memory that ends inside a destructor, a library's too, cannot be thrown: one line and the code
/// all the same. Anything else that ends here is a defect.
[[noreturn]] void on_terminate() {
  try {
    if (std::current_exception()) throw;
  } catch (const std::bad_alloc&) {
    const std::string& words = last_words();
    const auto written = ::write(STDERR_FILENO, words.data(), words.size());
    static_cast<void>(written);
    ::_exit(static_cast<int>(Status::kMemory));
  } catch (...) {
  }
  std::abort();
}

}  // namespace

int run_program(const std::string& name, int argc, char** argv,
                const std::function<Command()>& make) {
  const std::span<char* const> arguments(argv + std::min(argc, 1), argv + argc);
  const auto fail = [&](const std::string& text, Status status) {
    tell(name, text, status, arguments);
    return static_cast<int>(status);
  };
  try {
    last_words() = name + ": error: out of memory\n";
    std::set_terminate(on_terminate);
    keep_standard_descriptors();
    ignore_write_signals();
    keep_freed_memory();
    return run(make(), {arguments.begin(), arguments.end()});
  } catch (const Error& error) {
    return fail(error.what(), error.status());
  } catch (const std::bad_alloc&) {
    return fail("out of memory", Status::kMemory);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {  // no room for its stack
      return fail(std::string("a thread cannot be started: ") + error.what(), Status::kMemory);
    }
    return fail(std::string("internal: ") + error.what(), Status::kInternal);
  } catch (const std::exception& error) {
    return fail(std::string("internal: ") + error.what(), Status::kInternal);
  }
}

}  // namespace loom
