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

/// Numbers without any order.
std::vector<float> numbers(std::size_t count) {
  std::vector<float> out;
  std::uint32_t state = 7;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    out.push_back(static_cast<float>(static_cast<int>(state >> 20) - 2048) / 64);
  }
  return out;
}

TEST(Ranks, AreColumnsInOrderAndGoBackWhereTheyStood) {
  constexpr std::size_t kRows = 37, kWide = 21;
  std::vector<float> s = numbers(kRows * kWide);
  for (std::size_t i = 0; i < s.size(); i += 5) s[i] = i % 2 == 0 ? 0.0F : -0.0F;  // many alike
  Columns columns = turned({s.data(), kRows, kWide, kWide});
  const Ranks ranks = ranked(columns);
  for (std::size_t x = 0; x < kWide; ++x) {
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t from = ranks.order[x * columns.step + r];
      EXPECT_EQ(ranks.values.column(x)[r], s[from * kWide + x]);
      if (r == 0) continue;
      const std::size_t before = ranks.order[x * columns.step + r - 1];
      EXPECT_TRUE(s[before * kWide + x] < s[from * kWide + x] ||
                  (s[before * kWide + x] == s[from * kWide + x] && before < from));
    }
  }
  const std::vector<float> was = s;
  for (std::size_t x = 0; x < kWide; ++x) {
    std::fill(columns.column(x).begin(), columns.column(x).end(), 99.0F);
    restore_column(ranks, x, columns);
  }
  turn_back(columns, {s.data(), kRows, kWide, kWide});
  EXPECT_EQ(s, was);
}

TEST(Ranks, AreSmoothedAsEachLineByItself) {
  constexpr std::size_t kRows = 19, kWide = 23;
  std::vector<float> s = numbers(kRows * kWide);
  for (const std::size_t size : {1U, 2U, 5U, 10U, 51U}) {
    Columns columns = turned({s.data(), kRows, kWide, kWide});
    smooth_ranks(size, columns);
    std::vector<float> want(kWide);
    for (std::size_t r = 0; r < kRows; ++r) {
      running_median(std::span<const float>(s).subspan(r * kWide, kWide), size, want);
      for (std::size_t x = 0; x < kWide; ++x) {
        ASSERT_EQ(columns.column(x)[r], want[x]) << size << " " << r << " " << x;
      }
    }
  }
}

/// A Gaussian of frequencies by its definition: every frequency, one after the other.
std::vector<double> plain_band(const std::vector<float>& in, std::size_t high, std::size_t wide,
                               double sigma_high, double sigma_wide) {
  std::vector<double> out(in.size(), 0);
  const auto weight = [](std::size_t k, std::size_t n, double sigma) {
    const double away = static_cast<double>(k) - (static_cast<double>(n) - 1) / 2;
    return sigma > 0 ? std::exp(-away * away / (2 * sigma * sigma)) / static_cast<double>(n) : 1.0;
  };
  const auto turn = [](std::size_t k, std::size_t n) {
    const auto points = static_cast<double>(n);
    return 2 * std::numbers::pi * (static_cast<double>(k) - points / 2) / points;
  };
  const std::size_t columns = sigma_wide > 0 ? wide : 1;
  for (std::size_t k = 0; k < high; ++k) {
    for (std::size_t l = 0; l < columns; ++l) {
      const double w = weight(k, high, sigma_high) * weight(l, wide, sigma_wide);
      for (std::size_t i = 0; i < in.size(); ++i) {
        for (std::size_t j = 0; j < in.size(); ++j) {
          if (sigma_wide <= 0 && i % wide != j % wide) continue;
          const double down = static_cast<double>(i / wide) - static_cast<double>(j / wide);
          const double right = static_cast<double>(i % wide) - static_cast<double>(j % wide);
          out[i] += w * static_cast<double>(in[j]) *
                    std::cos(turn(k, high) * down + (sigma_wide > 0 ? turn(l, wide) * right : 0));
        }
      }
    }
  }
  return out;
}

TEST(Band, IsTheSumOverItsFrequencies) {
  for (const std::size_t high : {8U, 9U}) {
    constexpr std::size_t kWide = 7;
    const std::vector<float> in = numbers(high * kWide);
    const Band along = gaussian_band(high, 1.7, Shift::kSigns);
    const auto one = through_band(along, in, kWide);
    const auto want_one = plain_band(in, high, kWide, 1.7, 0);
    const auto both = through_bands(along, gaussian_band(kWide, 1.2, Shift::kSigns), in);
    const auto want_both = plain_band(in, high, kWide, 1.7, 1.2);
    std::vector<float> lines(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) lines[i % kWide * high + i / kWide] = in[i];
    const auto turned_one = along_band(along, lines, 2, 3);
    for (std::size_t i = 0; i < in.size(); ++i) {
      EXPECT_NEAR(one[i], want_one[i], 1e-4);
      EXPECT_NEAR(both[i], want_both[i], 1e-4);
      if (i / kWide >= 2 && i / kWide < 5) {
        EXPECT_NEAR(turned_one[i % kWide * 3 + i / kWide - 2], want_one[i], 1e-4);
      }
    }
  }
}

TEST(Fitted, IsTheValueInTheMiddleOfEachWindowsLeastSquaresFit) {
  constexpr std::size_t kRows = 16, kWide = 9, kHalf = 7;
  const Sinogram s{kRows, kWide, numbers(kRows * kWide)};
  for (const std::size_t order : {0U, 1U, 3U, 6U}) {
    // an orthonormal basis over the window, by Gram and Schmidt
    std::vector<std::vector<double>> basis;
    for (std::size_t k = 0; k <= order; ++k) {
      std::vector<double> p;
      for (std::size_t i = 0; i <= 2 * kHalf; ++i) {
        p.push_back(std::pow((static_cast<double>(i) - kHalf) / kHalf, k));
      }
      for (int pass = 0; pass < 2; ++pass) {
        for (const auto& q : basis) {
          double along = 0;
          for (std::size_t i = 0; i < p.size(); ++i) along += p[i] * q[i];
          for (std::size_t i = 0; i < p.size(); ++i) p[i] -= along * q[i];
        }
      }
      double norm = 0;
      for (const double v : p) norm += v * v;
      for (double& v : p) v /= std::sqrt(norm);
      basis.push_back(p);
    }
    const std::vector<float> got = fitted(s, order);
    for (std::size_t i = 0; i < got.size(); ++i) {
      double want = 0;
      for (const auto& p : basis) {
        for (std::size_t k = 0; k <= 2 * kHalf; ++k) {
          long at = std::labs(static_cast<long>(i / kWide + k) - static_cast<long>(kHalf));
          if (at >= static_cast<long>(kRows)) at = 2 * static_cast<long>(kRows) - 2 - at;
          want +=
              p[kHalf] * p[k] * static_cast<double>(s.at(static_cast<std::size_t>(at), i % kWide));
        }
      }
      ASSERT_NEAR(got[i], want, 1e-4) << order << " " << i;
    }
  }
}

}  // namespace
}  // namespace tomoloom
