// SPDX-License-Identifier: BSD-3-Clause
// Kernels in which a block shares what a thread's registers do not hold, against the texts for one
// thread.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "fiberloom/extract/exact/gpu/test_card.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom::exact::gpu {
namespace {

class WideKernels : public testing::TestWithParam<GridOrder> {
 protected:
  Card card_{GetParam()};
};

/// Two fibres in two windows, which reach over the ends of the grid; a band that a thread does not
/// hold against the text for one thread.
template <int B>
class WideBands {
 public:
  static constexpr int kBin = 70, kMargin = 48, kFibers = 2, kNd = 3;
  explicit WideBands(Card& card) : card_(card) {
    r_.shape.nbin = kBin;
    r_.shape.margin = kMargin;
    r_.shape.nfiber = r_.count = kFibers;
    r_.band = r_.wide_band = B;
    r_.cut = {2, 35, 9, 53};
    const long rows = r_.shape.rows();
    s_ = pack(host_s_, kFibers, rows, B + 1, [](int f, long row, int d) {
      const double wave = std::cos(0.7 * static_cast<double>(row) + f + 0.3 * d);
      return d == 0 ? 3.0 + f + 0.5 * wave : wave * std::pow(0.6, d);
    });
    x_ = pack(host_x_, kFibers, rows, 1,
              [](int f, long row, int) { return std::sin(static_cast<double>(row) * (f + 1)); });
    ones_ = pack(host_ones_, kFibers, rows, 1, [](int, long row, int) {
      return row >= kMargin && row < kMargin + kBin ? 1.0 : 0.0;
    });
    r_.s = on_card(s_, kFibers);
    r_.x = on_card(x_, kFibers);
    r_.ones = on_card(ones_, kFibers);
    r_.place = card.put(std::vector<int>{0, 1});
    r_.l = empty(lanes(), r_.cut.rows, wide_row(B));
    r_.solution = empty(lanes(), r_.cut.rows, 1);
    r_.pivot = card.put(std::vector<double>(static_cast<std::size_t>(lanes()), kNan));
    r_.norm = card.put(std::vector<double>(static_cast<std::size_t>(lanes()), kNan));
  }

  /// Of S + shift I.
  void check_bounds(double shift) {
    r_.state = card_.put(std::vector<RootState>(kFibers, RootState{1, 0, 0, shift, 1, 0}));
    emulated_kernels().trial[band_of()](card_.stream(), lanes(), r_);
    const auto proven = card_.get(r_.pivot, static_cast<std::size_t>(lanes()));
    emulated_kernels().alternate[band_of()](card_.stream(), lanes(), r_);
    const auto pivots = card_.get(r_.pivot, static_cast<std::size_t>(lanes()));
    const auto norms = card_.get(r_.norm, static_cast<std::size_t>(lanes()));
    std::vector<double> solved =
        card_.get(r_.solution.data, static_cast<std::size_t>(Packs::size(lanes(), r_.cut.rows, 1)));
    for (int f = 0; f < kFibers; ++f) {
      for (int w = 0; w < r_.cut.count; ++w) {
        const long lane = root_lane(f, w, r_.cut);
        const auto at = static_cast<std::size_t>(lane);
        const int n = r_.cut.rows, first = r_.cut.first(w);
        Lane l(n * B), inv_d(n), v(n);
        const double pivot = lane::factor<WarpLane, B>(n, s_.at(f, kMargin + first),
                                                       WarpLane(shift), l.data(), inv_d.data())
                                 .v;
        ASSERT_EQ(pivots[at] > 0, pivot > 0);
        ASSERT_EQ(proven[at] > 0, pivot > 0);
        if (!(pivot > 0)) continue;
        for (int row = 0; row < n; ++row) v[row] = ((first + row) & 1) != 0 ? -1.0 : 1.0;
        lane::solve<WarpLane, B>(n, l.data(), inv_d.data(), v.data());
        double norm = 0;
        const Packs found{solved.data(), n, 1};
        for (int row = 0; row < n; ++row) {
          EXPECT_NEAR(*found.at(lane, row), v[row], 1e-12) << row;
          if (first + row >= 0 && first + row < kBin) norm = std::max(norm, std::abs(v[row]));
        }
        EXPECT_NEAR(norms[at], norm, 1e-12);
      }
    }
  }

  void check_poles() {
    const std::vector<int> poles{1, 3};
    const std::vector<long> task{0, 2, 8};
    std::vector<double> t(kFibers * kMostPoles, 0.0), c(t);
    for (int f = 0; f < kFibers; ++f) {
      for (int k = 0; k < poles[static_cast<std::size_t>(f)]; ++k) {
        t[static_cast<std::size_t>(f * kMostPoles + k)] = 0.3 + f + k;
        c[static_cast<std::size_t>(f * kMostPoles + k)] = 1.5 - 0.4 * k;
      }
    }
    PoleArgs a{};
    a.root = r_;
    a.last = kFibers;
    a.nd = kNd;
    a.task = card_.put(task);
    a.poles = card_.put(poles);
    a.t = card_.put(t);
    a.c = card_.put(c);
    a.out_first = r_.cut.skirt - 1;
    a.out_rows = r_.cut.stride + 2;
    a.l = empty(task.back(), r_.cut.rows, wide_row(B));
    a.out = empty(task.back(), a.out_rows, kNd + 3);
    emulated_kernels().pole[band_of()](card_.stream(), task.back(), a);
    std::vector<double> got = card_.get(
        a.out.data, static_cast<std::size_t>(Packs::size(task.back(), a.out_rows, kNd + 3)));
    const Packs found{got.data(), a.out_rows, kNd + 3};
    for (long i = 0; i < task.back(); ++i) {
      const int f = i < 2 ? 0 : 1, count = poles[static_cast<std::size_t>(f)];
      const int w = static_cast<int>(i - task[static_cast<std::size_t>(f)]) / count;
      const auto k = static_cast<std::size_t>(f * kMostPoles +
                                              (i - task[static_cast<std::size_t>(f)]) % count);
      const int n = r_.cut.rows;
      const long row = kMargin + r_.cut.first(w);
      Lane l(n * B), inv_d(n), v1(n), vx(n), q(n * (kNd + 1)), q1(n), qx(n);
      (void)lane::root_pole<WarpLane, B>(
          n, s_.at(f, row), WarpLane(t[k]), WarpLane(c[k]), ones_.at(f, row), x_.at(f, row), kNd,
          l.data(), inv_d.data(), v1.data(), vx.data(), q.data(), q1.data(), qx.data());
      for (int j = 0; j < a.out_rows; ++j) {
        const int at = j + a.out_first;
        for (int e = 0; e <= kNd; ++e)
          EXPECT_NEAR(*found.at(i, j, e), q[at * (kNd + 1) + e], 1e-12)
              << i << " " << j << " " << e;
        EXPECT_NEAR(*found.at(i, j, kNd + 1), q1[at], 1e-12) << i << " " << j;
        EXPECT_NEAR(*found.at(i, j, kNd + 2), qx[at], 1e-12) << i << " " << j;
      }
    }
  }

 private:
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  /// Elements of one lane.
  class Lane {
   public:
    explicit Lane(int n) : values_(static_cast<std::size_t>(n) * kWarp, 0.0) {}
    double& operator[](int i) { return values_[static_cast<std::size_t>(i) * kWarp]; }
    double* data() { return values_.data(); }

   private:
    std::vector<double> values_;
  };
  static int band_of() { return band_index(B); }
  [[nodiscard]] long lanes() const { return padded(kFibers) * r_.cut.count; }
  template <class Value>
  static Packs pack(std::vector<double>& values, int lanes, long rows, int width, Value value) {
    values.assign(static_cast<std::size_t>(Packs::size(lanes, rows, width)), 0.0);
    const Packs p{values.data(), rows, width};
    for (int lane = 0; lane < lanes; ++lane) {
      for (long row = 0; row < rows; ++row) {
        for (int k = 0; k < width; ++k) *p.at(lane, row, k) = value(lane, row, k);
      }
    }
    return p;
  }
  Packs on_card(const Packs& p, int lanes) {
    return {card_.put(std::vector<double>(p.data, p.data + Packs::size(lanes, p.rows, p.width))),
            p.rows, p.width};
  }
  Packs empty(long lanes, long rows, int width) {
    return {card_.put(std::vector<double>(static_cast<std::size_t>(Packs::size(lanes, rows, width)),
                                          kNan)),
            rows, width};
  }
  Card& card_;
  std::vector<double> host_s_, host_x_, host_ones_;
  Packs s_, x_, ones_;
  RootArgs r_{};
};

TEST_P(WideKernels, ABandThatABlockSharesGivesWhatAThreadGives) {
  const auto check = [](auto bands) {
    for (const double shift : {0.0, -0.5, -3.0})
      bands.check_bounds(shift);  // the last: not definite
    bands.check_poles();
  };
  check(WideBands<16>(card_));
  check(WideBands<24>(card_));
  check(WideBands<32>(card_));
  check(WideBands<48>(card_));
  check(WideBands<64>(card_));
}

INSTANTIATE_TEST_SUITE_P(Orders, WideKernels,
                         testing::Values(GridOrder::kInward, GridOrder::kForward,
                                         GridOrder::kBackward, GridOrder::kScattered));

}  // namespace
}  // namespace fiberloom::exact::gpu
