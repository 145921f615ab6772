// SPDX-License-Identifier: BSD-3-Clause
// What must hold before numbers are worth a look: every banded kernel ends and keeps to its arrays,
// for any number of rows. Beside that the ladders of bands and the two kernels without recurrence.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/linalg/banded.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace loom {
namespace {

std::vector<const BandedKernels*> all_kernels() {
  std::vector<const BandedKernels*> all{&banded_kernels_reference()};
  for (const Isa isa : available_isas()) all.push_back(&banded_kernels(isa));
  return all;
}

/// A positive definite batch, [n][band + 1][kLanes].
std::vector<double> batch(int n, int band) {
  std::vector<double> rows;
  for (int j = 0; j < n; ++j) {
    for (int d = 0; d <= band; ++d) {
      for (int i = 0; i < kLanes; ++i)
        rows.push_back(d == 0 ? 2.0 + 0.1 * i : 0.3 * std::exp(-d) * std::cos(j + d));
    }
  }
  return rows;
}

/// An array with what nobody may touch around it.
class Guarded {
 public:
  explicit Guarded(int n, double value = 0.0)
      : all_(static_cast<std::size_t>(n + 2 * kGap), kGuard) {
    std::fill_n(data(), n, value);
  }
  double* data() { return all_.data() + kGap; }
  [[nodiscard]] bool untouched_around() const {
    const auto is_guard = [](double v) { return v == kGuard; };
    return std::all_of(all_.begin(), all_.begin() + kGap, is_guard) &&
           std::all_of(all_.end() - kGap, all_.end(), is_guard);
  }

 private:
  static constexpr int kGap = 1024;
  static constexpr double kGuard = 1.5e300;
  std::vector<double> all_;
};

bool keep_to_their_arrays(const BandedKernels& kernels, int band, int n) {
  const int width = band + 8, row = lane::inverse_row<ScalarLane>(width), nd = 5, all = n * kLanes;
  const std::vector<double> m = batch(n, band), shift(kLanes, 0.25),
                            one(static_cast<std::size_t>(all), 1.0);
  Guarded l(all * band), d(all), pivot(kLanes), rhs(all, 1.0), v1(all), vx(all),
      z((n + width) * row * kLanes), q(all * (nd + 1)), q1(all), qx(all), sums(kLanes);
  kernels.factor(band, n, m.data(), shift.data(), l.data(), d.data(), pivot.data());
  kernels.solve(band, n, l.data(), d.data(), rhs.data());
  kernels.selected_inverse(band, n, l.data(), d.data(), width, z.data());
  kernels.largest_row_sum(band, n, m.data(), sums.data());
  kernels.root_pole(band, n, m.data(), shift.data(), shift.data(), one.data(), one.data(), nd,
                    {l.data(), d.data(), v1.data(), vx.data()}, q.data(), q1.data(), qx.data(),
                    pivot.data());
  bool untouched = true;
  for (const Guarded* g : {&l, &d, &pivot, &rhs, &v1, &vx, &z, &q, &q1, &qx, &sums})
    untouched = untouched && g->untouched_around();
  return untouched;
}

/// In a child: what never ends, or crashes, must be a failure and not the end of the tests.
bool all_end_and_keep_to_their_arrays() {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr unsigned kMostSeconds = 60;  // takes some hundredths
    ::alarm(kMostSeconds);
    bool all = true;
    for (const BandedKernels* kernels : all_kernels()) {
      for (const int band : kBands) {
        for (const int n : {1, 2, band - 1, band, band + 1, band + 3})
          all = all && keep_to_their_arrays(*kernels, band, n);
      }
    }
    ::_exit(all ? 0 : 1);
  }
  int status = -1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// Where it fails no test of this program is run: any of them might hang.
class KernelsEnd : public testing::Environment {
  void SetUp() override {
    ASSERT_TRUE(all_end_and_keep_to_their_arrays())
        << "a banded kernel does not end, crashes, or writes outside of its arrays";
  }
};
[[maybe_unused]] const auto* const kernels_end =
    testing::AddGlobalTestEnvironment(new KernelsEnd);  // gtest owns it

TEST(BandedRowSum, IsThatOfTheWholeSymmetricMatrix) {
  for (const int band : kBands) {
    for (const int n : {1, band, 3 * band}) {
      const std::vector<double> m = batch(n, band);
      const auto entry = [&](int a, int b, int lane) {
        const int low = std::min(a, b), d = std::abs(a - b);
        return d > band ? 0.0 : m[static_cast<std::size_t>((low * (band + 1) + d) * kLanes + lane)];
      };
      for (const BandedKernels* kernels : all_kernels()) {
        std::vector<double> largest(kLanes);
        kernels->largest_row_sum(band, n, m.data(), largest.data());
        for (int i = 0; i < kLanes; ++i) {
          double want = 0;
          for (int a = 0; a < n; ++a) {
            double sum = 0;
            for (int b = 0; b < n; ++b) sum += std::abs(entry(a, b, i));
            want = std::max(want, sum);
          }
          EXPECT_NEAR(largest[static_cast<std::size_t>(i)], want, 1e-14 * want) << band << " " << n;
        }
      }
    }
  }
}

TEST(BandedSubtract, TakesTheSecondFromTheFirstAndNoMore) {
  for (const BandedKernels* kernels : all_kernels()) {
    std::vector<double> m(5 * kLanes, 7.0), e(m.size());
    for (std::size_t i = 0; i < e.size(); ++i) e[i] = static_cast<double>(i);
    kernels->subtract(4 * kLanes, e.data(), m.data());
    for (std::size_t i = 0; i < m.size(); ++i)
      EXPECT_EQ(m[i], i < 4 * kLanes ? 7.0 - static_cast<double>(i) : 7.0);
  }
}

TEST(BandLadder, RoundsUpToTheNextThatIsCompiled) {
  for (int b = 0; b <= kBands.back(); ++b) {
    const int up = round_up_band(b);
    EXPECT_GE(up, b);
    EXPECT_EQ(std::count(kBands.begin(), kBands.end(), up), 1) << b;
    for (const int other : kBands) EXPECT_FALSE(other >= b && other < up) << b;
  }
  EXPECT_EQ(round_up_coupling(4), 4);
  EXPECT_EQ(round_up_coupling(5), 6);
  EXPECT_EQ(round_up_coupling(32), 32);
}

TEST(BandLadder, RefusesWhatIsWider) {
  for (int (*round_up)(int) : {&round_up_band, &round_up_coupling}) {
    try {
      (void)round_up(65);
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.status(), Status::kNumerical);
      EXPECT_NE(std::string(e.what()).find("65"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace loom
