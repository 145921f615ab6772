// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/checkpoint.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using loom::test::write_bytes;
using test::small_maps;
using test::small_simulation;
using test::some_sky;

/// Stops after so many iterations.
Observer stopping_after(std::size_t iterations, std::size_t& done) {
  Observer observer;
  observer.progress = [&done](const char* stage, std::size_t at, std::size_t) {
    if (std::string(stage).starts_with("iterations, residual ")) done = at;
  };
  observer.stop_requested = [&done, iterations] { return done >= iterations; };
  return observer;
}

class Interrupted : public ::testing::TestWithParam<bool> {};

TEST_P(Interrupted, GoOnToTheSameBytes) {
  const TempFolder folder;
  const SimulatedTod source(small_simulation(), some_sky(64));
  SerialExecutor one;
  MapJob job = small_maps(folder.file("whole"));
  job.prior = GetParam();
  const MapSummary whole = make_maps(source, job, one);
  ASSERT_GT(whole.residuals.size(), 12U);
  job.folder = folder.file("parts");
  job.checkpoint = folder.file("state");
  job.checkpoint_seconds = 0;
  for (const std::size_t stop : {4, 9, 10}) {
    std::size_t done = 0;
    const Observer observer = stopping_after(stop, done);
    EXPECT_EQ(thrown_by([&] { make_maps(source, job, one, observer); }).status,
              Status::kInterrupted);
    EXPECT_EQ(done, stop);
  }
  std::string told;
  Observer listener;
  listener.message = [&](LogLevel, const std::string& text) { told += text; };
  const MapSummary rest = make_maps(source, job, one, listener);
  EXPECT_EQ(rest.recalled, 10U);
  EXPECT_NE(told.find("goes on after 10 iterations"), std::string::npos) << told;
  EXPECT_EQ(rest.residuals, whole.residuals);
  for (const char* name : {"hits", "binned", "map"}) {
    EXPECT_EQ(read_bytes(folder.file("whole/") + name + ".fits"),
              read_bytes(folder.file("parts/") + name + ".fits"))
        << name;
  }
  EXPECT_EQ(folder.count(), 2U);  // the checkpoint went with the maps' coming
}
INSTANTIATE_TEST_SUITE_P(WithAndWithoutAPrior, Interrupted, ::testing::Bool());

TEST(GlsMaps, OfPartsGoOnFromTheIterationsOfEach) {
  const TempFolder folder;
  SimulationOptions options = small_simulation();
  options.plane.noise.fknee_hz = 0.5;
  const SimulatedTod source(options, nullptr);
  SerialExecutor one;
  MapJob job = small_maps(folder.file("whole"));
  job.method = MapMethod::kGls;
  job.nside = 8;
  job.split = split_of("observations");
  const MapSummary whole = make_maps(source, job, one);
  ASSERT_GT(whole.gls_parts[1].iterations, 5U);
  job.folder = folder.file("parts");
  job.checkpoint = folder.file("state");
  job.checkpoint_seconds = 0;
  const std::size_t stop = whole.residuals.size() + whole.gls_parts[0].iterations + 4;
  std::size_t done = 0;  // iterations of all three
  Observer observer;
  observer.progress = [&](const char* stage, std::size_t, std::size_t) {
    done += std::string(stage).starts_with("iterations") ? 1 : 0;
  };
  observer.stop_requested = [&] { return done >= stop; };
  EXPECT_EQ(thrown_by([&] { make_maps(source, job, one, observer); }).status, Status::kInterrupted);
  const MapSummary rest = make_maps(source, job, one);
  // each was kept after the iteration before its last, the second part after the fourth
  EXPECT_EQ(rest.recalled, stop - 2);
  for (const char* name : {"map", "part1_map", "part2_map"}) {
    EXPECT_EQ(read_bytes(folder.file("whole/") + name + ".fits"),
              read_bytes(folder.file("parts/") + name + ".fits"))
        << name;
  }
  EXPECT_EQ(folder.count(), 2U);  // the checkpoints went with the maps' coming
}

SolverState some_state(std::size_t unknowns, std::size_t iterations) {
  SolverState state;
  for (std::size_t i = 0; i < unknowns; ++i) {
    state.x.push_back(0.1 * static_cast<double>(i));
    state.r.push_back(-1.0 / static_cast<double>(i + 1));
    state.p.push_back(1e-300);
  }
  state.rho = 3;
  state.residuals.assign(iterations, 0.5);
  return state;
}

TEST(Checkpoint, RecallsTheLatestStateThatIsWhole) {
  const TempFolder folder;
  const std::string key(64, 'a'), path = folder.file("s");
  const Observer quiet;
  EXPECT_FALSE(Checkpoint(path, key, 5, 0, quiet).recall());
  {
    Checkpoint first(path, key, 5, 0, quiet);
    EXPECT_TRUE(first.due());
    first.save(some_state(5, 7));
    first.save(some_state(5, 8));
  }
  const auto found = Checkpoint(path, key, 5, 1e9, quiet).recall();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->residuals.size(), 8U);
  EXPECT_EQ(found->x, some_state(5, 8).x);
  EXPECT_EQ(found->r, some_state(5, 8).r);
  EXPECT_EQ(found->p, some_state(5, 8).p);
  EXPECT_EQ(found->rho, 3);
  // the later one is damaged in any place, or cut off: the one before is there
  const std::vector<std::uint8_t> whole = read_bytes(path + ".1");
  for (std::size_t at = 160; at < whole.size(); at += 37) {
    std::vector<std::uint8_t> spoiled = whole;
    spoiled[at] ^= 1;
    write_bytes(path + ".1", spoiled);
    EXPECT_EQ(Checkpoint(path, key, 5, 0, quiet).recall()->residuals.size(), 7U) << at;
    spoiled.resize(at);
    write_bytes(path + ".1", spoiled);
    EXPECT_EQ(Checkpoint(path, key, 5, 0, quiet).recall()->residuals.size(), 7U) << at;
  }
}

TEST(Checkpoint, MakesItsFolder) {
  const TempFolder folder;
  const Observer quiet;
  Checkpoint(folder.file("a/b/s"), std::string(64, 'a'), 5, 0, quiet).save(some_state(5, 7));
  EXPECT_TRUE(Checkpoint(folder.file("a/b/s"), std::string(64, 'a'), 5, 0, quiet).recall());
}

TEST(Checkpoint, IsNotTakenFromAnotherSystemOrAnotherFile) {
  const TempFolder folder;
  const std::string path = folder.file("s");
  std::string told;
  Observer listener;
  listener.message = [&](LogLevel, const std::string& text) { told += text; };
  Checkpoint(path, std::string(64, 'a'), 5, 0, listener).save(some_state(5, 7));
  EXPECT_FALSE(Checkpoint(path, std::string(64, 'b'), 5, 0, listener).recall());
  EXPECT_NE(told.find("other data or options"), std::string::npos);
  write_bytes(path + ".1", std::vector<std::uint8_t>{1, 2, 3});
  Checkpoint foreign(path, std::string(64, 'a'), 5, 0, listener);
  EXPECT_EQ(thrown_by([&] { (void)foreign.recall(); }).status, Status::kCorrupt);
}

}  // namespace
}  // namespace skyloom
