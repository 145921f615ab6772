// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom fiberflat`, `sky`, `stdstars`, `fluxcalib`, `calibrate` and `qa`: options -> recipe ->
// a line.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_step.hpp"
#include "fiberloom/recipes/average_flats.hpp"
#include "fiberloom/recipes/calibration_option_table.hpp"
#include "fiberloom/recipes/quality/exposure_quality.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/program/row_options.hpp"

namespace fiberloom::cli {
namespace {

/// A step and how it runs.
struct CalibrationCommand {
  CalibrationJob job;
  StepRun run;
};

void add_calibration_options(Options& options, CalibrationCommand& c) {
  for (const CalibrationOptionRow& row : calibration_option_rows()) {
    if (belongs_to(row, c.job.step)) loom::add_row(options, row, c.job);
  }
  add_no_clobber_option(options, c.job.overwrite);
  add_verify_option(options, c.job.verify);
  add_step_options(options, c.run);
}

Json inputs_json(const CalibrationJob& job) {
  if (job.step != CalibrationStep::kStdStars && job.step != CalibrationStep::kQuality) {
    return {{"frame", job.input},    {"flats", paths_json(job.flats)}, {"fiberflat", job.flat},
            {"sky", job.sky},        {"models", job.models},           {"average", job.average},
            {"fluxcalib", job.flux}, {"desimodel", job.desimodel},     {"psf", job.psf}};
  }
  if (job.step == CalibrationStep::kQuality) {
    return {{"frames", paths_json(job.frames)},
            {"skymodels", paths_json(job.skies)},
            {"fluxcalibs", paths_json(job.fluxes)},
            {"stdstars", paths_json(job.star_files)},
            {"desimodel", job.desimodel}};
  }
  return {{"frames", paths_json(job.frames)},
          {"fiberflats", paths_json(job.flats)},
          {"skymodels", paths_json(job.skies)},
          {"starmodels", job.grid},
          {"filters", job.passbands}};
}

/// Runs `work` (executor, observer) -> the step's result for the summary.
template <class Work>
int run_step(const char* name, const CalibrationCommand& c, const Given& given, Work work) {
  Step step{.name = name};
  step.check = [&](std::span<const NamedFile> texts) { check_outputs(c.job, texts); };
  step.work = [&](Executor& executor, const Observer& observer, Json& summary) {
    Json result = work(executor, observer);
    if (!result.contains("outputs")) observer.info("wrote " + c.job.output);
    summary["input"] = inputs_json(c.job);
    summary["output"] = c.job.output;
    summary["settings"] = Json::object();
    for (const auto& [key, value] : calibration_settings(c.job)) summary["settings"][key] = value;
    summary["result"] = std::move(result);
  };
  return run_step(step, c.run, given);
}

std::string codes(CalibrationStep step) {
  std::vector<Status> more{Status::kNumerical};
  if (step == CalibrationStep::kCalibrate) more.insert(more.begin(), kFiberRange);
  return exit_codes_of({.reads = true, .matches = false, .writes = true, .more = more});
}

int run_average(const Given& given, const CalibrationCommand& c) {
  return run_step("fiberflat", c, given, [&](Executor&, const Observer& observer) {
    for (const char* name : {"--nsig", "--acc", "--smoothing-resolution"}) {
      if (given.has(name)) {
        observer.warn(std::string(name) + " is ignored: --flats are made already");
      }
    }
    const AverageFlatsSummary s = average_fiber_flats(c.job, observer);
    for (const std::string& path : s.outputs) observer.info("wrote " + path);
    Json json;
    json["flats"] = s.flats;
    json["lamps"] = s.lamps;
    json["cameras"] = paths_json(s.cameras);
    json["outputs"] = paths_json(s.outputs);
    return json;
  });
}

int run_fiberflat(const Given& given, const CalibrationCommand& c) {
  if (c.job.input.empty() == c.job.flats.empty()) {
    throw Error(Status::kUsage,
                "fiberflat: expected a frame (-i) or fibre flats (--flats), one of the two");
  }
  if (!c.job.flats.empty()) return run_average(given, c);
  return run_step("fiberflat", c, given, [&](Executor& executor, const Observer& observer) {
    const FiberFlatSummary s = make_fiber_flat(c.job, executor, observer);
    observer.info(
        print("fibre flat of %zu spectra: chi2 / dof %.3f after %d iterations, %zu "
              "fibres without light, %zu pixels rejected, %zu without flat",
              s.nspec, s.chi2_per_dof, s.iterations, s.lost_fibers, s.rejected, s.masked));
    Json json;
    json["nspec"] = s.nspec;
    json["nwave"] = s.nwave;
    json["iterations"] = s.iterations;
    json["chi2_per_dof"] = s.chi2_per_dof;
    json["lost_fibers"] = s.lost_fibers;
    json["rejected_pixels"] = s.rejected;
    json["masked_pixels"] = s.masked;
    return json;
  });
}

int run_sky(const Given& given, const CalibrationCommand& c) {
  return run_step("sky", c, given, [&](Executor& executor, const Observer& observer) {
    const SkySummary s = make_sky(c.job, executor, observer);
    observer.info(
        print("sky from %zu fibres, %zu of them discarded: %d iterations, %zu pixels clipped",
              s.sky_fibers, s.discarded, s.iterations, s.clipped));
    if (s.peaks > 0) {
      observer.info(
          print("lines adjusted by %zu peaks of sky fibres: moved by %.4f, widened by %.4f "
                "Angstrom (rms)",
                s.peaks, s.rms_shift, s.rms_width));
    }
    Json json;
    json["nspec"] = s.nspec;
    json["nwave"] = s.nwave;
    json["iterations"] = s.iterations;
    json["sky_fibers"] = s.sky_fibers;
    json["adjusted_by_peaks"] = s.peaks;
    json["rms_shift_aa"] = s.rms_shift;
    json["rms_width_aa"] = s.rms_width;
    json["discarded_fibers"] = s.discarded;
    json["clipped_pixels"] = s.clipped;
    json["masked_pixels"] = s.without;
    return json;
  });
}

int run_stdstars(const Given& given, const CalibrationCommand& c) {
  return run_step("stdstars", c, given, [&](Executor& executor, const Observer& observer) {
    const StandardStarSummary s = make_standard_stars(c.job, executor, observer);
    observer.info(
        print("%zu of %zu standard stars among %zu models, median chi2 %.2f; %zu without "
              "photometry, %zu too faint, %zu without a model of their colour",
              s.stars, s.candidates, s.models, s.median_chi2_per_dof, s.without_photometry,
              s.too_faint, s.without_model));
    Json json;
    json["candidates"] = s.candidates;
    json["stars"] = s.stars;
    json["cameras"] = s.cameras;
    json["exposures"] = s.exposures;
    json["models"] = s.models;
    json["without_photometry"] = s.without_photometry;
    json["too_faint"] = s.too_faint;
    json["without_model"] = s.without_model;
    json["median_chi2_per_dof"] = s.median_chi2_per_dof;
    return json;
  });
}

int run_fluxcalib(const Given& given, const CalibrationCommand& c) {
  return run_step("fluxcalib", c, given, [&](Executor& executor, const Observer& observer) {
    const FluxSummary s = make_flux_calibration(c.job, executor, observer);
    observer.info(
        print("flux calibration from %zu stars of a median S/N of %.1f, %zu left out: %d "
              "iterations, %zu pixels clipped",
              s.stars, s.median_snr, s.left_out, s.iterations, s.clipped));
    Json json;
    json["nspec"] = s.nspec;
    json["nwave"] = s.nwave;
    json["iterations"] = s.iterations;
    json["stars"] = s.stars;
    json["stars_left_out"] = s.left_out;
    json["clipped_pixels"] = s.clipped;
    json["masked_pixels"] = s.without;
    json["median_snr"] = s.median_snr;
    json["is_average"] = s.is_average;
    return json;
  });
}

int run_calibrate(const Given& given, const CalibrationCommand& c) {
  if (c.job.flat.empty() && c.job.sky.empty() && c.job.flux.empty()) {
    throw Error(Status::kUsage,
                "calibrate: nothing to apply, expected --fiberflat, --sky or --fluxcalib");
  }
  return run_step("calibrate", c, given, [&](Executor&, const Observer& observer) {
    const CalibrateSummary s = calibrate_frame(c.job, observer);
    Json json;
    json["nspec"] = s.nspec;
    json["nwave"] = s.nwave;
    json["masked_pixels"] = s.without;
    for (const auto& [name, value] : s.tsnr2) json["median_tsnr2"][name] = value;
    return json;
  });
}

Json petal_json(const calibrate::ExposureQa& qa) {
  Json json;
  json["fibers"] = qa.status.size();
  json["good_fibers"] = qa.good_fibers;
  json["good_positions"] = qa.good_positions;
  json["stars"] = qa.stars;
  json["star_rms"] = qa.star_rms;
  for (const calibrate::CameraQa& c : qa.cameras) {
    json["cameras"][std::string(1, c.band)] = {{"median_snr", c.median_snr},
                                               {"masked_pixels", c.without},
                                               {"sky_fibers", c.sky_fibers},
                                               {"sky_chi2_per_dof", c.sky_chi2_per_dof},
                                               {"sky_mean", c.sky_mean},
                                               {"sky_width", c.sky_width},
                                               {"sky_throughput_rms", c.sky_throughput_rms},
                                               {"throughput", c.throughput}};
  }
  return json;
}

int run_qa(const Given& given, const CalibrationCommand& c) {
  return run_step("qa", c, given, [&](Executor&, const Observer& observer) {
    const QualitySummary s = judge_exposure(c.job, observer);
    Json json;
    json["fibers"] = s.fibers;
    json["good_fibers"] = s.good_fibers;
    for (const auto& [number, qa] : s.petals) {
      Json& petal = json["petals"][std::to_string(number)] = petal_json(qa);
      const PetalDepth& depth = s.depths.at(number);
      for (const auto& [name, median] : depth.tsnr2) petal["median_tsnr2"][name] = median;
      if (std::vector<double> seconds = depth.seconds; !seconds.empty()) {
        petal["median_effective_s"] = median_of(seconds);
        observer.info(print("spectrograph %d: %.1f effective seconds", number,
                            petal["median_effective_s"].get<double>()));
      }
      for (const calibrate::CameraQa& camera : qa.cameras) {
        observer.info(
            print("%c%d: S/N %.2f, sky residuals of width %.3f (%zu fibres), %.2f %% of pixels "
                  "without information",
                  camera.band, number, camera.median_snr, camera.sky_width, camera.sky_fibers,
                  100 * camera.without));
      }
    }
    observer.info(print("%zu of %zu fibres are good", s.good_fibers, s.fibers));
    return json;
  });
}

/// The command of a step: its options, then `run`.
Command step_command(CalibrationStep step, const char* name, const char* text,
                     const std::string& example,
                     int (*run)(const Given&, const CalibrationCommand&)) {
  Command command{
      .name = name, .text = text, .footer = "Example:\n" + example + "\n" + codes(step)};
  const auto state = std::make_shared<CalibrationCommand>();
  state->job.step = step;
  add_calibration_options(command.options, *state);
  command.run = [state, run](const Invocation& call) { return run(call.given, *state); };
  return command;
}

}  // namespace

Command make_fiberflat() {
  return step_command(
      CalibrationStep::kFiberFlat, "fiberflat",
      "how much light each fibre passes, from a lamp's frame; the average of a night",
      "  fiberloom fiberflat -i frame-z0-00000001.fits -o "
      "fiberflat-z0-00000001.fits\n"
      "  fiberloom fiberflat --flats fiberflat-z*.fits -o "
      "fiberflatnight-{camera}.fits\n",
      run_fiberflat);
}

Command make_sky() {
  return step_command(CalibrationStep::kSky, "sky", "the sky of a frame, from its sky fibres",
                      "  fiberloom sky -i frame-z0-00000011.fits --fiberflat "
                      "fiberflat-z0-00000001.fits \\\n"
                      "      -o sky-z0-00000011.fits\n",
                      run_sky);
}

Command make_stdstars() {
  return step_command(
      CalibrationStep::kStdStars, "stdstars",
      "the true spectra of an exposure's standard stars, from a grid of models",
      "  fiberloom stdstars --frames frame-b1-00000011.fits frame-r1-00000011.fits \\\n"
      "      --fiberflats fiberflat-b1-00000001.fits fiberflat-r1-00000001.fits \\\n"
      "      --skymodels sky-b1-00000011.fits sky-r1-00000011.fits \\\n"
      "      --starmodels stdstar_templates_v2.2.fits --filters filters \\\n"
      "      -o stdstars-1-00000011.fits\n",
      run_stdstars);
}

Command make_fluxcalib() {
  return step_command(CalibrationStep::kFluxCalib, "fluxcalib",
                      "what flux a frame's electrons are, from its standard stars",
                      "  fiberloom fluxcalib -i sframe-z0-00000011.fits --models "
                      "stdstars-0-00000011.fits \\\n"
                      "      -o fluxcalib-z0-00000011.fits\n",
                      run_fluxcalib);
}

Command make_calibrate() {
  return step_command(CalibrationStep::kCalibrate, "calibrate",
                      "a frame divided by its fibre flat, without its sky, in flux",
                      "  fiberloom calibrate -i frame-z0-00000011.fits --fiberflat "
                      "fiberflat-z0-00000001.fits \\\n"
                      "      --sky sky-z0-00000011.fits -o sframe-z0-00000011.fits\n",
                      run_calibrate);
}

Command make_qa() {
  return step_command(CalibrationStep::kQuality, "qa",
                      "how good an exposure's calibrated frames are: S/N, sky, throughput, fibres",
                      "  fiberloom qa --frames cframe-z0-00000011.fits --fluxcalibs "
                      "fluxcalib-z0-00000011.fits \\\n"
                      "      -o exposure-qa-00000011.fits --json exposure-qa-00000011.json\n",
                      run_qa);
}

}  // namespace fiberloom::cli
