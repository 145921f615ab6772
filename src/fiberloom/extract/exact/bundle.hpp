// SPDX-License-Identifier: BSD-3-Clause
// One bundle from pixels to spectra: the recipe of the exact engine.
#pragma once

#include "fiberloom/extract/exact/bundle_root.hpp"
#include "fiberloom/extract/exact/decorrelate.hpp"
#include "fiberloom/extract/exact/diagnostics.hpp"
#include "fiberloom/extract/exact/fiber_correlation.hpp"
#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/exact/live_model.hpp"
#include "fiberloom/extract/exact/marginal.hpp"
#include "fiberloom/extract/exact/normal_equations.hpp"
#include "fiberloom/extract/exact/refine.hpp"
#include "fiberloom/extract/exact/solve.hpp"

namespace fiberloom::exact {

/// What becomes of a device's spots between the normal equations and the diagnostics.
enum class DeviceSpots { kKept, kMadeAgain };

/// What is done again where weights of some pixels have changed.
enum class SolveAgain { kTouched, kAll };

/// Where bands wider than the first are taken beside defects.
enum class WideBands { kWhereNeeded, kEverywhere };

/// Knobs that users do not have; tests turn them to see that the bounds notice.
struct Tuning {
  double tolerance_sigma = 1e-4;  ///< what the bounds of a bin may reach, in units of its sigma
  Sweeps sweeps = Sweeps::kBoth;
  int least_band = 0;  ///< keep at least this band of S
  int most_band = 64;  ///< and at most this
  int most_windows = kLanes;
  double coupling_floor = 1e-12;
  int most_iterations = ExtractOptions{}.max_iterations;  ///< of the solve
  SolveAgain solve_again = SolveAgain::kTouched;
  WideBands wide_bands = WideBands::kWhereNeeded;
  bool device_parts = false;  ///< parts as a device has them: one window, roots with its own band
  DeviceSpots device_spots = DeviceSpots::kKept;  ///< where the memory suffices; same bytes
};

/// What users do have a say in.
[[nodiscard]] inline Tuning tuning_of(const ExtractOptions& options) {
  Tuning tuning;
  tuning.tolerance_sigma = options.tolerance;
  tuning.most_iterations = options.max_iterations;
  return tuning;
}

/// What all bundles of a frame share, read-only.
struct FrameContext {
  const CcdFrame& ccd;
  const ExtractOptions& options;
  const GuardedGrid& grid;
  const SpotPlan& plan;
  const Tuning& tuning;
  Isa isa;
  const SpotKernels& spots = spot_kernels(isa);
  const PixelKernels& pixel = pixel_kernels(isa);
  const BandedKernels& banded = banded_kernels(isa);
  double psferr = 0.01;
  double weak_prior =
      0;  ///< relative to the median diagonal, for grids finer than the pixels can carry
  Tracer* tracer = nullptr;
  const Observer* observer = nullptr;  ///< asked for a stop between the steps of a bundle
};

/// Kept from bundle to bundle by one thread at a time.
struct BundleWorkspace {
  Strip strip;
  GrowBuffer<double> spots;
  NormalEquations normal;
  SolveWork solve;
  WorkArena arena;  // of the next two
  MarginalWork marginal{arena};
  RootBuffers root{arena};
  DiagnosticWork diagnostics;
  RefineWork refine;                       ///< empty unless weights are refined
  BundleRootWork bundle_root;              ///< empty unless fibres are decorrelated
  FiberCorrelationWork fiber_correlation;  ///< empty unless asked for
};

/// Error, in sigma, of the solutions that weights and outliers are judged by; the last one, which
/// the result is made of, is as exact as any.
inline constexpr double kJudgedSolution = 1e-2;
/// Where more of the bins see changed pixels, all are done again.
inline constexpr double kMostTouched = 0.7;

/// The band of S to begin with.
[[nodiscard]] int least_band(const BundleGeometry& geometry, const ExtractOptions& options,
                             const Tuning& tuning);
/// The next band to try: couplings fall by `decay` a bin, so the excess tells how far; somewhat
/// less, since wide bands cost their square.
[[nodiscard]] int wider_band(int band, double truncation, double decay, const Tuning& tuning);

/// Model of one bundle, to be added to the image in the order of the bundles.
struct ModelStrip {
  Array2D<float> value;
  int x0 = 0, y0 = 0;
};

/// Extracts fibres [bundle.first, bundle.last) and writes the rows of those that were asked for.
/// Rows of other bundles are not touched, so bundles may run at the same time. `model` may be null.
/// Pixels that were dropped as outliers are in work.refine.
BundleReport extract_bundle(const FrameContext& frame, BundleRange bundle, BundleWorkspace& work,
                            ExtractResult& result, ModelStrip* model);

}  // namespace fiberloom::exact
