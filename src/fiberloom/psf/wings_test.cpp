// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/psf/wings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kFibers = 3;

LegendreSeries series(std::vector<double> c, double per_fiber = 0) {
  LegendreSeries s{5000, 6000, Array2D<double>(kFibers, c.size())};
  for (std::size_t f = 0; f < kFibers; ++f) {
    for (std::size_t k = 0; k < c.size(); ++k) s.coef(f, k) = c[k];
    s.coef(f, 0) += per_fiber * static_cast<double>(f);
  }
  return s;
}

/// Traces that slant, two fibres near an edge, tails that vary.
PsfModel model_with_tails() {
  PsfModel psf;
  psf.npix_x = 130;
  psf.npix_y = 310;
  psf.gh_deg_x = psf.gh_deg_y = 0;
  psf.x = series({12.3, 3.1}, 40);
  psf.y = series({150, 170, 4});
  psf.sigma_x = series({1.1, 0.1});
  psf.sigma_y = series({1.2, -0.1});
  psf.gh = {series({1})};
  psf.has_tails = true;
  psf.tails = {series({0.004, 0.001}, 0.001), series({1.1}), series({1.05}), series({0.95}),
               series({1.9, 0.1}, 0.1)};
  return psf;
}

std::vector<double> grid(std::size_t n) {
  std::vector<double> wave;
  for (std::size_t j = 0; j < n; ++j)
    wave.push_back(5040 + 920.0 * static_cast<double>(j) / static_cast<double>(n - 1));
  return wave;
}

/// The definition, pixel by pixel: use(column, row, light) for each that the wing of a bin has.
template <class Use>
void each_pixel(const PsfModel& psf, std::size_t f, double wave_aa, int reach, const Use& use) {
  const double x = psf.x(f, wave_aa), y = psf.y(f, wave_aa), core = psf.tails.core(f, wave_aa);
  const double power = 1 + 0.5 * psf.tails.index(f, wave_aa);
  const double strength = psf.tails.amp(f, wave_aa) / stamp_light(psf, f, wave_aa);
  const int column = static_cast<int>(std::floor(x + 0.5));
  const int row = static_cast<int>(std::floor(y + 0.5));
  const double lean = (psf.x(f, wave_aa + 1) - x) / (psf.y(f, wave_aa + 1) - y);
  for (int r = row - reach; r <= row + reach; ++r) {
    const int middle = static_cast<int>(std::floor(x + lean * (r - y) + 0.5));
    for (int c = middle - reach; c <= middle + reach; ++c) {
      if (std::abs(c - column) <= psf.hsize_x && std::abs(r - row) <= psf.hsize_y) continue;
      const double u = (c - x) * psf.tails.xscale(f, wave_aa);
      const double v = (r - y) * psf.tails.yscale(f, wave_aa), r2 = u * u + v * v;
      use(c, r, strength * r2 / std::pow(core * core + r2, power));
    }
  }
}

Array2D<double> by_definition(const PsfModel& psf, const std::vector<double>& wave,
                              const Array2D<double>& electrons, int reach) {
  Array2D<double> image(static_cast<std::size_t>(psf.npix_y), static_cast<std::size_t>(psf.npix_x),
                        0.0);
  for (std::size_t f = 0; f < kFibers; ++f) {
    for (std::size_t j = 0; j < wave.size(); ++j) {
      if (electrons(f, j) == 0) continue;
      each_pixel(psf, f, wave[j], reach, [&](int c, int r, double light) {
        if (c < 0 || c >= psf.npix_x || r < 0 || r >= psf.npix_y) return;
        image(static_cast<std::size_t>(r), static_cast<std::size_t>(c)) += electrons(f, j) * light;
      });
    }
  }
  return image;
}

TEST(WingModel, GoesOnWithTheTailsWhereStampsEnd) {
  const PsfModel psf = model_with_tails();
  for (const int reach : {25, 50}) {
    SCOPED_TRACE(reach);
    const auto wave = grid(150);
    Array2D<double> electrons(kFibers, wave.size(),
                              0.0);  // a line, one near the edge, a short continuum
    electrons(1, 80) = 1e5;
    electrons(0, 3) = 3e4;
    for (std::size_t j = 100; j < 130; ++j) electrons(2, j) = 1000;
    SerialExecutor serial;
    const Array2D<float> wings = WingModel(psf, {wave}, reach).project(electrons.view(), serial);
    const Array2D<double> expected = by_definition(psf, wave, electrons, reach);
    double sum = 0, expected_sum = 0, off2 = 0, expected2 = 0;
    for (std::size_t i = 0; i < wings.size(); ++i) {
      const double want = expected.data()[i], got = static_cast<double>(wings.data()[i]);
      sum += got;
      expected_sum += want;
      off2 += (got - want) * (got - want);
      expected2 += want * want;
    }
    EXPECT_LT(std::sqrt(off2 / expected2), 0.02);
    EXPECT_NEAR(sum / expected_sum, 1, 2e-3);
  }
}

TEST(WingModel, CountsTheLightThatIsBeyondAStamp) {
  const PsfModel psf = model_with_tails();
  const auto wave = grid(150);
  SerialExecutor serial;
  const Array2D<double> shares = WingModel(psf, {wave}, 30).shares(serial);
  for (const std::size_t j : {std::size_t{20}, std::size_t{75}, std::size_t{140}}) {
    double expected = 0;  // wherever it falls
    each_pixel(psf, 1, wave[j], 30, [&](int, int, double light) { expected += light; });
    EXPECT_NEAR(shares(1, j) / expected, 1, 1e-2);
  }
}

TEST(WingModel, TakesAGridForEachFibre) {
  const PsfModel psf = model_with_tails();
  const auto wave = grid(100);
  Array2D<double> electrons(kFibers, wave.size(), 50.0);
  SerialExecutor serial;
  const Array2D<float> one = WingModel(psf, {wave}, 30).project(electrons.view(), serial);
  const Array2D<float> own =
      WingModel(psf, {wave, wave, wave}, 30).project(electrons.view(), serial);
  EXPECT_TRUE(std::equal(one.data(), one.data() + one.size(), own.data()));
}

TEST(WingModel, RefusesAPsfWithoutTailsThatFall) {
  const auto refuses = [](const PsfModel& psf, int reach) {
    SerialExecutor serial;
    try {
      const auto wave = grid(50);
      (void)WingModel(psf, {wave}, reach)
          .project(Array2D<double>(kFibers, wave.size(), 1.0).view(), serial);
    } catch (const Error& error) {
      return error.status() == Status::kUsage;
    }
    return false;
  };
  PsfModel psf = model_with_tails();
  EXPECT_FALSE(refuses(psf, 20));
  EXPECT_TRUE(refuses(psf, 8));
  psf.tails.index = series({-0.5});
  EXPECT_TRUE(refuses(psf, 20));
  psf.tails.index = series({std::nan("")});
  EXPECT_TRUE(refuses(psf, 20));
  psf.tails.amp = series({0});  // no light, no wings
  EXPECT_FALSE(refuses(psf, 20));
  psf.has_tails = false;
  EXPECT_TRUE(refuses(psf, 20));
}

}  // namespace
}  // namespace fiberloom
