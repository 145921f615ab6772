// SPDX-License-Identifier: BSD-3-Clause
// The small kernels of the device on the CPU in its place: images by columns, the exact median, the
// prior. The others are held against the CPU's engine as a whole in tests/fiberloom/gpu/.
#include "fiberloom/extract/exact/gpu/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/extract/exact/gpu/test_card.hpp"
#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact::gpu {
namespace {

TEST(HalvedDoubles, ComeBackWholeAndTheirUpperHalfIsAlmostThem) {
  const std::vector<double> values{0.0, 1.0, -1.0, 3.14159, 1e-300, 0.03125, 7.7e-9, 1e30};
  std::vector<std::uint32_t> high(values.size()), low(values.size());
  const HalvedDoubles halved{high.data(), low.data()};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<long>(i);
    halved.put(at, values[i]);
    EXPECT_EQ(halved.at(at), values[i]);
    EXPECT_NEAR(halved.about(at), values[i], 4.8e-7 * std::abs(values[i]) + 1e-300);
  }
}

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
  a.count = 1;
  a.nd = kNd;
  a.done = card_.put(std::vector<int>{1});
  a.x = pack(1, [](int, int) { return 5.0; });
  a.roots = pack(kNd + 3, [](int j, int k) {
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

INSTANTIATE_TEST_SUITE_P(Orders, SmallKernels,
                         testing::Values(GridOrder::kInward, GridOrder::kForward,
                                         GridOrder::kBackward, GridOrder::kScattered));

}  // namespace
}  // namespace fiberloom::exact::gpu
