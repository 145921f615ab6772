// SPDX-License-Identifier: BSD-3-Clause
// Schur terms of the sweeps, by squares, against the formula: a solve of the whole axis a column.
#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/exact/gpu/frame.hpp"
#include "fiberloom/extract/exact/gpu/test_card.hpp"
#include "loom/linalg/banded_lane.hpp"

namespace fiberloom::exact::gpu {
namespace {

/// One step of both sweeps of bundles of three fibres; the last has two.
class SweepStepOfThree {
 public:
  static constexpr int kBin = 43, kMargin = 112, kBundles = 3, kPlaces = 8;
  static constexpr int kPlaceOf[] = {0, 1, 2, 3, 4, 5, 6, 7, -1};
  SweepStepOfThree(Card& card, int band, int half, int tail) : card_(card) {
    a_.shape.nbin = kBin;
    a_.shape.margin = kMargin;
    a_.band = band;
    a_.half = half;
    a_.tail = tail;
    a_.own = filled(host_own_, band + 1, 1.0, [](int f, int j, int d) {
      if (d > 0 && (d > 8 || j + d >= kBin)) return 0.0;
      return d == 0 ? 1.0 + 0.1 * f : std::sin(j + 2.0 * f) * std::pow(0.4, d);
    });
    a_.cross = filled(host_cross_, 2 * half + 1, 0.0, [=](int f, int j, int k) {
      const bool meets = j + k - half >= 0 && j + k - half < kBin;
      return meets ? 0.2 * std::cos(3.0 * j + f) * std::pow(0.5, std::abs(k - half)) : 0.0;
    });
    a_.places = {kBundles, kPlaces, card.put(std::vector<int>{3, 3, 2}),
                 card.put(std::vector<int>(std::begin(kPlaceOf), std::end(kPlaceOf)))};
    a_.cut = {3, 15, 40, 55};
    for (Packs* p : {&a_.left, &a_.right}) *p = zeros(kPlaces, band + 1);
    a_.l = zeros(a_.problems(), band);
    a_.inv_d = zeros(a_.problems(), 1);
  }
  /// What the first fibre of each bundle leaves of the second, and the last of the one before it.
  template <int B>
  void check(int abreast) {
    const DeviceKernels& k = emulated_kernels();
    const int at = band_index(B);
    a_.abreast = abreast;
    k.sweep_factor[at](card_.stream(), a_.lanes(), a_);
    k.sweep_terms[at](card_.stream(), SweepTermKernel<B>::blocks(a_), a_);
    for (int problem = 0; problem < a_.problems(); ++problem) {
      const int bundle = problem % kBundles, fibers = bundle + 1 < kBundles ? 3 : 2;
      const bool left = problem < kBundles;
      const auto place = [&](int f) { return kPlaceOf[f * kBundles + bundle]; };
      expect_term<B>(left, place(left ? 0 : fibers - 1), place(left ? 1 : fibers - 2));
    }
  }

 private:
  [[nodiscard]] static long rows() { return kBin + 2L * kMargin; }
  template <int B>
  void expect_term(bool left, int from, int to) {
    const int half = a_.half;
    const Packs own{host_own_.data(), rows(), B + 1},
        cross{host_cross_.data(), rows(), 2 * half + 1};
    std::vector<double> got_data = card_.get((left ? a_.left : a_.right).data, host_own_.size());
    const Packs got{got_data.data(), rows(), B + 1};
    const auto coupling = [&](long row, long column) {  // N[(from, row), (to, column)]
      const long k = left ? column - row : row - column;
      if (std::abs(k) > half) return 0.0;
      return left ? *cross.at(from, row, static_cast<int>(half + k))
                  : *cross.at(to, column, static_cast<int>(half + k));
    };
    const auto lanes = static_cast<std::size_t>(rows()) * kWarp;
    std::vector<double> l(lanes * B), inv_d(lanes), y(lanes);
    const int n = static_cast<int>(rows());
    const double pivot =
        lane::factor<WarpLane, B>(n, own.at(from, 0), WarpLane(0.0), l.data(), inv_d.data()).v;
    ASSERT_GT(pivot, 0);
    double largest = 0;
    for (int m = kMargin; m < kMargin + kBin; ++m) {
      for (int row = 0; row < n; ++row) y[static_cast<std::size_t>(row) * kWarp] = coupling(row, m);
      lane::solve<WarpLane, B>(n, l.data(), inv_d.data(), y.data());
      for (int d = 0; d <= B; ++d) {
        double e = 0;
        for (int row = m + d - half; row <= m + d + half && m + d < n; ++row)
          e += coupling(row, m + d) * y[static_cast<std::size_t>(row) * kWarp];
        ASSERT_NEAR(*got.at(to, m, d), *own.at(to, m, d) - e, 1e-11)
            << B << " " << left << " " << from << " " << m << " " << d;
        largest = std::max(largest, std::abs(e));
      }
    }
    EXPECT_GT(largest, 0.01);
  }
  Packs zeros(long lanes, int width) {
    return {
        card_.put(std::vector<double>(static_cast<std::size_t>(Packs::size(lanes, rows(), width)))),
        rows(), width};
  }
  template <class Value>
  Packs filled(std::vector<double>& host, int width, double in_margins, Value value) {
    host.assign(static_cast<std::size_t>(Packs::size(kPlaces, rows(), width)), 0.0);
    const Packs p{host.data(), rows(), width};
    for (int lane = 0; lane < kPlaces; ++lane) {
      for (int row = 0; row < rows(); ++row) {
        const int bin = row - kMargin;
        for (int k = 0; k < width; ++k) {
          *p.at(lane, row, k) = bin >= 0 && bin < kBin ? value(lane, bin, k) : 0.0;
        }
        if (bin < 0 || bin >= kBin) *p.at(lane, row) = in_margins;
      }
    }
    return {card_.put(host), rows(), width};
  }
  Card& card_;
  std::vector<double> host_own_, host_cross_;
  SweepArgs a_{};
};

class SweepTerms : public testing::TestWithParam<GridOrder> {
 protected:
  template <int B>
  void check(int half = 8, int tail = 40) {
    for (int abreast = SweepTermKernel<B>::kMostAbreast; abreast > 0; abreast /= 2)
      SweepStepOfThree(card_, B, half, tail).check<B>(abreast);
  }
  Card card_{GetParam()};
};

TEST_P(SweepTerms, AreWhatTheFormulaSays) {
  check<8>();
  check<8>(4);
  check<8>(12, 37);
  check<8>(16);
  check<12>();
  check<12>(12);
  check<16>();
  check<24>();
  check<32>(16);
  check<48>();
  check<64>();
}

INSTANTIATE_TEST_SUITE_P(Orders, SweepTerms,
                         testing::Values(GridOrder::kInward, GridOrder::kForward,
                                         GridOrder::kBackward, GridOrder::kScattered));

}  // namespace
}  // namespace fiberloom::exact::gpu
