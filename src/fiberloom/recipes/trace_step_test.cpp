// SPDX-License-Identifier: BSD-3-Clause
// Traces that have moved since their PSF was made are found and followed.
#include "fiberloom/recipes/trace_step.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/sky_frame.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kX = 0, kY = 1, kSigmaX = 2, kSigmaY = 3;

class TraceStep : public testing::Test {
 protected:
  TraceStep() : psf_(make_psf(small_psf_options(10, 6230, 6410))) {
    job_.wave = {6245, 6395, 0.8};
    job_.trace_shifts = 1;
    truth_.domain = {psf_.x(0, 6320), psf_.x(9, 6320), 6245, 6395};
    truth_.degree = 1;
    truth_.coef[kX] = {0.15, -0.04, 0.05};  // over wavelengths, over fibres
    truth_.coef[kY] = {-0.2, 0.03, 0.04};
  }

  /// A frame of the moved spots, with the PSF that knows nothing of it.
  [[nodiscard]] PreparedFrame frame() const {
    const PsfModel moved = changed_psf(psf_, truth_);
    SerialExecutor serial;
    NoisyFrame light = make_sky_frame(moved, {}, serial);
    FrameInputs in;
    in.preproc.path = "image.fits";
    in.preproc.ccd = {PixelArray(std::move(light.image)), PixelArray(std::move(light.ivar))};
    PsfFile psf;
    psf.path = "psf.fits";
    psf.model = psf_;
    in.psf = std::make_shared<const PsfFile>(std::move(psf));
    return prepare_frame(job_, std::move(in), {});
  }

  [[nodiscard]] ExtractResult extracted(const PreparedFrame& frame, Executor& executor) const {
    return compute_frame(job_, frame, Engine(), executor, {}, nullptr);
  }

  void expect_found(const TraceReport& traces, std::size_t parameter, double within) const {
    const TraceFit& fit = traces.parameters[parameter];
    ASSERT_TRUE(fit.measured()) << kTraceParameterNames[parameter];
    for (const double u : {-1.0, 0.0, 1.0}) {
      for (const double v : {-1.0, 0.0, 1.0}) {
        double truth = 0;
        const std::vector<double> term = trace_term_values(1, u, v);
        for (std::size_t t = 0; t < truth_.coef[parameter].size(); ++t)
          truth += term[t] * truth_.coef[parameter][t];
        EXPECT_NEAR(fit.value(1, u, v), truth, 4.5 * fit.error(1, u, v))
            << kTraceParameterNames[parameter] << " at " << u << ", " << v;
        EXPECT_LT(fit.error(1, u, v), within) << kTraceParameterNames[parameter];
      }
    }
  }

  static double chi2(const ExtractResult& result) {
    return result.bundles[0].chi2 / static_cast<double>(result.bundles[0].pixels);
  }

  PsfModel psf_;
  ExtractJob job_;
  TraceChange truth_;
};

TEST_F(TraceStep, FindsShiftsWithinTheirErrorsAndFitsAsIfNothingHadMoved) {
  const PreparedFrame seen = frame();
  const auto two = make_executor(2);
  SerialExecutor serial;

  const ExtractResult result = extracted(seen, serial);

  EXPECT_TRUE(result.traces.settled);
  expect_found(result.traces, kX, 0.01);
  expect_found(result.traces, kY, 0.02);
  EXPECT_FALSE(result.traces.parameters[kSigmaX].measured());
  const ExtractResult ideal =
      extract_exact(seen.in.preproc.ccd, changed_psf(psf_, truth_), seen.options, serial);
  const TraceRound& before = result.traces.rounds.front();
  EXPECT_GT(before.chi2 / static_cast<double>(before.pixels), 1.2 * chi2(ideal));
  EXPECT_LT(chi2(result), 1.005 * chi2(ideal));
  const ExtractResult again = extracted(seen, *two);
  for (std::size_t i = 0; i < result.flux.size(); ++i)
    ASSERT_EQ(result.flux.data()[i], again.flux.data()[i]) << "whatever the threads";
}

TEST_F(TraceStep, FindsWidthsToo) {
  job_.trace_widths = true;
  truth_.coef[kSigmaX] = {0.05, 0, 0.02};
  truth_.coef[kSigmaY] = {0.06, 0, 0};
  SerialExecutor serial;

  const ExtractResult result = extracted(frame(), serial);

  expect_found(result.traces, kX, 0.01);
  expect_found(result.traces, kY, 0.02);
  expect_found(result.traces, kSigmaX, 0.01);
  expect_found(result.traces, kSigmaY, 0.03);
}

TEST_F(TraceStep, LeavesTracesWhereNothingIsToBeSeen) {
  PreparedFrame dark = frame();
  auto& ivar = std::get<Array2D<float>>(dark.in.preproc.ccd.ivar.data());
  for (std::size_t i = 0; i < ivar.size(); ++i) ivar.data()[i] = 0;
  int warnings = 0;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string&) {
    warnings += level == LogLevel::kWarning;
  };
  SerialExecutor serial;
  const TraceReport traces = find_traces(job_, dark, Engine(), serial, observer, nullptr);
  EXPECT_FALSE(traces.parameters[kX].measured());
  EXPECT_FALSE(traces.parameters[kY].measured());
  EXPECT_GE(warnings, 3);
}

TEST_F(TraceStep, RefusesGridsOfTheFibresOwnAndPartsOfAFrame) {
  PreparedFrame seen = frame();
  SerialExecutor serial;
  EXPECT_THROW((void)compute_bundles(job_, seen, 0, 1, Engine(), serial, {}, nullptr), Error);
  seen.options.fiber_wave = Array2D<double>(10, seen.options.wave.size(), 0.0);
  EXPECT_THROW((void)find_traces(job_, seen, Engine(), serial, {}, nullptr), Error);
}

TEST_F(TraceStep, NotesSayWhatDesispecSays) {
  TraceReport traces;
  traces.degree = 1;
  traces.domain = truth_.domain;
  for (const std::size_t p : {kX, kY}) {
    traces.parameters[p].degree = 1;
    traces.parameters[p].coef = truth_.coef[p];
    traces.parameters[p].covariance = Array2D<double>(3, 3, 0.0);
  }
  const HeaderCards notes = trace_notes(frame(), traces);
  EXPECT_NEAR(*notes.number("MEANDX"), 0.15, 1e-12);
  EXPECT_NEAR(*notes.number("MINDX"), 0.06, 1e-12);
  EXPECT_NEAR(*notes.number("MAXDX"), 0.24, 1e-12);
  EXPECT_NEAR(*notes.number("MEANDY"), -0.2, 1e-12);
  EXPECT_EQ(notes.text("IN_PSF"), "psf.fits");
  EXPECT_EQ(notes.text("IN_IMAGE"), "image.fits");
}

}  // namespace
}  // namespace fiberloom
