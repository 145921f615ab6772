// SPDX-License-Identifier: BSD-3-Clause
// The recipe "one frame, file to file". Prints nothing; what happened comes back as a summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/engine.hpp"
#include "fiberloom/recipes/realisations.hpp"
#include "fiberloom/spectrum/resolution_leak.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/trace/trace.hpp"

namespace fiberloom {

/// What a user asks for. Empty paths: not wanted.
struct ExtractJob {
  std::string image, psf, fibermap;              ///< input
  std::string output, model, residual, pixmask;  ///< output
  std::string shifted_psf;                       ///< output: the PSF as trace_shifts has moved it
  std::optional<std::array<double, 3>>
      wave;                         ///< wmin, wmax, step, Angstrom; none: the PSF's range by 0.8
  bool wave_log10 = false;          ///< the step is one of log10(Angstrom)
  std::string wave_file;            ///< the grid itself, instead of `wave`; input
  bool barycentric = false;         ///< extract on the grid divided by the barycentric factor
  bool barycentric_fibers = false;  ///< each fibre by its own
  Method method = Method::kExact;
  /// Degree of the polynomials over the CCD by which the PSF's traces are moved first; < 0: none
  int trace_shifts = -1;
  bool trace_widths = false;  ///< with it: widths of spots, too
  /// How far tails of the PSF beyond its stamps are followed and taken off, pixels; < 0: not at all
  int wings = -1;
  double max_leak = -1;  ///< of rows of RESOLUTION, which decides ndiag; < 0: ndiag does
  /// Draws of noise on the model that the frame is extracted with again; 0: none. Of one frame
  /// alone.
  int realisations = 0;
  bool report_leak = false;  ///< say what RESOLUTION leaks in the summary
  ExtractOptions options;    ///< `wave` and `want_model` are filled in by the recipe
  std::uint32_t mask_bits = kDefaultMaskBits;
  PsfReadOptions psf_options;
  Verify verify = Verify::kYes;  ///< of all inputs
  bool scores = true;
  Overwrite overwrite = Overwrite::kYes;
};

/// The job's options with what its other members ask of the engine; without a grid.
[[nodiscard]] ExtractOptions engine_options(const ExtractJob& job);

/// Whether traces are looked for before the frame is extracted.
[[nodiscard]] inline bool moves_traces(const ExtractJob& job) {
  return job.trace_shifts >= 0 && job.method == Method::kExact;
}

/// Whether light beyond the stamps is looked for before the frame is extracted.
[[nodiscard]] inline bool takes_wings_off(const ExtractJob& job) {
  return job.wings >= 0 && job.method == Method::kExact;
}

/// What the CPU took over from the device.
struct TakenOver {
  int bundles = 0;      ///< that the device does not do, while it did the others
  std::string failure;  ///< the device's error, after which the CPU took the whole frame
};

[[nodiscard]] inline TakenOver taken_over(const ExtractResult& result) {
  return {static_cast<int>(result.device.cpu_bundles.size()), result.device.failure};
}

/// What a frame was expected to take in memory.
struct MemoryUse {
  std::uint64_t estimated_bytes = 0;  ///< at most at once
  std::uint64_t granted_bytes = 0;    ///< 0: not known
  std::size_t threads = 0;            ///< for which it sufficed
};

/// What was done, for the log and --json.
struct ExtractSummary {
  LeakReport leak;
  std::optional<RealisationReport> realisations;
  std::string image, psf, output;  ///< paths really read, and written
  StageTime read, compute, write;
  MaskCounts pixels;
  int spec_min = 0;
  std::size_t nspec = 0, nwave = 0;
  std::array<double, 3> wave{};  ///< first, last, (mean) step of the file
  double heliocor = 1;           ///< the extraction's grid is that divided by this
  std::size_t without_ccd = 0;   ///< bins whose spot lies beyond the first or last row
  std::size_t some_bad = 0, all_bad = 0, bad_fit = 0;  ///< bins by mask bit
  std::size_t cosmic = 0;        ///< bins that lost light to pixels dropped as outliers
  std::size_t rejected = 0;      ///< pixels dropped as outliers
  std::size_t not_computed = 0;  ///< of all_bad, those that had light on good pixels
  std::vector<BundleReport> bundles;
  TraceReport traces;
  WingReport wings;
  TakenOver by_cpu;
  MemoryUse memory;
};

/// Reads, masks, extracts, writes. Memory is looked at before it is taken: fewer threads where that
/// makes it suffice (a warning says so), kMemory where it does not. The frame is written last, so
/// that where it is, the rest is too; every file gets its final name only when complete. Throws
/// Error, after which no new file is there.
ExtractSummary extract_frame(const ExtractJob& job, const Engine& engine, Executor& executor,
                             const Observer& observer = {}, Tracer* tracer = nullptr);

}  // namespace fiberloom
