// SPDX-License-Identifier: BSD-3-Clause
// What every extraction engine takes and gives. Arrays in, arrays out: no files, no threads of its
// own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/interval.hpp"
#include "loom/base/log.hpp"
#include "loom/trace/device_stage_time.hpp"
#include "loom/trace/trace.hpp"

namespace fiberloom {

/// CCD pixels as the file has them, float32 or float64, [npix_y][npix_x].
class PixelArray {
 public:
  PixelArray() = default;
  explicit PixelArray(Array2D<float> a) : data_(std::move(a)) {}
  explicit PixelArray(Array2D<double> a) : data_(std::move(a)) {}
  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t cols() const;
  [[nodiscard]] double at(std::size_t r, std::size_t c) const;
  [[nodiscard]] std::variant<Array2D<float>, Array2D<double>>& data() { return data_; }
  [[nodiscard]] const std::variant<Array2D<float>, Array2D<double>>& data() const { return data_; }

 private:
  std::variant<Array2D<float>, Array2D<double>> data_;
};

/// Image (electrons) and weights (inverse variance, 1/electron^2; 0 where masked) of one CCD.
/// An engine wants it sanitised: call apply_mask first.
struct CcdFrame {
  PixelArray image, ivar;
};

/// A pixel whose value or weight no CCD gives.
struct WildPixel {
  std::size_t row = 0, column = 0;
  double image = 0, ivar = 0;
  bool in_ivar = false;  ///< the weight is wild, not the value
};

/// Which pixels apply_mask dropped. A pixel is counted once, under the first reason that holds.
struct MaskCounts {
  std::size_t pixels = 0;     ///< all
  std::size_t by_mask = 0;    ///< mask & mask_bits
  std::size_t zero_ivar = 0;  ///< ivar was 0 already
  std::size_t nan_ivar = 0;   ///< ivar NaN or Inf
  std::size_t negative_ivar = 0;
  std::size_t nan_image = 0;    ///< image NaN or Inf under positive ivar
  std::size_t wild_ivar = 0;    ///< ivar beyond kLeastIvar .. kMostIvar medians, or kIvarRange
  std::size_t wild_image = 0;   ///< |image| sqrt(ivar) > kMostSignal
  double median_ivar = 0;       ///< of pixels with a weight that are not masked
  std::vector<WildPixel> wild;  ///< the first few
  [[nodiscard]] std::size_t bad() const;
};

/// Weights beyond these, in units of the frame's median, are no CCD's: on a good frame the noise of
/// a pixel lies within a factor 1000 of the usual. Solved for, one such pixel would take the digits
/// of all others in its fibre.
inline constexpr double kLeastIvar = 1e-12, kMostIvar = 1e8;
/// In 1/electron^2: beyond these the results would leave the range of float32, as which they are
/// stored.
inline constexpr std::array<double, 2> kIvarRange{1e-35, 1e35};
/// A value so many times its own error is not known to that error in double precision once it has
/// met others.
inline constexpr double kMostSignal = 1e12;

/// Bits of the CCD mask that drop a pixel unless the user says otherwise: all but BADREADNOISE.
inline constexpr std::uint32_t kDefaultMaskBits = 767;

/// Makes ivar 0 and image 0 wherever a pixel must not be used. `mask` is [npix_y][npix_x] or empty.
/// Throws kSizeMismatch when shapes disagree. (pixel_mask.cpp)
MaskCounts apply_mask(CcdFrame& ccd, const Array2D<std::uint32_t>& mask,
                      std::uint32_t mask_bits = kDefaultMaskBits);

/// One line that names the first wild pixels, for a warning; empty where there are none.
[[nodiscard]] std::string wild_pixels_text(const MaskCounts& counts);

/// Spectral mask bits (desispec's specmask) that an extraction sets.
enum SpecMask : std::uint32_t {
  kSomeBadPix = 1U << 0,  ///< pixmask_fraction > 0.5
  kAllBadPix = 1U << 1,   ///< no information: flux = ivar = 0
  kBad2dFit = 1U << 7,    ///< chi2pix far above its neighbours
};

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
  int spec_min = 0;          ///< first fibre, counted from 0 in the PSF
  int nspec = -1;            ///< number of fibres; -1: all from spec_min
  int bundle_size = 25;  ///< fibres of a bundle, counted from fibre 0; 0: from the PSF's BUNDLE row
  double psferr = -1;    ///< fractional PSF error in chi2pix; < 0: the PSF's own
  double regularize = 0;    ///< ridge on the flux, 1/electron (enters squared, as the peers' alpha)
  int ndiag = 11;           ///< stored diagonals of the resolution matrix, odd
  bool want_model = false;  ///< also make the model image
  double tolerance =
      1e-4;  ///< exact engine: bound on a bin's numerical error, in units of its sigma
  int max_iterations = 500;  ///< exact engine: of a bundle's solve; a handful is usual
  PatchOptions patch;
};

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
};

/// Fibres [first, last) of a bundle.
struct BundleRange {
  int first = 0, last = 0;
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

/// All arrays are [nspec][nwave]; flux per Angstrom.
struct ExtractResult {
  std::vector<double> wave;  ///< Angstrom
  int spec_min = 0;
  Array2D<double> flux;         ///< electron/Angstrom, re-convolved by the resolution
  Array2D<double> ivar;         ///< (electron/Angstrom)^-2; 0 where there is no information
  Array2D<std::uint32_t> mask;  ///< SpecMask bits
  Array2D<double> xflux;        ///< deconvolved flux, electron/Angstrom
  Array2D<double> chi2pix;
  Array2D<double> pixmask_fraction;
  Array3D<float> resolution;  ///< [nspec][ndiag][nwave]: (s, k, j) = R[j - ndiag/2 + k, j]
  Array2D<float> model;       ///< [npix_y][npix_x] electrons, empty unless asked for
  std::vector<BundleReport> bundles;
  DeviceReport device;
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

/// The exact engine: whole bundles, banded, seam-free (docs/algorithm.md).
[[nodiscard]] ExtractResult extract_exact(const CcdFrame& ccd, const PsfModel& psf,
                                          const ExtractOptions& options, Executor& executor,
                                          const Observer& observer = {}, Tracer* tracer = nullptr);

/// The peers' method, for parity and as an oracle. Built with FIBERLOOM_ORACLE only.
[[nodiscard]] ExtractResult extract_patch(const CcdFrame& ccd, const PsfModel& psf,
                                          const ExtractOptions& options, Executor& executor,
                                          const Observer& observer = {}, Tracer* tracer = nullptr);

/// Sets MASK from pixmask_fraction, ivar and chi2pix (bits 0, 1, 7), the last over the fibres
/// given.
void set_spectral_mask(ExtractResult& result);
void set_spectral_mask(ExtractResult& result, Executor& executor);

/// numpy.arange(wmin, wmax + dw/2, dw). Throws kUsage when that is no grid.
[[nodiscard]] std::vector<double> linear_wave_grid(double wmin, double wmax, double dw);

/// Width of bin j for flux per Angstrom: numpy.gradient(wave).
[[nodiscard]] std::vector<double> bin_widths(const std::vector<double>& wave);

/// Every bundle, in order.
[[nodiscard]] std::vector<BundleRange> bundle_ranges(const PsfModel& psf, int bundle_size);

/// Those that hold a fibre that was asked for, whole: what an engine solves, what a frame can be
/// cut into.
[[nodiscard]] std::vector<BundleRange> wanted_bundles(const PsfModel& psf,
                                                      const ExtractOptions& options);

}  // namespace fiberloom
