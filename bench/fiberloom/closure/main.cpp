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

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "bench/fiberloom/closure/judge.hpp"
#include "fiberloom/redshift/find.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/smooth_reference.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "fiberloom/truth/survey.hpp"
#include "loom/base/print.hpp"
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

struct Choices {
  std::vector<std::string> templates, fit_templates, archetypes;
  std::string mode = "fast", order = "probability", errors = "posterior", table,
              constrained = "chi2";
  std::size_t targets = 500, group = 500, threads = 1, first = 0;
  double fine_step = 0, sure = 0.99;
  bool no_defects = false;
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

void add_options(CLI::App& app, Choices& c) {
  app.add_option("--targets", c.targets);
  app.add_option("--first", c.first, "number of the first target");
  app.add_option("--group", c.group, "targets in memory at once");
  app.add_option("--templates", c.templates);
  app.add_option("--fit-templates", c.fit_templates);
  app.add_option("--archetypes", c.archetypes);
  app.add_option("--seed", c.survey.seed);
  app.add_option("--snr-low", c.survey.least_snr);
  app.add_option("--snr-high", c.survey.most_snr);
  app.add_option("--galaxies", c.survey.mix.galaxy);
  app.add_option("--quasars", c.survey.mix.qso);
  app.add_option("--stars", c.survey.mix.star);
  app.add_option("--sky", c.survey.mix.sky);
  app.add_option("--hot-pixels", c.survey.hot_pixels);
  app.add_option("--sky-residual", c.survey.sky_residual);
  app.add_option("--sky-shift", c.survey.sky_shift_aa);
  app.add_option("--bad-pixels", c.survey.bad_pixels);
  app.add_option("--missing-camera", c.survey.missing_camera);
  app.add_flag("--no-defects", c.no_defects);
  app.add_option("--mode", c.mode)
      ->check(CLI::IsMember({"fast", "exact", "redrock", "both", "none"}));
  app.add_option("--order", c.order)->check(CLI::IsMember({"chi2", "probability"}));
  app.add_option("--errors", c.errors)->check(CLI::IsMember({"chi2", "posterior"}));
  app.add_option("--step", c.scan.step_kms, "widest step of the scan, km/s");
  app.add_option("--hot-nsig", c.prepare.hot_pixel_nsig, "0: spikes stay");
  app.add_option("--sky-share", c.prepare.sky_line_share, "0: ivar is believed on sky lines");
  app.add_flag_callback("--subtract-sky-residual",
                        [&c] { c.prepare.sky_residual = SkyResidual::kSubtract; });
  app.add_option("--fine-step", c.fine_step, "of targets that are not sure, km/s; 0: none");
  app.add_option("--sure", c.sure);
  app.add_option("--least-coverage", c.scan.least_coverage,
                 "share of the pixels that templates reach; a smooth spectrum stands for the rest")
      ->each([&c](const std::string&) { c.scan.coverage = Coverage::kPartial; });
  app.add_option("--constrained", c.constrained, "of non-negative templates")
      ->check(CLI::IsMember({"chi2", "normal"}));
  app.add_option("--table", c.table, "one line a target");
  app.add_option("--threads", c.threads);
}

}  // namespace

int main(int argc, char** argv) try {
  Choices c;
  CLI::App app("How right are redshifts?");
  add_options(app, c);
  CLI11_PARSE(app, argc, argv);
  if (c.no_defects) c.survey = truth::without_defects(c.survey);
  c.scan.fit.evidence = WithEvidence::kYes;
  if (c.constrained == "normal") c.scan.fit.constrained = Constrained::kNormalEquations;
  c.refine.order = c.order == "chi2" ? Order::kChi2 : Order::kProbability;
  c.refine.errors = c.errors == "chi2" ? Errors::kChi2 : Errors::kPosterior;
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
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_closure: %s\n", error.what());
  return 1;
}
