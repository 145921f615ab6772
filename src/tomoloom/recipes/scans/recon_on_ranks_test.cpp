// SPDX-License-Identifier: BSD-3-Clause
// One scan by ranks that are threads: any number of them makes the bytes of one process.
#include "tomoloom/recipes/scans/recon_on_ranks.hpp"

#include <thread>

#include "loom/testing/thread_ranks.hpp"
#include "tomoloom/exchange/scan_writer.hpp"
#include "tomoloom/recipes/test_recon.hpp"

namespace tomoloom::scans {
namespace {

using loom::test::read_bytes;

class ReconOnRanks : public test::ReconCase {
 protected:
  struct Ended {
    std::optional<RanksRecon> made;
    int aborted = 0;
    std::string message;
  };
  /// `upset` is called by each rank's observer, between blocks.
  Ended on(int size, const ReconJob& job, const std::function<bool(int rank)>& upset = {}) {
    ThreadRanks::World world(size);
    std::vector<std::thread> threads;
    Ended ended;
    for (int r = 0; r < size; ++r) {
      threads.emplace_back([&, r] {
        ThreadRanks ranks(world, r);
        Observer observer;
        if (upset) observer.stop_requested = [&, r] { return upset(r); };
        SerialExecutor executor;
        try {
          auto made = reconstruct_on_ranks(ranks, job, executor, observer, 10);
          EXPECT_EQ(made.has_value(), r == 0);
          if (made) ended.made = std::move(made);
          ranks.finish();
        } catch (const Error& error) {
          if (r != 0) {
            EXPECT_NE(world.aborted, 0) << error.what();
            return;
          }
          ended.message = error.what();
          try {
            ranks.abort(error.exit_code());
          } catch (const Error&) {
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ended.aborted = world.aborted;
    return ended;
  }
};

TEST_F(ReconOnRanks, AnyNumberOfThemMakesTheSameBytes) {
  SimulateJob scan = small();
  scan.rows = 150;  // five blocks
  scan.angles = 40;
  scan.detector.rings = 0.01;
  simulate(scan);
  ReconJob job = recon(scan);
  job.stripe.method = Stripe::kSf;
  const auto alone = run(job);
  const auto bytes = read_bytes(job.output);
  for (const int ranks : {1, 2, 3, 5, 8}) {
    std::filesystem::remove(job.output);
    const Ended ended = on(ranks, job);
    ASSERT_EQ(ended.message, "") << ranks;
    ASSERT_EQ(read_bytes(job.output), bytes) << ranks;
    EXPECT_EQ(ended.made->idle, 0) << ranks;  // of eight some share a block
    EXPECT_EQ(ended.made->recon.slices, alone.slices);
    EXPECT_EQ(ended.made->recon.flaws.blind, alone.flaws.blind);
  }
}

TEST_F(ReconOnRanks, BlindPixelsAreAPartOfAllThatWereRead) {
  const std::string path = folder.file("blind.h5");
  {
    constexpr std::size_t kRows = 70, kColumns = 48;
    ScanWriter writer(path, Overwrite::kYes,
                      {.angles = 2, .rows = kRows, .columns = kColumns, .flats = 1, .darks = 1},
                      std::vector<double>{0, 90});
    std::vector<std::uint16_t> frame(kRows * kColumns, 1000);
    writer.projection(0, frame);
    writer.projection(1, frame);
    writer.dark(0, std::vector<std::uint16_t>(frame.size(), 100));
    for (std::size_t i = 0; i < frame.size(); i += 3) frame[i] = 0;
    writer.flat(0, frame);
    writer.commit();
  }
  ReconJob job{.scan = path, .output = folder.file("volume.h5")};
  job.tilt_deg = 20;  // rows beside a block's are read along with it
  run(job);
  const auto bytes = read_bytes(job.output);
  EXPECT_EQ(on(3, job).message, "");
  EXPECT_EQ(read_bytes(job.output), bytes);
}

TEST_F(ReconOnRanks, MoreThanSlicesShareThem) {
  for (const std::size_t rows : {1U, 3U, 33U}) {
    SimulateJob scan = small();
    scan.rows = rows;
    scan.angles = 40;
    scan.detector.rings = 0.01;
    simulate(scan);
    ReconJob job = recon(scan);
    job.stripe.method = Stripe::kSf;
    job.outlier = 0.2;
    job.rings.width = 3;
    for (const Method method : {Method::kExact, Method::kGridrec}) {
      job.method = method;
      const auto alone = run(job);
      const auto bytes = read_bytes(job.output);
      for (const int ranks : {2, 4, 6}) {
        std::filesystem::remove(job.output);
        const Ended ended = on(ranks, job);
        ASSERT_EQ(ended.message, "") << ranks;
        ASSERT_EQ(read_bytes(job.output), bytes) << rows << " rows, " << ranks << " ranks";
        EXPECT_EQ(ended.made->idle, 0);
        EXPECT_EQ(ended.made->recon.flaws.blind, alone.flaws.blind);
      }
    }
  }
}

TEST_F(ReconOnRanks, WhatIteratesIsNotShared) {
  SimulateJob scan = small();
  scan.rows = 3;
  simulate(scan);
  ReconJob job = recon(scan);
  job.method = Method::kCgls;
  job.iterations = 2;
  run(job);
  const auto bytes = read_bytes(job.output);
  std::filesystem::remove(job.output);
  const Ended ended = on(3, job);
  EXPECT_EQ(ended.made->idle, 2);
  EXPECT_EQ(read_bytes(job.output), bytes);
}

TEST_F(ReconOnRanks, BlocksAreSharedOfHalfTheBodyAndOfWavesToo) {
  SimulateJob scan = small();
  scan.rows = 2;
  scan.arc_deg = 360;
  scan.centre = 55;
  simulate(scan);
  ReconJob half = recon(scan), phase = half;
  half.acquisition = Acquisition::kHalf;
  phase.phase.method = Phase::kPaganin;
  for (const ReconJob& job : {half, phase}) {
    run(job);
    const auto bytes = read_bytes(job.output);
    std::filesystem::remove(job.output);
    EXPECT_EQ(on(3, job).message, "");
    EXPECT_EQ(read_bytes(job.output), bytes);
  }
}

TEST_F(ReconOnRanks, WhatIsLeftOfARunIsShared) {
  SimulateJob scan = small();
  scan.rows = 70;
  simulate(scan);
  ReconJob job = recon(scan);
  job.resume = true;
  run(job);
  const auto bytes = read_bytes(job.output);
  std::filesystem::remove(job.output);
  std::atomic<int> asked = 0;
  Observer observer;
  observer.stop_requested = [&] {
    return std::filesystem::exists(job.output + ".part") && ++asked > 2;
  };
  EXPECT_THROW((void)reconstruct_scan(job, serial, observer), Error);
  const Ended ended = on(3, job);
  EXPECT_EQ(ended.message, "");
  EXPECT_GT(ended.made->recon.resumed, 0U);
  EXPECT_EQ(ended.made->idle, 0);
  EXPECT_EQ(read_bytes(job.output), bytes);
}

TEST_F(ReconOnRanks, WhatIsFoundInTheScanIsFoundOnce) {
  SimulateJob scan = small();
  scan.rows = 70;
  simulate(scan);
  ReconJob job = recon(scan);
  job.centre.reset();
  job.search = AxisSearch::kTurn;
  job.phase.method = Phase::kPaganin;
  job.first_row = 3;
  job.end_row = 69;
  run(job);
  const auto bytes = read_bytes(job.output);
  std::filesystem::remove(job.output);
  EXPECT_EQ(on(3, job).message, "");
  EXPECT_EQ(read_bytes(job.output), bytes);
}

TEST_F(ReconOnRanks, ATiltedAxisHasTheRowsBesideEachShare) {
  SimulateJob scan = small();
  scan.rows = 100;
  scan.columns = 48;
  scan.angles = 40;
  simulate(scan);
  ReconJob job = recon(scan);
  job.tilt_deg = 6;
  job.iterations = 3;
  for (const Method method : {Method::kExact, Method::kCgls}) {
    for (const Phase phase : {Phase::kNone, Phase::kPaganin}) {  // phase goes by way of a spool
      job.method = method;
      job.phase.method = phase;
      job.resume = false;
      std::filesystem::remove(job.output);
      run(job);
      const auto bytes = read_bytes(job.output);
      for (const int ranks : {2, 3}) {
        std::filesystem::remove(job.output);
        ASSERT_EQ(on(ranks, job).message, "");
        ASSERT_EQ(read_bytes(job.output), bytes) << ranks;
      }
      std::filesystem::remove(job.output);
      job.resume = true;
      std::atomic<int> asked = 0;
      on(2, job, [&](int rank) {
        return rank == 0 && std::filesystem::exists(job.output + ".part") && ++asked > 1;
      });
      ASSERT_TRUE(std::filesystem::exists(job.output + ".part"));
      ASSERT_EQ(on(3, job).message, "");
      ASSERT_EQ(read_bytes(job.output), bytes);
    }
  }
}

TEST_F(ReconOnRanks, OneThatFailsEndsAllAndLeavesNothing) {
  SimulateJob scan = small();
  scan.rows = 100;
  simulate(scan);
  const ReconJob job = recon(scan);  // four blocks: of eight ranks two share one
  for (const int victim : {0, 2}) {
    const Ended ended = on(victim == 0 ? 8 : 3, job, [&](int rank) { return rank == victim; });
    EXPECT_EQ(ended.aborted, static_cast<int>(Status::kInterrupted)) << victim;
    EXPECT_NE(ended.message.find("interrupted"), std::string::npos) << ended.message;
    EXPECT_EQ(ended.message.find("rank 2: ") == 0, victim == 2) << ended.message;
    EXPECT_FALSE(std::filesystem::exists(job.output));
    EXPECT_FALSE(std::filesystem::exists(job.output + ".part"));
  }
  ReconJob absent = job;
  absent.scan = folder.file("absent.h5");
  EXPECT_EQ(on(2, absent).aborted, static_cast<int>(Status::kNotFound));
}

TEST_F(ReconOnRanks, WhatOneHasLeftOthersGoOnFrom) {
  SimulateJob scan = small();
  scan.rows = 200;
  simulate(scan);
  ReconJob job = recon(scan);
  run(job);
  const auto bytes = read_bytes(job.output);
  std::filesystem::remove(job.output);
  job.resume = true;
  EXPECT_EQ(on(3, job).message, "");  // each block is synchronised: they arrive faster than that
  EXPECT_EQ(read_bytes(job.output), bytes);
  std::filesystem::remove(job.output);
  std::atomic<int> asked = 0;
  EXPECT_EQ(on(2, job, [&](int rank) { return rank == 1 && ++asked > 3; }).aborted,
            static_cast<int>(Status::kInterrupted));
  EXPECT_TRUE(std::filesystem::exists(job.output + ".part"));
  const Ended ended = on(3, job);
  EXPECT_EQ(ended.message, "");
  EXPECT_GT(ended.made->recon.resumed, 0U);
  EXPECT_EQ(read_bytes(job.output), bytes);
}

}  // namespace
}  // namespace tomoloom::scans
