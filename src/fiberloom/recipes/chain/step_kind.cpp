// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/step_kind.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "fiberloom/recipes/average_flats.hpp"
#include "fiberloom/recipes/catalogue/load_files.hpp"
#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/coadd/coadd_spectra.hpp"
#include "fiberloom/recipes/quality/exposure_picture.hpp"
#include "fiberloom/recipes/quality/exposure_quality.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/fits/verify.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::chain {
namespace {

struct StepContent final : Opaque {
  explicit StepContent(StepWork its_work) : work(std::move(its_work)) {}
  StepWork work;
};

/// What compute() hands on: what it measured. Its output is there already.
struct StepPiece final : Opaque {
  std::vector<Measure> measures;
};

template <class Archive, class Struct>
void work_fields(Archive& archive, Struct& work) {
  auto& [step, input, flat, sky, stars, flux, frames, flats, skies, fluxes, star_files, beside,
         models, passbands, average, output, desimodel, psf, database, afresh, root, night,
         options] = work;
  archive(step, input, flat, sky, stars, flux, frames, flats, skies, fluxes, star_files, beside,
          models, passbands, average, output, desimodel, psf, database, afresh, root, night,
          options);
}

/// Those of `paths` that are there.
std::vector<std::string> existing(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  std::error_code ignored;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(out),
               [&](const std::string& path) { return std::filesystem::exists(path, ignored); });
  return out;
}

CalibrationJob job_of(const StepWork& work) {
  CalibrationJob job;
  job.step = calibration_step(work.step);
  job.input = work.input;
  job.flat = work.flat;
  job.sky = work.sky;
  job.models = work.stars;
  job.flux = work.flux;
  job.frames = work.frames;
  job.flats = work.flats;
  job.skies = work.skies;
  job.fluxes = work.fluxes;
  job.star_files = work.star_files;
  job.grid = work.models;
  job.passbands = work.passbands;
  job.average = work.average;
  job.desimodel = work.desimodel;
  job.psf = work.psf;
  job.output = work.output;
  job.root = work.root;
  apply(work.options, job);
  return job;
}

double number(std::size_t n) { return static_cast<double>(n); }

/// Exposures of a lamp as one, then lamps as one, beside the band's other cameras.
std::vector<Measure> average_night(const StepWork& work, const Observer& observer) {
  const AverageFlatsSummary s =
      average_flats_of_camera(job_of(work), existing(work.beside), observer);
  return {{"flats", number(s.flats)},
          {"lamps", number(s.lamps)},
          {"cameras", number(s.together.size())}};
}

std::vector<Measure> coadd(const StepWork& work, Executor& executor, const Observer& observer) {
  CoaddJob job;
  job.inputs = existing(work.frames);
  job.output = work.output;
  if (!work.night.empty()) job.through_night = std::strtoll(work.night.c_str(), nullptr, 10);
  apply(work.options, job);
  const CoaddSummary s = coadd_spectra(job, executor, observer);
  return {{"frames", number(job.inputs.size())},
          {"spectra", number(s.spectra)},
          {"targets", number(s.targets)},
          {"without", number(s.without)}};
}

/// Of several spectrographs the middle one.
std::vector<Measure> judge(const StepWork& work, const Observer& observer) {
  CalibrationJob job = job_of(work);
  for (auto* paths : {&job.frames, &job.skies, &job.fluxes, &job.star_files}) {
    *paths = existing(*paths);
  }
  const QualitySummary s = judge_exposure(job, observer);
  std::vector<Measure> out{{"fibers", number(s.fibers)}, {"good_fibers", number(s.good_fibers)}};
  const auto add = [&](const std::string& name, double calibrate::CameraQa::*member) {
    for (const char band : {'b', 'r', 'z'}) {
      std::vector<double> of_petals;
      for (const auto& [petal, qa] : s.petals) {
        for (const calibrate::CameraQa& camera : qa.cameras) {
          if (camera.band == band) of_petals.push_back(camera.*member);
        }
      }
      if (!of_petals.empty()) out.push_back({name + "_" + band, median_of(of_petals)});
    }
  };
  add("snr", &calibrate::CameraQa::median_snr);
  add("sky_width", &calibrate::CameraQa::sky_width);
  return out;
}

/// What cannot be loaded is said once, by the task that fails.
std::vector<Measure> load(const StepWork& work) {
  const LoadJob job{
      .inputs = existing(work.frames), .database = work.database, .wait_s = kCatalogueWaitS};
  LoadSummary s;  // of an exposure of which nothing could be made
  if (!job.inputs.empty()) s = load_files(job, {});
  if (!s.failed.empty()) throw Error(s.failed.front());
  const Json said{{"catalogue", shown_catalogue(work.database)}, {"files", s.files}};
  write_whole(work.output, said.dump(1, JsonText::kAscii) + "\n", Overwrite::kYes);
  return {{"files", number(s.files)}, {"redshifts", number(s.redshifts)}};
}

std::vector<Measure> run(const StepWork& work, Executor& executor, const Observer& observer) {
  switch (work.step) {
    case Step::kFiberFlat: {
      if (is_night_flat(work)) return average_night(work, observer);
      const FiberFlatSummary s = make_fiber_flat(job_of(work), executor, observer);
      return {{"chi2_per_dof", s.chi2_per_dof}, {"lost_fibers", number(s.lost_fibers)}};
    }
    case Step::kSky: {
      const SkySummary s = make_sky(job_of(work), executor, observer);
      return {{"sky_fibers", number(s.sky_fibers)}, {"discarded", number(s.discarded)}};
    }
    case Step::kStdStars: {
      const StandardStarSummary s = make_standard_stars(job_of(work), executor, observer);
      return {{"stars", number(s.stars)}, {"median_chi2", s.median_chi2_per_dof}};
    }
    case Step::kFluxCalib: {
      const FluxSummary s = make_flux_calibration(job_of(work), executor, observer);
      return {{"stars", number(s.stars)}, {"median_snr", s.median_snr}};
    }
    case Step::kCalibrate: {
      const CalibrateSummary s = calibrate_frame(job_of(work), observer);
      return {{"spectra", number(s.nspec)}, {"masked_pixels", number(s.without)}};
    }
    case Step::kQuality:
      return judge(work, observer);
    case Step::kCoadd:
      return coadd(work, executor, observer);
    case Step::kCatalogue:
      return load(work);
    case Step::kExtract:
    case Step::kRedshift:
      break;
  }
  throw Error(Status::kInternal, "a step that is of another kind");
}

}  // namespace

const std::vector<std::string>& step_names() {
  static const std::vector<std::string> names{"extract",   "fiberflat", "sky", "stdstars",
                                              "fluxcalib", "calibrate", "qa",  "coadd",
                                              "redshift",  "catalogue"};
  return names;
}

std::optional<Step> find_step(const std::string& name) {
  const auto found = std::ranges::find(step_names(), name);
  if (found == step_names().end()) return std::nullopt;
  return static_cast<Step>(found - step_names().begin());
}

const StepWork& work_of(const Task& task) {
  return static_cast<const StepContent&>(*task.content).work;
}

std::shared_ptr<const Opaque> content_of(StepWork work) {
  return std::make_shared<const StepContent>(std::move(work));
}

StageNames StepKind::stages() const {
  return {"step/read", "step/compute", "step/write", "step/join", "step/page"};
}

std::string StepKind::fingerprint(const Task& task) const {
  const StepWork& work = work_of(task);
  std::string text = "step=" + name_of(work.step);
  for (const auto& [key, value] : settings_of(work.options, work.step)) {
    text += " " + key + "=" + value;
  }
  return text + (work.afresh ? " afresh" : "");
}

std::unique_ptr<Opaque> StepKind::read(const Task& /*task*/, const Observer& /*observer*/,
                                       Tracer* /*tracer*/) {
  return std::make_unique<StepPiece>();
}

std::unique_ptr<Opaque> StepKind::compute(const Task& task, const WorkUnit& /*unit*/,
                                          Opaque& /*material*/, Executor& executor,
                                          const Observer& observer, Tracer* /*tracer*/,
                                          Outcome& /*outcome*/) {
  Observer warnings;  // of a night's many tasks the rest tells nobody anything
  warnings.message = [&](LogLevel level, const std::string& text) {
    if (level >= LogLevel::kWarning && observer.message) observer.message(level, text);
  };
  auto piece = std::make_unique<StepPiece>();
  piece->measures = run(work_of(task), executor, warnings);
  return piece;
}

void StepKind::write(const Task& /*task*/, Opaque& /*material*/,
                     std::vector<std::unique_ptr<Opaque>> pieces, Tracer* /*tracer*/,
                     Outcome& outcome) const {
  outcome.measures = static_cast<StepPiece&>(*pieces.front()).measures;
  outcome.parts = 1;
}

void StepKind::verify_output(const std::string& path) const {
  if (!path.ends_with(".json")) fits::verify_checksums(path);
}

void StepKind::make_page(const Task& task) const {
  const StepWork& work = work_of(task);
  draw_exposure(existing(work.frames), task.page, Verify::kNo);  // just verified
}

void StepKind::send(WireWriter& writer, const Opaque& content) const {
  work_fields(writer, static_cast<const StepContent&>(content).work);
}

std::shared_ptr<const Opaque> StepKind::receive(WireReader& reader) const {
  StepWork work;
  work_fields(reader, work);
  return content_of(std::move(work));
}

}  // namespace fiberloom::chain
