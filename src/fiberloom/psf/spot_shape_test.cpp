// SPDX-License-Identifier: BSD-3-Clause
// Spots that are images or two cores: the summed tables against plain loops, the kernels against
// the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "fiberloom/psf/two_core_spots.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

std::vector<double> some_image(std::size_t ny, std::size_t nx) {
  std::vector<double> v;
  for (std::size_t i = 0; i < ny * nx; ++i)
    v.push_back(1 + std::sin(0.7 * static_cast<double>(i)) +
                std::cos(0.31 * static_cast<double>(i / nx)));
  return v;
}

TEST(FineSpot, SharesTheLightOfItsPixelsAmongCcdPixels) {
  constexpr int kFine = 4, kNx = 4, kNy = 3;
  const auto image = some_image(8, 12);
  const FineSpot spot(image.data(), 8, 12);
  for (const auto& [x0, y0] : {std::pair{0.0, 0.0}, {-1.0, -3.0}, {-2.3, -0.6}, {-3.9, -3.2}}) {
    std::vector<double> got(kNx * kNy, 0.0), expected = got;
    spot.add_binned(x0, y0, kFine, 2.0, kNx, kNy, got.data());
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 12; ++c) {
        for (int y = 0; y < kNy; ++y) {
          for (int x = 0; x < kNx; ++x) {
            const auto inside = [](double a, double b, double low) {
              return std::max(0.0, std::min(a + 1, b + low) - std::max(a, low));
            };
            expected[static_cast<std::size_t>(y * kNx + x)] +=
                2 * image[static_cast<std::size_t>(r * 12 + c)] * inside(c, kFine, x0 + x * kFine) *
                inside(r, kFine, y0 + y * kFine);
          }
        }
      }
    }
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
  }
}

TEST(SincShift, MovesABumpByWhatItIsTold) {
  constexpr int kN = 25;
  std::vector<double> v;
  const auto bump = [](double x, double y) { return std::exp(-0.5 * (x * x + y * y) / 4); };
  for (int i = 0; i < kN * kN; ++i) v.push_back(bump(i % kN - 12, i / kN - 12));
  sinc_shift(kN, kN, 0.3, -0.4, v.data());
  for (int i = 0; i < kN * kN; ++i)
    EXPECT_NEAR(v[static_cast<std::size_t>(i)], bump(i % kN - 12.3, i / kN - 11.6), 2e-3) << i;
}

PsfModel psf_with(std::shared_ptr<const SpotShape> shape) {
  PsfModel psf;
  psf.npix_x = 60;
  psf.npix_y = 200;
  psf.x = {5000, 5100, Array2D<double>(2, 2, 0.4)};
  psf.y = {5000, 5100, Array2D<double>(2, 2, 80.0)};
  psf.sigma_x = psf.sigma_y = {5000, 5100, Array2D<double>(2, 1, 1.0)};
  for (std::size_t f = 0; f < 2; ++f) {
    psf.x.coef(f, 0) = 20 + 15 * static_cast<double>(f);
    psf.y.coef(f, 0) = 100;
  }
  psf.shape = std::move(shape);
  return psf;
}

std::shared_ptr<const SpotShape> pca_shape() {
  PcaPix pca;
  pca.x_power = {0, 1};
  pca.y_power = {0, 1};
  pca.group = {0, 1};
  pca.x0 = pca.y0 = {30, 30};
  pca.x_scale = pca.y_scale = {0.01, 0.01};
  pca.ny = 11;
  pca.nx = 13;
  for (int i = 0; i < 4; ++i) {
    for (const double v : some_image(11, 13)) pca.images.push_back(i % 2 == 0 ? v + i : 0.1 * v);
  }
  return make_pca_pix(pca);
}

std::shared_ptr<const SpotShape> mono_shape(int fine, double brightness) {
  const auto ny = static_cast<std::size_t>(7 * fine), nx = static_cast<std::size_t>(9 * fine);
  MonoSpot spot{ny, nx, fine, some_image(ny, nx)};
  for (double& v : spot.spot) v *= brightness;
  return make_mono_spot(spot);
}

SpotGrid spot_grid(int fine, int columns = 8) {
  SpotGrid grid{{0.3, 1.1}, {0, 1, 2}, {5000, 5020, 5070}, 0, 0, fine, {}};
  grid.spot_ny = static_cast<std::size_t>(6 * fine);
  grid.spot_nx = static_cast<std::size_t>(columns * fine);
  for (int i = 0; i < 9; ++i) {
    for (const double v : some_image(grid.spot_ny, grid.spot_nx))
      grid.spots.push_back(v * (1 + 0.1 * i) + 0.2 * i);
  }
  return grid;
}

TEST(SpotGrid, MovesSpotsByPartsOfFinePixelsAsTheirLightIsShared) {
  for (const int fine : {1, 4}) {
    const SpotGrid grid = spot_grid(fine);
    const auto shape = make_spot_grid(grid);
    const std::size_t n = static_cast<std::size_t>(shape->nx() * shape->ny());
    const std::size_t size = grid.spot_ny * grid.spot_nx;
    for (const double at : {20.0, 20.37, 20.75, 20.9999999999999999, 20.999}) {
      std::vector<double> got(n), expected(n, 0.0);
      // a quarter of the way from wavelength 0 to 1, and of 0.3 from position 0 to 1
      shape->evaluate({0, 5005, at, at + 0.5}, got.data());
      for (std::size_t k = 0; k < 4; ++k) {
        const double weight = (k < 2 ? 0.7 : 0.3) * (k % 2 == 0 ? 0.75 : 0.25);
        const double x = at - std::floor(at), y = at + 0.5 - std::floor(at + 0.5);
        FineSpot(grid.spots.data() + (k / 2 * 3 + k % 2) * size, grid.spot_ny, grid.spot_nx)
            .add_binned(-x * fine, -y * fine, fine, weight, shape->nx(), shape->ny(),
                        expected.data());
      }
      make_unit_light(expected.data(), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], expected[i], 1e-14) << at << ' ' << i;
    }
  }
}

/// Of two fibres and 16 bins, the kernels against the definition. Returns how many bins were dead.
int expect_kernels_agree(const PsfModel& psf, const std::vector<double>& wave, Isa isa,
                         double float_tolerance) {
  int dead = 0;
  SCOPED_TRACE(isa_name(isa));
  const SpotPlan plan = make_spot_plan(psf, wave);
  const SpotKernels& kernels = spot_kernels(isa);
  std::vector<double> tile(kLanes * plan.spot_size());
  std::vector<float> floats(kFloatLanes * plan.float_spot_size());
  for (int f = 0; f < 2; ++f) {
    const FiberTrace trace = trace_fiber(plan, f);
    kernels.float_spots(plan, f, 0, trace, floats.data());
    for (int j = 0; j < 16; ++j) {
      if (j % kLanes == 0) make_spots(kernels.spots, plan, f, j, trace, tile.data());
      const auto bin = static_cast<std::size_t>(j);
      const Spot spot = spot_reference(psf, static_cast<std::size_t>(f), wave[bin]);
      const bool live = trace.live[bin] != 0;
      dead += live ? 0 : 1;
      EXPECT_EQ(spot.x0, trace.x0[bin]);
      const double* at = tile.data() + static_cast<std::size_t>(j % kLanes) * plan.spot_size();
      const float* narrow = floats.data() + bin * plan.float_spot_size();
      double elsewhere = 0;
      for (int i = 0; i < plan.ny * plan.stride; ++i) elsewhere += std::abs(at[i]);
      for (int r = 0; r < spot.ny; ++r) {
        for (int c = 0; c < spot.nx; ++c) {
          const double v = live ? spot.value[static_cast<std::size_t>(r * spot.nx + c)] : 0;
          EXPECT_NEAR(at[r * plan.stride + c + spot.x0 - trace.frame[bin]], v, 2e-15);
          const int shift = spot.x0 - frame_of(spot.x0, kFloatLanes);
          EXPECT_NEAR(static_cast<double>(narrow[r * plan.float_stride + c + shift]), v,
                      float_tolerance);
          elsewhere -= v;
        }
      }
      EXPECT_NEAR(elsewhere, 0, 1e-13);
    }
  }
  return dead;
}

void expect_kernels_agree(const PsfModel& psf, const std::vector<double>& wave,
                          double float_tolerance = 1e-7) {
  for (const Isa isa : available_isas())
    EXPECT_EQ(expect_kernels_agree(psf, wave, isa, float_tolerance), 0);
}

TEST(SpotKernel, GivesTheSpotsOfAShapeAtEachIsa) {
  std::vector<double> wave;
  for (int j = 0; j < 19; ++j) wave.push_back(5011.3 + 1.37 * j);
  expect_kernels_agree(psf_with(pca_shape()), wave);
  for (const int fine : {1, 3}) {
    expect_kernels_agree(psf_with(make_spot_grid(spot_grid(fine))), wave);
    // a float does not hold such numbers
    for (const double brightness : {1.0, 1e-60, 1e60})
      expect_kernels_agree(psf_with(mono_shape(fine, brightness)), wave);
  }
}

TEST(SpotKernel, GivesSpotsNarrowerThanAPackAndOfOneImage) {
  std::vector<double> wave;
  for (int j = 0; j < 19; ++j) wave.push_back(5011.3 + 1.37 * j);
  for (const int columns : {1, 2, 5, 20}) {
    // half of the light in a pixel: a float's last digits
    expect_kernels_agree(psf_with(make_spot_grid(spot_grid(2, columns))), wave, 3e-7);
  }
  PcaPix pca;
  pca.x_power = pca.y_power = {1};  // below zero in the second fibre: what a shift leaves above
  pca.group = {0, 0};
  pca.x0 = {0, 60};
  pca.y0 = {0, 0};
  pca.x_scale = pca.y_scale = {0.01, 0.01};
  pca.ny = pca.nx = 7;
  pca.images = some_image(7, 7);
  expect_kernels_agree(psf_with(make_pca_pix(pca)), wave, 3e-7);
}

TEST(SpotKernel, LeavesSpotsBesideTheCcdDark) {
  std::vector<double> wave;
  for (int j = 0; j < 19; ++j) wave.push_back(5011.3 + 1.37 * j);
  for (const auto& shape : {pca_shape(), mono_shape(3, 1), make_spot_grid(spot_grid(3))}) {
    PsfModel psf = psf_with(shape);
    for (const Isa isa : available_isas()) {
      for (const int rows : {44, 46, 48, 50}) {  // within packs, too
        psf.npix_y = rows;
        const int dead = expect_kernels_agree(psf, wave, isa, 1e-7);
        EXPECT_GT(dead, 2) << rows;
        EXPECT_LT(dead, 30) << rows;
      }
    }
  }
}

TEST(SpotKernel, ShiftsByWholePixelsAndByHardlyAny) {
  // rows a pixel and almost a pixel apart: 0.625 Angstrom each
  std::vector<double> wave;
  for (const double off : {0.0, 1e-13, 1e-9, 1e-6, 2e-6, 0.25, 0.5, 1 - 1e-7}) {
    wave.push_back(5050 + 0.625 * off);
    wave.push_back(5052.5 - 0.625 * off);
  }
  PsfModel psf = psf_with(mono_shape(1, 1));
  for (std::size_t f = 0; f < 2; ++f) psf.x.coef(f, 1) = 0;
  expect_kernels_agree(psf, wave);
  psf.shape = pca_shape();
  expect_kernels_agree(psf, wave);
}

LegendreSeries of_two(double first, double slope, double second = NAN) {
  LegendreSeries s{5000, 5100, Array2D<double>(2, 2, slope)};
  s.coef(0, 0) = first;
  s.coef(1, 0) = std::isnan(second) ? first : second;
  return s;
}

/// Cores of these degrees; the second one of the second fibre has no width.
TwoCores two_cores(int degree, int second_degree, double tail_index) {
  TwoCores cores;
  cores.hsize_x = 8;
  cores.hsize_y = 5;
  const auto core = [](int deg_x, int deg_y, LegendreSeries sigma_x, LegendreSeries sigma_y,
                       double light) {
    HermiteCore c{deg_x, deg_y, std::move(sigma_x), std::move(sigma_y), {}};
    for (int i = 0; i < (deg_x + 1) * (deg_y + 1); ++i)
      c.coef.push_back(
          of_two(i == 0 ? light : 0.03 * light * std::sin(i), 0.01 * light * std::cos(i)));
    return c;
  };
  cores.first = core(degree, degree, of_two(1, 0), of_two(1, 0), 1);
  cores.second =
      core(second_degree, second_degree - 1, of_two(2.1, 0.1), of_two(1.9, 0, -0.1), 0.1);
  cores.cut_sigma = of_two(2.9, 0.3);
  cores.tails = {of_two(0.003, 0.001), of_two(1.1, 0), of_two(1, 0.1), of_two(0.9, 0),
                 of_two(tail_index, 0)};
  return cores;
}

TEST(SpotKernel, GivesTheSpotsOfTwoCoresAtEachIsa) {
  std::vector<double> wave;
  for (int j = 0; j < 19; ++j) wave.push_back(5011.3 + 1.37 * j);
  for (const double index : {2.0, 2.3}) {
    for (const int degree : {3, 6}) {
      const TwoCores cores = two_cores(degree, 2, index);
      expect_kernels_agree(psf_with(make_two_cores(cores)), wave, 5e-7);
    }
  }
  // a core of the tails alone: no light in the middle
  TwoCores bare = two_cores(1, 1, 2);
  bare.tails.core = of_two(0, 0);
  expect_kernels_agree(psf_with(make_two_cores(bare)), wave, 5e-7);
}

TEST(SpotKernel, CutsTheFirstCoreWhereItShould) {
  TwoCores cores = two_cores(6, 2, 2);
  const auto light_of = [&](double cut) {
    cores.cut_sigma = of_two(cut, 0);
    const SpotPlan plan = make_spot_plan(psf_with(make_two_cores(cores)), {5030, 5031});
    const FiberTrace trace = trace_fiber(plan, 0);
    std::vector<double> tile(kLanes * plan.spot_size());
    make_spots(spot_kernels(active_isa()).spots, plan, 0, 0, trace, tile.data());
    return *std::max_element(tile.begin(), tile.begin() + plan.ny * plan.stride);
  };
  const double whole = light_of(100), cut = light_of(0.2), none = light_of(0);
  EXPECT_GT(whole, 0.1);
  EXPECT_LT(none, 0.4 * whole) << "the second core and the tails alone";
  EXPECT_NE(cut, whole);
}

TEST(SpotPlan, RefusesCoresThatItHasNoRoomFor) {
  const TwoCores cores = two_cores(13, 2, 2);
  const PsfModel psf = psf_with(make_two_cores(cores));
  EXPECT_THROW((void)make_spot_plan(psf, {5030, 5031}), loom::Error);
}

TEST(MakeUnitLight, CutsWhatIsNegativeAndLeavesNoLightDark) {
  std::vector<double> v{1, -2, 3}, none{-1, 0};
  std::vector<double> odd{-1, std::nan(""), 3e307, 1e308};
  make_unit_light(v.data(), v.size());
  EXPECT_EQ(v, (std::vector<double>{0.25, 0, 0.75}));
  for (auto* dark : {&none, &odd}) {
    make_unit_light(dark->data(), dark->size());
    EXPECT_EQ(*dark, std::vector<double>(dark->size(), 0.0));
  }
}

}  // namespace
}  // namespace fiberloom
