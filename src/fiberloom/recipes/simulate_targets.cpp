// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/simulate_targets.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

using truth::TrueTarget;

constexpr std::int64_t kFileNight = 20200101, kFileTile = 1, kFileExposure = 1;
/// Coefficients in the truth: as many as redrock's COEFF has.
constexpr std::size_t kCoefficients = 10;

std::string path_of(const SimulateTargetsJob& job, const char* kind, std::size_t file) {
  return (std::filesystem::path(job.directory) / print("%s-%04zu.fits", kind, file)).string();
}

template <class T, class Get>
std::vector<T> each(const std::vector<TrueTarget>& targets, const Get& get) {
  std::vector<T> out;
  for (const TrueTarget& t : targets) out.push_back(get(t));
  return out;
}

std::vector<std::int64_t> ids_of(const std::vector<TrueTarget>& targets) {
  return each<std::int64_t>(targets, [](const TrueTarget& t) { return t.id; });
}

Table fibermap_of(const std::vector<TrueTarget>& targets) {
  Table table;
  table.add("TARGETID", ids_of(targets))
      .add("PETAL_LOC", each<std::int32_t>(targets, [](const TrueTarget&) { return 0; }))
      .add("FIBER", each<std::int32_t>(targets, [](const TrueTarget& t) { return t.fiber; }))
      .add("COADD_FIBERSTATUS", each<std::int32_t>(targets, [](const TrueTarget&) { return 0; }))
      .add("TARGET_RA",
           each<double>(targets, [](const TrueTarget& t) { return 150.1 + 1e-4 * t.fiber; }), "deg")
      .add("TARGET_DEC",
           each<double>(targets, [](const TrueTarget& t) { return 2.2 + 1e-4 * t.fiber; }), "deg")
      .add("OBJTYPE",
           each<std::string>(
               targets, [](const TrueTarget& t) { return t.spectype == "SKY" ? "SKY" : "TGT"; }),
           3)
      .add("COADD_NUMEXP", each<std::int32_t>(targets, [](const TrueTarget&) { return 1; }));
  return table;
}

Table exposures_of(const std::vector<TrueTarget>& targets) {
  Table table;
  const auto all = [&](std::int32_t value) {
    return each<std::int32_t>(targets, [value](const TrueTarget&) { return value; });
  };
  table.add("TARGETID", ids_of(targets))
      .add("NIGHT", all(kFileNight))
      .add("EXPID", all(kFileExposure))
      .add("TILEID", all(kFileTile))
      .add("FIBER", each<std::int32_t>(targets, [](const TrueTarget& t) { return t.fiber; }))
      .add("FIBERSTATUS", all(0));
  return table;
}

float median_snr(const Spectra& s, std::size_t target) {
  std::vector<double> snr;
  for (std::size_t i = 0; i < s.nwave(); ++i) {
    if (s.ivar(target, i) > 0) snr.push_back(s.flux(target, i) * std::sqrt(s.ivar(target, i)));
  }
  return static_cast<float>(upper_median(snr));
}

Table scores_of(const SpectraFile& file, const std::vector<TrueTarget>& targets) {
  Table table;
  table.add("TARGETID", ids_of(targets));
  for (const SpectraFile::Camera& camera : file.cameras) {
    std::vector<float> snr;
    for (std::size_t t = 0; t < targets.size(); ++t) {
      snr.push_back(median_snr(camera.spectra, t));
    }
    table.add("MEDIAN_COADD_SNR_" + camera.name, snr);
  }
  return table;
}

std::vector<redshift::Archetypes> archetypes_of(const SimulateTargetsJob& job) {
  std::vector<redshift::Archetypes> out;
  for (const std::string& path : job.archetypes) {
    for (const std::string& file : templates::find_archetypes(path)) {
      out.push_back(templates::read_archetypes(file));
    }
  }
  return out;
}

/// Files that targets are drawn from.
std::vector<std::string> files_of_sources(const SimulateTargetsJob& job) {
  std::vector<std::string> files;
  if (!job.templates.empty()) files = templates::find_templates(job.templates);
  for (const std::string& path : job.archetypes) {
    std::ranges::move(templates::find_archetypes(path), std::back_inserter(files));
  }
  return files;
}

}  // namespace

Table truth_table(const std::vector<TrueTarget>& targets) {
  Table table;
  const auto text = [&](const char* name, std::string TrueTarget::*member) {
    std::size_t width = 1;
    for (const TrueTarget& t : targets) width = std::max(width, (t.*member).size());
    table.add(name, each<std::string>(targets, [&](const TrueTarget& t) { return t.*member; }),
              width);
  };
  const auto number = [&](const char* name, double TrueTarget::*member, const char* unit) {
    table.add(name, each<double>(targets, [&](const TrueTarget& t) { return t.*member; }), unit);
  };
  table.add("TARGETID", ids_of(targets));
  text("SPECTYPE", &TrueTarget::spectype);
  text("SUBTYPE", &TrueTarget::subtype);
  number("Z", &TrueTarget::z, "");
  number("SNR", &TrueTarget::snr, "");
  number("MAG_R", &TrueTarget::mag_r, "mag");
  text("SOURCE", &TrueTarget::source);
  text("MISSING", &TrueTarget::missing);
  Column coefficients{.name = "COEFF", .cell = Cell::kFloat64, .width = kCoefficients};
  for (const TrueTarget& t : targets) {
    std::vector<double> c = t.coefficients;
    c.resize(kCoefficients);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(c.data());
    coefficients.data.insert(coefficients.data.end(), bytes, bytes + sizeof(double) * c.size());
  }
  table.columns.push_back(std::move(coefficients));
  return table;
}

SpectraFile survey_file(truth::Survey&& survey, const truth::Spectrograph& spectrograph,
                        const truth::SurveyOptions& options) {
  SpectraFile file;
  file.header.set("SPGRP", "cumulative");
  file.header.set("SPGRPVAL", kFileNight);
  file.header.set("TILEID", kFileTile);
  file.header.set("PETAL", std::int64_t{0});
  file.header.set("SURVEY", "sim", "simulated targets");
  file.header.set("SIMSEED", static_cast<std::int64_t>(options.seed), "seed of the simulation");
  file.header.set("EXPTIME", options.exptime_s, "[s] exposure time");
  for (std::size_t c = 0; c < survey.cameras.size(); ++c) {
    SpectraFile::Camera camera;
    camera.name = spectrograph.cameras()[c].name;
    camera.header.set("BUNIT", "10**-17 erg/(s cm2 Angstrom)");
    camera.spectra = std::move(survey.cameras[c]);
    file.cameras.push_back(std::move(camera));
  }
  file.fibermap = fibermap_of(survey.targets);
  file.exp_fibermap = exposures_of(survey.targets);
  file.scores = scores_of(file, survey.targets);
  return file;
}

std::vector<std::string> simulate_targets(const SimulateTargetsJob& job, Executor& executor,
                                          const Observer& observer) {
  if (job.targets == 0) throw Error(Status::kUsage, "simulate: --targets must be at least 1");
  if (job.targets > kMostTargets) {
    throw Error(Status::kUsage,
                "simulate: --targets: expected at most " + std::to_string(kMostTargets));
  }
  const templates::ChosenTemplates chosen = templates::choose_templates(job.templates);
  if (!chosen.note.empty()) observer.info(chosen.note);
  const std::vector<redshift::Archetypes> archetypes = archetypes_of(job);
  const std::size_t count = (job.targets + kTargetsOfFile - 1) / kTargetsOfFile;
  std::vector<std::string> files;
  for (std::size_t f = 0; f < count; ++f) {
    files.push_back(path_of(job, "coadd", f));
    files.push_back(path_of(job, "truth", f));
  }
  check_distinct(named("output", files), named("templates", files_of_sources(job)));
  make_folders(job.directory);
  check_outputs(files, job.overwrite);
  const truth::Spectrograph spectrograph(job.survey.exptime_s, job.survey.seed);
  for (std::size_t f = 0; f < count; ++f) {
    const std::size_t first = f * kTargetsOfFile;
    truth::Survey survey =
        truth::simulate_survey(spectrograph, {&chosen.set, archetypes, 0.2}, job.survey, first,
                               std::min(kTargetsOfFile, job.targets - first), executor);
    const Table truth = truth_table(survey.targets);
    write_spectra(files[2 * f], survey_file(std::move(survey), spectrograph, job.survey),
                  job.overwrite);
    fits::write_fits(files[2 * f + 1], job.overwrite,
                     [&](fits::FitsWriter& writer) { writer.table("TRUTH", to_raw_table(truth)); });
    if (observer.progress) {
      observer.progress("targets", std::min(first + kTargetsOfFile, job.targets), job.targets);
    }
  }
  return files;
}

}  // namespace fiberloom
