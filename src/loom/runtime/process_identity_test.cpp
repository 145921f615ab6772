// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/process_identity.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace loom {
namespace {

TEST(ProcessIdentity, ThisProcessIsAliveAndTheSameEachTime) {
  const ProcessIdentity me = this_process();
  EXPECT_EQ(me, this_process());
  EXPECT_GT(me.start, 0U);
  EXPECT_EQ(liveness(me), Liveness::kAlive);
}

TEST(ProcessIdentity, ARecycledPidIsAnotherProcess) {
  ProcessIdentity other = this_process();
  ++other.start;
  EXPECT_EQ(liveness(other), Liveness::kGone);
}

TEST(ProcessIdentity, AnotherMachineCannotBeAsked) {
  ProcessIdentity other = this_process();
  other.machine += "x";
  EXPECT_EQ(liveness(other), Liveness::kElsewhere);
}

TEST(ProcessIdentity, AKilledChildIsGoneEvenBeforeItIsWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ProcessIdentity identity = this_process();
  identity.pid = child;
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // a zombie from here on
  EXPECT_EQ(liveness(identity), Liveness::kGone);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(liveness(identity), Liveness::kGone);
}

TEST(UniqueId, DiffersEachTime) { EXPECT_NE(unique_id(), unique_id()); }

}  // namespace
}  // namespace loom
