// SPDX-License-Identifier: BSD-3-Clause
// The fast forward model against the plain one, the engine's model image and its own transpose.
#include "fiberloom/psf/forward_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/psf/forward_kernels.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom {
namespace {

double uniform(std::uint64_t seed, std::size_t i) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ULL + i * 0xBF58476D1CE4E5B9ULL + 1;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Array2D<double> random_matrix(std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Array2D<double> a(rows, cols);
  for (std::size_t i = 0; i < a.size(); ++i) a.data()[i] = uniform(seed, i) - 0.3;
  return a;
}

double dot(const Array2D<double>& a, const Array2D<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

double largest_difference(const Array2D<double>& a, const Array2D<double>& b) {
  double worst = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a.data()[i] - b.data()[i]));
  }
  return worst;
}

bool same_bytes(const Array2D<double>& a, const Array2D<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// 33 fibres that cross all four edges of the CCD, a grid that runs on beyond it.
struct Case {
  PsfModel psf;
  std::vector<double> wave;
};
Case edge_case(int nfiber = 33) {
  Case c{make_psf(small_psf_options(nfiber, 6000, 6100, 5)), {}};
  c.psf.npix_x -= 24;  // the last fibres fall off the right edge
  for (std::size_t f = 0; f < static_cast<std::size_t>(c.psf.nfiber()); ++f) {
    c.psf.x.coef(f, 0) -= 12;  // and the first off the left one
  }
  for (double w = 5985; w < 6115; w += 0.8) c.wave.push_back(w);
  return c;
}

TEST(ForwardModel, EqualsTheSumOfReferenceSpotsAtEveryEdge) {
  const Case c = edge_case();
  SerialExecutor serial;
  const auto flux = random_matrix(33, c.wave.size(), 1);
  const auto fast = ForwardModel(c.psf, c.wave).project(flux.view(), serial);
  // the plain projection knows no end of a trace: leave out what the engine's rule calls dark
  const SpotPlan plan = make_spot_plan(c.psf, c.wave);
  Array2D<double> live = flux;
  for (std::size_t f = 0; f < 33; ++f) {
    const FiberTrace trace = trace_fiber(plan, static_cast<int>(f));
    for (std::size_t j = 0; j < c.wave.size(); ++j) live(f, j) *= trace.live[j];
  }
  EXPECT_LT(largest_difference(fast, project(c.psf, c.wave, live, serial)), 1e-13);
  EXPECT_GT(dot(fast, fast), 10);
}

TEST(ForwardModel, AdjointIsTheTranspose) {
  const Case c = edge_case();
  SerialExecutor serial;
  const ForwardModel a(c.psf, c.wave);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const auto f = random_matrix(a.nfiber(), a.nwave(), seed);
    const auto p = random_matrix(a.npix_y(), a.npix_x(), seed + 100);
    const double left = dot(a.project(f.view(), serial), p);
    const double right = dot(f, a.adjoint(p.view(), serial));
    EXPECT_NEAR(left / right, 1.0, 1e-12);
  }
}

TEST(ForwardModel, EveryIsaLevelHasTheSameKernels) {
  constexpr int kRows = 5, kStride = 24, kPitch = 40;
  const auto spot = random_matrix(kRows, kStride, 3), image = random_matrix(kRows, kPitch, 4);
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(isa_name(isa));
    Array2D<double> out = image;
    double want_dot = 0;
    forward_kernels(isa).add(spot.data(), 2.5, kRows, kStride, out.data(), kPitch);
    for (std::size_t r = 0; r < kRows; ++r) {
      for (std::size_t c = 0; c < kPitch; ++c) {
        const double s = c < kStride ? spot(r, c) : 0.0;
        EXPECT_NEAR(out(r, c), image(r, c) + 2.5 * s, 1e-15);
        want_dot += s * image(r, c);
      }
    }
    EXPECT_NEAR(forward_kernels(isa).dot(spot.data(), image.data(), kRows, kStride, kPitch),
                want_dot, 1e-13);
  }
}

TEST(ForwardModel, GivesTheEnginesModelOfItsOwnDeconvolvedFlux) {
  SerialExecutor serial;
  SmallFrameOptions small;
  small.nwave = 60;
  const SmallFrame frame = make_small_frame(small, serial);
  CcdFrame ccd{PixelArray(frame.image), PixelArray(frame.ivar)};
  ExtractOptions options;
  options.wave = frame.wave;
  options.want_model = true;
  const ExtractResult r = extract_exact(ccd, frame.psf, options, serial);
  Array2D<double> electrons = r.xflux;
  const auto width = bin_widths(frame.wave);
  for (std::size_t f = 0; f < electrons.rows(); ++f) {
    for (std::size_t j = 0; j < electrons.cols(); ++j) electrons(f, j) *= width[j];
  }
  const auto image = ForwardModel(frame.psf, frame.wave).project(electrons.view(), serial);
  // the engine's model also holds the guard bins: compare rows well inside the grid
  const double y_low = frame.psf.y(0, frame.wave[20]), y_high = frame.psf.y(0, frame.wave[40]);
  double worst = 0, brightest = 0;
  for (int y = static_cast<int>(y_low) + 12; y < static_cast<int>(y_high) - 12; ++y) {
    const auto row = static_cast<std::size_t>(y);
    for (std::size_t x = 0; x < image.cols(); ++x) {
      worst = std::max(worst, std::abs(image(row, x) - static_cast<double>(r.model(row, x))));
      brightest = std::max(brightest, image(row, x));
    }
  }
  EXPECT_GT(brightest, 5);
  EXPECT_LT(worst, 1e-6 * std::max(brightest, 1.0));  // the model is made in float32
}

TEST(ForwardModel, SameBytesForAnyNumberOfThreads) {
  const Case c = edge_case(60);
  SerialExecutor serial;
  const auto threads = make_executor(4);
  const ForwardModel a(c.psf, c.wave);
  const auto f = random_matrix(a.nfiber(), a.nwave(), 7);
  const auto p = random_matrix(a.npix_y(), a.npix_x(), 8);
  EXPECT_TRUE(same_bytes(a.project(f.view(), serial), a.project(f.view(), *threads)));
  EXPECT_TRUE(same_bytes(a.adjoint(p.view(), serial), a.adjoint(p.view(), *threads)));
}

TEST(ForwardModel, ASubRangeOfFibresIsThatPartOfTheWhole) {
  const Case c = edge_case();
  SerialExecutor serial;
  const ForwardModel whole(c.psf, c.wave), part(c.psf, c.wave, 7, 12);
  const auto p = random_matrix(whole.npix_y(), whole.npix_x(), 9);
  const auto all = whole.adjoint(p.view(), serial), some = part.adjoint(p.view(), serial);
  ASSERT_EQ(some.rows(), 12U);
  for (std::size_t f = 0; f < 12; ++f) {
    for (std::size_t j = 0; j < all.cols(); ++j) EXPECT_NEAR(some(f, j), all(f + 7, j), 1e-13);
  }
}

TEST(ForwardModel, WavelengthsBeyondTheCcdGiveNothing) {
  const Case c = edge_case(3);
  SerialExecutor serial;
  const ForwardModel a(c.psf, {100, 200, 300});
  const auto image = a.project(random_matrix(3, 3, 1).view(), serial);
  EXPECT_EQ(dot(image, image), 0.0);
  const auto flux = a.adjoint(image.view(), serial);
  EXPECT_EQ(dot(flux, flux), 0.0);
}

Status status_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST(ForwardModel, RefusesWhatMakesNoSense) {
  const Case c = edge_case(3);
  SerialExecutor serial;
  const ForwardModel a(c.psf, c.wave);
  const auto wrong = random_matrix(2, 3, 1);
  EXPECT_EQ(status_of([&] { (void)a.project(wrong.view(), serial); }), kSizeMismatch);
  EXPECT_EQ(status_of([&] { (void)a.adjoint(wrong.view(), serial); }), kSizeMismatch);
  EXPECT_EQ(status_of([&] { ForwardModel(c.psf, c.wave, 2, 2); }), kFiberRange);
  EXPECT_EQ(status_of([&] { ForwardModel(c.psf, c.wave, -1, 2); }), kFiberRange);
  EXPECT_EQ(status_of([&] { ForwardModel(c.psf, {}); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { ForwardModel(c.psf, {6000, 6000}); }), Status::kUsage);
  EXPECT_EQ(status_of([&] { ForwardModel(c.psf, {std::nan("")}); }), Status::kUsage);
}

TEST(ForwardModel, StopsWhenAsked) {
  const Case c = edge_case();
  SerialExecutor serial;
  std::atomic<int> polls{0};
  Observer observer;
  observer.stop_requested = [&] { return ++polls > 1; };
  const ForwardModel a(c.psf, c.wave);
  const auto f = random_matrix(a.nfiber(), a.nwave(), 7);
  EXPECT_EQ(status_of([&] { (void)a.project(f.view(), serial, observer); }), Status::kInterrupted);
  EXPECT_EQ(polls.load(), 2);
}

}  // namespace
}  // namespace fiberloom
