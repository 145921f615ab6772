// SPDX-License-Identifier: BSD-3-Clause
// CPU seconds a target of each way to find redshifts, and what it finds: bench_redshift
//   --templates FILE... [--coadd FILE] [--mode exact|fast|redrock|both] [--step KMS] [--threads N]
//   [--simulate N] [--archetypes FILE] [--seed N] [--write FILE] [--table FILE]
//   [--fit-archetypes FILE...] [--nearest N]
// both: fast, then exact, and where they differ.
// --coadd alone: the redshifts of its targets; with --simulate: its resolution and noise for N
// simulated ones (made-up cameras without it), which --write keeps for other programs.
#include <time.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>

#include "bench/fiberloom/redshift/sample.hpp"
#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/redrock.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/print.hpp"
#include "loom/runtime/executors.hpp"

namespace {

using namespace fiberloom;
using namespace fiberloom::redshift;

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

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> template_paths, fitted_paths;
  std::string archetype_path, coadd_path, write_path, table_path, mode = "fast";
  std::size_t simulated = 0, threads = 1, nearest = 1;
  bench::SampleOptions sample_options;
  ScanOptions scan_options;
  CLI::App app("Redshifts: CPU seconds a target");
  app.add_option("--templates", template_paths);
  app.add_option("--archetypes", archetype_path);
  app.add_option("--fit-archetypes", fitted_paths);
  app.add_option("--nearest", nearest);
  app.add_option("--coadd", coadd_path);
  app.add_option("--simulate", simulated);
  app.add_option("--seed", sample_options.seed);
  app.add_option("--spread", sample_options.resolution_spread);
  app.add_option("--write", write_path);
  app.add_option("--table", table_path);
  app.add_option("--mode", mode)
      ->check(CLI::IsMember({"exact", "fast", "redrock", "both", "none"}));
  app.add_option("--threads", threads);
  app.add_option("--step", scan_options.step_kms);
  CLI11_PARSE(app, argc, argv);

  Watch watch;
  const TemplateSet set = templates::load_templates(templates::find_templates(template_paths));
  watch.lap("templates", 1);
  bench::Sample sample;
  sample.file = coadd_path.empty() ? bench::made_up_cameras() : parity::read_coadd(coadd_path);
  if (simulated > 0) {
    std::vector<Archetypes> archetypes;
    if (!archetype_path.empty()) archetypes.push_back(templates::read_archetypes(archetype_path));
    sample_options.targets = simulated;
    sample = bench::draw(set, archetypes, sample.file, sample_options);
    watch.lap("simulate", simulated);
    if (!write_path.empty()) bench::write_sample(write_path, sample);
  }
  if (mode == "none") return 0;
  const auto executor = make_executor(threads);
  const std::size_t n = sample.file.ids.size();
  watch.lap("-", n);
  const bool peer = mode == "redrock";
  const TargetSet targets =
      prepare(sample.file.views(), peer ? redrock_rules() : PrepareOptions{}, *executor);
  watch.lap("prepare", n);
  std::vector<Archetypes> fitted;
  for (const std::string& path : fitted_paths) fitted.push_back(templates::read_archetypes(path));
  RedrockOptions peer_options;
  peer_options.archetypes = fitted;
  peer_options.archetype.nearest = nearest;
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
  if (!table_path.empty()) {
    std::ofstream table(table_path);
    for (std::size_t t = 0; t < n; ++t) {
      table << row_of(sample.file.ids[t], found[t].front(),
                      sample.truth.empty() ? nullptr : &sample.truth[t]);
    }
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_redshift: %s\n", error.what());
  return 1;
}
