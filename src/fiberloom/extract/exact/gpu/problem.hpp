// SPDX-License-Identifier: BSD-3-Clause
// One frame as the device gets it: geometry of its bundles in plain arrays. Host memory only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/extract/exact/engine.hpp"
#include "fiberloom/extract/exact/gpu/camera_geometry.hpp"
#include "fiberloom/extract/exact/gpu/layout.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::exact::gpu {

/// Bins of the core of a sweep's window: short ones are free while threads are what is missing, as
/// in parts of the axis.
inline constexpr int kSweepCore = 16, kPartSweepCore = 8;

/// A bundle that the device does not treat, and why.
struct LeftToCpu {
  std::size_t bundle = 0;  ///< index into Problem::bundles
  std::string reason;
};

/// What follows from PSF, grid and options alone; may serve several frames.
struct Problem {
  ExtractOptions options;
  Tuning tuning;
  GuardedGrid grid;
  SpotPlan plan;
  double psferr = 0.01, weak_prior = 0;
  std::vector<BundleRange> bundles;              ///< all that are wanted
  std::shared_ptr<const CameraGeometry> camera;  ///< of each
  std::vector<LeftToCpu> left;                   ///< known beforehand

  // the device's own bundles and fibres
  std::vector<std::size_t> device_bundle;  ///< index into `bundles`
  std::vector<int> bundle_first, bundle_of, psf_fiber;
  std::vector<int> trace_x0, trace_y0;  ///< [nfiber][bin_pitch]
  std::vector<unsigned char> live;
  std::vector<int> live_first, live_last, direction;  ///< bins that the model holds
  std::vector<int> strip_x;
  std::vector<int> fit_first, fit_last;  ///< rows: fit_rows()
  int strip_pitch = 8, row_first = 0, rows = 1, light_columns = 1;
  int nbin = 0, margin = 0, reach = 1;
  int own_band = 0, band = 8, cross_band = 0;  ///< of N_ii, as stored; of couplings
  Cut solve_cut;
  /// Fibres as a solve takes them, -1 beyond the last of a kind: those that it iterates, in
  /// `iterated_slots` places, then those that it eliminates; of each bundle, every which is
  /// iterated.
  std::vector<int> solve_fiber, solve_step;
  int iterated_slots = 0;

  [[nodiscard]] long bin_pitch() const { return padded(nbin); }
  [[nodiscard]] int nfiber() const { return static_cast<int>(psf_fiber.size()); }
  [[nodiscard]] int nbundle() const { return static_cast<int>(device_bundle.size()); }
  [[nodiscard]] int fibers_of(int bundle) const {
    return bundle_first[static_cast<std::size_t>(bundle) + 1] -
           bundle_first[static_cast<std::size_t>(bundle)];
  }
  /// Half-width of a bundle's couplings in the sweeps: its own, whatever other bundles are there,
  /// since results depend on it.
  [[nodiscard]] int half_of(int bundle) const;
  /// Bins around a row that a step of a sweep looks at.
  [[nodiscard]] int sweep_skirt() const;
  /// Windows of sweeps over `bins`: those of the grid, or of a part of it.
  [[nodiscard]] Cut sweep_cut(int bins, int core = kSweepCore) const;
  /// Rows that arrays of them have more at both ends, at least.
  [[nodiscard]] int sweep_margin(int bins) const;
  [[nodiscard]] const BundleGeometry& geometry_of(int bundle) const {
    return (*camera)[device_bundle[static_cast<std::size_t>(bundle)]].geometry;
  }
};

[[nodiscard]] Problem make_problem(const PsfModel& psf, const ExtractOptions& options,
                                   const Tuning& tuning, Isa isa, GeometryStore& store,
                                   Executor& executor, const Observer& observer);

/// Windows of about `core` bins with skirts, the same for every device.
[[nodiscard]] Cut short_windows(int nbin, int core, int skirt);

}  // namespace fiberloom::exact::gpu
