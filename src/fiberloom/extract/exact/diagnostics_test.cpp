// SPDX-License-Identifier: BSD-3-Clause
// Model image and chi2pix against dense sums over spot_reference(), on every level. The engine's
// spots are float32 here.
#include "fiberloom/extract/exact/diagnostics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/exact/test_bundle.hpp"

namespace fiberloom::exact {
namespace {

constexpr double kPsfError = 0.03;

struct Diagnosed {
  TestBundle bundle;
  std::vector<double> x;
  Array2D<float> image;

  explicit Diagnosed(int nbin = 60, double step = 0.8)
      : bundle(test::make_psf(), test::make_grid(nbin, step)) {
    for (std::size_t i = 0; i < bundle.size(); ++i)
      x.push_back(40 + 30 * std::sin(0.37 * static_cast<double>(i)));
  }
  void run(Isa isa, int guard) {
    bundle.assemble_equations();
    const std::vector<double> spread = bundle.spread(x);
    const Strip& strip = bundle.work.strip;
    image = Array2D<float>(static_cast<std::size_t>(strip.rows),
                           static_cast<std::size_t>(strip.pitch), 0.0F);
    diagnose(bundle.plan, bundle.geometry, spot_kernels(isa).float_spots, pixel_kernels(isa), strip,
             bundle.normal(), spread.data(), kPsfError, guard, bundle.work.diagnostics, &image);
  }
  [[nodiscard]] double chi2pix(std::size_t u) {
    const int fiber = static_cast<int>(u / bundle.nbin());
    return bundle.work.diagnostics.chi2pix_of(fiber,
                                              bundle.geometry.nbin_padded)[u % bundle.nbin()];
  }
  /// Largest difference of the image from `model` on the CCD, relative to its largest pixel.
  [[nodiscard]] double image_difference(const std::vector<double>& model) const {
    const Strip& strip = bundle.work.strip;
    double worst = 0, largest = 0;
    for (int r = 0; r < strip.rows; ++r) {
      for (int c = 0; c < strip.pitch; ++c) {
        const int y = r + strip.y0, px = c + strip.x0;
        if (y < 0 || px < 0 || y >= bundle.psf.npix_y || px >= bundle.psf.npix_x) continue;
        const double want = model[static_cast<std::size_t>(y * bundle.psf.npix_x + px)];
        worst = std::max(
            worst,
            std::abs(image(static_cast<std::size_t>(r), static_cast<std::size_t>(c)) - want));
        largest = std::max(largest, std::abs(want));
      }
    }
    return worst / largest;
  }
};

class DiagnoseTest : public testing::TestWithParam<Isa> {};

void expect_dense_sums(Diagnosed& d) {
  const DenseSpots spots(d.bundle);
  const std::vector<double> model = spots.projected(d.x), weight = pixels_of(d.bundle.ccd.ivar),
                            pixel = pixels_of(d.bundle.ccd.image);
  EXPECT_LT(d.image_difference(model), 1e-6);
  std::vector<double> chi2(model.size(), 0.0), good(model.size(), 0.0);
  for (std::size_t p = 0; p < model.size(); ++p) {
    if (!(weight[p] > 0)) continue;
    good[p] = 1.0;
    chi2[p] =
        std::pow(pixel[p] - model[p], 2) / (1 / weight[p] + std::pow(kPsfError * model[p], 2));
  }
  const std::vector<double> sum = spots.transposed(chi2), phi = spots.transposed(good);
  for (std::size_t u = 0; u < sum.size(); ++u) {
    const double want = phi[u] > 0 ? sum[u] / phi[u] : 0.0;
    EXPECT_NEAR(d.chi2pix(u), want, 1e-5 * (1 + std::abs(want))) << u;
  }
}

TEST_P(DiagnoseTest, TheModelIsAxAndChi2pixTheMeanOverGoodPixels) {
  Diagnosed d;
  d.run(GetParam(), 0);
  expect_dense_sums(d);
}

TEST_P(DiagnoseTest, TheSameWhereTheSpotsOfSeveralTilesShareRows) {
  Diagnosed d(110, 0.3);
  ASSERT_GT(d.bundle.geometry.band, kFloatLanes);
  d.run(GetParam(), 0);
  expect_dense_sums(d);
}

TEST_P(DiagnoseTest, LightOfAnUnconstrainedBinIsOnGoodPixelsOnly) {
  Diagnosed d;
  // all pixels of the spot of a bin of fibre 1 but one at its rim, and its neighbours' there
  const std::size_t u = d.bundle.nbin() + 35;
  const Spot s = spot_reference(d.bundle.psf, 1, d.bundle.wave[35]);
  auto& ivar = std::get<Array2D<double>>(d.bundle.ccd.ivar.data());
  for (int r = 0; r < s.ny; ++r) {
    for (int c = 2; c < s.nx - 2; ++c)
      ivar(static_cast<std::size_t>(s.y0 + r), static_cast<std::size_t>(s.x0 + c)) = 0;
  }
  for (double& x : d.x) x = 0;
  d.x[u] = 1000;
  d.run(GetParam(), 0);
  const double phi = d.bundle.normal().phi(1)[35];
  ASSERT_GT(phi, 0);
  ASSERT_LT(phi, kUnconstrainedBelow);
  std::vector<double> want = DenseSpots(d.bundle).projected(d.x);
  const std::vector<double> weight = pixels_of(d.bundle.ccd.ivar);
  for (std::size_t p = 0; p < want.size(); ++p) want[p] *= weight[p] > 0 ? 1 : 0;
  EXPECT_LT(d.image_difference(want), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Levels, DiagnoseTest, testing::ValuesIn(available_isas()),
                         [](const auto& test) { return std::string(isa_name(test.param)); });

TEST(Diagnose, GuardBinsCountAsFarAsTheyMeetTheGrid) {
  Diagnosed d;
  constexpr int kGuard = 25;
  d.run(active_isa(), kGuard);
  const BinRange lit = model_bins(d.bundle.geometry, kGuard);
  ASSERT_GT(lit.first, 0);
  std::vector<double> x = d.x;
  for (std::size_t u = 0; u < x.size(); ++u) {
    const int j = static_cast<int>(u % d.bundle.nbin());
    if (j < lit.first || j >= lit.last) x[u] = 0;
  }
  EXPECT_LT(d.image_difference(DenseSpots(d.bundle).projected(x)), 1e-6);
}

TEST(Diagnose, StaysFiniteWhateverTheFlux) {
  Diagnosed d;
  for (double& x : d.x) x *= 1e200;
  d.run(active_isa(), 0);
  for (std::size_t u = 0; u < d.x.size(); ++u) ASSERT_TRUE(std::isfinite(d.chi2pix(u))) << u;
}

}  // namespace
}  // namespace fiberloom::exact
