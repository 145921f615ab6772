// SPDX-License-Identifier: BSD-3-Clause
// Traces that have moved by a known polynomial: what is found, and what the fit of the pixels and
// the fluxes make of it.
#include <array>
#include <cmath>
#include <cstdio>

#include "bench/fiberloom/refine/experiments.hpp"
#include "fiberloom/extract/traces/trace_shifts.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/simulate/sky_frame.hpp"
#include "fiberloom/simulate/sky_lines.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr double kFirst = 6240, kLast = 6880, kMargin = 20;

struct Sums {
  double n = 0, sum = 0, sum2 = 0;
  void add(double x) {
    n += 1;
    sum += x;
    sum2 += x * x;
  }
  [[nodiscard]] double mean() const { return sum / n; }
  [[nodiscard]] double rms() const { return std::sqrt(sum2 / n); }
};

/// What one way to extract came to.
struct Fit {
  double chi2 = 0, freedom = 0;
  Sums flux;  ///< of differences from the fluxes of the true PSF, in their sigma
  void add(const ExtractResult& result, const ExtractResult& truth) {
    for (const BundleReport& b : result.bundles) {
      chi2 += b.chi2;
      freedom += static_cast<double>(b.pixels) - static_cast<double>(b.parameters);
    }
    for (std::size_t i = 0; i < result.flux.size(); ++i) {
      if (result.ivar.data()[i] > 0 && truth.ivar.data()[i] > 0)
        flux.add((result.flux.data()[i] - truth.flux.data()[i]) * std::sqrt(truth.ivar.data()[i]));
    }
  }
  void print(const char* name) const {
    std::printf("%-28s chi2 a degree of freedom %.4f, flux against the true PSF: rms %.4f sigma\n",
                name, chi2 / freedom, flux.rms());
  }
};

/// What was found against what is true, at nine places.
class Tally {
 public:
  void add(const TraceReport& found, const TraceChange& truth) {
    for (std::size_t p = 0; p < kTraceParameters; ++p) {
      const TraceFit& fit = found.parameters[p];
      if (!fit.measured() || truth.coef[p].empty()) continue;
      for (const double u : {-1.0, 0.0, 1.0}) {
        for (const double v : {-1.0, 0.0, 1.0}) {
          double expected = 0;
          const std::vector<double> term = trace_term_values(truth.degree, u, v);
          for (std::size_t t = 0; t < term.size(); ++t) expected += term[t] * truth.coef[p][t];
          const double off = fit.value(truth.degree, u, v) - expected;
          off_[p].add(off);
          pulls_[p].add(off / fit.error(truth.degree, u, v));
        }
      }
    }
  }
  void print() const {
    for (std::size_t p = 0; p < kTraceParameters; ++p) {
      if (pulls_[p].n == 0) continue;
      std::printf("%-8s found minus true: rms %.5f pixels; pulls: mean %+.3f, rms %.3f\n",
                  kTraceParameterNames[p], off_[p].rms(), pulls_[p].mean(), pulls_[p].rms());
    }
  }

 private:
  std::array<Sums, kTraceParameters> pulls_, off_;
};

/// A constant and gradients, of the order of what a night moves.
TraceChange true_change(const TraceDomain& domain, const TraceExperiment& e, int frame) {
  const CounterRng rng(e.seed, 77);
  TraceChange change;
  change.domain = domain;
  change.degree = e.degree;
  const std::size_t terms = trace_terms(e.degree).size();
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    const bool width = p >= static_cast<std::size_t>(TraceParameter::kSigmaX);
    if (width && !e.widths) continue;
    for (std::size_t t = 0; t < terms; ++t) {
      const std::uint64_t draw = (static_cast<std::uint64_t>(frame) * 4 + p) * 64 + t;
      change.coef[p].push_back((width ? 0.2 : 1.0) * e.pixels * (t == 0 ? 1.0 : 0.3) *
                               rng.normal(draw));
    }
  }
  return change;
}

}  // namespace

void run(const TraceExperiment& e) {
  const auto executor = make_executor(0);
  const PsfModel psf = make_psf(small_psf_options(e.nfiber, kFirst - kMargin, kLast + kMargin));
  ExtractOptions options;
  options.wave = linear_wave_grid(kFirst, kLast, 0.8);
  TraceRequest request;
  request.degree = e.degree;
  request.widths = e.widths;
  for (const SkyLine& line : night_sky_lines())
    request.lines.push_back({line.wave_aa, line.strength});
  const double middle = 0.5 * (kFirst + kLast);
  const TraceDomain domain{psf.x(0, middle), psf.x(static_cast<std::size_t>(e.nfiber) - 1, middle),
                           kFirst, kLast};
  const ExtractOptions plain = plain_options(options);
  const auto extract = [&](const CcdFrame& ccd, const PsfModel& with) {
    return extract_exact(ccd, with, plain, *executor);
  };
  std::printf("%zu lines of the sky stand alone\n",
              lonely_lines(request.lines, psf, options).size());
  Tally tally;
  Fit before, after, unshifted;
  int settled = 0;
  double rounds = 0;
  for (int f = 0; f < e.frames; ++f) {
    const TraceChange truth = true_change(domain, e, f);
    const PsfModel moved = changed_psf(psf, truth);
    SkyFrameOptions light;
    light.seed = e.seed + static_cast<std::uint64_t>(f);
    NoisyFrame seen = make_sky_frame(moved, light, *executor);
    const CcdFrame ccd{PixelArray(std::move(seen.image)), PixelArray(std::move(seen.ivar))};
    const TraceReport found =
        measure_trace_shifts(ccd, psf, options, request, extract, *executor, {});
    settled += found.settled;
    rounds += static_cast<double>(found.rounds.size());
    tally.add(found, truth);
    const ExtractResult ideal = extract(ccd, moved);
    unshifted.add(ideal, ideal);
    before.add(extract(ccd, psf), ideal);
    after.add(extract(ccd, changed_psf(psf, found.change())), ideal);
  }
  std::printf("%d frames, %d settled, %.1f rounds\n", e.frames, settled, rounds / e.frames);
  tally.print();
  unshifted.print("with the true PSF");
  before.print("with that before the shift");
  after.print("with what was found");
}

}  // namespace fiberloom::bench
