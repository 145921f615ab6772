// SPDX-License-Identifier: BSD-3-Clause
// The pixel kernels of every level that this machine has, against plain loops.
#include "fiberloom/extract/exact/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fiberloom/extract/storable.hpp"
#include "loom/base/array.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::exact {
namespace {

constexpr double kRounding = 1e-14;

template <class T = double>
Buffer<T> random_buffer(std::size_t n, std::uint64_t stream) {
  Buffer<T> b(n);
  const CounterRng rng(2, stream);
  for (std::size_t i = 0; i < n; ++i) b[i] = static_cast<T>(rng.uniform(i) - 0.3);
  return b;
}

/// Every sixth pixel without weight.
Buffer<double> weights(std::size_t n) {
  Buffer<double> w = random_buffer(n, 77);
  for (std::size_t i = 0; i < n; ++i) w[i] = i % 6 == 0 ? 0.0 : std::abs(w[i]);
  return w;
}

class PixelKernelsTest : public testing::TestWithParam<Isa> {
 protected:
  const PixelKernels& kernels_ = pixel_kernels(GetParam());
};

TEST_P(PixelKernelsTest, WeighSumsWeightedPixelsAndTheLightOnGoodOnes) {
  for (const int stride : {8, 16, 24, 32, 40}) {
    const StampShape shape{11, stride};
    const long pitch = 64;
    const int x0 = -8, y0 = 3, x = 16, y = 7;
    const Buffer<double> spot = random_buffer(static_cast<std::size_t>(shape.ny * stride), 1),
                         pixel = random_buffer(static_cast<std::size_t>(20 * pitch), 2),
                         weight = weights(pixel.size());
    const StripView strip{weight.data(), pixel.data(), pitch, x0, y0};
    double want_y = 0, want_phi = 0;
    for (int r = 0; r < shape.ny; ++r) {
      for (int c = 0; c < stride; ++c) {
        const auto at = static_cast<std::size_t>((y + r - y0) * pitch + x + c - x0);
        const double a = spot[static_cast<std::size_t>(r * stride + c)];
        want_y += a * weight[at] * pixel[at];
        want_phi += weight[at] > 0 ? a : 0.0;
      }
    }
    double got_y = 0, got_phi = 0;
    kernels_.weigh(shape, spot.data(), strip, x, y, &got_y, &got_phi);
    EXPECT_NEAR(got_y, want_y, 20 * kRounding) << stride;
    EXPECT_NEAR(got_phi, want_phi, 20 * kRounding) << stride;
  }
}

TEST_P(PixelKernelsTest, DotIsTheWeightedProductOverTheSharedPixels) {
  for (const int columns : {8, 16, 24, 32}) {
    for (const int rows : {1, 2, 11}) {
      const Overlap o{rows, columns, 32, 48};
      const Buffer<double> a = random_buffer(11 * 32, 3), b = random_buffer(11 * 32, 4),
                           w = weights(11 * 48);
      double want = 0;
      for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
          const auto at = static_cast<std::size_t>(r * 32 + c);
          want += a[at] * w[static_cast<std::size_t>(r * 48 + c)] * b[at];
        }
      }
      EXPECT_NEAR(kernels_.dot(o, a.data(), w.data(), b.data()), want, 10 * kRounding)
          << columns << " " << rows;
    }
  }
}

/// Two spots of a patch and groups of four others, in slots of `height` rows each.
struct Tiles {
  static constexpr int kHeight = 14, kRows = 40;
  int stride;
  long slot = kHeight * stride + kLanes, pitch = 96;
  Buffer<double> spots = random_buffer(static_cast<std::size_t>(16 * slot), 5),
                 pixel = random_buffer(static_cast<std::size_t>(kRows * pitch), 6),
                 weight = weights(pixel.size());
  PatchPixels pixels{spots.data(), stride, slot, {weight.data(), pixel.data(), pitch, 0, 0}};

  explicit Tiles(int s) : stride(s) {}
  /// A patch whose first spot lies in `first_slot`.
  [[nodiscard]] Patch patch(int first_slot, int row, int frame, bool same = true) const {
    return {row, row + kHeight, frame, same,
            first_slot * slot - static_cast<long>(row) * stride - frame};
  }
  /// a_i^T W b_k by pixels of the CCD.
  [[nodiscard]] double product(const Patch& a, int i, const Patch& b, int k) const {
    double sum = 0;
    for (int y = std::max(a.row, b.row); y < std::min(a.end, b.end); ++y) {
      for (int x = std::max(a.frame, b.frame); x < std::min(a.frame, b.frame) + stride; ++x) {
        sum +=
            value(a, i, y, x) * weight[static_cast<std::size_t>(y * pitch + x)] * value(b, k, y, x);
      }
    }
    return sum;
  }
  [[nodiscard]] double value(const Patch& p, int i, int y, int x) const {
    return spots[static_cast<std::size_t>(p.origin + i * slot + static_cast<long>(y) * stride + x)];
  }
};

TEST_P(PixelKernelsTest, TilesAreTheProductsOfTwoSpotsAndFourOthersOfEachGroup) {
  for (const int stride : {8, 16, 24, 32}) {
    const Tiles t(stride);
    const Patch a = t.patch(0, 10, 16);
    const std::vector<Patch> b{t.patch(2, 6, 16),         t.patch(6, 12, 24),
                               t.patch(6, 12, 24, false), t.patch(10, 10, 8),
                               t.patch(10, 24, 16),       t.patch(10, 10, 16 + stride)};
    constexpr double kUntouched = 1e99;
    std::vector<double> out(b.size() * kTileA * kTileB, kUntouched);
    kernels_.tiles(t.pixels, a, b.data(), static_cast<int>(b.size()), out.data());
    for (std::size_t g = 0; g < b.size(); ++g) {
      for (int i = 0; i < kTileA; ++i) {
        for (int k = 0; k < kTileB; ++k) {
          const double got = out[(g * kTileA + static_cast<std::size_t>(i)) * kTileB +
                                 static_cast<std::size_t>(k)];
          const double want = b[g].same_columns ? t.product(a, i, b[g], k) : kUntouched;
          EXPECT_NEAR(got, want, 20 * kRounding) << stride << " " << g << " " << i << " " << k;
        }
      }
    }
  }
}

TEST_P(PixelKernelsTest, TilesOfAPatchWhoseColumnsDifferAreLeftOut) {
  const Tiles t(16);
  const Patch b = t.patch(2, 10, 16);
  std::vector<double> out(kTileA * kTileB, 5.0);
  kernels_.tiles(t.pixels, t.patch(0, 10, 16, false), &b, 1, out.data());
  EXPECT_EQ(out, std::vector<double>(kTileA * kTileB, 5.0));
}

TEST_P(PixelKernelsTest, TileAndSumsAlsoWeighTheTwo) {
  for (const int stride : {8, 16, 24, 40}) {
    const Tiles t(stride);
    const Patch a = t.patch(1, 9, 24), b = t.patch(0, 9, 24);
    std::vector<double> out(kTileA * kTileB + 2 * kLanes, 0.0);
    kernels_.tile_and_sums(t.pixels, a, b, out.data());
    for (int i = 0; i < kTileA; ++i) {
      for (int k = 0; k < kTileB; ++k)
        EXPECT_NEAR(out[static_cast<std::size_t>(i * kTileB + k)], t.product(a, i, b, k),
                    20 * kRounding);
      double y_sum = 0, phi = 0;
      for (int y = a.row; y < a.end; ++y) {
        for (int x = a.frame; x < a.frame + stride; ++x) {
          const auto at = static_cast<std::size_t>(y * t.pitch + x);
          y_sum += t.value(a, i, y, x) * t.weight[at] * t.pixel[at];
          phi += t.weight[at] > 0 ? t.value(a, i, y, x) : 0.0;
        }
      }
      const auto sums = static_cast<std::size_t>(kTileA * kTileB + i);
      EXPECT_NEAR(out[sums], y_sum, 20 * kRounding) << stride;
      EXPECT_NEAR(out[sums + kTileA], phi, 20 * kRounding) << stride;
    }
  }
}

TEST_P(PixelKernelsTest, AddModelAndGatherAreEachOthersTransposes) {
  for (const int stride : {16, 32, 48}) {
    const StampShape shape{11, stride};
    const long pitch = 80;
    const int row = 3, column = 16;
    const auto spot = random_buffer<float>(static_cast<std::size_t>(11 * stride), 7);
    const auto image = random_buffer<float>(static_cast<std::size_t>(20 * pitch), 8);
    Buffer<float> model = image;
    kernels_.add_model(shape, spot.data(), 2.5F, model.data(), pitch, row, column);
    double want = 0, size = 0;
    for (long y = 0; y < 20; ++y) {
      for (long x = 0; x < pitch; ++x) {
        const auto at = static_cast<std::size_t>(y * pitch + x);
        const bool inside = y >= row && y < row + 11 && x >= column && x < column + stride;
        const float a =
            inside ? spot[static_cast<std::size_t>((y - row) * stride + x - column)] : 0;
        EXPECT_NEAR(model[at], image[at] + 2.5F * a, 3e-7) << y << " " << x;
        want += static_cast<double>(a) * image[at];
        size += std::abs(static_cast<double>(a) * image[at]);
      }
    }
    EXPECT_NEAR(kernels_.gather(shape, spot.data(), image.data(), pitch, row, column), want,
                3e-7 * size)
        << stride;
  }
}

TEST_P(PixelKernelsTest, WidenTakesAnyNumberFromAnywhere) {
  const auto in = random_buffer<float>(60, 9);
  for (long n = 0; n < 40; ++n) {
    for (const long from : {0L, 1L, 3L}) {
      std::vector<double> out(60, -1.0);
      kernels_.widen(in.data() + from, n, out.data() + from);
      for (long i = 0; i < 60; ++i) {
        const bool inside = i >= from && i < from + n;
        EXPECT_EQ(out[static_cast<std::size_t>(i)],
                  inside ? static_cast<double>(in[static_cast<std::size_t>(i)]) : -1.0);
      }
    }
  }
}

TEST_P(PixelKernelsTest, Chi2IsThatOfThePixelWithTheModelsOwnErrorAndIsCut) {
  constexpr std::size_t n = 32;
  Buffer<double> weight = weights(n), pixel = random_buffer(n, 10);
  auto model = random_buffer<float>(n, 11);
  weight[1] = 1e40, pixel[1] = 1e10, model[1] = 0;
  const Buffer<float> before = model;
  kernels_.chi2(weight.data(), pixel.data(), 0.05, n, model.data());
  for (std::size_t i = 0; i < n; ++i) {
    const double m = before[i], w = weight[i], d = pixel[i] - m;
    const double want = w > 0 ? std::min(d * d / (1 / w + 0.05 * m * 0.05 * m), kMostChi2) : 0.0;
    EXPECT_NEAR(model[i], want, 1e-7 * want) << i;
  }
}

TEST_P(PixelKernelsTest, FitCountsPixelsThatHaveWeightAndAModel) {
  constexpr std::size_t n = 32;
  const Buffer<double> weight = weights(n), pixel = random_buffer(n, 12);
  auto model = random_buffer<float>(n, 13);
  model[3] = 0, model[4] = 1e6F;
  double sums[3] = {1, 2, 3}, want[3] = {1, 2, 3};
  kernels_.fit(weight.data(), pixel.data(), model.data(), n, sums);
  for (std::size_t i = 0; i < n; ++i) {
    const double m = model[i];
    if (m == 0 || weight[i] == 0) continue;
    want[0] += weight[i] * (pixel[i] - m) * (pixel[i] - m);
    want[1] += 1;
    want[2] += m * m * weight[i] > kBrightPixel * kBrightPixel ? 1 : 0;
  }
  EXPECT_NEAR(sums[0], want[0], 1e-12 * want[0]);
  EXPECT_EQ(sums[1], want[1]);
  EXPECT_EQ(sums[2], want[2]);
}

TEST_P(PixelKernelsTest, SumProductsAddsAnyNumberOfTermsInAnOrderOfItsOwn) {
  constexpr long n = 24;
  for (const int terms : {1, 2, 3, 17}) {
    std::vector<Buffer<double>> a, x;
    std::vector<const double*> pa, px;
    for (int t = 0; t < terms; ++t) {
      a.push_back(random_buffer(n + 8, static_cast<std::uint64_t>(100 + t)));
      x.push_back(random_buffer(n + 8, static_cast<std::uint64_t>(200 + t)));
    }
    for (int t = 0; t < terms; ++t) {
      pa.push_back(a[static_cast<std::size_t>(t)].data() + t % 3);  // need not be aligned
      px.push_back(x[static_cast<std::size_t>(t)].data() + t % 5);
    }
    std::vector<double> y(n + 1, -7.0);
    kernels_.sum_products(pa.data(), px.data(), terms, y.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      double want = 0;
      for (std::size_t t = 0; t < pa.size(); ++t) want += pa[t][i] * px[t][i];
      EXPECT_NEAR(y[i], want, 5 * kRounding) << terms;
    }
    EXPECT_EQ(y[n], -7.0);
  }
}

TEST_P(PixelKernelsTest, InterleaveAndBack) {
  for (const long n : {0L, 1L, 7L, 8L, 19L}) {
    for (const long stride : {8L, 40L}) {
      std::vector<Buffer<double>> in;
      const double* from[kLanes];
      for (int i = 0; i < kLanes; ++i)
        in.push_back(random_buffer(20, static_cast<std::uint64_t>(i)));
      for (int i = 0; i < kLanes; ++i) from[i] = in[static_cast<std::size_t>(i)].data();
      std::vector<double> packed(static_cast<std::size_t>(20 * stride), -1.0);
      kernels_.interleave(from, n, packed.data(), stride);
      for (long k = 0; k < 20 * stride; ++k) {
        const long row = k / stride, lane = k % stride;
        const bool written = row < n && lane < kLanes;
        EXPECT_EQ(packed[static_cast<std::size_t>(k)], written ? from[lane][row] : -1.0);
      }
      if (stride != kLanes) continue;
      std::vector<std::vector<double>> out(kLanes, std::vector<double>(20, -1.0));
      double* to[kLanes];
      for (int i = 0; i < kLanes; ++i) to[i] = out[static_cast<std::size_t>(i)].data();
      kernels_.deinterleave(packed.data(), n, to);
      for (int i = 0; i < kLanes; ++i) {
        for (long k = 0; k < 20; ++k) EXPECT_EQ(to[i][k], k < n ? from[i][k] : -1.0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PixelKernelsTest, testing::ValuesIn(available_isas()),
                         [](const auto& test) { return std::string(isa_name(test.param)); });

}  // namespace
}  // namespace fiberloom::exact
