// SPDX-License-Identifier: BSD-3-Clause
// How right are redshifts? Targets of known redshift are simulated, fitted and compared, for any
// number of them at the memory of one group:
//   bench_closure --targets N [--templates FILE...] [--archetypes FILE...] [--seed N] [--snr
//   0.5,20]
//     [--mode fast|exact|redrock|both] [--step KMS] [--order chi2|probability] [--errors
//     chi2|posterior]
//     [--no-defects] [--fit-templates FILE...] [--table FILE] [--threads N] ...
// Purity and completeness, pulls, calibration of probabilities, sky fibres taken for objects, and
// with both: where fast and exact differ. --fit-templates: others than the truth is drawn from.
#include <time.h>

#include <cstdio>
#include <fstream>

#include "bench/fiberloom/closure/judge.hpp"
#include "fiberloom/redshift/find.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/sky_continuum.hpp"
#include "fiberloom/redshift/smooth_reference.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "fiberloom/truth/survey.hpp"
#include "loom/base/print.hpp"
#include "loom/program/run_program.hpp"
#include "loom/runtime/executors.hpp"

namespace {

using namespace fiberloom;
using namespace fiberloom::redshift;

using Found = std::vector<std::vector<Candidate>>;

double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

constexpr const char* kName = "bench_closure";

struct Choices {
  std::vector<std::string> templates, fit_templates, archetypes;
  std::string mode = "fast", order = "probability", errors = "posterior", table,
              constrained = "chi2";
  std::size_t targets = 500, group = 500, threads = 1, first = 0;
  double fine_step = 0, sure = 0.99;
  bool no_defects = false, shares_known = false, sky_amplitude = true;
  truth::SurveyOptions survey;
  ScanOptions scan;
  RefineOptions refine;
  PrepareOptions prepare;
};

std::vector<TargetView> views_of(const truth::Survey& survey) {
  std::vector<TargetView> views(survey.targets.size());
  for (std::size_t t = 0; t < views.size(); ++t) {
    views[t].id = survey.targets[t].id;
    for (const Spectra& s : survey.cameras) {
      const std::size_t n = s.nwave(), nd = s.resolution.rows();
      views[t].spectra.push_back({s.wave, std::span<const double>(s.flux.row(t), n),
                                  std::span<const double>(s.ivar.row(t), n),
                                  std::span<const std::uint32_t>(s.mask.row(t), n),
                                  std::span<const float>(&s.resolution(t, 0, 0), nd * n), nd});
    }
  }
  return views;
}

class Work {
 public:
  explicit Work(const Choices& choices)
      : choices_(choices), executor_(make_executor(choices.threads)) {
    const templates::ChosenTemplates drawn = templates::choose_templates(choices.templates);
    if (!drawn.note.empty()) std::printf("%s\n", drawn.note.c_str());
    drawn_ = drawn.set;
    fitted_ = choices.fit_templates.empty()
                  ? drawn_
                  : templates::choose_templates(choices.fit_templates).set;
    for (const std::string& path : choices.archetypes) {
      archetypes_.push_back(templates::read_archetypes(path));
    }
  }

  [[nodiscard]] truth::Survey simulate(const truth::Spectrograph& spectrograph, std::size_t first,
                                       std::size_t count) const {
    return truth::simulate_survey(spectrograph, {&drawn_, archetypes_, 0.2}, choices_.survey, first,
                                  count, *executor_);
  }

  [[nodiscard]] Found fit(const truth::Survey& survey, const std::string& mode) {
    const bool peer = mode == "redrock";
    TargetSet set =
        prepare(views_of(survey), peer ? redrock_rules() : choices_.prepare, *executor_);
    const double start = cpu_now();
    if (choices_.scan.coverage == Coverage::kPartial) add_smooth_reference(set);
    if (choices_.sky_amplitude && !peer && choices_.scan.coverage != Coverage::kPartial)
      add_sky_continuum(set, widths_of(set, survey));
    ScanOptions options = peer ? redrock_scan() : choices_.scan;
    options.mode = mode == "fast" ? ScanMode::kFast : ScanMode::kExact;
    Found out;
    if (peer) {
      out = find_redrock(set, scan(set, fitted_, options, *executor_), {}, {}, *executor_);
    } else {
      FindOptions find{options, choices_.refine};
      find.fine_step_kms = choices_.fine_step;
      find.sure = choices_.sure;
      FoundRedshifts found = find_redshifts(set, fitted_, {}, find, *executor_);
      scanned_again += found.scanned_again;
      out = std::move(found.candidates);
    }
    seconds += cpu_now() - start;
    return out;
  }
  double seconds = 0;
  std::size_t scanned_again = 0;

 private:
  /// What the fibres on the sky of these targets say.
  [[nodiscard]] static std::vector<SkyWidth> widths_of(const TargetSet& set,
                                                       const truth::Survey& survey) {
    TargetSet skies{set.grids, {}};
    for (std::size_t t = 0; t < set.targets.size(); ++t) {
      if (survey.targets[t].spectype == "SKY") skies.targets.push_back(set.targets[t]);
    }
    SkyMeans means;
    means.add(skies);
    return means.widths();
  }

  const Choices& choices_;
  std::unique_ptr<Executor> executor_;
  TemplateSet drawn_, fitted_;
  std::vector<Archetypes> archetypes_;
};

void print_differences(const Found& fast, const Found& exact, const truth::Survey& survey,
                       std::size_t& differ, std::size_t& sure) {
  for (std::size_t t = 0; t < fast.size(); ++t) {
    const Candidate &a = fast[t].front(), &b = exact[t].front();
    const double v = std::abs(velocity_kms(a.z, b.z));
    // minima as flat as their error are the same when a hundredth of it apart
    const double limit = std::max(0.1, 0.01 * kLightKms * b.zerr / (1 + b.z));
    if (a.spectype == b.spectype && v <= limit) continue;
    ++differ;
    sure += b.zwarn == 0;
    std::printf(
        "  %lld (S/N %.2f): fast %s %.6f chi2 %.3f, exact %s %.6f chi2 %.3f ZWARN %u p %.3f\n",
        static_cast<long long>(survey.targets[t].id), survey.targets[t].snr, a.spectype.c_str(),
        a.z, a.chi2, b.spectype.c_str(), b.z, b.chi2, b.zwarn, b.probability);
  }
}

void add_survey(Options& options, truth::SurveyOptions& survey, bool& no_defects) {
  options.group("Simulated targets");
  const auto number = [&](const char* names, auto* slot, const char* text) {
    options.add(names, slot, text, {.shows_default = true});
  };
  number("--seed", &survey.seed, "same seed, same targets");
  number("--snr-low", &survey.least_snr, "median over pixels, even in log");
  number("--snr-high", &survey.most_snr, "");
  number("--galaxies", &survey.mix.galaxy, "share");
  number("--quasars", &survey.mix.qso, "share");
  number("--stars", &survey.mix.star, "share");
  number("--sky", &survey.mix.sky, "share");
  number("--hot-pixels", &survey.hot_pixels, "unflagged spikes a target");
  number("--sky-residual", &survey.sky_residual, "left by subtraction, part of the sky");
  number("--sky-continuum", &survey.sky_continuum, "share of it that the continuum has too");
  number("--sky-shift", &survey.sky_shift_aa, "of its lines, Angstrom");
  number("--bad-pixels", &survey.bad_pixels, "share");
  number("--missing-camera", &survey.missing_camera, "share of the targets");
  options.flag("--no-defects", &no_defects, "noise alone");
}

void add_fit(Options& options, Choices& c) {
  options.group("The fit");
  const auto add = [&](const char* names, auto* slot, const char* text,
                       std::vector<std::string> words = {}) {
    options.add(names, slot, text, {.words = std::move(words), .shows_default = true});
  };
  add("--mode", &c.mode, "how to scan", {"fast", "exact", "redrock", "both", "none"});
  add("--order", &c.order, "of candidates", {"chi2", "probability"});
  add("--errors", &c.errors, "of z", {"chi2", "posterior"});
  add("--step", &c.scan.step_kms, "widest step of the scan, km/s");
  add("--hot-nsig", &c.prepare.hot_pixel_nsig, "0: spikes stay");
  add("--sky-share", &c.prepare.sky_line_share, "0: ivar is believed on sky lines");
  c.prepare.sky_residual = SkyResidual::kSubtract;
  const auto keep = [&c] { c.prepare.sky_residual = SkyResidual::kKeep; };
  options.flag("--keep-sky-residual", keep, "what the sky's lines left is not subtracted");
  const auto without = [&c] { c.sky_amplitude = false; };
  options.flag("--no-sky-amplitude", without,
               "the sky's continuum has no amplitude a camera in the likelihood");
  options.flag("--shares-known", &c.shares_known, "the fit is told the shares of types");
  add("--fine-step", &c.fine_step, "of targets that are not sure, km/s; 0: none");
  add("--sure", &c.sure, "probability");
  const auto partial = [&c](const std::string& share) {
    c.scan.least_coverage = std::stod(share);
    c.scan.coverage = Coverage::kPartial;
  };
  options.add("--least-coverage", partial,
              "share of the pixels that templates reach; a smooth spectrum stands for the rest");
  add("--constrained", &c.constrained, "of non-negative templates", {"chi2", "normal"});
}

int judge(Choices& c) {
  if (c.no_defects) c.survey = truth::without_defects(c.survey);
  c.scan.fit.evidence = WithEvidence::kYes;
  if (c.constrained == "normal") c.scan.fit.constrained = Constrained::kNormalEquations;
  c.refine.order = c.order == "chi2" ? Order::kChi2 : Order::kProbability;
  c.refine.errors = c.errors == "chi2" ? Errors::kChi2 : Errors::kPosterior;
  if (c.shares_known) {
    c.refine.probability.galaxy = c.survey.mix.galaxy;
    c.refine.probability.qso = c.survey.mix.qso;
    c.refine.probability.star = c.survey.mix.star;
  }
  Work work(c);
  const truth::Spectrograph spectrograph(c.survey.exptime_s, c.survey.seed);
  bench::Judge judge;
  std::size_t differ = 0, sure = 0;
  std::ofstream table;
  if (!c.table.empty()) table.open(c.table);
  for (std::size_t first = 0; first < c.targets; first += c.group) {
    const truth::Survey survey =
        work.simulate(spectrograph, c.first + first, std::min(c.group, c.targets - first));
    if (c.mode == "none") continue;
    const Found found = work.fit(survey, c.mode == "both" ? "exact" : c.mode);
    if (c.mode == "both") print_differences(work.fit(survey, "fast"), found, survey, differ, sure);
    for (std::size_t t = 0; t < found.size(); ++t) {
      judge.add(survey.targets[t], found[t].front());
      if (table.is_open()) table << bench::line_of(survey.targets[t], found[t]);
    }
    std::fflush(stdout);
  }
  const auto n = static_cast<double>(c.targets);
  std::printf("%zu targets, %s: %.4f CPU-s a target, %.1f %% scanned again\n", c.targets,
              c.mode.c_str(), work.seconds / n, 100 * static_cast<double>(work.scanned_again) / n);
  if (c.mode == "both") {
    std::printf("fast and exact differ for %zu, %zu of them with ZWARN 0\n", differ, sure);
  }
  judge.report();
  return 0;
}

Command make_command() {
  const auto choices = std::make_shared<Choices>();
  Command command{.name = kName, .text = "how right are redshifts?"};
  Options& options = command.options;
  options.add("--targets", &choices->targets, "of simulated truth", {.shows_default = true});
  options.add("--first", &choices->first, "number of the first target", {.shows_default = true});
  options.add("--group", &choices->group, "targets in memory at once", {.shows_default = true});
  options.add("--templates", &choices->templates, "that are drawn from, and fitted");
  options.add("--fit-templates", &choices->fit_templates, "that are fitted instead");
  options.add("--archetypes", &choices->archetypes, "drawn from as well");
  options.add("--table", &choices->table, "one line a target");
  options.add("--threads", &choices->threads, "that compute", {.shows_default = true});
  add_survey(options, choices->survey, choices->no_defects);
  add_fit(options, *choices);
  command.run = [choices](const Invocation&) { return judge(*choices); };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
