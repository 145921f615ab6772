// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/claims.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "fiberloom/pipeline/night/scratch_folder.hpp"

namespace fiberloom::night {
namespace {

class ClaimsTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"));
    folder_.create();
  }

  [[nodiscard]] std::unique_ptr<Claims> run(double timeout_s = 120) const {
    return std::make_unique<Claims>(folder_, ClaimOptions{.run_id = {}, .timeout_s = timeout_s});
  }

  /// Another process claims `name` and is killed with the claim in its hands.
  void die_with(const std::string& name) const {
    const pid_t child = ::fork();
    if (child == 0) {
      Claims claims(folder_, {});
      const bool mine = claims.acquire(name).mine;
      ::kill(::getpid(), mine ? SIGKILL : SIGTERM);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  }

  /// A claim of a machine that cannot be asked, last touched so many seconds ago.
  void claim_from_afar(const std::string& name, int seconds_ago) const {
    put("out/.fiberloom/claims/" + name + ".1",
        R"({"run":"far","rank":0,"host":"far","machine":"another","pid":1,"start":1})");
    const std::string file = path("out/.fiberloom/claims/" + name + ".1");
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds_ago;
    times[1] = times[0];
    ::utimensat(AT_FDCWD, file.c_str(), times, 0);
  }

  RunFolder folder_{""};
};

TEST_F(ClaimsTest, OnlyOneRunGetsAName) {
  const auto a = run(), b = run();
  EXPECT_TRUE(a->acquire("r0").mine);
  const ClaimResult second = b->acquire("r0");
  EXPECT_FALSE(second.mine);
  EXPECT_NE(second.holder.find("process"), std::string::npos);
  EXPECT_TRUE(b->acquire("r1").mine);
}

TEST_F(ClaimsTest, AReleasedNameIsFree) {
  const auto a = run(), b = run();
  ASSERT_TRUE(a->acquire("r0").mine);
  a->release("r0");
  EXPECT_FALSE(b->holder("r0"));
  EXPECT_TRUE(b->acquire("r0").mine);
}

TEST_F(ClaimsTest, NothingIsLeftWhenARunEnds) {
  { ASSERT_TRUE(run()->acquire("r0").mine); }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.runs()));
}

TEST_F(ClaimsTest, TheClaimOfAKilledProcessIsTakenOverAtOnce) {
  die_with("r0");
  const auto a = run(), b = run();
  const ClaimResult result = a->acquire("r0");
  EXPECT_TRUE(result.mine);
  EXPECT_EQ(result.dead_pids.size(), 1U);
  EXPECT_FALSE(b->acquire("r0").mine);
  a->release("r0");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
}

TEST_F(ClaimsTest, AChainOfKilledProcessesIsTakenOver) {
  die_with("r0");
  die_with("r0");
  die_with("r0");
  const auto a = run();
  const ClaimResult result = a->acquire("r0");
  EXPECT_TRUE(result.mine);
  EXPECT_EQ(result.dead_pids.size(), 3U);
}

TEST_F(ClaimsTest, AnotherMachineIsBelievedUntilItsHeartbeatStops) {
  claim_from_afar("fresh", 10);
  claim_from_afar("stale", 200);
  const auto a = run(120);
  EXPECT_FALSE(a->acquire("fresh").mine);
  EXPECT_TRUE(a->acquire("stale").mine);
}

TEST_F(ClaimsTest, TheHeartbeatIsSeenOnEveryClaim) {
  const auto a = run(1.0);
  ASSERT_TRUE(a->acquire("r0").mine);
  const std::string file = folder_.claims() + "/r0.1";
  const struct timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, file.c_str(), long_ago, 0), 0);
  struct stat info {};
  for (int i = 0; i < 100 && info.st_mtim.tv_sec <= 1000; ++i) {
    ::usleep(50000);
    ::stat(file.c_str(), &info);
  }
  EXPECT_GT(info.st_mtim.tv_sec, 1000);
}

TEST_F(ClaimsTest, ManyRunsThatWantADeadOnesNameGetItOnce) {
  for (int round = 0; round < 20; ++round) {
    die_with("r0");
    std::vector<std::unique_ptr<Claims>> runs;
    for (int i = 0; i < 4; ++i) runs.push_back(run());
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (auto& one : runs) {
      threads.emplace_back([&] { winners += one->acquire("r0").mine ? 1 : 0; });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(winners, 1) << "round " << round;
  }
}

TEST_F(ClaimsTest, ADamagedClaimIsDeadWhenItIsOld) {
  put("out/.fiberloom/claims/r0.1", "nonsense");
  const auto patient = run(120);
  EXPECT_FALSE(patient->acquire("r0").mine);
  const auto hasty = run(0.2);
  ::usleep(400000);
  EXPECT_TRUE(hasty->acquire("r0").mine);
}

TEST_F(ClaimsTest, RanksOfOneJobShareTheirClaims) {
  Claims first(folder_, {.run_id = "job", .rank = 0});
  Claims second(folder_, {.run_id = "job", .rank = 1});
  EXPECT_TRUE(first.acquire("r0").mine);
  EXPECT_TRUE(second.acquire("r0").mine);
  second.release("r0");  // not the rank that made it
  EXPECT_FALSE(run()->acquire("r0").mine);
}

TEST_F(ClaimsTest, TidyRemovesWhatDeadRunsLeftAndNothingElse) {
  die_with("dead");
  const auto alive = run();
  ASSERT_TRUE(alive->acquire("alive").mine);
  const auto a = run();
  const auto dead = a->tidy();
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead.begin()->first, "dead");
  EXPECT_TRUE(there("out/.fiberloom/claims/alive.1"));
  EXPECT_FALSE(there("out/.fiberloom/claims/dead.1"));
  int files = 0;
  for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(folder_.runs())) {
    ++files;
  }
  EXPECT_EQ(files, 2);  // of the two that live
}

}  // namespace
}  // namespace fiberloom::night
