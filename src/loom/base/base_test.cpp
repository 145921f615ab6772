// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "loom/base/array.hpp"
#include "loom/base/error.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/base/rng.hpp"
#include "loom/base/split.hpp"

namespace loom {
namespace {

TEST(SerialExecutor, RunsEveryTaskOnceInOrder) {
  std::vector<std::size_t> seen;
  SerialExecutor().run(4, [&](std::size_t i) { seen.push_back(i); });
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 1, 2, 3}));
}

/// Says that it has three threads, and runs the last task first.
class Backwards final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    while (n-- > 0) task(n);
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 3; }
};

TEST(RunInParts, CoversEverythingOnceInRunsOfWholeUnitsOneAThread) {
  for (const std::size_t n : {0, 1, 9, 10, 11, 95, 100}) {
    Backwards threads;
    std::vector<int> seen(n);
    std::size_t runs = 0;
    run_in_parts(threads, n, 10, [&](std::size_t first, std::size_t count) {
      ++runs;
      EXPECT_EQ(first % 10, 0U);
      EXPECT_TRUE(count % 10 == 0 || first + count == n) << first << ' ' << count;
      for (std::size_t i = first; i < first + count; ++i) ++seen.at(i);
    });
    EXPECT_EQ(seen, std::vector<int>(n, 1)) << n;
    EXPECT_EQ(runs, std::min<std::size_t>(3, (n + 9) / 10)) << n;
  }
}

TEST(CounterRng, MatchesThePublishedPhiloxVectors) {
  // Known-answer vectors of Random123: counter and key all zero, and all ones.
  EXPECT_EQ(CounterRng(0, 0).block(0),
            (std::array<std::uint32_t, 4>{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
  EXPECT_EQ(CounterRng(~0ULL, ~0ULL).block(~0ULL),
            (std::array<std::uint32_t, 4>{0x408f276dU, 0x41c83b0eU, 0xa20bc7c6U, 0x6d5451fdU}));
}

TEST(CounterRng, NormalsHaveUnitVariance) {
  const CounterRng rng(7, 3);
  double sum = 0, sum2 = 0;
  constexpr int n = 200000;
  for (int i = 0; i < n; ++i) {
    for (const double v : rng.normal2(static_cast<std::uint64_t>(i))) sum += v, sum2 += v * v;
  }
  EXPECT_NEAR(sum / (2 * n), 0.0, 5.0 / std::sqrt(2.0 * n));
  EXPECT_NEAR(sum2 / (2 * n), 1.0, 5.0 * std::sqrt(2.0 / (2.0 * n)));
}

TEST(Buffer, IsAlignedAndCopies) {
  Buffer<double> a(5, 2.0);
  Buffer<double> b = a;
  b[0] = 1.0;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0U);
  EXPECT_EQ(a[0], 2.0);
  EXPECT_EQ(b[0], 1.0);
}

TEST(Median, IsTheMiddleValueOrTheMeanOfTheMiddleTwo) {
  std::vector<double> odd{5, 1, 9}, even{4, 1, 9, 2}, one{7};
  EXPECT_EQ(median_of(odd), 5);
  EXPECT_EQ(median_of(even), 3);
  EXPECT_EQ(median_of(one), 7);
}

TEST(Print, HasRoomForAnyLength) {
  EXPECT_EQ(print("%d of %s", 3, "a"), "3 of a");
  EXPECT_EQ(print("%s", std::string(5000, 'x').c_str()).size(), 5000U);
}

TEST(Error, CarriesItsExitCode) {
  const Error e(Status::kMissingHdu, "x.fits: no HDU IVAR");
  EXPECT_EQ(e.exit_code(), 11);
  EXPECT_EQ(status_name(e.status()), "missing HDU");
}

TEST(Error, IsOneLineWhateverTheNameOfAFile) {
  const Error e(Status::kNotFound, "a\nb\x1b[31m\x7f/\xc3\xa5.fits: no such file");
  EXPECT_STREQ(e.what(), "a\\nb\\x1b[31m\\x7f/\xc3\xa5.fits: no such file");
}

TEST(Split, KeepsWhatStandsBetween) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(parts_of("a,b c"), (Parts{"a", "b c"}));
  EXPECT_EQ(parts_of(""), Parts{""});
  EXPECT_EQ(parts_of(",1,"), (Parts{"", "1", ""}));
  EXPECT_EQ(parts_of("1:2,3", ':'), (Parts{"1", "2,3"}));
}

}  // namespace
}  // namespace loom
