// SPDX-License-Identifier: BSD-3-Clause
// What all engines share: bundles, checks, the spectral mask.
#include "fiberloom/extract/extract.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/test_psf.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom {
namespace {

using test::status_of;

TEST(BundleRanges, CoverEveryFibreOnceByCountOrByTheRowOfThePsf) {
  test::SmallPsf small;
  small.nfiber = 7;
  PsfModel psf = test::make_psf(small);
  const auto firsts = [](const std::vector<BundleRange>& ranges) {
    std::vector<int> all;
    for (const BundleRange& r : ranges) all.push_back(r.first);
    all.push_back(ranges.back().last);
    return all;
  };
  EXPECT_EQ(firsts(bundle_ranges(psf, 3)), (std::vector<int>{0, 3, 6, 7}));
  EXPECT_EQ(firsts(bundle_ranges(psf, 25)), (std::vector<int>{0, 7}));
  psf.bundle = {4, 4, 2, 2, 2, 4, 9};
  EXPECT_EQ(firsts(bundle_ranges(psf, 0)), (std::vector<int>{0, 2, 5, 6, 7}));
  ExtractOptions o;
  o.bundle_size = 3;
  o.spec_min = 3;
  EXPECT_EQ(firsts(wanted_bundles(psf, o)), (std::vector<int>{3, 6, 7}));
  o.nspec = 1;
  EXPECT_EQ(firsts(wanted_bundles(psf, o)), (std::vector<int>{3, 6})) << "whole";
  o.spec_min = 2;
  o.nspec = 2;
  EXPECT_EQ(firsts(wanted_bundles(psf, o)), (std::vector<int>{0, 3, 6}));
}

TEST(WaveRange, IsWhatAllSeriesHave) {
  PsfModel psf = test::make_psf();
  psf.sigma_x.wave_min = 5010;
  psf.y.wave_max = 5090;
  EXPECT_EQ(wave_range_of(psf).first_aa, 5010);
  EXPECT_EQ(wave_range_of(psf).last_aa, 5090);
}

TEST(Validate, SaysWhichOptionMakesNoSense) {
  const PsfModel psf = test::make_psf();
  const CcdFrame ccd = test::make_frame(psf);
  ExtractOptions good;
  good.wave = test::make_grid(10);
  const auto status = [&](const std::function<void(ExtractOptions&)>& change) {
    ExtractOptions o = good;
    change(o);
    return status_of([&] { validate(ccd, psf, o); });
  };
  EXPECT_EQ(status([](auto&) {}), Status::kOk);
  EXPECT_EQ(status([](auto& o) { o.bundle_size = -1; }), Status::kUsage);
  EXPECT_EQ(status([](auto& o) { o.bundle_size = 0; }), Status::kUsage) << "no BUNDLE row";
  for (const int ndiag : {0, -1, 10, 131})
    EXPECT_EQ(status([&](auto& o) { o.ndiag = ndiag; }), Status::kUsage) << ndiag;
  EXPECT_EQ(status([](auto& o) { o.ndiag = 129; }), Status::kOk);
  for (const double tolerance : {0.0, 1e-13, 1.1, std::nan("")})
    EXPECT_EQ(status([&](auto& o) { o.tolerance = tolerance; }), Status::kUsage) << tolerance;
  EXPECT_EQ(status([](auto& o) { o.spec_min = -1; }), kFiberRange);
  EXPECT_EQ(status([](auto& o) { o.spec_min = 3; }), kFiberRange);
  EXPECT_EQ(status([](auto& o) { o.nspec = 0; }), kFiberRange);
  EXPECT_EQ(status([](auto& o) { o.nspec = 4; }), kFiberRange);
  EXPECT_EQ(status([](auto& o) { o.wave = {}; }), Status::kUsage);
  EXPECT_EQ(status([](auto& o) { o.wave[4] = o.wave[3]; }), Status::kUsage);
  EXPECT_EQ(status([](auto& o) { o.wave[4] = std::nan(""); }), Status::kUsage);
  EXPECT_EQ(status([](auto& o) { o.wave = {4994.9, 5000}; }), kNotCovered);
  EXPECT_EQ(status([](auto& o) { o.wave = {4995.1, 5104.9}; }), Status::kOk) << "5 % beyond";
  EXPECT_EQ(status([](auto& o) { o.wave = {5050, 5105.1}; }), kNotCovered);
  PsfModel larger = psf;
  ++larger.npix_x;
  EXPECT_EQ(status_of([&] { validate(ccd, larger, good); }), kSizeMismatch);
}

/// Four fibres of five bins whose chi2pix is 1.
ExtractResult flat_result() {
  ExtractResult r;
  for (auto* a : {&r.flux, &r.ivar, &r.chi2pix}) *a = Array2D<double>(4, 5, 1.0);
  r.pixmask_fraction = Array2D<double>(4, 5, 0.0);
  return r;
}

TEST(SpectralMask, HasABitForEachTrouble) {
  ExtractResult r = flat_result();
  r.pixmask_fraction(0, 0) = 0.5;
  r.pixmask_fraction(0, 1) = 0.51;
  r.ivar(1, 2) = 0;
  r.chi2pix(2, 3) = 5.1;
  r.chi2pix(3, 4) = 5.0;
  set_spectral_mask(r);
  for (std::size_t s = 0; s < 4; ++s) {
    for (std::size_t j = 0; j < 5; ++j) {
      std::uint32_t want = 0;
      if (s == 0 && j == 1) want = kSomeBadPix;
      if (s == 1 && j == 2) want = kAllBadPix;
      if (s == 2 && j == 3) want = kBad2dFit;
      EXPECT_EQ(r.mask(s, j), want) << s << " " << j;
    }
  }
}

TEST(SpectralMask, ABadFitIsFarAboveItsFibreAndItsWavelength) {
  ExtractResult r = flat_result();
  for (std::size_t s = 0; s < 4; ++s) r.chi2pix(s, 2) = 10;  // a sky line: bad in all fibres
  for (std::size_t j = 0; j < 5; ++j) r.chi2pix(1, j) = 10;  // a bad fibre
  set_spectral_mask(r);
  for (std::size_t i = 0; i < r.mask.size(); ++i) EXPECT_EQ(r.mask.data()[i], 0U) << i;
}

TEST(SpectralMask, IsTheSameForAnyNumberOfTasks) {
  class Backwards final : public Executor {
   public:
    explicit Backwards(std::size_t threads) : threads_(threads) {}
    void run(std::size_t n, const std::function<void(std::size_t)>& task) override {
      for (std::size_t i = n; i-- > 0;) task(i);
    }
    [[nodiscard]] std::size_t concurrency() const noexcept override { return threads_; }

   private:
    std::size_t threads_;
  };
  ExtractResult one = flat_result();
  const CounterRng rng(1, 1);
  for (std::size_t i = 0; i < one.chi2pix.size(); ++i)
    one.chi2pix.data()[i] = std::exp(2 * rng.normal(i));
  set_spectral_mask(one);
  for (const std::size_t threads : {2U, 3U, 9U}) {
    ExtractResult many = one;
    Backwards executor(threads);
    set_spectral_mask(many, executor);
    EXPECT_TRUE(std::equal(one.mask.data(), one.mask.data() + one.mask.size(), many.mask.data()))
        << threads;
  }
  ExtractResult none;
  set_spectral_mask(none);
  EXPECT_TRUE(none.mask.empty());
}

}  // namespace
}  // namespace fiberloom
