// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/rank_options.hpp"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "loom/base/error.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/stop_signal.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPassOn{300}, kLook{20}, kLongest{5000};

/// Launchers drop what they have not read, or not passed on, when the job is aborted: waits until
/// the pipe from here is empty (nothing else says how much it holds), and a little longer.
void let_launcher_read() {
  struct stat there {};
  const bool pipe = fstat(STDERR_FILENO, &there) == 0 && S_ISFIFO(there.st_mode);
  int unread = 0;
  for (milliseconds waited{0}; pipe && waited < kLongest; waited += kLook) {
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) break;
    std::this_thread::sleep_for(kLook);
  }
  std::this_thread::sleep_for(kPassOn);
}

}  // namespace

void add_mpi_option(Options& options, std::string& text) {
  options.add("--mpi", &text,
              "auto: when mpirun or srun started this; off: each process on its own",
              {.words = {"auto", "on", "off", "openmpi", "mpich"}});
}

void add_rank_silence(Options& options, double& silence_s) {
  options.add("--rank-silence", &silence_s,
              "seconds without a sign of life after which a rank is dead and the job ends",
              {.interval = between(2.0, 86400.0), .shows_default = true});
}

void add_rank_options(Options& options, RankOptions& ranks) {
  options.group("Several processes (MPI)");
  add_mpi_option(options, ranks.mpi);
  add_rank_silence(options, ranks.silence_s);
}

MpiChoice mpi_choice(const std::string& text) {
  if (text == "on") return MpiChoice::kOn;
  if (text == "off") return MpiChoice::kOff;
  if (text == "openmpi") return MpiChoice::kOpenMpi;
  if (text == "mpich") return MpiChoice::kMpich;
  return MpiChoice::kAuto;
}

void abort_ranks(const std::string& program, Ranks& ranks, const std::exception_ptr& thrown) {
  if (ranks.rank() != 0) {
    const bool asked = stop_signal_received();
    std::this_thread::sleep_for(kFirstTells);
    if (!asked && stop_signal_received()) ranks.abort(static_cast<int>(Status::kInterrupted));
  }
  int code = static_cast<int>(Status::kInternal);
  const std::string who = "rank " + std::to_string(ranks.rank()) + ": ";
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    code = error.exit_code();
    print_error(program, ranks.rank() == 0 ? error.what() : who + error.what());
  } catch (const std::exception& error) {
    print_error(program, who + "internal: " + error.what());
  }
  let_launcher_read();
  ranks.abort(code);
  std::_Exit(code);
}

}  // namespace loom
