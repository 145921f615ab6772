// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom calibrate`: what calibrates a frame, applied to it.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "fiberloom/spectrum/scores.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom {
namespace {

using calibration::about;

/// What a frame says that it has been through already is done again only by mistake.
void warn_of_repetition(const FrameFile& frame, const CalibrationJob& job,
                        const Observer& observer) {
  struct Done {
    const std::string& wanted;
    const char *key, *what;
  };
  for (const Done& step :
       {Done{job.flat, "FIBERFLT", "divided by a fibre flat"},
        Done{job.sky, "IN_SKY", "freed of its sky"}, Done{job.flux, "FLUXCALB", "put into flux"}}) {
    const auto before = frame.header.text(step.key);
    if (step.wanted.empty() || !before) continue;
    observer.warn(job.input + ": FLUX: " + step.key + " is '" + *before + "': the frame has been " +
                  step.what + " already, and is once more");
  }
}

/// What takes a frame to flux, as far as it was given.
struct Applied {
  std::optional<FiberFlatFile> flat;
  std::optional<SkyFile> sky;
  std::optional<FluxCalibrationFile> flux;
};

void put_into_flux(FrameFile& frame, const FluxCalibrationFile& flux, const CalibrationJob& job,
                   const Observer& observer) {
  calibration::require_same_origin(job.flux, flux.header, frame.header,
                                   calibration::Origin::kCamera);
  about(job.flux, [&] { calibrate::apply_flux_calibration(frame, flux); });
  calibration::drop_and_tell(job.output, "", frame, observer);
  add_scores(frame, ScoreStage::kCalibrated);
  if (frame.fibermap && flux.psf_to_fiber.size() == frame.nspec()) {
    const std::vector<float> factors(flux.psf_to_fiber.begin(), flux.psf_to_fiber.end());
    frame.fibermap->drop("PSF_TO_FIBER_SPECFLUX")
        .add("PSF_TO_FIBER_SPECFLUX", std::span<const float>(factors), "",
             "light in a survey's fibre, of FLUX");
  }
  if (flux.deconvolved.empty()) {
    observer.warn(job.flux +
                  ": no HDU DECONVOLVED_CALIB: RESOLUTION stays that of the electrons, which is "
                  "not that of the flux where the calibration has lines");
  }
  frame.header.set("BUNIT", "10**-17 erg/(s cm2 Angstrom)");
}

std::vector<std::pair<std::string, double>> median_tsnr2(const FrameFile& frame) {
  std::vector<std::pair<std::string, double>> out;
  for (const Column& column : frame.scores ? frame.scores->columns : std::vector<Column>()) {
    if (!column.name.starts_with("TSNR2_")) continue;
    auto values = frame.scores->column(column.name).value_or(std::vector<double>());
    std::erase_if(values, [](double v) { return !std::isfinite(v); });  // it may have come so
    if (!values.empty()) out.emplace_back(column.name, loom::median_of(values));
  }
  return out;
}

}  // namespace

CalibrateSummary calibrate_frame(const CalibrationJob& job, const Observer& observer) {
  FrameFile frame =
      calibration::read_frame_of_one_grid(job.input, job.verify, observer, FrameTables::kAll);
  warn_of_repetition(frame, job, observer);
  const bool whole = !job.flat.empty() && !job.sky.empty() && !job.flux.empty();
  const std::string desimodel = job.tsnr && whole ? find_desimodel(job.desimodel) : "";
  if (job.tsnr && !whole && !job.desimodel.empty()) {
    throw Error(Status::kUsage, "--desimodel: expected --fiberflat, --sky and --fluxcalib with it");
  }
  Spectra raw;
  if (!desimodel.empty())
    raw = {frame.wave, frame.flux, frame.ivar, frame.mask, {}, frame.fibermap, {}};
  Applied applied;
  if (!job.flat.empty()) {
    applied.flat = calibration::divide_by_flat(frame, job);
    add_scores(frame, ScoreStage::kFlat);
  }
  if (!job.sky.empty()) {
    applied.sky = calibration::subtract_sky(frame, job);
    add_scores(frame, ScoreStage::kSkySubtracted);
  }
  frame.header = calibration::header_of(frame.header, job);
  if (!job.flux.empty()) {
    applied.flux = read_flux_calibration(job.flux, job.verify);
    put_into_flux(frame, *applied.flux, job, observer);
  }
  if (!desimodel.empty()) {
    with_desimodel(job, desimodel, "no TSNR2", observer, [&] {
      add_depth(frame, {raw, *applied.flat, *applied.sky, *applied.flux}, desimodel, job, observer);
    });
  }
  const FolderOf folder(job.output);
  write_frame(job.output, frame, job.overwrite);
  const double* const ivar = frame.ivar.data();
  const auto without = static_cast<std::size_t>(std::count(ivar, ivar + frame.ivar.size(), 0.0));
  if (without == frame.ivar.size()) {
    observer.warn(job.output + ": IVAR is 0 everywhere: nothing is left of " + job.input);
  }
  return {frame.nspec(), frame.nwave(), without, median_tsnr2(frame)};
}

}  // namespace fiberloom
