// SPDX-License-Identifier: BSD-3-Clause
// Weights of the model, and outliers: on frames whose light, noise and hits are known.
#include "fiberloom/extract/exact/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom::exact {
namespace {

constexpr double kNoise = 3;

/// Six fibres in two bundles; light sits on the grid's bins and on beyond them to the CCD's ends.
struct Sky {
  PsfModel psf;
  ExtractOptions options;
  Array2D<double> mean, image;
  bool by_data = false;  ///< weights of the noisy pixels, not of their mean

  explicit Sky(double continuum = 300, double noise = 1, std::uint64_t seed = 5) {
    test::SmallPsf o;
    o.nfiber = 6;
    o.npix_y = 190;
    psf = test::make_psf(o);
    psf.npix_x += 12;  // bundles share no pixel
    for (std::size_t f = 3; f < 6; ++f) psf.x.coef(f, 0) += 12;
    options.wave = test::make_grid(40);
    options.bundle_size = 3;
    mean = Array2D<double>(static_cast<std::size_t>(psf.npix_y),
                           static_cast<std::size_t>(psf.npix_x), 0.0);
    for (const double wave : test::make_grid(130)) {
      for (std::size_t f = 0; f < 6; ++f) shine(f, wave, continuum);
    }
    expose(noise, seed);
  }
  void shine(std::size_t fiber, double wave, double electrons) {
    const Spot spot = spot_reference(psf, fiber, wave);
    for (int r = 0; r < spot.ny; ++r) {
      for (int c = 0; c < spot.nx; ++c) {
        const int y = spot.y0 + r, x = spot.x0 + c;
        if (y < 0 || y >= psf.npix_y || x < 0 || x >= psf.npix_x) continue;
        mean(static_cast<std::size_t>(y), static_cast<std::size_t>(x)) +=
            electrons * spot.value[static_cast<std::size_t>(r * spot.nx + c)];
      }
    }
  }
  /// Gaussian noise of the mean's variance.
  void expose(double noise, std::uint64_t seed) {
    image = mean;
    const CounterRng rng(seed, 3);
    for (std::size_t i = 0; i < image.size(); ++i)
      image.data()[i] += noise * rng.normal(i) * std::sqrt(kNoise * kNoise + mean.data()[i]);
  }
  /// Charge on the pixel of a fibre's trace at a wavelength, and `right` of it.
  CcdPixel hit(std::size_t fiber, double wave, double electrons, int right = 0, int up = 0) {
    const CcdPixel p{static_cast<int>(std::lround(psf.x(fiber, wave))) + right,
                     static_cast<int>(std::lround(psf.y(fiber, wave))) + up};
    image(static_cast<std::size_t>(p.row), static_cast<std::size_t>(p.column)) += electrons;
    return p;
  }
  [[nodiscard]] CcdFrame ccd(const std::vector<CcdPixel>& masked = {}) const {
    Array2D<double> pixels = image, ivar(image.rows(), image.cols());
    for (std::size_t i = 0; i < ivar.size(); ++i) {
      const double light = by_data ? image.data()[i] : mean.data()[i];
      ivar.data()[i] = 1 / (kNoise * kNoise + std::max(light, 0.0));
    }
    for (const CcdPixel& p : masked) {
      ivar(static_cast<std::size_t>(p.row), static_cast<std::size_t>(p.column)) = 0;
      pixels(static_cast<std::size_t>(p.row), static_cast<std::size_t>(p.column)) = 0;
    }
    CcdFrame out{PixelArray(std::move(pixels)), PixelArray(std::move(ivar))};
    out.readnoise.all_e = kNoise;
    return out;
  }
  [[nodiscard]] ExtractResult extract(const CcdFrame& frame, const Observer& observer = {},
                                      SolveAgain again = SolveAgain::kTouched) const {
    SerialExecutor serial;
    Tuning tuning = tuning_of(options);
    tuning.solve_again = again;
    return exact::extract(frame, psf, options, tuning, active_isa(), serial, observer, nullptr);
  }
};

template <class T>
bool same(const T& a, const T& b) {
  return a.size() == b.size() && std::equal(a.data(), a.data() + a.size(), b.data());
}

TEST(ModelVariance, TakesTheBiasOutOfWeightsThatWereMadeOfTheNoise) {
  double offset[2]{}, n = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Sky sky(100, 1, seed);
    sky.by_data = true;
    for (const bool model : {false, true}) {
      sky.options.model_variance = model;
      const ExtractResult r = sky.extract(sky.ccd());
      for (std::size_t i = 0; i < r.flux.size(); ++i) offset[model] += r.flux.data()[i] * 0.8 - 100;
      EXPECT_EQ(r.bundles[0].refinements > 0, model);
      EXPECT_LE(r.bundles[0].refinements, 3);
    }
    n += 240;
  }
  EXPECT_LT(offset[0] / n, -2) << "electrons a bin, else this test would see nothing";
  EXPECT_LT(std::abs(offset[1] / n), 1) << "12 electrons of noise a bin: 0.35 of the mean";
}

TEST(ModelVariance, GivesTheIvarOfTheTrueVariance) {
  Sky sky(100);
  const ExtractResult right = sky.extract(sky.ccd());
  sky.by_data = true;
  sky.options.model_variance = true;
  const ExtractResult model = sky.extract(sky.ccd());
  double ratio = 0;
  for (std::size_t i = 0; i < right.ivar.size(); ++i)
    ratio += model.ivar.data()[i] / right.ivar.data()[i];
  EXPECT_NEAR(ratio / static_cast<double>(right.ivar.size()), 1, 0.02);
}

TEST(ModelVariance, TakesTheReadNoiseOfEachPixelWhereItIsKnown) {
  Sky sky(0, 1);
  sky.options.model_variance = true;
  CcdFrame frame = sky.ccd();
  const ExtractResult all = sky.extract(frame);
  frame.readnoise.by_pixel = Array2D<float>(sky.image.rows(), sky.image.cols(), 6.0F);
  const ExtractResult by_pixel = sky.extract(frame);
  EXPECT_NEAR(all.ivar(2, 20) / by_pixel.ivar(2, 20), 4, 0.4) << "rectified noise counts as light";
}

TEST(Reject, DropsHitsOfOnePixelOnATraceAndTracksAndNothingElse) {
  Sky sky;
  std::set<CcdPixel> hits{sky.hit(1, 5050, 3000), sky.hit(4, 5042, 400)};
  for (int i = 0; i < 6; ++i) hits.insert(sky.hit(2, 5058, 800.0 + 300 * i, i - 2, i));
  sky.options.reject_nsig = 6;
  const ExtractResult r = sky.extract(sky.ccd());
  EXPECT_EQ(std::set<CcdPixel>(r.rejected.begin(), r.rejected.end()), hits);
  EXPECT_EQ(r.bundles[0].rejected + r.bundles[1].rejected, hits.size());
  std::size_t cosmic = 0;
  for (std::size_t i = 0; i < r.mask.size(); ++i) cosmic += (r.mask.data()[i] & kCosmic) != 0;
  EXPECT_GT(cosmic, 4U);
  EXPECT_LT(cosmic, 30U);
}

TEST(Reject, GivesTheBytesOfAFrameInWhichTheseWereMaskedBefore) {
  Sky sky;
  const std::vector<CcdPixel> hits{sky.hit(1, 5050, 3000), sky.hit(3, 5044, 20000),
                                   sky.hit(3, 5044, 20000, 1)};
  const ExtractResult before = sky.extract(sky.ccd(hits));
  sky.options.reject_nsig = 6;
  const ExtractResult after = sky.extract(sky.ccd());
  ASSERT_EQ(after.rejected.size(), hits.size());
  EXPECT_TRUE(same(after.flux, before.flux));
  EXPECT_TRUE(same(after.ivar, before.ivar));
  EXPECT_TRUE(same(after.resolution, before.resolution));
  EXPECT_TRUE(same(after.chi2pix, before.chi2pix));
  EXPECT_TRUE(same(after.pixmask_fraction, before.pixmask_fraction));
}

TEST(Reject, LeavesNarrowLinesAlone) {
  for (const double electrons : {500.0, 5000.0, 200000.0}) {
    Sky sky;
    for (std::size_t f = 0; f < 6; ++f) sky.shine(f, sky.options.wave[8 + 4 * f], electrons);
    sky.expose(1, 9);
    sky.options.reject_nsig = 6;
    sky.options.model_variance = true;
    EXPECT_TRUE(sky.extract(sky.ccd()).rejected.empty()) << electrons;
  }
}

TEST(Reject, DropsNothingOfFibresThatThePsfDoesNotDescribe) {
  Sky sky(20000);
  for (std::size_t f = 0; f < 6; ++f) sky.psf.x.coef(f, 0) += f == 4 ? 1.0 : 0.0;
  sky.options.reject_nsig = 6;
  std::string said;
  Observer observer;
  observer.message = [&](LogLevel, const std::string& text) { said += text; };
  const ExtractResult r = sky.extract(sky.ccd(), observer);
  EXPECT_EQ(r.bundles[0].unfit_fibers, 0);
  EXPECT_GE(r.bundles[1].unfit_fibers, 1);
  EXPECT_NE(said.find("the PSF does not describe"), std::string::npos) << said;
}

TEST(Refine, OfWhatIsTouchedGivesWhatSolvingAllAgainDoes) {
  Sky sky;
  sky.options.reject_nsig = 6;
  sky.hit(1, 5050, 3000);
  sky.hit(4, 5042, 400);
  for (int i = 0; i < 6; ++i) sky.hit(2, 5058, 800.0 + 300 * i, i - 2, i);
  std::vector<CcdPixel> dead;  // a bin that is unconstrained from the start
  for (int r = -7; r < 7; ++r) {
    for (int c = -9; c < 9; ++c) dead.push_back(sky.hit(5, 5048, 0, c, r));
  }
  const CcdFrame frame = sky.ccd(dead);
  for (const bool model : {false, true}) {
    sky.options.model_variance = model;
    const ExtractResult touched = sky.extract(frame);
    const ExtractResult all = sky.extract(frame, {}, SolveAgain::kAll);
    EXPECT_GE(touched.bundles[0].refinements, 1);
    EXPECT_EQ(touched.rejected, all.rejected);
    if (!model) {
      EXPECT_TRUE(same(touched.flux, all.flux));
      EXPECT_TRUE(same(touched.ivar, all.ivar));
    }
    double worst = 0;  // weights of the model follow solutions that are known to 0.01 sigma
    for (std::size_t i = 0; i < all.flux.size(); ++i) {
      const double off = touched.flux.data()[i] - all.flux.data()[i];
      worst = std::max(worst, std::abs(off) * std::sqrt(all.ivar.data()[i]));
    }
    EXPECT_LT(worst, 1e-3);
  }
}

TEST(Refine, DoesNotDependOnWhichFibresAreAskedFor) {
  Sky sky;
  sky.hit(1, 5050, 3000);
  sky.options.reject_nsig = 6;
  sky.options.model_variance = true;
  const ExtractResult all = sky.extract(sky.ccd());
  sky.options.spec_min = 2;
  sky.options.nspec = 2;
  const ExtractResult two = sky.extract(sky.ccd());
  const std::size_t n = all.flux.cols();
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_TRUE(std::equal(two.flux.row(s), two.flux.row(s) + n, all.flux.row(s + 2)));
    EXPECT_TRUE(std::equal(two.mask.row(s), two.mask.row(s) + n, all.mask.row(s + 2)));
  }
}

TEST(Refine, NeedsTheReadNoise) {
  Sky sky;
  sky.options.model_variance = true;
  CcdFrame frame = sky.ccd();
  frame.readnoise = {};
  EXPECT_EQ(test::status_of([&] { (void)sky.extract(frame); }), Status::kMissingKeyword);
  frame.readnoise.all_e = kNoise;
  frame.readnoise.by_pixel = Array2D<float>(3, 3, 3.0F);
  EXPECT_EQ(test::status_of([&] { (void)sky.extract(frame); }), kSizeMismatch);
  sky.options.model_variance = false;
  sky.options.reject_nsig = 2;
  EXPECT_EQ(test::status_of([&] { (void)sky.extract(sky.ccd()); }), Status::kUsage);
}

}  // namespace
}  // namespace fiberloom::exact
