// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/claims.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "loom/batch/run.hpp"
#include "loom/batch/test_text_kind.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace loom::batch {
namespace {

class ClaimsTest : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    folder_ = RunFolder(path("out"), {"fiberloom", "1"});
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

  /// The holder of `name` dies, as far as anybody can see: its claim becomes a dead process's.
  void let_die(const Claims& claims, const std::string& name, const std::string& dead) const {
    struct stat own {
    }, held{};
    ASSERT_EQ(::stat((folder_.runs() + "/" + claims.run_id() + ".0").c_str(), &own), 0);
    const std::string copy = dead + claims.run_id();
    std::filesystem::copy_file(dead, copy);
    for (int generation = 1; generation < 1000; ++generation) {
      const std::string file = folder_.claims() + "/" + name + "." + std::to_string(generation);
      if (::stat(file.c_str(), &held) != 0 || held.st_ino != own.st_ino) continue;
      ASSERT_EQ(::rename(copy.c_str(), file.c_str()), 0);
      return;
    }
    FAIL() << "no claim to die with";
  }

  RunFolder folder_{"", {"fiberloom", "1"}};
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

TEST_F(ClaimsTest, RunsThatTakeReleaseAndDieNeverHoldANameTogether) {
  die_with("other");
  const std::string dead = path("dead");
  std::filesystem::copy_file(folder_.claims() + "/other.1", dead);
  constexpr int kRuns = 4, kRounds = 1500;
  const auto witness = run();
  std::vector<std::unique_ptr<Claims>> runs;
  for (int i = 0; i < kRuns; ++i) runs.push_back(run());
  std::atomic<int> inside{0}, together{0}, lost{0}, held{0};
  std::vector<std::thread> threads;
  for (auto& one : runs) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        if (!one->acquire("r0").mine) continue;
        together += inside++ > 0;
        ++held;
        lost += witness->acquire("r0").mine;  // somebody else must see that it is taken
        --inside;
        if (round % 2 == 0) {
          one->release("r0");
        } else {
          let_die(*one, "r0", dead);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 0) << "of " << held;
  EXPECT_EQ(lost, 0) << "of " << held;
  witness->release("r0");
  runs.clear();
  run()->tidy();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.claims()));
}

TEST_F(ClaimsTest, AClaimThatCannotBeReadIsSomebodysUntilItIsOld) {
  std::filesystem::create_directory(folder_.claims() + "/r0.1");  // read() fails, and it is there
  const auto patient = run(120), hasty = run(0.2);
  EXPECT_FALSE(patient->acquire("r0").mine);
  ::usleep(400000);
  EXPECT_TRUE(hasty->acquire("r0").mine);
}

TEST_F(ClaimsTest, ARunWhoseFileWasTakenAwayRegistersAgain) {
  const auto a = run(1.0), b = run();
  ASSERT_TRUE(a->acquire("before").mine);
  const std::string file = folder_.runs() + "/" + a->run_id() + ".0";
  std::filesystem::remove(file);  // suspended for long, and tidied away on another machine

  EXPECT_TRUE(a->acquire("after").mine);

  EXPECT_TRUE(std::filesystem::exists(file));
  EXPECT_FALSE(b->acquire("before").mine);
  EXPECT_FALSE(b->acquire("after").mine);
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

TEST_F(ClaimsTest, CleaningUpLeavesWhatALiveRunIsWritingHoweverOld) {
  Task task;
  task.name = "r0-00000001";
  task.outputs = {path("out/frame-r0.fits")};
  const auto writer = run(), other = run(0.2);
  ASSERT_TRUE(writer->acquire(task.name).mine);
  const std::string frame = "out/frame-r0.fits.tmp-1-0";
  const std::string receipt = "out/.fiberloom/receipts/r0-00000001.json.tmp-1-1";
  put(frame), put(receipt);
  ::usleep(400000);  // suspended, or waiting for a slow disk

  clean_up({task}, folder_, *other);
  EXPECT_TRUE(there(frame) && there(receipt));

  writer->release(task.name);
  clean_up({task}, folder_, *other);
  EXPECT_FALSE(there(frame) || there(receipt));
}

}  // namespace
}  // namespace loom::batch
