// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/extract/wings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/extract/test_psf.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom {
namespace {

constexpr int kReach = 20;

/// Two bundles of other fibres with a gap between them, a bright fibre at its edge.
PsfModel psf_with_tails() {
  PsfModel psf = test::make_psf({.nfiber = 6, .npix_y = 160});
  for (std::size_t f = 3; f < 6; ++f) psf.x.coef(f, 0) += 9;
  psf.npix_x += 9;
  psf.has_tails = true;
  psf.tails = {test::make_series(6, {0.004}), test::make_series(6, {1}), test::make_series(6, {1}),
               test::make_series(6, {1}), test::make_series(6, {2})};
  return psf;
}

/// Tasks in another order.
class Backwards final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    while (n-- > 0) task(n);
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 3; }
};

struct Case {
  PsfModel psf = psf_with_tails();
  ExtractOptions options;
  Array2D<double> truth;  ///< electrons per bin, all light
  CcdFrame ccd;           ///< without noise

  Case() {
    options.wave = test::make_grid(70);
    options.bundle_size = 3;
    options.ndiag = 15;
    PsfModel whole = psf;  // whose stamps hold the wings
    whole.hsize_x = whole.hsize_y = kReach;
    truth = Array2D<double>(6, options.wave.size(), 40.0);
    for (std::size_t j = 0; j < options.wave.size(); ++j) truth(2, j) = 2e4;
    truth(4, 35) = 3000;
    Array2D<double> image(static_cast<std::size_t>(psf.npix_y),
                          static_cast<std::size_t>(psf.npix_x), 0.0);
    Array2D<double> ivar(image.rows(), image.cols(), 1.0 / 9);
    for (std::size_t f = 0; f < 6; ++f) {
      for (std::size_t j = 0; j < options.wave.size(); ++j) {
        const Spot spot = spot_reference(whole, f, options.wave[j]);
        for (int r = 0; r < spot.ny; ++r) {
          for (int c = 0; c < spot.nx; ++c) {
            const int y = spot.y0 + r, x = spot.x0 + c;
            if (y < 0 || y >= psf.npix_y || x < 0 || x >= psf.npix_x) continue;
            image(static_cast<std::size_t>(y), static_cast<std::size_t>(x)) +=
                truth(f, j) * spot.value[static_cast<std::size_t>(r * spot.nx + c)];
          }
        }
      }
    }
    ccd = {PixelArray(std::move(image)), PixelArray(std::move(ivar))};
    ccd.readnoise.all_e = 3;
  }

  [[nodiscard]] ExtractResult without_wings(Executor& executor) const {
    const auto extract = [&](const CcdFrame& frame, const ExtractOptions& o) {
      return extract_exact(frame, psf, o, executor);
    };
    const WinglessFrame bare = take_wings_off(ccd, psf, options, kReach, extract, executor, {});
    ExtractResult result = extract_exact(bare.ccd, psf, options, executor);
    count_wings(bare, options, result);
    return result;
  }
  /// Largest error of a faint fibre away from the ends, electrons; `sign` of it.
  [[nodiscard]] double worst(const ExtractResult& result, std::size_t f) const {
    double most = 0;
    const std::vector<double> width = widths_of(options, 0);
    for (std::size_t j = 20; j < 50; ++j)
      most = std::max(most, std::abs(result.xflux(f, j) * width[j] - truth(f, j)));
    return most;
  }
};

/// Made once.
const Case& made() {
  static const Case the_case;
  return the_case;
}

TEST(Wings, LeaveFaintFibresBesideABrightOneAndKeepItsLight) {
  const Case& c = made();
  SerialExecutor serial;
  const ExtractResult plain = extract_exact(c.ccd, c.psf, c.options, serial);
  const ExtractResult bare = c.without_wings(serial);
  EXPECT_GT(c.worst(plain, 3), 30);   // across the gap: as much as it has itself
  EXPECT_GT(c.worst(plain, 2), 200);  // light that the stamp does not hold
  for (const std::size_t f : {0U, 1U, 3U, 4U, 5U}) EXPECT_LT(c.worst(bare, f), 1) << f;
  EXPECT_LT(c.worst(bare, 2), 4);  // of 20,000
  EXPECT_GT(bare.wings.share, 0.01);
  EXPECT_LE(bare.wings.last_sigma, 0.02);
}

TEST(Wings, GiveTheSameBytesForAnyOrderOfTasksAndAnySubRange) {
  Case c = made();
  SerialExecutor serial;
  const ExtractResult one = c.without_wings(serial);
  Backwards backwards;
  const ExtractResult other = c.without_wings(backwards);
  EXPECT_TRUE(std::equal(one.flux.data(), one.flux.data() + one.flux.size(), other.flux.data()));
  c.options.spec_min = 4;
  c.options.nspec = 2;
  const ExtractResult part = c.without_wings(serial);
  EXPECT_TRUE(std::equal(part.flux.data(), part.flux.data() + part.flux.size(), one.flux.row(4)));
  EXPECT_TRUE(std::equal(part.ivar.data(), part.ivar.data() + part.ivar.size(), one.ivar.row(4)));
}

TEST(Wings, AreInTheModelImageAndInTheVarianceOfModels) {
  Case c = made();
  c.options.want_model = true;
  SerialExecutor serial;
  const ExtractResult bare = c.without_wings(serial);
  double off = 0;
  for (std::size_t r = 60; r < 100; ++r) {
    for (std::size_t x = 0; x < bare.model.cols(); ++x)
      off = std::max(off, std::abs(static_cast<double>(bare.model(r, x)) - c.ccd.image.at(r, x)));
  }
  EXPECT_LT(off, 2);  // of 5000 in the brightest pixel
  const auto extract = [&](const CcdFrame& frame, const ExtractOptions& o) {
    return extract_exact(frame, c.psf, o, serial);
  };
  const WinglessFrame frame = take_wings_off(c.ccd, c.psf, c.options, kReach, extract, serial, {});
  EXPECT_NEAR(frame.ccd.readnoise.variance(80, 5), 9 + static_cast<double>(frame.wings(80, 5)),
              1e-3);
}

TEST(Wings, WeightsOfTheModelBeginWithTheLightOfTheFirstSolution) {
  Case c = made();
  c.options.model_variance = true;
  SerialExecutor serial;
  const auto extract = [&](const CcdFrame& frame, const ExtractOptions& o) {
    return extract_exact(frame, c.psf, o, serial);
  };
  WinglessFrame frame = take_wings_off(c.ccd, c.psf, c.options, kReach, extract, serial, {});
  const ExtractResult soon = extract(frame.ccd, c.options);
  frame.ccd.light = {};
  const ExtractResult later = extract(frame.ccd, c.options);
  for (std::size_t f = 0; f < 6; ++f) {
    for (std::size_t j = 20; j < 50; ++j) {
      EXPECT_NEAR(soon.ivar(f, j) / later.ivar(f, j), 1, 0.03) << f << " " << j;
      EXPECT_NEAR(soon.flux(f, j), later.flux(f, j), 0.05 / std::sqrt(later.ivar(f, j)));
    }
  }
  EXPECT_LT(soon.bundles[1].refinements, later.bundles[1].refinements);
}

TEST(Wings, ResolutionKeepsWhatItSaysOfAllLight) {
  const Case& c = made();
  SerialExecutor serial;
  const ExtractResult bare = c.without_wings(serial);
  const std::size_t half = bare.resolution.rows() / 2;
  for (std::size_t j = 20; j < 50; ++j) {  // flux = R xflux
    double expected = 0;
    for (std::size_t k = 0; k < bare.resolution.rows(); ++k)
      expected +=
          static_cast<double>(bare.resolution(4, k, j + half - k)) * bare.xflux(4, j + half - k);
    EXPECT_NEAR(bare.flux(4, j), expected, 0.05 / std::sqrt(bare.ivar(4, j)));
  }
}

}  // namespace
}  // namespace fiberloom
