// SPDX-License-Identifier: BSD-3-Clause
// What every removal promises: stripes become less, what is no stripe stays, any stride and place.
#include "tomoloom/prepare/stripe_kinds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace tomoloom {
namespace {

constexpr std::size_t kAngles = 120, kColumns = 128;

/// A disc off the axis and a broad one, with nothing wrong.
std::vector<float> clean_sinogram() {
  std::vector<float> out;
  for (std::size_t a = 0; a < kAngles; ++a) {
    const double theta = std::numbers::pi * static_cast<double>(a) / kAngles;
    for (std::size_t x = 0; x < kColumns; ++x) {
      const double t = (static_cast<double>(x) - 63.5) / 64, u = t - 0.4 * std::cos(theta);
      out.push_back(static_cast<float>(2 + std::sqrt(std::max(0.0, 0.8 - t * t)) +
                                       0.5 * std::exp(-u * u / 0.02)));
    }
  }
  return out;
}

/// Relative difference of columns' means from those that are smooth: how striped it is.
double stripes(const std::vector<float>& s, const std::vector<float>& clean) {
  double sum = 0;
  for (std::size_t x = 4; x + 4 < kColumns; ++x) {
    double of_column = 0, beside = 0;
    for (std::size_t a = 0; a < kAngles; ++a) {
      const auto off = [&](std::size_t at) {
        return static_cast<double>(s[a * kColumns + at] - clean[a * kColumns + at]);
      };
      of_column += off(x);
      beside += (off(x - 1) + off(x + 1)) / 2;
    }
    sum += std::pow((of_column - beside) / kAngles, 2);
  }
  return std::sqrt(sum);
}

double change(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(static_cast<double>(a[i] - b[i]), 2);
    all += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(sum / all);
}

std::vector<float> removed(std::vector<float> s, Stripe method) {
  remove_stripe({s.data(), kAngles, kColumns, kColumns}, {.method = method});
  return s;
}

constexpr Stripe kAll[] = {Stripe::kSf,
                           Stripe::kTi,
                           Stripe::kFw,
                           Stripe::kSorting,
                           Stripe::kFiltering,
                           Stripe::kFitting,
                           Stripe::kInterpolation,
                           Stripe::kLarge,
                           Stripe::kDead,
                           Stripe::kAll};

TEST(RemoveStripe, EveryMethodLessensStripesAndLeavesWhatIsSmooth) {
  const std::vector<float> clean = clean_sinogram();
  std::vector<float> striped = clean;
  for (std::size_t i = 0; i < striped.size(); ++i) {
    const std::size_t x = i % kColumns;
    if (x % 17 == 9) striped[i] *= x % 2 == 0 ? 1.05F : 0.95F;
  }
  const double before = stripes(striped, clean);
  for (const Stripe method : kAll) {
    const int name = static_cast<int>(method);
    const std::vector<float> base = removed(clean, method);
    EXPECT_LT(stripes(removed(striped, method), base), 0.6 * before) << name;
    // Titarenko's lifts everything; a median of 51 or 61 columns rounds off a row of 128
    const bool wide = method == Stripe::kLarge || method == Stripe::kDead || method == Stripe::kAll;
    if (method != Stripe::kTi) {
      EXPECT_LT(change(base, clean), wide ? 0.1 : 0.05) << name;
    }
    for (const float v : base) ASSERT_TRUE(std::isfinite(v)) << name;
  }
}

TEST(RemoveStripe, ADeadColumnIsBridged) {
  const std::vector<float> clean = clean_sinogram();
  std::vector<float> broken = clean;
  for (std::size_t a = 0; a < kAngles; ++a) broken[a * kColumns + 70] = 0.1F;
  for (const Stripe method : {Stripe::kInterpolation, Stripe::kDead, Stripe::kAll}) {
    const std::vector<float> mended = removed(broken, method);
    for (std::size_t a = 0; a < kAngles; ++a) {
      const float want = clean[a * kColumns + 70];
      EXPECT_NEAR(mended[a * kColumns + 70], want, 0.15F * want) << static_cast<int>(method);
    }
  }
}

TEST(RemoveStripe, LinesApartAreTheSameAsLinesTogether) {
  std::vector<float> together = clean_sinogram(), apart(kAngles * 200, -7);
  for (std::size_t i = 0; i < together.size(); ++i) {
    if (i % kColumns == 50) together[i] += 0.3F;
    apart[i / kColumns * 200 + i % kColumns] = together[i];
  }
  for (const Stripe method : kAll) {
    std::vector<float> a = apart;
    const std::vector<float> t = removed(together, method);
    remove_stripe({a.data(), kAngles, kColumns, 200}, {.method = method});
    for (std::size_t i = 0; i < t.size(); ++i) {
      ASSERT_EQ(a[i / kColumns * 200 + i % kColumns], t[i]) << static_cast<int>(method);
    }
    EXPECT_EQ(a[150], -7);
  }
}

TEST(RemoveStripe, WhatIsTooSmallIsLeftAsItIs) {
  std::vector<float> s(3 * 7, 1);
  s[3] = 9;
  for (const Stripe method : kAll) {
    if (method == Stripe::kSf) continue;
    std::vector<float> same = s;
    remove_stripe({same.data(), 3, 7, 7}, {.method = method});
    EXPECT_EQ(same, s);
  }
}

TEST(Wavelet, WithNothingDampedComesBack) {
  Sinogram s{kAngles, kColumns, clean_sinogram()};
  wavelet(s, 0, 1e-3);  // a Gaussian that holds no frequency, or one of odd lengths' alone
  // what is constant along angles of rough wavelets goes all the same, and that is little here
  EXPECT_LT(change(s.values, clean_sinogram()), 0.02);
}

TEST(RunningMedian, IsThatOfAPlainSort) {
  const std::vector<float> in{5, 1, 4, 4, 2, 9, 0, 3};
  for (const std::size_t size : {1U, 3U, 4U, 7U, 15U}) {
    std::vector<float> out(in.size());
    running_median(in, size, out);
    for (std::size_t x = 0; x < in.size(); ++x) {
      std::vector<float> window;
      for (std::size_t k = 0; k < size; ++k) {
        long i = static_cast<long>(x + k) - static_cast<long>(size / 2);
        const long n = static_cast<long>(in.size());
        i = ((i % (2 * n)) + 2 * n) % (2 * n);
        window.push_back(in[static_cast<std::size_t>(i < n ? i : 2 * n - 1 - i)]);
      }
      std::sort(window.begin(), window.end());
      EXPECT_EQ(out[x], window[size / 2]) << size << " " << x;
    }
  }
}

}  // namespace
}  // namespace tomoloom
