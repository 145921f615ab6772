// SPDX-License-Identifier: BSD-3-Clause
// Every level and the reference against dense arithmetic written out here.
#include "loom/linalg/banded.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "loom/base/rng.hpp"
#include "loom/linalg/banded_table.hpp"
#include "loom/linalg/pole_registers_lane.hpp"
#include "loom/linalg/rational_root.hpp"
#include "loom/linalg/test_dense.hpp"

namespace loom {
namespace {

using test::Dense;

struct Batch {
  int n, band;
  std::vector<double> rows;  // [n][band + 1][kLanes]
  [[nodiscard]] Dense dense(int lane) const {
    Dense m(static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j) {
      for (int d = 0; d <= band && j + d < n; ++d) {
        const auto row = static_cast<std::size_t>(j), column = static_cast<std::size_t>(j + d);
        m(row, column) = m(column, row) =
            rows[static_cast<std::size_t>((j * (band + 1) + d) * kLanes + lane)];
      }
    }
    return m;
  }
};

Batch random_batch(int n, int band) {
  Batch b{n, band, std::vector<double>(static_cast<std::size_t>(n * (band + 1) * kLanes), 0.0)};
  const CounterRng rng(1, static_cast<std::uint64_t>(band));
  for (int j = 0; j < n; ++j) {
    for (int d = 0; d <= band && j + d < n; ++d) {
      for (int i = 0; i < kLanes; ++i) {
        const auto at = static_cast<std::size_t>((j * (band + 1) + d) * kLanes + i);
        const double g = std::exp(-0.3 * d * d);
        b.rows[at] = d == 0 ? 2.2 + rng.uniform(at) : g * (0.5 + 0.5 * rng.uniform(at));
      }
    }
  }
  return b;
}

struct Level {
  std::string name;
  const BandedKernels* kernels;
};
std::vector<Level> levels() {
  std::vector<Level> all{{"reference", &banded_kernels_reference()}};
  for (const Isa isa : available_isas())
    all.push_back({std::string(isa_name(isa)), &banded_kernels(isa)});
  return all;
}

class Banded : public testing::TestWithParam<int> {};

void expect_dense_arithmetic(int band, int width) {
  const int n = 60;
  const Batch m = random_batch(n, band);
  for (const Level& level : levels()) {
    SCOPED_TRACE(level.name);
    std::vector<double> l(static_cast<std::size_t>(n * band * kLanes)),
        d(static_cast<std::size_t>(n * kLanes)), pivot(kLanes), shift(kLanes, 0.25),
        rhs(d.size(), 1.0),
        z(static_cast<std::size_t>((n + width) * lane::inverse_row<ScalarLane>(width) * kLanes),
          0.0);
    level.kernels->factor(band, n, m.rows.data(), shift.data(), l.data(), d.data(), pivot.data());
    level.kernels->solve(band, n, l.data(), d.data(), rhs.data());
    level.kernels->selected_inverse(band, n, l.data(), d.data(), width, z.data());
    for (int i = 0; i < kLanes; ++i) {
      Dense full = m.dense(i);
      for (std::size_t j = 0; j < full.n; ++j) full(j, j) += 0.25;
      const Dense inv = test::inverse(full);
      EXPECT_GT(pivot[static_cast<std::size_t>(i)], 0);
      for (int j = 0; j < n; ++j) {
        double x = 0;
        for (int k = 0; k < n; ++k) x += inv.value[static_cast<std::size_t>(j * n + k)];
        EXPECT_NEAR(rhs[static_cast<std::size_t>(j * kLanes + i)], x, 1e-13);
        for (int e = 0; e <= width && j + e < n; ++e) {
          EXPECT_NEAR(z[static_cast<std::size_t>(
                          (j * lane::inverse_row<ScalarLane>(width) + width + e) * kLanes + i)],
                      inv.value[static_cast<std::size_t>(j * n + j + e)], 1e-13);
        }
      }
    }
  }
}

TEST_P(Banded, FactorSolveAndSelectedInverseAgreeWithDenseArithmeticOnEveryLevel) {
  const int band = GetParam();
  expect_dense_arithmetic(band, band + 7);
  expect_dense_arithmetic(band, (band + 16) / 16 * 16);  // rows are padded
}

TEST_P(Banded, AnIndefiniteMatrixShowsAPivotThatIsNotPositive) {
  const int band = GetParam(), n = 40;
  const Batch m = random_batch(n, band);
  for (const Level& level : levels()) {
    std::vector<double> l(static_cast<std::size_t>(n * band * kLanes)),
        d(static_cast<std::size_t>(n * kLanes)), pivot(kLanes), shift(kLanes, -3.0);
    level.kernels->factor(band, n, m.rows.data(), shift.data(), l.data(), d.data(), pivot.data());
    for (const double p : pivot) EXPECT_FALSE(p > 0) << level.name;
  }
}

TEST_P(Banded, PolesAddUpToTheSquareRoot) {
  const int band = GetParam(), n = 50, nd = 5;
  const Batch m = random_batch(n, band);
  const RationalRoot root = rational_root(0.05, 12.0, 20);
  for (const Level& level : levels()) {
    SCOPED_TRACE(level.name);
    const auto size = [&](int k) { return static_cast<std::size_t>(n * k * kLanes); };
    std::vector<double> l(size(band)), d(size(1)), v1(size(1)), vx(size(1)), q(size(nd + 1), 0.0),
        q1(size(1), 0.0), qx(size(1), 0.0), one(size(1), 1.0), x(size(1)), pivot(kLanes), t(kLanes),
        c(kLanes);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1 * static_cast<double>(i));
    for (std::size_t k = 0; k < root.t.size(); ++k) {
      t.assign(kLanes, root.t[k]);
      c.assign(kLanes, root.c[k]);
      level.kernels->root_pole(band, n, m.rows.data(), t.data(), c.data(), one.data(), x.data(), nd,
                               {l.data(), d.data(), v1.data(), vx.data()}, q.data(), q1.data(),
                               qx.data(), pivot.data());
    }
    for (int i = 0; i < kLanes; ++i) {
      const Dense y = test::root(m.dense(i));
      for (int j = 0; j < n; ++j) {
        double sum1 = 0, sumx = 0;
        for (int k = 0; k < n; ++k) {
          sum1 += y.value[static_cast<std::size_t>(j * n + k)];
          sumx += y.value[static_cast<std::size_t>(j * n + k)] *
                  x[static_cast<std::size_t>(k * kLanes + i)];
        }
        EXPECT_NEAR(q1[static_cast<std::size_t>(j * kLanes + i)], sum1, 1e-11);
        EXPECT_NEAR(qx[static_cast<std::size_t>(j * kLanes + i)], sumx, 1e-11);
        for (int e = 0; e <= nd && j + e < n; ++e) {
          EXPECT_NEAR(q[static_cast<std::size_t>((j * (nd + 1) + e) * kLanes + i)],
                      y.value[static_cast<std::size_t>(j * n + j + e)], 1e-11);
        }
      }
    }
  }
}

void expect_congruence(int band, int n) {
  const CounterRng rng(3, 4);
  for (const Level& level : levels()) {
    for (const int h : kCouplings) {
      const int width = band + 2 * h, row = lane::inverse_row<ScalarLane>(width),
                column = 2 * h + 1;
      const auto value = [&](int a, int b, int i) {  // any symmetric matrix will do
        return rng.uniform(
            static_cast<std::uint64_t>((std::min(a, b) * 97 + std::max(a, b)) * kLanes + i));
      };
      std::vector<double> z(static_cast<std::size_t>((n + width) * row * kLanes), 0.0),
          c(static_cast<std::size_t>(n * column * kLanes), 0.0),
          e(static_cast<std::size_t>(n * (band + 1) * kLanes), 0.0),
          t(static_cast<std::size_t>(lane::kTogether * (width + 1) * kLanes));
      for (int i = 0; i < kLanes; ++i) {
        for (int a = 0; a < n; ++a) {
          for (int b = std::max(0, a - width); b <= std::min(n - 1, a + width); ++b) {
            z[static_cast<std::size_t>((a * row + width + b - a) * kLanes + i)] = value(a, b, i);
          }
          for (int g = std::max(-h, -a); g <= std::min(h, n - 1 - a); ++g) {
            c[static_cast<std::size_t>((a * column + h + g) * kLanes + i)] =
                value(a + g, 50 + a, i) - 0.5;
          }
        }
      }
      level.kernels->congruence(h, n, c.data(), z.data(), band, t.data(), e.data());
      for (int i = 0; i < kLanes; i += 5) {
        for (int k = 0; k < n; k += 3) {
          for (int m = k; m <= std::min(n - 1, k + band); ++m) {
            double want = 0;
            for (int a = std::max(0, k - h); a <= std::min(n - 1, k + h); ++a) {
              for (int b = std::max(0, m - h); b <= std::min(n - 1, m + h); ++b) {
                want += (value(a, 50 + k, i) - 0.5) * value(a, b, i) * (value(b, 50 + m, i) - 0.5);
              }
            }
            ASSERT_NEAR(e[static_cast<std::size_t>((k * (band + 1) + m - k) * kLanes + i)], want,
                        1e-11)
                << level.name << " " << h << " " << k << " " << m;
          }
        }
      }
    }
  }
}

TEST_P(Banded, CongruenceIsCTransposedZC) {
  expect_congruence(GetParam(), 42);  // no multiple of lane::kTogether
  for (int n = 1; n <= lane::kTogether + 1; ++n) expect_congruence(GetParam(), n);
}

/// Both texts, one lane at a time, on the first lane of a batch.
template <int B>
void expect_the_register_text_to_be_the_same() {
  const int n = 50, nd = 5, first = 7;
  const Batch m = random_batch(n + B, B);  // rows past the end are read
  const auto size = [&](int k) { return static_cast<std::size_t>((n + B) * k * kLanes); };
  std::vector<double> l(size(B)), d(size(1)), l2(size(B)), d2(size(1)), v1(size(1)), vx(size(1)),
      ones(size(1), 1.0), x(size(1)), q(size(nd + 1), 0.0), q1(size(1), 0.0), qx(size(1), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1 * static_cast<double>(i));
  const auto p = lane::factor<ScalarLane, B>(n, m.rows.data(), 0.25, l.data(), d.data());
  const auto p2 =
      lane::factor_registers<ScalarLane, B>(n, m.rows.data(), 0.25, l2.data(), d2.data());
  EXPECT_EQ(p.v, p2.v);
  EXPECT_EQ(l, l2);
  EXPECT_EQ(d, d2);
  for (const int rows : {1, 3, B, 29, n}) {  // the last rows look like a longer matrix's
    std::vector<double> one = x, two(size(1), 0.0), work(size(1));
    lane::solve<ScalarLane, B>(rows, l.data(), d.data(), one.data());
    lane::solve_registers<ScalarLane, B>(
        rows, l.data(), d.data(), [&](int j) { return lane::at<ScalarLane>(x.data(), j); },
        work.data(), [&](int j, ScalarLane v) { two[static_cast<std::size_t>(j * kLanes)] = v.v; });
    for (int j = 0; j < rows; ++j) {
      const auto at = static_cast<std::size_t>(j * kLanes);
      EXPECT_EQ(one[at], two[at]) << rows << " " << j;
    }
  }
  lane::root_pole<ScalarLane, B>(n, m.rows.data(), 0.3, 0.7, ones.data(), x.data(), nd, l.data(),
                                 d.data(), v1.data(), vx.data(), q.data(), q1.data(), qx.data());
  using Pole = lane::RegisterPole<ScalarLane, B>;
  Pole pole;
  std::vector<double> work(size(Pole::kWork), std::nan(""));
  pole.factor(n, m.rows.data(), 0.3, 0.7, ones.data(), x.data(), first, work.data());
  int rows = 0;
  for (int j = n - 1; j >= first; j -= Pole::kSlots) {
    pole.next_rows(j, first, [&](int r, int e, ScalarLane v) {
      const double is = e <= nd ? q[static_cast<std::size_t>(((j - r) * (nd + 1) + e) * kLanes)]
                        : e == B + 1 ? q1[static_cast<std::size_t>((j - r) * kLanes)]
                        : e == B + 2 ? qx[static_cast<std::size_t>((j - r) * kLanes)]
                                     : v.v;
      EXPECT_EQ(v.v, is) << j << " " << r << " " << e;
      rows += e == 0 ? 1 : 0;
    });
  }
  EXPECT_EQ(rows, n - first);
}

/// Nothing of the rows before `first` is stored, read, or visited.
template <int B>
void expect_the_register_text_to_stop_at(int first) {
  const int n = 50;
  const Batch m = random_batch(n + B, B);
  const auto size = [&](int k) { return static_cast<std::size_t>((n + B) * k * kLanes); };
  const double kNever = std::nan("");
  std::vector<double> l(size(B)), d(size(1)), x(size(1)), work(size(1)), whole(size(1));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.1 * static_cast<double>(i));
  lane::factor<ScalarLane, B>(n, m.rows.data(), 0.25, l.data(), d.data());
  const auto rhs = [&](int j) { return lane::at<ScalarLane>(x.data(), j); };
  lane::solve_registers<ScalarLane, B>(
      n, l.data(), d.data(), rhs, work.data(),
      [&](int j, ScalarLane v) { whole[static_cast<std::size_t>(j * kLanes)] = v.v; });
  int visited = 0;
  lane::solve_registers<ScalarLane, B>(
      n, l.data(), d.data(), rhs, work.data(),
      [&](int j, ScalarLane v) {
        ++visited;
        EXPECT_EQ(v.v, whole[static_cast<std::size_t>(j * kLanes)]) << j;
      },
      first);
  EXPECT_EQ(visited, n - first);
  std::vector<double> l2(size(B), kNever), d2(size(1), kNever);
  lane::factor_registers<ScalarLane, B>(n, m.rows.data(), 0.25, l2.data(), d2.data(), first);
  for (int j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j * kLanes);
    EXPECT_EQ(std::isnan(d2[at]), j < first) << j;
    EXPECT_EQ(std::isnan(l2[at * B]), j < first) << j;
  }
}

TEST(BandedInRegisters, StopsWhereNothingIsReadAnyMore) {
  for (const int first : {0, 1, 17, 49}) {
    expect_the_register_text_to_stop_at<8>(first);
    expect_the_register_text_to_stop_at<12>(first);
    expect_the_register_text_to_stop_at<16>(first);
  }
}

TEST(BandedInRegisters, GivesTheBitsOfTheOtherText) {
  expect_the_register_text_to_be_the_same<8>();
  expect_the_register_text_to_be_the_same<12>();
  expect_the_register_text_to_be_the_same<16>();
}

INSTANTIATE_TEST_SUITE_P(Bands, Banded, testing::ValuesIn(kBands),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace loom
