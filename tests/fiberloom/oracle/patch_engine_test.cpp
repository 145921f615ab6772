// SPDX-License-Identifier: BSD-3-Clause
// The patch engine against the oracle, and its promises: finite, deterministic, divisible.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fiberloom/extract/extract.hpp"
#include "loom/base/error.hpp"
#include "tests/fiberloom/oracle/dense_oracle.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom::oracle {
namespace {

/// Runs the tasks last to first: results that depend on the order show.
class ReverseExecutor final : public Executor {
 public:
  void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
    while (n-- > 0) task(n);
  }
  [[nodiscard]] std::size_t concurrency() const noexcept override { return 1; }
};

ExtractResult patch(const SmallCase& c, const ExtractOptions& options) {
  SerialExecutor executor;
  return extract_patch(c.ccd, c.psf, options, executor);
}

bool same_bytes(const Array2D<double>& a, const Array2D<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

bool all_finite(const ExtractResult& r) {
  const auto finite = [](const auto& a) {
    return std::all_of(a.data(), a.data() + a.size(), [](double v) { return std::isfinite(v); });
  };
  return finite(r.flux) && finite(r.ivar) && finite(r.xflux) && finite(r.chi2pix) &&
         finite(r.pixmask_fraction) && finite(r.resolution);
}

struct Difference {
  double flux_sigma = 0, ivar = 0;
  std::size_t compared = 0;
};

/// Over bins with pixmask_fraction <= most_lost that are `margin` bins away from a patch's ends.
Difference compare(const ExtractResult& a, const ExtractResult& b, double most_lost,
                   std::size_t margin, std::size_t nwavestep) {
  Difference d;
  for (std::size_t s = 0; s < a.flux.rows(); ++s) {
    for (std::size_t j = 0; j < a.flux.cols(); ++j) {
      const std::size_t in_patch = j % nwavestep;
      if (in_patch < margin || in_patch + margin >= nwavestep) continue;
      if (b.pixmask_fraction(s, j) > most_lost) continue;
      const double sigma = 1 / std::sqrt(b.ivar(s, j));
      d.flux_sigma = std::max(d.flux_sigma, std::abs(a.flux(s, j) - b.flux(s, j)) / sigma);
      d.ivar = std::max(d.ivar, std::abs(a.ivar(s, j) / b.ivar(s, j) - 1));
      ++d.compared;
    }
  }
  return d;
}

/// Within `sigma` everywhere, within sigma / 20 ten bins away from the ends of patches.
void expect_close_to_oracle(const SmallCaseKnobs& knobs, double most_lost, double sigma,
                            int nsubbundles = 5, bool decorrelate_fibers = false) {
  const SmallCase c = make_small_case(knobs);
  ExtractOptions options = c.options;
  options.decorrelate_fibers = decorrelate_fibers;
  options.patch.nsubbundles = nsubbundles;
  const ExtractResult mine = patch(c, options);
  const ExtractResult exact = dense_oracle(c.ccd, c.psf, options, 40);
  for (const std::size_t margin : {0U, 10U}) {
    const Difference d = compare(mine, exact, most_lost, margin, 50);
    const double limit = margin == 0 ? sigma : sigma / 20;
    EXPECT_GT(d.compared, 50U);
    EXPECT_LT(d.flux_sigma, limit) << margin;
    EXPECT_LT(d.ivar, 0.1 * limit) << margin;
  }
  EXPECT_TRUE(all_finite(mine));
}

TEST(PatchEngine, AgreesWithTheOracleOnACleanFrame) { expect_close_to_oracle({}, 1.0, 0.1); }

TEST(PatchEngine, AgreesWithTheOracleOnBrightLines) {
  SmallCaseKnobs knobs;
  knobs.line_snr = 300;
  expect_close_to_oracle(knobs, 1.0, 0.2);
}

TEST(PatchEngine, AgreesWithTheOracleUnderCrosstalk) {
  expect_close_to_oracle(with_crosstalk({}), 1.0, 0.1, 1);
}

TEST(PatchEngine, AgreesWithTheOracleWhenFibersAreDecorrelated) {
  SmallCaseKnobs knobs;  // the oracle takes one root of all unknowns: few of them
  knobs.nfiber = 3;
  knobs.nwave = 60;
  expect_close_to_oracle(with_crosstalk(knobs), 1.0, 0.1, 1, true);
}

TEST(PatchEngine, AgreesWithTheOracleBesideDeadPixels) {
  SmallCaseKnobs knobs;
  knobs.defects = {Defect::kDeadBlock, Defect::kCosmics, Defect::kDeadColumns};
  expect_close_to_oracle(knobs, 0.5, 0.1);
}

TEST(PatchEngine, AgreesWithTheOracleAtTheEdgesOfTheCcd) {
  SmallCaseKnobs knobs;
  knobs.edges = CaseEdges::kOffCcd;
  expect_close_to_oracle(knobs, 0.5, 0.1);
}

TEST(PatchEngine, LeavesBinsWithoutInformationEmpty) {
  SmallCaseKnobs knobs;
  knobs.edges = CaseEdges::kOffCcd;
  knobs.defects = {Defect::kDeadAmplifier, Defect::kDeadBlock};
  const SmallCase c = make_small_case(knobs);
  const ExtractResult r = patch(c, c.options);
  EXPECT_TRUE(all_finite(r));
  std::size_t lost = 0;
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      ASSERT_EQ(r.pixmask_fraction(s, j) == 1.0, r.ivar(s, j) == 0.0);
      if (r.ivar(s, j) > 0) continue;
      ++lost;
      ASSERT_EQ(r.flux(s, j), 0.0);
      ASSERT_EQ(r.xflux(s, j), 0.0);
      ASSERT_EQ(r.chi2pix(s, j), 0.0);
      ASSERT_NE(r.mask(s, j) & kAllBadPix, 0U);
    }
  }
  EXPECT_GT(lost, 100U);
  EXPECT_EQ(r.bundles.front().unconstrained, lost);
}

TEST(PatchEngine, AFrameWithoutAnyGoodPixelIsEmptyAndFinite) {
  SmallCase c = make_small_case({});
  Array2D<double> nothing(c.ccd.ivar.rows(), c.ccd.ivar.cols(), 0.0);
  c.ccd.ivar = PixelArray(std::move(nothing));
  const ExtractResult r = patch(c, c.options);
  EXPECT_TRUE(all_finite(r));
  EXPECT_EQ(r.bundles.front().unconstrained, r.flux.size());
}

TEST(PatchEngine, APsfThatIsNoPsfGivesNoNaN) {
  SmallCase c = make_small_case({});
  for (std::size_t k = 0; k < c.psf.sigma_x.coef.cols(); ++k) c.psf.sigma_x.coef(2, k) = -1;
  c.psf.x.coef(3, 0) = std::nan("");
  const ExtractResult r = patch(c, c.options);
  EXPECT_TRUE(all_finite(r));
  EXPECT_EQ(r.ivar(2, 10), 0.0);
  EXPECT_EQ(r.ivar(3, 10), 0.0);
  EXPECT_GT(r.ivar(0, 10), 0.0);
}

TEST(PatchEngine, TheOrderOfTasksDoesNotChangeAByte) {
  const SmallCase c = make_small_case({});
  ExtractOptions options = c.options;
  options.want_model = true;
  SerialExecutor forward;
  ReverseExecutor backward;
  const ExtractResult a = extract_patch(c.ccd, c.psf, options, forward);
  const ExtractResult b = extract_patch(c.ccd, c.psf, options, backward);
  EXPECT_TRUE(same_bytes(a.flux, b.flux));
  EXPECT_TRUE(same_bytes(a.ivar, b.ivar));
  EXPECT_EQ(std::memcmp(a.model.data(), b.model.data(), a.model.size() * sizeof(float)), 0);
}

TEST(PatchEngine, ASubRangeOfFibersHasTheSameBytes) {
  const SmallCase c = make_small_case(with_crosstalk({}));
  ExtractOptions options = c.options;
  options.patch.nsubbundles = 2;
  const ExtractResult all = patch(c, options);
  options.spec_min = 1;
  options.nspec = 3;
  const ExtractResult some = patch(c, options);
  ASSERT_EQ(some.flux.rows(), 3U);
  const std::size_t bytes = all.flux.cols() * sizeof(double);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(std::memcmp(some.flux.row(s), all.flux.row(s + 1), bytes), 0);
    EXPECT_EQ(std::memcmp(some.chi2pix.row(s), all.chi2pix.row(s + 1), bytes), 0);
  }
}

TEST(PatchEngine, ModelImageReproducesANoiselessFrame) {
  SmallCaseKnobs knobs;
  knobs.noise = 0;
  const SmallCase c = make_small_case(knobs);
  ExtractOptions options = c.options;
  options.want_model = true;
  const ExtractResult r = patch(c, options);
  for (std::size_t row = 85; row < 110; ++row) {  // inside the first patch, off its seam
    for (std::size_t col = 0; col < r.model.cols(); ++col) {
      const double p = c.ccd.image.at(row, col);
      ASSERT_NEAR(r.model(row, col), p, 0.01 * std::sqrt(p + 9)) << row << " " << col;
    }
  }
}

TEST(PatchEngine, RefusesOptionsThatMakeNoSense) {
  const SmallCase c = make_small_case({});
  for (int which = 0; which < 4; ++which) {
    ExtractOptions options = c.options;
    if (which == 0) options.patch.nsubbundles = 0;
    if (which == 1) options.patch.nwavestep = 0;
    if (which == 2) options.patch.wavepad = -1;
    if (which == 3) options.patch.pixpad_frac = 1.5;
    EXPECT_THROW((void)patch(c, options), Error) << which;
  }
}

TEST(PatchEngine, StopsWhenAsked) {
  const SmallCase c = make_small_case({});
  SerialExecutor executor;
  Observer observer;
  observer.stop_requested = [] { return true; };
  try {
    (void)extract_patch(c.ccd, c.psf, c.options, executor, observer);
    FAIL() << "ran to the end";
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), Status::kInterrupted);
  }
}

}  // namespace
}  // namespace fiberloom::oracle
