// SPDX-License-Identifier: BSD-3-Clause
#include "loom/runtime/process_identity.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
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

/// As nobody, in a mount namespace whose /proc shows nobody but his own processes. 77: that may not
/// be had here.
int look_where_others_are_hidden(const ProcessIdentity& other) {
  constexpr unsigned kNobody = 65534;
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", 0, "hidepid=2") != 0 || ::setgid(kNobody) != 0 ||
      ::setuid(kNobody) != 0)
    return 77;
  const std::string stat = "/proc/" + std::to_string(other.pid) + "/stat";
  if (::access(stat.c_str(), R_OK) == 0) return 77;
  return liveness(other) == Liveness::kAlive ? 0 : 1;
}

TEST(ProcessIdentity, OneThatCannotBeSeenIsAlive) {
  const ProcessIdentity me = this_process();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look_where_others_are_hidden(me));
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no mount namespace to be had";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(UniqueId, DiffersEachTime) { EXPECT_NE(unique_id(), unique_id()); }

}  // namespace
}  // namespace loom
