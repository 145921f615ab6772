// SPDX-License-Identifier: BSD-3-Clause
// What must not change the answer: threads, sub-ranges, windows, ISA levels, the cut of the
// wavelength grid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/psf/pixel_spots.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom {
namespace {

oracle::SmallCase long_case(double step = 0.8, int rows = 1000) {
  oracle::SmallCaseKnobs knobs;
  knobs.nfiber = 7;
  knobs.rows = rows;
  knobs.step_aa = step;
  knobs.nwave = static_cast<int>(0.48 * rows / step);
  knobs.line_snr = 200;
  knobs.defects = {oracle::Defect::kCosmics};
  oracle::SmallCase c = oracle::make_small_case(knobs);
  c.options.bundle_size = 3;  // three bundles, the last one short
  c.options.want_model = true;
  return c;
}

ExtractResult extract(const oracle::SmallCase& c, const exact::Tuning& tuning = {},
                      Isa isa = active_isa(), std::size_t threads = 1) {
  const auto executor = make_executor(threads);
  return exact::extract(c.ccd, c.psf, c.options, tuning, isa, *executor, {}, nullptr);
}

template <class T>
bool same_bytes(const T* a, const T* b, std::size_t n) {
  return std::memcmp(a, b, n * sizeof(T)) == 0;
}

/// Largest difference in units of sigma; bins that one side masks must be masked on the other.
double difference_sigma(const ExtractResult& a, const ExtractResult& b, std::size_t skip = 0,
                        std::size_t offset = 0) {
  double worst = 0;
  for (std::size_t s = 0; s < b.flux.rows(); ++s) {
    for (std::size_t j = skip; j + skip < b.flux.cols(); ++j) {
      const double sigma = std::sqrt(b.ivar(s, j));
      worst = std::max(worst, std::abs(a.flux(s, j + offset) - b.flux(s, j)) * sigma);
      if (b.ivar(s, j) > 0) {
        worst = std::max(worst, std::abs(std::sqrt(a.ivar(s, j + offset)) / sigma - 1) *
                                    (1 + std::abs(b.flux(s, j)) * sigma));
      }
    }
  }
  return worst;
}

double kappa(const ExtractResult& r) {
  double worst = 1;
  for (const BundleReport& b : r.bundles) worst = std::max(worst, b.kappa);
  return worst;
}

void expect_same_bytes(const ExtractResult& one, const ExtractResult& many) {
  EXPECT_TRUE(same_bytes(one.flux.data(), many.flux.data(), one.flux.size()));
  EXPECT_TRUE(same_bytes(one.ivar.data(), many.ivar.data(), one.ivar.size()));
  EXPECT_TRUE(same_bytes(one.resolution.data(), many.resolution.data(), one.resolution.size()));
  EXPECT_TRUE(same_bytes(one.chi2pix.data(), many.chi2pix.data(), one.chi2pix.size()));
  EXPECT_TRUE(same_bytes(one.model.data(), many.model.data(), one.model.size()));
}

TEST(ExactEngine, GivesTheSameBytesForAnyNumberOfThreads) {
  const oracle::SmallCase c = long_case();
  const ExtractResult one = extract(c);
  for (const std::size_t threads : {2U, 3U, 5U})
    expect_same_bytes(one, extract(c, {}, active_isa(), threads));
}

/// The case with one image for all its spots, 9 x 9 pixels.
oracle::SmallCase image_case() {
  constexpr int kFine = 3;
  constexpr std::size_t kSide = 8 * kFine;
  oracle::SmallCase c = long_case(0.8, 300);
  MonoSpot spot{kSide, kSide, kFine, {}};
  for (std::size_t i = 0; i < kSide * kSide; ++i) {
    const double y = static_cast<double>(i / kSide) - 11.5;
    const double x = static_cast<double>(i % kSide) - 11.5;
    spot.spot.push_back(std::exp(-(x * x + y * y) / (2.0 * kFine * kFine)));
  }
  c.psf.shape = make_mono_spot(spot);
  return c;
}

TEST(ExactEngine, GivesTheSameBytesOfSpotsThatAreImages) {
  oracle::SmallCase c = image_case();
  const ExtractResult one = extract(c);
  ASSERT_GT(*std::max_element(one.flux.data(), one.flux.data() + one.flux.size()), 0);
  expect_same_bytes(one, extract(c, {}, active_isa(), 3));
  for (const Isa isa : available_isas())
    EXPECT_LE(difference_sigma(extract(c, {}, isa), one), 1e-9 + 10 * 2.2e-16 * kappa(one));
}

TEST(ExactEngine, GivesTheSameBytesForASubRangeOfFibers) {
  oracle::SmallCase c = long_case();
  const ExtractResult all = extract(c);
  c.options.spec_min = 2;  // the end of one bundle and the start of the next
  c.options.nspec = 3;
  const ExtractResult some = extract(c);
  ASSERT_EQ(some.flux.rows(), 3U);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_TRUE(same_bytes(all.flux.row(s + 2), some.flux.row(s), all.flux.cols()));
    EXPECT_TRUE(same_bytes(all.ivar.row(s + 2), some.ivar.row(s), all.flux.cols()));
    EXPECT_TRUE(same_bytes(all.chi2pix.row(s + 2), some.chi2pix.row(s), all.flux.cols()));
    EXPECT_TRUE(
        same_bytes(&all.resolution(s + 2, 0, 0), &some.resolution(s, 0, 0), 11 * all.flux.cols()));
  }
}

TEST(ExactEngine, WindowsDoNotShow) {
  const oracle::SmallCase c = long_case();
  exact::Tuning single;
  single.most_windows = 1;
  const ExtractResult windows = extract(c), whole = extract(c, single);
  EXPECT_GT(windows.bundles.front().windows, 1);
  EXPECT_EQ(whole.bundles.front().windows, 1);
  EXPECT_LE(difference_sigma(windows, whole), 1e-9 + 10 * 2.2e-16 * kappa(whole));
}

TEST(ExactEngine, IsaLevelsAgree) {
  const oracle::SmallCase c = long_case();
  const ExtractResult best = extract(c);
  for (const Isa isa : available_isas()) {
    EXPECT_LE(difference_sigma(extract(c, {}, isa), best), 1e-9 + 10 * 2.2e-16 * kappa(best))
        << isa_name(isa);
  }
}

TEST(ExactEngine, ASubRangeOfTheGridAgreesWithTheFullRun) {
  oracle::SmallCase c = long_case();
  exact::Tuning tight;
  tight.tolerance_sigma = 1e-9;
  const ExtractResult full = extract(c, tight);
  const auto& wave = c.options.wave;
  c.options.wave = std::vector<double>(wave.begin() + 200, wave.begin() + 350);
  const ExtractResult part = extract(c, tight);
  EXPECT_LE(difference_sigma(full, part, 0, 200), 1e-8 + 20 * 2.2e-16 * kappa(full));
}

TEST(ExactEngine, RowsOfRSumToOneOnceAllDiagonalsAreKept) {
  oracle::SmallCase c = long_case(1.2);
  c.options.ndiag = 25;  // all that matter at this step
  const ExtractResult r = extract(c);
  const std::size_t nwave = r.flux.cols();
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t i = 20; i + 20 < nwave; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 25; ++k) sum += r.resolution(s, k, i + 12 - k);
      ASSERT_NEAR(sum, 1.0, 1e-4) << s << " " << i;
    }
  }
}

TEST(ExactEngine, NoiselessInputGivesTheTruthBack) {
  oracle::SmallCaseKnobs knobs;
  knobs.rows = 330;
  knobs.noise = 0;
  knobs.line_snr = 300;
  const oracle::SmallCase c = oracle::make_small_case(knobs);
  exact::Tuning tight;
  tight.tolerance_sigma = 1e-9;
  const ExtractResult r = extract(c, tight);
  const auto width = bin_widths(r.wave);
  // float32 pixels carry 6e-8 of a bright line: that, through the deconvolution, is what may be
  // left
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      const double truth = c.truth(s, j) / width[j];
      ASSERT_NEAR(r.xflux(s, j), truth, 1e-9 * truth + 1e-7 * std::abs(truth)) << s << " " << j;
    }
  }
}

TEST(ExactEngine, IsLinearInTheImage) {
  oracle::SmallCase c = long_case();
  const ExtractResult once = extract(c);
  std::visit(
      [](auto& image) {
        for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] *= 2;
      },
      c.ccd.image.data());
  const ExtractResult twice = extract(c);
  double worst = 0;
  for (std::size_t i = 0; i < once.flux.size(); ++i) {
    worst = std::max(worst, std::abs(twice.flux.data()[i] - 2 * once.flux.data()[i]) *
                                std::sqrt(once.ivar.data()[i]));
  }
  EXPECT_LE(worst, 1e-6);
}

TEST(ExactEngine, AnEntirelyMaskedFrameGivesZerosAndNoNan) {
  oracle::SmallCase c = long_case();
  std::visit(
      [](auto& ivar) {
        for (std::size_t i = 0; i < ivar.size(); ++i) ivar.data()[i] = 0;
      },
      c.ccd.ivar.data());
  std::visit(
      [](auto& image) {
        for (std::size_t i = 0; i < image.size(); ++i) image.data()[i] = 0;
      },
      c.ccd.image.data());
  const ExtractResult r = extract(c);
  for (std::size_t i = 0; i < r.flux.size(); ++i) {
    ASSERT_EQ(r.flux.data()[i], 0.0);
    ASSERT_EQ(r.ivar.data()[i], 0.0);
    ASSERT_EQ(r.chi2pix.data()[i], 0.0);
    ASSERT_EQ(r.mask.data()[i] & (kSomeBadPix | kAllBadPix), kSomeBadPix | kAllBadPix);
  }
  for (std::size_t s = 0; s < r.flux.rows(); ++s) {
    for (std::size_t j = 0; j < r.flux.cols(); ++j) {
      for (std::size_t k = 0; k < 11; ++k) ASSERT_EQ(r.resolution(s, k, j), k == 5 ? 1.0 : 0.0);
    }
  }
}

TEST(ExactEngine, StopsWhenAskedTo) {
  const oracle::SmallCase c = long_case();
  Observer observer;
  observer.stop_requested = [] { return true; };
  SerialExecutor executor;
  EXPECT_THROW(
      (void)exact::extract(c.ccd, c.psf, c.options, {}, active_isa(), executor, observer, nullptr),
      Error);
}

}  // namespace
}  // namespace fiberloom
