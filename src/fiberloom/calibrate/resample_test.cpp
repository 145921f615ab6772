// SPDX-License-Identifier: BSD-3-Clause
// Resampling against plain dense algebra, and against light that is known.
#include "fiberloom/calibrate/resample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/calibrate/test_fibers.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"
#include "loom/linalg/symmetric_eigen.hpp"
#include "loom/testing/test_executor.hpp"

namespace fiberloom::calibrate {
namespace {

/// `nexp` exposures of a camera of n bins of 0.8 Angstrom, without light; R a little wider in each.
Spectra dark_camera(double first, std::size_t n, std::size_t nexp, double sigma = 0.8) {
  Spectra s;
  for (std::size_t i = 0; i < n; ++i) s.wave.push_back(first + 0.8 * static_cast<double>(i));
  s.flux = s.ivar = Array2D<double>(nexp, n, 0.0);
  s.mask = Array2D<std::uint32_t>(nexp, n, 0U);
  s.resolution = Array3D<float>(nexp, 11, n);
  for (std::size_t e = 0; e < nexp; ++e) {
    test::set_resolution(s.resolution, e, sigma + 0.1 * static_cast<double>(e));
    for (std::size_t i = 0; i < n; ++i) {
      s.ivar(e, i) = 0.25 * (1 + 0.5 * std::sin(0.01 * static_cast<double>(i + 40 * e)));
    }
  }
  return s;
}

/// Light at the bins of a grid: sharp lines on a slope.
std::vector<double> lines_on(const std::vector<double>& grid) {
  std::vector<double> out;
  for (std::size_t g = 0; g < grid.size(); ++g) {
    out.push_back(20 + 5 * std::sin(0.02 * grid[g]) + (g % 37 == 20 ? 60 : 0));
  }
  return out;
}

/// Light that is linear between the bins of `grid`, as the camera's exposures show it.
void shine(Spectra& s, const std::vector<double>& grid, const std::vector<double>& light,
           std::uint64_t seed, double noise) {
  const CounterRng rng(seed, 17);
  std::vector<double> there(s.nwave(), 0.0), seen(s.nwave());
  for (std::size_t i = 0; i < s.nwave(); ++i) {
    const double w = s.wave[i];
    const auto next =
        static_cast<std::size_t>(std::upper_bound(grid.begin(), grid.end(), w) - grid.begin());
    if (next == 0) continue;
    const std::size_t g = std::min(next - 1, grid.size() - 2);
    const double x = (w - grid[g]) / (grid[g + 1] - grid[g]);
    if (x <= 1 + 1e-6) there[i] = (1 - x) * light[g] + x * light[g + 1];
  }
  for (std::size_t e = 0; e < s.nspec(); ++e) {
    multiply(banded(std::as_const(s.resolution), e), std::span<const double>(there),
             std::span<double>(seen));
    for (std::size_t i = 0; i < s.nwave(); ++i) {
      const double sigma = s.ivar(e, i) > 0 ? 1 / std::sqrt(s.ivar(e, i)) : 0;
      s.flux(e, i) = seen[i] + noise * sigma * rng.normal(e * s.nwave() + i);
    }
  }
}

std::vector<std::size_t> all_rows(const Spectra& s) {
  std::vector<std::size_t> out(s.nspec());
  for (std::size_t e = 0; e < out.size(); ++e) out[e] = e;
  return out;
}

Coadd resample(const std::vector<Spectra>& cameras, const std::vector<double>& grid) {
  std::vector<ResampledCamera> given;
  for (const Spectra& s : cameras) given.push_back({&s, 'b'});
  const std::vector<std::vector<std::size_t>> targets{all_rows(cameras[0])};
  SerialExecutor serial;
  return resample_exposures(given, targets, grid, {.cosmic_nsig = 0}, serial);
}

std::vector<double> linear(double first, double last, double step) {
  return stepped_wave_grid({.lin_step = step}, first, last);
}

/// Flux, ivar and R by the formulas as they stand, with dense matrices.
struct DenseResult {
  std::vector<double> flux, ivar;
  Array2D<double> r;
};

DenseResult dense_of(const std::vector<Spectra>& cameras, const std::vector<double>& grid) {
  const std::size_t n = grid.size();
  Array2D<double> a(n, n, 0.0);
  std::vector<double> y(n, 0.0);
  for (const Spectra& s : cameras) {
    const std::size_t m = s.nwave();
    Array2D<double> p(m, n, 0.0);  // from the grid to the camera
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t g = 0; g < n; ++g) {
        const double step = grid[1] - grid[0];
        p(i, g) = std::max(0.0, 1 - std::abs(s.wave[i] - grid[g]) / step);
      }
    }
    for (std::size_t e = 0; e < s.nspec(); ++e) {
      for (std::size_t i = 0; i < m; ++i) {
        std::vector<double> b(n, 0.0);
        for (std::size_t j = 0; j < m; ++j) {
          if (j > i + 5 || i > j + 5) continue;
          for (std::size_t g = 0; g < n; ++g) {
            b[g] += static_cast<double>(s.resolution(e, i + 5 - j, j)) * p(j, g);
          }
        }
        const double w = s.mask(e, i) == 0 ? s.ivar(e, i) : 0;
        for (std::size_t g = 0; g < n; ++g) {
          y[g] += b[g] * w * s.flux(e, i);
          for (std::size_t h = 0; h < n; ++h) a(g, h) += b[g] * w * b[h];
        }
      }
    }
  }
  const loom::SymmetricEigen x = loom::symmetric_eigen(a);
  DenseResult out{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0),
                  Array2D<double>(n, n, 0.0)};
  std::vector<double> root_y(n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const double* v = x.vectors.row(k);
    double along = 0;
    for (std::size_t g = 0; g < n; ++g) along += v[g] * y[g];
    for (std::size_t g = 0; g < n; ++g) {
      root_y[g] += v[g] * along / std::sqrt(x.values[k]);
      for (std::size_t h = 0; h < n; ++h) out.r(g, h) += v[g] * std::sqrt(x.values[k]) * v[h];
    }
  }
  for (std::size_t g = 0; g < n; ++g) {
    double q = 0;
    for (std::size_t h = 0; h < n; ++h) q += out.r(g, h);
    for (std::size_t h = 0; h < n; ++h) out.r(g, h) /= q;
    out.ivar[g] = q * q;
    out.flux[g] = root_y[g] / q;
  }
  return out;
}

TEST(Resample, IsWhatDenseAlgebraSays) {
  std::vector<Spectra> cameras{dark_camera(5000, 60, 2), dark_camera(5032.2, 50, 2, 0.9)};
  const std::vector<double> grid = linear(4999.7, 5072.4, 1.1);
  for (Spectra& s : cameras) shine(s, grid, lines_on(grid), 3, 1);
  cameras[0].mask(1, 20) = 4;
  cameras[1].ivar(0, 30) = 0;
  const Coadd found = resample(cameras, grid);
  const DenseResult expected = dense_of(cameras, grid);
  const std::size_t n = grid.size(), half = found.resolution.rows() / 2;
  ASSERT_EQ(half, 5U);
  for (std::size_t g = 0; g < n; ++g) {
    const double sigma = 1 / std::sqrt(expected.ivar[g]);
    EXPECT_NEAR(found.ivar(0, g) / expected.ivar[g], 1, 1e-5) << g;
    EXPECT_NEAR(found.flux(0, g), expected.flux[g], 1e-4 * sigma) << g;
    for (std::size_t k = 0; k < 2 * half + 1; ++k) {
      if (g + half < k || g + half - k >= n) continue;
      const std::size_t h = g + half - k;
      EXPECT_NEAR(static_cast<double>(found.resolution(0, k, h)), expected.r(g, h), 1e-5) << g;
    }
  }
}

/// Pulls of many spectra of one light against R of the result.
struct GridPulls {
  double sum = 0, squares = 0, count = 0, neighbours = 0;
};

GridPulls pulls_on(const std::vector<double>& grid, std::uint64_t seeds) {
  GridPulls out;
  const std::vector<double> light = lines_on(grid);
  std::vector<double> seen(grid.size());
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::vector<Spectra> cameras{dark_camera(5000, 300, 2), dark_camera(5200, 250, 2, 1.0)};
    for (std::size_t c = 0; c < 2; ++c) shine(cameras[c], grid, light, 10 * seed + c, 1);
    const Coadd found = resample(cameras, grid);
    multiply(banded(found.resolution, 0), std::span<const double>(light), std::span<double>(seen));
    double before = 0;
    for (std::size_t g = 0; g < grid.size(); ++g) {
      if (!(found.ivar(0, g) > 0)) continue;
      const double pull = (found.flux(0, g) - seen[g]) * std::sqrt(found.ivar(0, g));
      out.sum += pull, out.squares += pull * pull, ++out.count;
      out.neighbours += before * pull;
      before = pull;
    }
  }
  return out;
}

void expect_white(const GridPulls& p) {
  const double error = 1 / std::sqrt(p.count);
  EXPECT_GT(p.count, 5000);
  EXPECT_NEAR(p.sum / p.count, 0, 4 * error);
  EXPECT_NEAR(p.squares / p.count, 1, 4 * std::sqrt(2.0) * error);
  EXPECT_NEAR(p.neighbours / p.count, 0, 4 * error);
}

TEST(Resample, HasPullsOfWidthOneWithoutCorrelationOnALinearGrid) {
  expect_white(pulls_on(linear(5000, 5399.2, 1.0), 20));
}

TEST(Resample, HasPullsOfWidthOneWithoutCorrelationOnALogGrid) {
  expect_white(pulls_on(stepped_wave_grid({.log10_step = 1e-4}, 5000, 5399.2), 20));
}

TEST(Resample, OfLightWithoutNoiseIsWhatItsResolutionMakesOfItToTheLastBin) {
  // both ends of the grid lie inside of what the camera has: light beyond is not taken for ours
  const std::vector<double> whole = linear(5000, 5239.2, 0.8), inside = linear(5040, 5160, 0.8);
  std::vector<Spectra> cameras{dark_camera(5000, 300, 2)};
  const std::vector<double> light = lines_on(whole);
  shine(cameras[0], whole, light, 1, 0);
  const Coadd found = resample(cameras, inside);
  std::vector<double> ours(light.begin() + 50, light.begin() + 50 + 151), seen(inside.size());
  ASSERT_NEAR(inside.front(), whole[50], 1e-9);
  multiply(banded(found.resolution, 0), std::span<const double>(ours), std::span<double>(seen));
  std::size_t known = 0;
  for (std::size_t g = 0; g < inside.size(); ++g) {
    if (!(found.ivar(0, g) > 0)) continue;
    ++known;
    const double sigma = 1 / std::sqrt(found.ivar(0, g));
    EXPECT_NEAR(found.flux(0, g), seen[g], 0.01 * sigma) << g;
  }
  EXPECT_GT(known, inside.size() - 10);
}

TEST(Resample, SaysWhereNothingIsKnown) {
  const std::vector<double> grid = linear(4960, 5240, 1);
  std::vector<Spectra> cameras{dark_camera(5000, 100, 1), dark_camera(5120, 100, 1)};
  const std::vector<double> light = lines_on(grid);
  for (Spectra& s : cameras) shine(s, grid, light, 1, 1);
  for (std::size_t i = 40; i < 60; ++i) cameras[1].mask(0, i) = 8;
  cameras[1].flux(0, 80) = std::numeric_limits<double>::quiet_NaN();
  cameras[1].ivar(0, 81) = std::numeric_limits<double>::infinity();
  const Coadd found = resample(cameras, grid);
  const auto at = [&](double w) { return static_cast<std::size_t>(w - 4960); };
  for (std::size_t g = 0; g < grid.size(); ++g) {
    ASSERT_TRUE(std::isfinite(found.flux(0, g)) && std::isfinite(found.ivar(0, g))) << g;
    EXPECT_EQ(found.ivar(0, g) > 0, found.mask(0, g) == 0) << g;
    EXPECT_TRUE(found.ivar(0, g) > 0 || found.flux(0, g) == 0) << g;
  }
  for (const double w : {4960.0, 4990.0, 5100.0, 5225.0, 5240.0}) {
    EXPECT_EQ(found.mask(0, at(w)), kAllBadPix) << w;
  }
  for (const double w : {5002.0, 5075.0, 5125.0, 5184.0, 5195.0}) {
    EXPECT_GT(found.ivar(0, at(w)), 0) << w;
  }
  EXPECT_EQ(found.mask(0, at(5160)), 8U | kAllBadPix);
  for (std::size_t k = 0; k < found.resolution.size(); ++k) {
    ASSERT_TRUE(std::isfinite(found.resolution.data()[k]));
  }
}

TEST(Resample, IsTheSameForAnyNumberOfThreadsAndOfATargetWithoutExposuresNothing) {
  const std::vector<double> grid = linear(5000, 5079.2, 1);
  Spectra s = dark_camera(5000, 100, 4);
  shine(s, grid, lines_on(grid), 1, 1);
  const std::vector<ResampledCamera> cameras{{&s, 'b'}};
  const std::vector<std::vector<std::size_t>> targets{{0, 2}, {1, 3}, {}};
  SerialExecutor serial;
  TestThreads threads(3);
  const Coadd a = resample_exposures(cameras, targets, grid, {}, serial),
              b = resample_exposures(cameras, targets, grid, {}, threads);
  EXPECT_TRUE(std::equal(a.flux.data(), a.flux.data() + a.flux.size(), b.flux.data()));
  EXPECT_TRUE(std::equal(a.resolution.data(), a.resolution.data() + a.resolution.size(),
                         b.resolution.data()));
  EXPECT_EQ(a.exposures, (std::vector<std::size_t>{2, 2, 0}));
  EXPECT_EQ(a.ivar(2, 50), 0);
  EXPECT_EQ(a.mask(2, 50), kAllBadPix);
  const std::vector<std::vector<std::size_t>> wrong{{4}};
  EXPECT_EQ(
      loom::test::status_of([&] { (void)resample_exposures(cameras, wrong, grid, {}, serial); }),
      Status::kWrongShape);
}

TEST(Resample, RefusesBinsThatAreFarTooFineAndGridsBetweenCameras) {
  const Spectra a = dark_camera(5000, 50, 1), b = dark_camera(5200, 50, 1);
  EXPECT_EQ(loom::test::status_of([&] {
              (void)resample({a, b}, linear(5000, 5030, 0.01));
            }),
            Status::kUsage);
  EXPECT_EQ(loom::test::status_of([&] {
              (void)resample({a, b}, linear(5100, 5150, 1));
            }),
            Status::kUsage);
}

}  // namespace
}  // namespace fiberloom::calibrate
