// SPDX-License-Identifier: BSD-3-Clause
// The compute part of a frame, by stage: bench_frame IMAGE PSF [--threads N] [--repeat N] [--wave
// a,b,c] [--json FILE] [--reject NSIG] [--model-variance] [--wings PIXELS] [--psf-kind PSFTYPE] The
// frame is read once and extracted N times in one process; the first pass, which touches fresh
// memory, is shown apart. Figures are the smallest of the others: what the machine can do when
// nobody disturbs it.
#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "bench/fiberloom/psf/kinds.hpp"
#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/extract/wings.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/simd/isa.hpp"

namespace {

using namespace fiberloom;

struct Options {
  std::string image, psf, json, psf_kind;
  std::size_t threads = 1;
  int repeat = 5;
  double wmin = 5760, wmax = 7620, dw = 0.8;
  double reject = -1;
  bool model_variance = false;
  int wings = -1;
};

Options parse(int argc, char** argv) {
  Options o;
  std::vector<std::string> plain;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (i + 1 < argc && arg == "--threads") {
      o.threads = std::strtoul(argv[++i], nullptr, 10);
    } else if (i + 1 < argc && arg == "--repeat") {
      o.repeat = std::max(2, std::atoi(argv[++i]));
    } else if (i + 1 < argc && arg == "--reject") {
      o.reject = std::atof(argv[++i]);
    } else if (arg == "--model-variance") {
      o.model_variance = true;
    } else if (i + 1 < argc && arg == "--wings") {
      o.wings = std::atoi(argv[++i]);
    } else if (i + 1 < argc && arg == "--psf-kind") {
      o.psf_kind = argv[++i];
    } else if (i + 1 < argc && arg == "--json") {
      o.json = argv[++i];
    } else if (i + 1 < argc && arg == "--wave") {
      if (std::sscanf(argv[++i], "%lf,%lf,%lf", &o.wmin, &o.wmax, &o.dw) != 3) plain.clear();
    } else {
      plain.push_back(arg);
    }
  }
  if (plain.size() != 2) {
    std::fprintf(
        stderr,
        "usage: bench_frame IMAGE PSF [--threads N] [--repeat N] [--wave a,b,c] [--json FILE] "
        "[--reject NSIG] [--model-variance] [--wings PIXELS] [--psf-kind PSFTYPE]\n");
    std::exit(2);
  }
  o.image = plain[0];
  o.psf = plain[1];
  return o;
}

struct Pass {
  StageTime time;
  std::map<std::string, Tracer::Sum> stages;
};

/// Of all bundles, of each number the largest.
struct Widest {
  int band = 0, poles = 0, windows = 0, iterations = 0;
  void add(const ExtractResult& result) {
    for (const BundleReport& b : result.bundles) {
      band = std::max(band, b.half_bandwidth);
      poles = std::max(poles, b.poles);
      windows = std::max(windows, b.windows);
      iterations = std::max(iterations, b.cg_iterations);
    }
  }
  void print(int guard) const {
    std::printf("%d guard bins at each end, at most band %d, %d poles, %d windows, %d iterations\n",
                guard, band, poles, windows, iterations);
  }
};

// Long: passes, then their figures one after the other.
int run(const Options& o) {
  PreprocFile frame = read_preproc(o.image);
  // a simulated frame's hits are in its MASK: to reject them is what costs
  apply_mask(frame.ccd, frame.mask, o.reject > 0 ? kDefaultMaskBits & ~16U : kDefaultMaskBits);
  frame.mask = {};
  PsfFile psf = read_psf(o.psf);
  // so faint that a frame without them is fitted as well; --wings 0: in the stamps alone
  if (o.wings >= 0) psf.model = with_tails(psf.model, 1e-6);
  if (!o.psf_kind.empty()) psf.model = bench::with_spots_of(psf.model, o.psf_kind);
  ExtractOptions options;
  options.wave = linear_wave_grid(o.wmin, o.wmax, o.dw);
  options.reject_nsig = o.reject;
  options.model_variance = o.model_variance;
  const auto executor = make_executor(o.threads);
  std::vector<Pass> passes;
  Widest widest;
  for (int i = 0; i < o.repeat; ++i) {
    Tracer tracer;
    StageClock clock;
    const auto extract = [&](const CcdFrame& ccd, const ExtractOptions& with) {
      return extract_exact(ccd, psf.model, with, *executor, {}, &tracer);
    };
    if (o.wings <= 0) {
      widest.add(extract(frame.ccd, options));
    } else {
      Span span(&tracer, "wings and their light");
      const WinglessFrame bare =
          take_wings_off(frame.ccd, psf.model, options, o.wings, extract, *executor, {});
      span.stop();
      ExtractResult result = extract(bare.ccd, options);
      count_wings(bare, options, result);
      widest.add(result);
    }
    passes.push_back({clock.lap(), tracer.sums()});
  }
  const auto first = passes.begin() + 1;
  const auto by = [](auto member) {
    return [member](const Pass& a, const Pass& b) { return a.time.*member < b.time.*member; };
  };
  const double cpu = std::min_element(first, passes.end(), by(&StageTime::cpu_s))->time.cpu_s;
  const double wall = std::min_element(first, passes.end(), by(&StageTime::wall_s))->time.wall_s;
  const std::string isa(isa_name(active_isa()));
  std::printf("%d fibres x %zu bins, isa %s, %zu threads, %d passes\n", psf.model.nfiber(),
              options.wave.size(), isa.c_str(), o.threads, o.repeat);
  widest.print(exact::guard_grid(psf.model, options.wave).guard);
  std::printf("%-28s %8.3f s CPU %8.3f s wall\n", "first pass (fresh memory)", passes[0].time.cpu_s,
              passes[0].time.wall_s);
  std::printf("%-28s %8.3f s CPU %8.3f s wall\n", "best of the others", cpu, wall);
  std::string json = "{\"isa\":\"" + isa + "\",\"threads\":" + std::to_string(o.threads) +
                     ",\"first_cpu_s\":" + std::to_string(passes[0].time.cpu_s) +
                     ",\"cpu_s\":" + std::to_string(cpu) + ",\"wall_s\":" + std::to_string(wall);
  for (const auto& [name, sum] : passes[1].stages) {
    double best = sum.seconds;
    for (auto pass = first; pass != passes.end(); ++pass)
      best = std::min(best, pass->stages.at(name).seconds);
    std::printf("  %-26s %8.3f s\n", name.c_str(), best);
    json += ",\"" + name + "\":" + std::to_string(best);
  }
  if (!o.json.empty()) std::ofstream(o.json) << json << "}\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  mallopt(M_MMAP_MAX, 0);  // as the program does
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
  try {
    return run(parse(argc, argv));
  } catch (const fiberloom::Error& error) {
    std::fprintf(stderr, "bench_frame: %s\n", error.what());
    return error.exit_code();
  }
}
