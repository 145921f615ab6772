// SPDX-License-Identifier: BSD-3-Clause
// A bright star at the edge of a bundle, faint fibres around it, a PSF with tails: what
// --wings makes of them.
#include "fiberloom/extract/wings.hpp"

#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "bench/fiberloom/refine/pulls.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr int kFibers = 50;
constexpr double kStep = 0.8, kFirst = 6000;
constexpr std::size_t kStar = 24;  // the last of the first bundle

struct Way {
  const char* name;
  std::vector<Pulls> of_group = std::vector<Pulls>(6);
};

/// Where a fibre stands to the star.
std::size_t group_of(std::size_t f) {
  if (f == kStar) return 0;
  if (f == kStar + 1) return 1;               // across the gap
  if (f == kStar - 1) return 2;               // beside it
  if (f > kStar && f <= kStar + 4) return 3;  // next across the gap
  if (f < kStar && f >= kStar - 4) return 4;  // next beside it
  return 5;                                   // further away
}

void judge(const ExtractResult& result, const Array2D<double>& truth, Way& way) {
  const auto truth_of = [&](std::size_t f) { return std::span(truth.row(f), truth.cols()); };
  for_bins(result, 30, truth_of, [&](std::size_t f, double flux, double expected, double ivar) {
    way.of_group[group_of(f)].add(flux, expected, ivar);
  });
}

void print_results(const WingExperiment& e, const WingReport& report,
                   const std::vector<Way>& ways) {
  std::printf(
      "tails of amplitude %g, reach %d: %.4f of the light in a spot beyond it, %.3g electrons "
      "at most; %d rounds, the last %.2g sigma\n",
      e.amplitude, e.reach, report.share, report.most_e, report.rounds, report.last_sigma);
  std::printf(
      "mean pull, rms, flux off, of: the star | across the gap | beside it | next across | "
      "next beside | others\n");
  for (const Way& way : ways) {
    std::printf("%-28s", way.name);
    for (const Pulls& p : way.of_group) p.print();
    std::printf("\n");
  }
}

}  // namespace

void run(const WingExperiment& e) {
  const auto executor = make_executor(0);
  const double last = kFirst + kStep * static_cast<double>(e.nwave - 1);
  const PsfModel psf =
      with_tails(make_psf(small_psf_options(kFibers, kFirst, last, 60)), e.amplitude);
  PsfModel whole = psf;  // the truth: one stamp that holds all that wings reach
  whole.hsize_x = whole.hsize_y = e.reach;
  ExtractOptions options;
  options.wave = linear_wave_grid(kFirst, last, kStep);
  options.ndiag = 25;
  const std::vector<double> lit = lit_wave_grid(psf, kFirst, kStep, kStep);
  const auto start = static_cast<std::size_t>(std::lround((kFirst - lit.front()) / kStep));
  Array2D<double> electrons(kFibers, lit.size(), e.faint_e), truth(kFibers, options.wave.size());
  for (std::size_t f = 0; f < electrons.rows(); ++f) {
    for (std::size_t j = 0; j < lit.size(); ++j) {
      double& light = electrons(f, j);
      if (f == kStar) light = e.star_e * (1 + 0.3 * std::sin(0.05 * static_cast<double>(j)));
      if (j % 40 == 20) light += e.line_e;  // of the sky, in every fibre
    }
    for (std::size_t j = 0; j < truth.cols(); ++j) truth(f, j) = electrons(f, start + j) / kStep;
  }
  const Array2D<double> mean = project(whole, lit, electrons, *executor);
  std::vector<Way> ways{
      {"default"}, {"--psf-tails"}, {"--psf-tails --wings"}, {"the same, --model-variance"}};
  PsfModel without = psf;
  without.has_tails = false;
  WingReport report;
  for (int frame = 0; frame < e.frames; ++frame) {
    const CcdFrame ccd =
        noisy_frame(mean, 3, e.seed + static_cast<std::uint64_t>(frame), *executor);
    const auto extract = [&](const CcdFrame& with, const ExtractOptions& o) {
      return extract_exact(with, psf, o, *executor);
    };
    judge(extract_exact(ccd, without, options, *executor), truth, ways[0]);
    judge(extract(ccd, options), truth, ways[1]);
    for (const bool model_variance : {false, true}) {
      ExtractOptions o = options;
      o.model_variance = model_variance;
      const WinglessFrame bare = take_wings_off(ccd, psf, o, e.reach, extract, *executor, {});
      report = bare.report;
      ExtractResult result = extract(bare.ccd, o);
      count_wings(bare, o, result);
      judge(result, truth, ways[model_variance ? 3 : 2]);
    }
  }
  print_results(e, report, ways);
}

}  // namespace fiberloom::bench
