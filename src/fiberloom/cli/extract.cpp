// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom extract`: options -> recipe -> summary.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>

#include "fiberloom/astro/barycentric.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/extract_options.hpp"
#include "fiberloom/cli/summary_json.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "loom/base/print.hpp"
#include "loom/program/console.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom::cli {
namespace {

/// Goodness of fit, resolution and drawn errors.
void report_quality(const ExtractSummary& s, const Observer& observer) {
  double chi2 = 0, freedom = 0;
  for (const BundleReport& b : s.bundles) {
    if (b.pixels == 0) continue;
    chi2 += b.chi2;
    freedom += static_cast<double>(b.pixels) - static_cast<double>(b.parameters);
    observer.log(LogLevel::kDebug,
                 print("fibres %d-%d: chi2 %.6g of %zu pixels and %zu parameters, psferr %s",
                       b.first_fiber, b.first_fiber + b.nfiber - 1, b.chi2, b.pixels, b.parameters,
                       b.seen_psferr < 0 ? "not seen" : print("%.2g", b.seen_psferr).c_str()));
  }
  if (freedom > 0) observer.info(print("chi2 a degree of freedom %.4f", chi2 / freedom));
  if (s.leak.bins > 0) {
    observer.info(
        print("RESOLUTION: %d diagonals, rows leak %.2g (median), %.2g (one in 1000), "
              "%.2g (most)",
              s.leak.ndiag, s.leak.rows.median, s.leak.rows.high, s.leak.rows.most));
  }
  if (!s.realisations) return;
  const RealisationReport& r = *s.realisations;
  observer.info(
      print("%d draws of %zu bins: pulls %+.4f +- %.4f, width %.4f; correlation with the "
            "next bin %+.4f, with the next fibre %+.5f (+- %.5f); R x against flux %.2g "
            "sigma",
            r.draws, r.bins, r.mean, r.mean_error, r.width, r.lags[0], r.fibers,
            r.correlation_error, r.resolution_rms));
}

void report(const ExtractSummary& s, const Observer& observer) {
  for (const BundleReport& b : s.bundles) {
    observer.log(LogLevel::kDebug,
                 print("fibres %d-%d: %d windows, band %d, %d poles, %d iterations, kappa %.3g, "
                       "bound %.2g sigma, seams %.2g sigma",
                       b.first_fiber, b.first_fiber + b.nfiber - 1, b.windows, b.half_bandwidth,
                       b.poles, b.cg_iterations, b.kappa, b.bound_sigma, b.seam_sigma));
  }
  report_quality(s, observer);
  const double bins = static_cast<double>(std::max<std::size_t>(s.nspec * s.nwave, 1));
  observer.info(print("bins: %zu without information (%.3f %%), %zu SOMEBADPIX, %zu BAD2DFIT",
                      s.all_bad, 100 * static_cast<double>(s.all_bad) / bins, s.some_bad,
                      s.bad_fit));
  if (s.rejected > 0) {
    observer.info(
        print("%zu pixels dropped as outliers, %zu bins with COSMIC", s.rejected, s.cosmic));
  }
  observer.info(print("read %.2f s, compute %.2f s, write %.2f s (%.2f CPU-s in all), peak %.0f MB",
                      s.read.wall_s, s.compute.wall_s, s.write.wall_s, cpu_seconds(),
                      static_cast<double>(peak_memory_bytes()) / 1e6));
}

/// All files, by what they are and not by their names, before any is opened. The job's own places
/// extract_frame() looks at.
void check_files(const ExtractCommand& command) {
  const std::array<NamedFile, 2> texts{{{"--json", command.json}, {"--trace", command.trace}}};
  check_names(command.job, texts);
  check_text_outputs(texts);
}

int run_extract(const Given& given, ExtractCommand& command) {
  const auto start = std::chrono::steady_clock::now();
  const RankPart part =
      part_of_rank(command.ranks, "fiberloom night and expose share frames among ranks");
  if (!part.works) return 0;
  Console console(command.log.threshold());
  const Observer observer = console.observer();
  finish_extract_options(given, command, observer);
  check_files(command);
  const Isa isa = active_isa();  // a wrong FIBERLOOM_ISA is an error before anything is read
  const auto executor = make_executor(command.threads > 0 ? command.threads : part.threads);
  Tracer tracer(!command.trace.empty());

  if (!part.note.empty()) observer.info(part.note);
  observer.info(print("%s + %s -> %s", command.job.image.c_str(), command.job.psf.c_str(),
                      command.job.output.c_str()));
  observer.info(print("%s engine, %zu threads (%s), instruction set %s",
                      command.job.method == Method::kExact ? "exact" : "patch",
                      executor->concurrency(), std::string(executor_kind()).c_str(),
                      std::string(isa_name(isa)).c_str()));
  const Engine engine = open_engine(command.device, command.job.method, observer);
  const ExtractSummary summary = extract_frame(command.job, engine, *executor, observer, &tracer);
  observer.info(print("wrote %s: %zu spectra of %zu bins, %.3f-%.3f Angstrom by %g",
                      summary.output.c_str(), summary.nspec, summary.nwave, summary.wave[0],
                      summary.wave[1], summary.wave[2]));
  if (command.job.barycentric) {
    observer.info(print("barycentric factor %.13f (%+.3f km/s): light of the grid divided by it",
                        summary.heliocor, astro::factor_velocity_km_s(summary.heliocor)));
  }
  report(summary, observer);
  if (command.log.threshold() == LogLevel::kDebug) observer.log(LogLevel::kDebug, tracer.text());
  if (!command.trace.empty()) write_text(command.trace, tracer.chrome_json());
  if (!command.json.empty()) {
    RunFacts facts;
    facts.options = given.texts();
    facts.threads = executor->concurrency();
    facts.executor = executor_kind();
    facts.isa = isa_name(isa);
    facts.device = engine.device();
    facts.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    write_text(command.json, summary_json(summary, command.job, facts, tracer));
  }
  return 0;
}

}  // namespace

Command make_extract() {
  Command command{
      .name = "extract",
      .text = "extract the spectra of one CCD frame",
      .footer =
          "Example:\n"
          "  fiberloom extract -i preproc-r0-00000011.fits.gz -p psf-r0-00000011.fits \\\n"
          "      -w 5760.0,7620.0,0.8 -o frame-r0-00000011.fits.gz\n\n" +
          exit_codes_of({.reads = true,
                         .matches = true,
                         .writes = true,
                         .more = {Status::kNumerical, Status::kInterrupted, Status::kDevice}})};
  const auto state = std::make_shared<ExtractCommand>();
  add_extract_options(command.options, *state);
  command.run = [state](const Invocation& call) { return run_extract(call.given, *state); };
  return command;
}

}  // namespace fiberloom::cli
