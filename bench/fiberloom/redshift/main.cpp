// SPDX-License-Identifier: BSD-3-Clause
// CPU seconds a target of each way to find redshifts, and what it finds.
// --mode both: fast, then exact, and where they differ.
// --coadd alone: the redshifts of its targets; with --simulate: its resolution and noise for N
// simulated ones (made-up cameras without it), which --write keeps for other programs.
#include <time.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>

#include "bench/fiberloom/redshift/sample.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/print.hpp"
#include "loom/program/run_program.hpp"
#include "loom/runtime/executors.hpp"

namespace {

using namespace fiberloom;
using namespace fiberloom::redshift;

constexpr const char* kName = "bench_redshift";

double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Prints what passed since the last call.
class Watch {
 public:
  void lap(const char* what, std::size_t targets) {
    const double now = cpu_now();
    std::printf("%-10s %8.3f CPU-s, %8.4f a target\n", what, now - last_,
                (now - last_) / static_cast<double>(targets));
    last_ = cpu_now();
  }

 private:
  double last_ = cpu_now();
};

std::string row_of(std::int64_t id, const Candidate& c, const bench::Truth* truth) {
  std::string row = print("%lld %s %s %.12f %.6e %u %.8f %.6f %ld", static_cast<long long>(id),
                          c.spectype.c_str(), c.subtype.empty() ? "-" : c.subtype.c_str(), c.z,
                          c.zerr, c.zwarn, c.chi2, c.delta_chi2, c.good_pixels);
  if (truth != nullptr)
    row += print(" %s %.10f %.3f", truth->spectype.c_str(), truth->z, truth->snr);
  for (const double v : c.coefficients) row += print(" %.10g", v);
  for (const double v : c.legendre) row += print(" %.10g", v);
  return row + "\n";
}

/// How many are right: type, and z within 1000 km/s (galaxies and quasars 3000).
void report_truth(const std::vector<std::vector<Candidate>>& found,
                  const std::vector<bench::Truth>& truth) {
  struct Count {
    int all = 0, right = 0, sure = 0, sure_right = 0;
  };
  std::map<std::string, Count> counts;
  for (std::size_t t = 0; t < truth.size(); ++t) {
    const Candidate& c = found[t].front();
    Count& count = counts[truth[t].spectype];
    const double limit = truth[t].spectype == "QSO" ? 3000 : 1000;
    const bool right =
        c.spectype == truth[t].spectype && std::abs(velocity_kms(c.z, truth[t].z)) < limit;
    ++count.all;
    count.right += right;
    if (c.zwarn != 0) continue;
    ++count.sure;
    count.sure_right += right;
  }
  for (const auto& [type, c] : counts) {
    std::printf("%-7s %d targets, %d right; ZWARN 0: %d, %d right\n", type.c_str(), c.all, c.right,
                c.sure, c.sure_right);
  }
}

using Found = std::vector<std::vector<Candidate>>;

/// Where two ways name another type or redshift (0.1 km/s, or a hundredth of the error).
void report_differences(const Found& a, const Found& b) {
  std::size_t differ = 0, sure = 0;
  double velocity = 0, chi2 = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    const Candidate &x = a[t].front(), &y = b[t].front();
    const double v = std::abs(velocity_kms(x.z, y.z));
    const double limit = std::max(0.1, 0.01 * kLightKms * y.zerr / (1 + y.z));
    if (x.spectype != y.spectype || x.subtype != y.subtype || v > limit) {
      ++differ;
      sure += y.zwarn == 0;
      std::printf("  target %zu: %s %s %.6f chi2 %.3f, %s %s %.6f chi2 %.3f +- %.2g ZWARN %u\n", t,
                  x.spectype.c_str(), x.subtype.c_str(), x.z, x.chi2, y.spectype.c_str(),
                  y.subtype.c_str(), y.z, y.chi2, y.zerr, y.zwarn);
    } else {
      velocity = std::max(velocity, v);
      chi2 = std::max(chi2, std::abs(x.chi2 - y.chi2));
    }
  }
  std::printf("%zu of %zu differ (%zu of them with ZWARN 0); the others by %.3g km/s, chi2 %.3g\n",
              differ, a.size(), sure, velocity, chi2);
}

struct Setting {
  std::vector<std::string> templates, fitted;
  std::string archetypes, coadd, write, table, mode = "fast";
  std::size_t simulated = 0, threads = 1, nearest = 1;
  bench::SampleOptions sample;
  ScanOptions scan;
};

int measure(const Setting& setting) {
  bench::SampleOptions sample_options = setting.sample;
  ScanOptions scan_options = setting.scan;
  const std::string& mode = setting.mode;
  Watch watch;
  const TemplateSet set = templates::load_templates(templates::find_templates(setting.templates));
  watch.lap("templates", 1);
  bench::Sample sample;
  sample.file =
      setting.coadd.empty() ? bench::made_up_cameras() : parity::read_coadd(setting.coadd);
  if (setting.simulated > 0) {
    std::vector<Archetypes> archetypes;
    if (!setting.archetypes.empty())
      archetypes.push_back(templates::read_archetypes(setting.archetypes));
    sample_options.targets = setting.simulated;
    sample = bench::draw(set, archetypes, sample.file, sample_options);
    watch.lap("simulate", setting.simulated);
    if (!setting.write.empty()) bench::write_sample(setting.write, sample);
  }
  if (mode == "none") return 0;
  const auto executor = make_executor(setting.threads);
  const std::size_t n = sample.file.ids.size();
  watch.lap("-", n);
  const bool peer = mode == "redrock";
  const TargetSet targets =
      prepare(sample.file.views(), peer ? redrock_rules() : PrepareOptions{}, *executor);
  watch.lap("prepare", n);
  std::vector<Archetypes> fitted;
  for (const std::string& path : setting.fitted) fitted.push_back(templates::read_archetypes(path));
  RedrockOptions peer_options;
  peer_options.archetypes = fitted;
  peer_options.archetype.nearest = setting.nearest;
  if (!fitted.empty()) peer_options.minima = 9;
  const auto find = [&](ScanMode how) {
    if (peer) scan_options = redrock_scan();
    scan_options.mode = how;
    const std::vector<Curve> curves = scan(targets, set, scan_options, *executor);
    watch.lap("scan", n);
    Found out = peer ? find_redrock(targets, curves, {}, peer_options, *executor)
                     : refine(targets, curves, {}, {}, *executor);
    watch.lap("refine", n);
    return out;
  };
  const Found found = find(peer || mode == "exact" ? ScanMode::kExact : ScanMode::kFast);
  if (mode == "both") report_differences(found, find(ScanMode::kExact));
  std::printf("%zu targets, %s\n", n, mode.c_str());
  report_truth(found, sample.truth);
  if (!setting.table.empty()) {
    std::ofstream table(setting.table);
    for (std::size_t t = 0; t < n; ++t) {
      table << row_of(sample.file.ids[t], found[t].front(),
                      sample.truth.empty() ? nullptr : &sample.truth[t]);
    }
  }
  return 0;
}

Command make_command() {
  const auto setting = std::make_shared<Setting>();
  Command command{.name = kName, .text = "redshifts: CPU seconds a target"};
  Options& options = command.options;
  options.add("--templates", &setting->templates, "that are fitted, and drawn from");
  options.add("--archetypes", &setting->archetypes, "drawn from as well");
  options.add("--fit-archetypes", &setting->fitted, "fitted after the peer's rules");
  options.add("--nearest", &setting->nearest, "archetypes of a combination",
              {.shows_default = true});
  options.add("--coadd", &setting->coadd, "targets, or the cameras of simulated ones");
  options.add("--simulate", &setting->simulated, "targets", {.shows_default = true});
  options.add("--seed", &setting->sample.seed, "of simulated targets", {.shows_default = true});
  options.add("--spread", &setting->sample.resolution_spread,
              "variance that fibres add to R, pixels^2", {.shows_default = true});
  options.add("--write", &setting->write, "the simulated targets, for redrock");
  options.add("--table", &setting->table, "one line a target");
  options.add("--mode", &setting->mode, "how to scan",
              {.words = {"exact", "fast", "redrock", "both", "none"}, .shows_default = true});
  options.add("--threads", &setting->threads, "that compute", {.shows_default = true});
  options.add("--step", &setting->scan.step_kms, "widest step of the scan, km/s",
              {.shows_default = true});
  command.run = [setting](const Invocation&) { return measure(*setting); };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
