// SPDX-License-Identifier: BSD-3-Clause
// What every extraction engine takes and gives. Arrays in, arrays out: no files, no threads of its
// own.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "fiberloom/ccd/ccd_frame.hpp"
#include "fiberloom/ccd/pixel_mask.hpp"
#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/psf/trace_report.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/interval.hpp"
#include "loom/base/log.hpp"
#include "loom/trace/device_stage_time.hpp"
#include "loom/trace/trace.hpp"

namespace fiberloom {

/// The peers' dense divide and conquer (reference: gpu_specter). Only the patch engine reads these.
struct PatchOptions {
  int nsubbundles = 5;
  int nwavestep = 50;
  int wavepad = 10;
  double wavepad_frac = 0.2;
  double pixpad_frac = 0.8;
};

struct ExtractOptions {
  std::vector<double> wave;  ///< wavelength grid, Angstrom, increasing; need not be linear
  /// exact engine on the CPU: a grid for each fibre of the PSF, [nfiber][nwave], bins of neighbours
  /// at most kMostBinsApart from each other; empty: all are on `wave`, which else only names bins
  Array2D<double> fiber_wave;
  int spec_min = 0;      ///< first fibre, counted from 0 in the PSF
  int nspec = -1;        ///< number of fibres; -1: all from spec_min
  int bundle_size = 25;  ///< fibres of a bundle, counted from fibre 0; 0: from the PSF's BUNDLE row
  double psferr = -1;    ///< fractional PSF error in chi2pix; < 0: the PSF's own
  double regularize = 0;    ///< ridge on the flux, 1/electron (enters squared, as the peers' alpha)
  int ndiag = 11;           ///< stored diagonals of the resolution matrix, odd
  bool want_model = false;  ///< also make the model image
  double tolerance =
      1e-4;  ///< exact engine: bound on a bin's numerical error, in units of its sigma
  int max_iterations = 500;  ///< exact engine: of a bundle's solve; a handful is usual
  /// exact engine on the CPU: weights of the model image and the read noise, not those of the frame
  bool model_variance = false;
  /// exact engine on the CPU: pixels so many sigma from the model are dropped; < 0: none
  double reject_nsig = -1;
  /// Errors uncorrelated between the fibres of a bundle, too ('noise' decorrelation of the peers)
  bool decorrelate_fibers = false;
  /// exact engine on the CPU: also how far errors of neighbouring fibres go together
  bool fiber_correlation = false;
  /// Solved on bins so many times narrower, of which each bin of the result is the mean that has
  /// the least variance: light between the centres of bins is described, and its errors stay small
  int oversample = 1;
  /// exact engine on the CPU: xflux alone (and the model image where it is wanted), to 1e-2 sigma
  /// and without errors, for who models light; nothing is dropped, weights are the first ones
  bool fluxes_only = false;
  PatchOptions patch;
};

/// Whether weights change once a model is known, so that a bundle is solved several times.
[[nodiscard]] inline bool refines(const ExtractOptions& options) {
  return options.model_variance || options.reject_nsig >= 0;
}
/// Bins of the same number of two neighbouring fibres.
inline constexpr int kMostBinsApart = 8;
/// Finer solutions than this the pixels do not carry.
inline constexpr Interval kOversampleRange = between(1, 4);

/// Grid of a fibre of the PSF, and how wide its bins are.
[[nodiscard]] std::vector<double> grid_of(const ExtractOptions& options, int fiber);
[[nodiscard]] std::vector<double> widths_of(const ExtractOptions& options, int fiber);

/// Fewer sigma would drop noise: of a bundle's million pixels 2,700 lie beyond 3.
inline constexpr Interval kRejectRange = at_least(3);

/// Of the bins of padding, and of the pixels of a padding spot, that patches have.
inline constexpr Interval kWavepadRange = between(0, 10), kPixpadRange = between(0, 1);

/// Tighter than rounding lets a bin be means nothing; looser than its sigma is no bound.
inline constexpr Interval kToleranceRange = between(1e-12, 1);
/// Enough for any problem that has a solution.
inline constexpr Interval kIterationRange = between(1, 1e6);

/// How many fibres are asked for of a PSF that has `nfiber`; may be none or too many (validate()).
[[nodiscard]] inline int fiber_count(const ExtractOptions& options, int nfiber) {
  return options.nspec < 0 ? nfiber - options.spec_min : options.nspec;
}

/// Fails with kUsage where an option makes no sense for any image and PSF.
void validate(const ExtractOptions& options);

/// One bundle's numerical report: what "exact" rests on.
struct BundleReport {
  int first_fiber = 0, nfiber = 0;
  int half_bandwidth = 0;  ///< band kept of the marginal precision S
  int cg_iterations = 0;
  int poles = 0;           ///< largest number of poles used
  double kappa = 1;        ///< largest bound on the condition number of S
  double bound_sigma = 0;  ///< bound on the error of a bin, in units of its sigma
  double solve_sigma = 0;  ///< error that the solution of the equations was left with, of the bound
  double seam_sigma = 0;   ///< measured difference of neighbouring windows where they overlap
  int windows = 1;
  std::size_t unconstrained = 0;  ///< bins of the requested fibres without information
  int refinements = 0;            ///< how often weights were changed and the equations solved again
  std::size_t rejected = 0;       ///< pixels dropped as outliers
  int unfit_fibers =
      0;  ///< fibres that the PSF does not describe: none of their pixels was dropped
  /// Goodness of fit: of the pixels below spots that were used, without psferr.
  double chi2 = 0;
  std::size_t pixels = 0, parameters = 0;  ///< of it
  /// Fractional error of the PSF that explains the residuals of bright pixels; < 0: too few of them
  double seen_psferr = -1;
  std::size_t bright_pixels = 0;
};

/// Fibres [first, last) of a bundle.
struct BundleRange {
  int first = 0, last = 0;
  [[nodiscard]] bool operator==(const BundleRange&) const = default;
};

/// A bundle of a device's frame that the CPU took, and why.
struct CpuBundle {
  BundleRange fibers;
  std::string reason;
};

/// What happened to a frame that was given to a device.
struct DeviceReport {
  std::string device;  ///< its name; empty: the CPU computed, and nothing here says anything
  std::vector<CpuBundle> cpu_bundles;
  std::vector<DeviceStageTime> stages;  ///< by the device's clock
  std::size_t memory_bytes = 0;         ///< of the device, for this frame
  std::string failure;                  ///< the device's error, after which the CPU took the frame
};

/// A solution whose error may be a sigma and more (or is no number) is none.
[[nodiscard]] inline bool is_solution(double solve_sigma) { return solve_sigma < 1.0; }

/// A pixel of the CCD.
struct CcdPixel {
  int column = 0, row = 0;
  friend auto operator<=>(const CcdPixel&, const CcdPixel&) = default;
};

/// What was done about light beyond the stamps (wings.hpp).
struct WingReport {
  int reach = 0;          ///< pixels; 0: nothing
  int rounds = 0;         ///< how often wings were made
  double last_sigma = 0;  ///< by how much they changed in the last, at most, in sigma of a pixel
  double share = 0;       ///< light beyond a stamp to that in it, mean over bins
  double most_e = 0;      ///< the most that was taken off a pixel, electrons
};

/// The spectra, in electron/Angstrom, with what only their extraction knows; arrays [nspec][nwave].
struct ExtractResult : Spectra {
  int spec_min = 0;       ///< first fibre, counted from 0 in the PSF
  Array2D<double> xflux;  ///< deconvolved flux, electron/Angstrom
  Array2D<double> chi2pix;
  Array2D<double> pixmask_fraction;   ///< share of a bin's light that fell on bad pixels
  Array2D<double> rejected_fraction;  ///< of these the pixels that were dropped as outliers; empty
                                      ///< unless asked for
  /// With `oversample` [nspec][ndiag][oversample x nwave]: (s, k, j) is the response of bin
  /// j / oversample - ndiag/2 + k to the fine bin j, per Angstrom (oversample.hpp)
  Array3D<float> fine_resolution;
  /// With `fiber_correlation` [nspec][ndiag][nwave]: (s, k, j) is the correlation coefficient of
  /// flux(s, j) and flux(s + 1, j - ndiag/2 + k); 0 at the ends of bundles and without information
  Array3D<float> fiber_correlation;
  std::vector<CcdPixel> rejected;  ///< pixels dropped as outliers, bundle by bundle
  Array2D<float> model;            ///< [npix_y][npix_x] electrons, empty unless asked for
  std::vector<BundleReport> bundles;
  DeviceReport device;
  WingReport wings;    ///< whoever took them off before says how
  TraceReport traces;  ///< whoever moved the traces before (extract/traces/) says how
};

/// Wavelengths that traces and shape of a PSF were made for: the range that all of them have.
struct WaveRange {
  double first_aa = 0, last_aa = 0;
};
[[nodiscard]] WaveRange wave_range_of(const PsfModel& psf);

/// How far a grid may reach beyond that range, as a fraction of its width. A Legendre series of
/// degree 6 grows there to five times its largest value inside; farther out it soon means nothing,
/// and traces may turn back onto the CCD.
inline constexpr double kMostExtrapolation = 0.05;

/// Fails with kFiberRange, kNotCovered, kSizeMismatch or kUsage when the problem makes no sense.
void validate(const CcdFrame& ccd, const PsfModel& psf, const ExtractOptions& options);

/// The exact engine: whole bundles, banded, seam-free (docs/fiberloom/algorithm.md).
[[nodiscard]] ExtractResult extract_exact(const CcdFrame& ccd, const PsfModel& psf,
                                          const ExtractOptions& options, Executor& executor,
                                          const Observer& observer = {}, Tracer* tracer = nullptr);

/// The peers' method, for parity and as an oracle. Built with FIBERLOOM_ORACLE only.
[[nodiscard]] ExtractResult extract_patch(const CcdFrame& ccd, const PsfModel& psf,
                                          const ExtractOptions& options, Executor& executor,
                                          const Observer& observer = {}, Tracer* tracer = nullptr);

/// RESOLUTION of spectra per bin becomes that of spectra per Angstrom, R[i,j] width_j / width_i:
/// flux = R truth on grids whose bins widen, too. Fibres of equal bins keep every bit.
void convert_resolution(const ExtractOptions& options, ExtractResult& result);

/// Sets MASK from pixmask_fraction, ivar and chi2pix (bits 0, 1, 7), the last over the fibres
/// given.
void set_spectral_mask(ExtractResult& result);
void set_spectral_mask(ExtractResult& result, Executor& executor);

/// Every bundle, in order.
[[nodiscard]] std::vector<BundleRange> bundle_ranges(const PsfModel& psf, int bundle_size);

/// Those that hold a fibre that was asked for, whole: what an engine solves, what a frame can be
/// cut into.
[[nodiscard]] std::vector<BundleRange> wanted_bundles(const PsfModel& psf,
                                                      const ExtractOptions& options);

}  // namespace fiberloom
