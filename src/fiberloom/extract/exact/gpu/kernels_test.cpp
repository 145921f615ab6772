// SPDX-License-Identifier: BSD-3-Clause
// The small kernels of the device on the CPU in its place: images by columns, the exact median, the
// prior. The others are held against the CPU's engine as a whole in tests/fiberloom/gpu/.
#include "fiberloom/extract/exact/gpu/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fiberloom/extract/exact/test_bundle.hpp"
#include "loom/device/emulated_device.hpp"

namespace fiberloom::exact::gpu {
namespace {

/// Arrays on an emulated card, with one order of threads.
class Card {
 public:
  explicit Card(GridOrder order)
      : device_(make_emulated_device({.order = order})), stream_(device_->make_stream()) {}
  template <class T>
  T* put(const std::vector<T>& values) {
    const std::size_t bytes = values.size() * sizeof(T);
    memory_.emplace_back(*device_, bytes);
    const HostMemory host(*device_, bytes);
    std::memcpy(host.data(), values.data(), bytes);
    stream_->copy_in(memory_.back().data(), host.data(), bytes);
    stream_->synchronize();
    return static_cast<T*>(memory_.back().data());
  }
  template <class T>
  std::vector<T> get(const T* from, std::size_t n) {
    const HostMemory host(*device_, n * sizeof(T));
    stream_->copy_out(host.data(), from, n * sizeof(T));
    stream_->synchronize();
    const T* values = static_cast<const T*>(host.data());
    return {values, values + n};
  }
  Stream& stream() { return *stream_; }

 private:
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::vector<DeviceMemory> memory_;
};

class SmallKernels : public testing::TestWithParam<GridOrder> {
 protected:
  Card card_{GetParam()};
};

TEST_P(SmallKernels, TransposeGivesColumnsOfAnyShape) {
  for (const auto& [nx, ny] : {std::pair{1, 1}, {32, 32}, {33, 31}, {70, 5}, {5, 70}}) {
    std::vector<float> image;
    for (int i = 0; i < nx * ny; ++i) image.push_back(static_cast<float>(i));
    const TransposeArgs<float> args{card_.put(image),
                                    card_.put(std::vector<float>(image.size(), -1)), nx, ny};
    emulated_kernels().transpose_f(card_.stream(), TransposeKernel<float>::blocks(args), args);
    const std::vector<float> got = card_.get(args.to, image.size());
    for (int x = 0; x < nx; ++x) {
      for (int y = 0; y < ny; ++y)
        ASSERT_EQ(got[static_cast<std::size_t>(x * ny + y)],
                  image[static_cast<std::size_t>(y * nx + x)])
            << nx << " " << ny;
    }
  }
}

/// The diagonal and phi of a bundle of the CPU as the device holds them.
TEST_P(SmallKernels, MedianAndPriorAreThoseOfTheCpu) {
  for (const std::size_t bad_every : {1U, 3U, 17U, 1000003U}) {  // 1: no light at all
    TestBundle b(test::make_psf(), test::make_grid(41), bad_every);
    b.assemble_equations();
    NormalEquations& n = b.normal();
    n.phi(1)[9] = 1e-3;  // unconstrained
    constexpr int kMargin = 4;
    Shape shape;
    shape.nfiber = 3;
    shape.nbundle = 1;
    shape.nbin = n.nbin;
    shape.margin = kMargin;
    shape.bundle_of = card_.put(std::vector<int>{0, 0, 0});
    shape.bundle_first = card_.put(std::vector<int>{0, 3});
    const auto size = static_cast<std::size_t>(Packs::size(3, shape.rows(), 1));
    std::vector<double> diagonal(size, 0.0), phi(size, 0.0);
    const auto at = [&](std::vector<double>& v, int f, int row) -> double& {
      return *Packs{v.data(), shape.rows(), 1}.at(f, row);
    };
    for (int f = 0; f < 3; ++f) {
      for (int j = 0; j < n.nbin; ++j) {
        at(diagonal, f, j + kMargin) = n.own(f, 0)[j];
        at(phi, f, j + kMargin) = n.phi(f)[j];
      }
    }
    NormalView view;
    view.own = {card_.put(diagonal), shape.rows(), 1};
    view.phi = {card_.put(phi), shape.rows(), 1};
    double* median = card_.put(std::vector<double>{-1.0});
    constexpr int kChunks = 3;
    MedianArgs args{shape, view, median, kChunks, nullptr, nullptr, 0};
    args.state = card_.put(std::vector<MedianState>(2));
    args.count =
        card_.put(std::vector<unsigned>(std::size_t{2} * kChunks * MedianKernel::kCounters));
    for (; args.digit <= MedianKernel::kDigits; ++args.digit) {
      emulated_kernels().median(card_.stream(), kChunks, args);
    }
    emulated_kernels().prior(card_.stream(), shape.rows() * padded(3),
                             {shape, view, median, 0.01, 1e-5});
    std::vector<double> got = card_.get(view.own.data, size);
    add_prior(n, 0.01, 1e-5);
    EXPECT_EQ(card_.get(median, 1)[0], n.scale) << bad_every;
    for (int f = 0; f < 3; ++f) {
      for (int row = 0; row < shape.rows(); ++row) {
        const bool inside = row >= kMargin && row < kMargin + n.nbin;
        ASSERT_EQ(at(got, f, row), inside ? n.own(f, 0)[row - kMargin] : n.scale)
            << bad_every << " " << f << " " << row;
      }
    }
  }
}

/// Windows of three fibres: the first is proven at once, the second at the third try, the third
/// has a spectrum too wide for the digits of a double, though its pivots are positive.
TEST_P(SmallKernels, ALowerBoundIsGivenUpWhereTheCpuGivesItUp) {
  RootArgs a{};
  a.count = 3;
  a.cut = {1, 10, 0, 10};
  std::vector<double> pivot(kWarp, 1.0), norm(kWarp, 1.0);
  norm[2] = 1e21;
  a.norm = card_.put(norm);
  a.state = card_.put(std::vector<RootState>(3, RootState{1.0, 0.0, 0.0, 0.0, 1, 0}));
  const auto states = [&] { return card_.get(a.state, 3); };
  const auto with_pivots = [&](double second) {
    pivot[1] = second;
    a.pivot = card_.put(pivot);
  };
  with_pivots(1);
  emulated_kernels().guess(card_.stream(), 3, a);
  EXPECT_EQ(states()[0].low, first_bound(1.0, 1.0));
  EXPECT_EQ(states()[2].low, 0.0);
  EXPECT_EQ(states()[2].trying, 0);
  for (const double second : {-1.0, -1.0, 1.0}) {
    EXPECT_EQ(states()[1].trying, 1);
    with_pivots(second);
    emulated_kernels().prove(card_.stream(), 3, a);
  }
  EXPECT_EQ(states()[0].low, first_bound(1.0, 1.0));
  EXPECT_EQ(states()[1].low, next_bound(next_bound(first_bound(1.0, 1.0))));
  EXPECT_EQ(states()[1].trying, 0);
}

/// One fibre in one window: Q(j, j + d) = 1 / (1 + j + d), Q 1 = 2, Q x = 6.
TEST_P(SmallKernels, ABinWithoutAResultHasARowOfTheIdentityWhateverItLacks) {
  constexpr int kGuard = 1, kWave = 8, kBin = kWave + 2 * kGuard, kNd = 2;
  constexpr int kDark = 2, kNotStorable = 4, kNoRoot = 6;
  const auto pack = [&](int width, const auto& value) {
    std::vector<double> values(static_cast<std::size_t>(Packs::size(1, kBin, width)), 0.0);
    const Packs p{values.data(), kBin, width};
    for (int row = 0; row < kBin; ++row) {
      for (int k = 0; k < width; ++k) *p.at(0, row, k) = value(row - kGuard, k);
    }
    return Packs{card_.put(values), kBin, width};
  };
  ScatterArgs a{};
  RootArgs& r = a.pole.root;
  r.shape.nbin = kBin;
  r.count = 1;
  r.fiber = card_.put(std::vector<int>{0});
  r.cut = {1, kBin, 0, kBin};
  r.x = pack(1, [](int, int) { return 5.0; });
  a.pole.nd = kNd;
  a.pole.poles = card_.put(std::vector<int>{4});
  a.pole.sums = pack(kNd + 3, [](int j, int k) {
    if (k == kNd + 1) return j == kNoRoot ? 0.0 : 2.0;
    if (k == kNd + 2) return j == kNotStorable ? 1e39 : 6.0;
    return 1.0 / (2 + j + k);
  });
  a.phi = pack(1, [](int j, int) { return j == kDark ? 0.009 : 1.0; });
  const std::vector<double> nothing(kWave, -1.0);
  a.result.nspec = 1;
  a.result.nwave = kWave;
  a.result.guard = kGuard;
  a.result.width = card_.put(std::vector<double>(kWave, 1.0));
  a.result.psf_fiber = card_.put(std::vector<int>{0});
  for (double** out : {&a.result.flux, &a.result.ivar, &a.result.xflux}) *out = card_.put(nothing);
  a.result.resolution = card_.put(std::vector<float>((2 * kNd + 1) * kWave, -1.0F));
  emulated_kernels().scatter(card_.stream(), ScatterKernel::blocks(a), a);
  const std::vector<double> flux = card_.get(a.result.flux, kWave),
                            ivar = card_.get(a.result.ivar, kWave);
  const std::vector<float> resolution = card_.get(a.result.resolution, (2 * kNd + 1) * kWave);
  for (int row = 0; row < kWave; ++row) {
    const bool good = row != kDark && row != kNotStorable && row != kNoRoot;
    const auto at = static_cast<std::size_t>(row);
    EXPECT_EQ(flux[at], good ? 3.0 : 0.0) << row;
    EXPECT_EQ(ivar[at], good ? 4.0 : 0.0) << row;
    for (int j = std::max(0, row - kNd); j <= std::min(kWave - 1, row + kNd); ++j) {
      const double want = good ? 0.5 / (2 + std::max(row, j)) : row == j ? 1.0 : 0.0;
      EXPECT_FLOAT_EQ(resolution[static_cast<std::size_t>((row - j + kNd) * kWave + j)],
                      static_cast<float>(want))
          << row << " " << j;
    }
  }
}

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
    ones_ = pack(host_ones_, kWarp, rows, 1, [](int, long row, int) {
      return row >= kMargin && row < kMargin + kBin ? 1.0 : 0.0;
    });
    r_.s = on_card(s_, kFibers);
    r_.x = on_card(x_, kFibers);
    r_.ones = on_card(ones_, kWarp).data;
    r_.fiber = card.put(std::vector<int>{0, 1});
    r_.l = empty(lanes(), r_.cut.rows, wide_row(B));
    r_.solution = empty(lanes(), r_.cut.rows, 1);
    r_.pivot = card.put(std::vector<double>(static_cast<std::size_t>(lanes()), kNan));
    r_.norm = card.put(std::vector<double>(static_cast<std::size_t>(lanes()), kNan));
  }

  /// Of S + shift I.
  void check_bounds(double shift) {
    r_.state = card_.put(std::vector<RootState>(kFibers, RootState{1, 0, 0, shift, 1, 0}));
    emulated_kernels().factor[band_of()](card_.stream(), lanes(), r_);
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
        EXPECT_NEAR(pivots[at], pivot, 1e-12 * std::abs(pivot));
        EXPECT_NEAR(proven[at], pivot, 1e-12 * std::abs(pivot));
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
  static int band_of() { return B == 24 ? 3 : 4; }
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

TEST_P(SmallKernels, ABandThatABlockSharesGivesWhatAThreadGives) {
  WideBands<24> narrower(card_);
  WideBands<32> wider(card_);
  for (const double shift : {0.0, -0.5, -3.0}) {  // the last is not positive definite
    narrower.check_bounds(shift);
    wider.check_bounds(shift);
  }
  narrower.check_poles();
  wider.check_poles();
}

INSTANTIATE_TEST_SUITE_P(Orders, SmallKernels,
                         testing::Values(GridOrder::kInward, GridOrder::kForward,
                                         GridOrder::kBackward, GridOrder::kScattered));

}  // namespace
}  // namespace fiberloom::exact::gpu
