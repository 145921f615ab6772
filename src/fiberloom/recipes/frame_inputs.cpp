// SPDX-License-Identifier: BSD-3-Clause
// Reading, masking and checking what the extraction recipe needs.
#include "fiberloom/recipes/frame_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <future>
#include <numeric>

#include "fiberloom/extract/exact/bundle_extent.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/formats/wave_file.hpp"
#include "fiberloom/recipes/frame_grid.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"

namespace fiberloom {
namespace {

/// Runs `work`; an Error of it gets the file's name in front.
template <class Work>
auto naming(const std::string& file, Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.status(), file + ": " + error.what(), error.system_error());
  }
}

/// All but the PSF.
FrameInputs read_image(const ExtractJob& job, Executor* executor, Tracer* tracer) {
  FrameInputs in;
  {
    const Span span(tracer, "read/image");
    in.preproc =
        read_preproc(job.image, job.verify,
                     refines(job.options) ? NoiseMap::kByPixel : NoiseMap::kMean, executor);
  }
  if (!job.wave_file.empty()) in.wave_file = read_wave_file(job.wave_file, job.verify);
  in.fibermap_path = in.preproc.path;
  if (!job.fibermap.empty()) {
    in.fibermap = read_fibermap(job.fibermap, job.verify);
    in.fibermap_path = job.fibermap;
    if (!in.fibermap->column("FIBER")) {  // the first table of whatever file was named
      throw Error(Status::kMissingKeyword,
                  job.fibermap + ": the table has no column FIBER; expected a fibermap");
    }
  } else {
    in.fibermap = std::move(in.preproc.fibermap);
  }
  in.preproc.fibermap.reset();
  return in;
}

}  // namespace

PsfReadOptions psf_options(const ExtractJob& job) {
  PsfReadOptions options = job.psf_options;
  options.verify = job.verify;
  return options;
}

FrameInputs read_inputs(const ExtractJob& job, Executor& executor, const Observer& observer,
                        Tracer* tracer) {
  const Span span(tracer, "read");
  auto psf = std::async(std::launch::async, [&] {
    const Span psf_span(tracer, "read/psf");
    return std::make_shared<const PsfFile>(read_psf(job.psf, psf_options(job)));
  });
  FrameInputs in = read_image(job, &executor, tracer);
  in.psf = psf.get();
  stop_if_asked(observer);
  return in;
}

FrameInputs read_inputs(const ExtractJob& job, std::shared_ptr<const PsfFile> psf,
                        const Observer& observer, Tracer* tracer) {
  const Span span(tracer, "read");
  FrameInputs in = read_image(job, nullptr, tracer);
  in.psf = std::move(psf);
  stop_if_asked(observer);
  return in;
}

MaskCounts mask_inputs(FrameInputs& in, const ExtractJob& job, const Observer& observer) {
  PreprocFile& file = in.preproc;
  MaskCounts counts =
      naming(file.path, [&] { return apply_mask(file.ccd, file.mask, job.mask_bits); });
  if (job.pixmask.empty()) file.mask = {};  // 70 MB that nobody reads again
  const auto complain = [&](std::size_t n, const char* what) {
    if (n > 0)
      observer.warn(file.path + ": " + std::to_string(n) + " pixels with " + what +
                    " are taken as masked");
  };
  complain(counts.nan_ivar, "NaN or infinite IVAR");
  complain(counts.negative_ivar, "negative IVAR");
  complain(counts.nan_image, "NaN or infinite IMAGE");
  const std::string wild = wild_pixels_text(counts);
  if (!wild.empty()) observer.warn(file.path + ": " + wild);
  return counts;
}

namespace {

/// FIBER of the PSF's first fibre, where the header says of which spectrograph it is.
std::optional<std::int64_t> first_fiber_of(const FrameInputs& in) {
  const auto spectrograph = spectrograph_of(in.preproc.header);
  if (!spectrograph) return std::nullopt;
  return kFibersOfSpectrograph * *spectrograph + in.psf->model.fiber_min % kFibersOfSpectrograph;
}

/// Tables in another order than the fibres lie on the CCD (by TARGETID, as assignments of fibres
/// are) would give each spectrum another's target, and no number would look wrong.
void tell_of_other_fibers(const FrameInputs& in, const Observer& observer) {
  const auto fibers = in.fibermap->integers("FIBER", -1);
  if (!fibers) return;
  const auto known = std::find_if(fibers->begin(), fibers->end(), [](auto n) { return n >= 0; });
  if (known == fibers->end()) return;
  const std::int64_t first = first_fiber_of(in).value_or(*known - (known - fibers->begin()));
  for (std::size_t r = 0; r < fibers->size(); ++r) {
    const std::int64_t expected = first + static_cast<std::int64_t>(r);
    if ((*fibers)[r] < 0 || (*fibers)[r] == expected) continue;
    return observer.warn(
        in.fibermap_path +
        print(": FIBERMAP: FIBER of row %zu is %lld, that of the PSF's fibre there %lld: rows are "
              "taken by their place",
              r, static_cast<long long>((*fibers)[r]), static_cast<long long>(expected)));
  }
}

}  // namespace

void keep_own_fibers(FrameInputs& in, const Observer& observer) {
  const auto count = static_cast<std::size_t>(in.psf->model.nfiber());
  if (!in.fibermap) return;
  if (in.fibermap->rows <= count) return tell_of_other_fibers(in, observer);
  const auto fibers = in.fibermap->integers("FIBER", -1);
  if (const auto first_fiber = first_fiber_of(in); fibers && first_fiber) {
    std::vector<std::int64_t> own(count);
    std::iota(own.begin(), own.end(), *first_fiber);
    const auto found = std::search(fibers->begin(), fibers->end(), own.begin(), own.end());
    if (found != fibers->end()) {
      const auto first = static_cast<std::size_t>(found - fibers->begin());
      in.fibermap = in.fibermap->slice(first, count);
      return;
    }
  }
  observer.warn(in.fibermap_path +
                print(": FIBERMAP has %zu rows, the PSF %zu fibres, and FIBER does not say which "
                      "rows are theirs: the first ones are taken",
                      in.fibermap->rows, count));
}

std::array<double, 3> wave_range(const ExtractJob& job, const PsfFile& psf) {
  if (job.wave) return *job.wave;
  const LegendreSeries& shape = psf.model.sigma_x;
  return {psf.header.number("WAVEMIN").value_or(shape.wave_min),
          psf.header.number("WAVEMAX").value_or(shape.wave_max), 0.8};
}

std::vector<double> divided_grid(const std::array<double, 3>& wave, double factor) {
  std::vector<double> grid = linear_wave_grid(wave[0], wave[1], wave[2]);
  if (factor == 1) return grid;
  const double first = wave[0] / factor, step = wave[2] / factor;  // as desispec's string has them
  for (std::size_t j = 0; j < grid.size(); ++j) grid[j] = first + static_cast<double>(j) * step;
  return grid;
}

namespace {

/// Bins farther apart than a spot is high: light between them would belong to none.
void require_close_bins(const std::vector<double>& wave, const PsfModel& psf) {
  if (psf.nfiber() == 0 || wave.size() < 2) return;
  double middle = 0, step = 0;
  for (std::size_t j = 1; j < wave.size(); ++j) {
    if (wave[j] - wave[j - 1] <= step) continue;
    step = wave[j] - wave[j - 1];
    middle = 0.5 * (wave[j] + wave[j - 1]);
  }
  const auto fiber = static_cast<std::size_t>(psf.nfiber() / 2);
  const double pixels =
      std::abs(psf.y(fiber, middle + 0.5 * step) - psf.y(fiber, middle - 0.5 * step));
  if (!(pixels > psf.stamp_ny())) return;
  throw Error(Status::kUsage,
              print("a step of %g Angstrom puts bins %.3g pixels apart, spots are %d pixels high: "
                    "light between them would be in no bin; expected at most about %.2g",
                    step, pixels, psf.stamp_ny(), step * psf.stamp_ny() / pixels));
}

}  // namespace

ExtractOptions engine_options(const ExtractJob& job) {
  ExtractOptions options = job.options;
  options.want_model = !job.model.empty() || !job.residual.empty() || job.realisations > 0;
  if (job.max_leak >= 0) options.ndiag = kMostLeakDiagonals;
  return options;
}

ExtractOptions resolve_options(const ExtractJob& job, const FrameInputs& in,
                               const FrameGrid& grid) {
  ExtractOptions options = engine_options(job);
  options.wave = grid.solved;
  options.fiber_wave = grid.fiber_solved;
  naming(in.preproc.path + " with " + in.psf->path, [&] {
    validate(in.preproc.ccd, in.psf->model, options);
    require_close_bins(options.wave, in.psf->model);
    if (job.method == Method::kExact) require_step(in.psf->model, options, grid_size(options.wave));
  });
  return options;
}

std::optional<RawTable> choose_fibermap(const FrameInputs& in, const ExtractOptions& options,
                                        const Observer& observer) {
  if (!in.fibermap) return std::nullopt;
  if (in.fibermap->rows == 0) {
    observer.warn(in.fibermap_path + ": FIBERMAP has no rows; the frame gets none");
    return std::nullopt;
  }
  const auto first = static_cast<std::size_t>(options.spec_min);
  const auto count = static_cast<std::size_t>(fiber_count(options, in.psf->model.nfiber()));
  if (first + count > in.fibermap->rows) {
    throw Error(kFiberRange, in.fibermap_path + ": FIBERMAP has " +
                                 std::to_string(in.fibermap->rows) + " rows, fibres " +
                                 std::to_string(first) + " to " +
                                 std::to_string(first + count - 1) + " need " +
                                 std::to_string(first + count) + " (give --nspec)");
  }
  return in.fibermap->slice(first, count);
}

}  // namespace fiberloom
