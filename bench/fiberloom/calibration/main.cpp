// SPDX-License-Identifier: BSD-3-Clause
// Whose rule of the calibration is nearer to the truth, ours or desispec's? Each of ours alone
// replaces desispec's, on simulated exposures of 500 fibres whose flat, sky and flux are known, and
// on stars:
//   bench_calibration [--seeds 2] [--nspec 500] [--exptime 900] [--threads N]
// A rule is better where it lowers the rms error of the result by 1 % or the error of its width of
// pulls by 0.005 somewhere, and raises neither by as much anywhere: on continuum and lines, with
// ivar from the noisy data and from the light itself. The rest is desispec's meanwhile. One rule is
// judged once more, beside one that was shown to be better.
#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "bench/fiberloom/calibration/stars.hpp"
#include "bench/fiberloom/calibration/tally.hpp"
#include "fiberloom/calibrate/fiber_flat.hpp"
#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/sky.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/truth/exposures.hpp"
#include "loom/base/median.hpp"
#include "loom/program/run_program.hpp"
#include "loom/runtime/executors.hpp"

namespace {

using namespace fiberloom;
using namespace fiberloom::bench;
using calibrate::FiberFlatOptions;
using calibrate::FluxOptions;
using calibrate::SkyOptions;

/// (flat - truth): in units of 1 %, and of its error.
void judge_flat(const calibrate::FiberFlatFit& got, const truth::Exposure& lamp,
                const std::string& where, Figures& figures) {
  constexpr std::size_t kEdge = 5;  // light from beyond the grid is not there
  for (std::size_t f = 0; f < got.flat.rows(); ++f) {
    for (std::size_t i = kEdge; i + kEdge < got.flat.cols(); ++i) {
      if (!(got.ivar(f, i) > 0)) continue;
      const double error = got.flat(f, i) - lamp.throughput(f, i);
      figures["flat, " + where].add(100 * error, error * std::sqrt(got.ivar(f, i)));
    }
  }
}

/// (sky - truth) in units of the pixel's noise and of the sky's error; and what is left of the
/// targets' fibres in units of theirs.
void judge_sky(const calibrate::SkyFit& sky, const truth::Exposure& field, double read_variance,
               const std::string& where, Figures& figures) {
  constexpr std::size_t kEdge = 5;
  const std::size_t n = sky.flux.cols();
  Tally &continuum = figures["sky, continuum, " + where], &lines = figures["sky, lines, " + where],
        &left = figures["left of lines, " + where];
  for (std::size_t f = 0; f < sky.flux.rows(); ++f) {
    std::vector<double> level(n);
    for (std::size_t i = 0; i < n; ++i) level[i] = field.sky(f, i) / field.throughput(f, i);
    const double highest = *std::max_element(level.begin(), level.end());
    std::vector<double> sorted = level;
    const double middle = median_of(sorted);
    for (std::size_t i = kEdge; i + kEdge < n; ++i) {
      if (!(sky.stat_ivar(f, i) > 0) || !(sky.ivar(f, i) > 0)) continue;
      const double through = field.throughput(f, i);
      const double variance =
          (std::max(0.0, field.light(f, i)) + read_variance) / (through * through);
      const double error = sky.flux(f, i) - level[i];
      const double in_sigma = error / std::sqrt(variance);
      if (level[i] < 2 * middle) continuum.add(in_sigma, error * std::sqrt(sky.stat_ivar(f, i)));
      if (level[i] < 0.1 * highest) continue;
      lines.add(in_sigma, error * std::sqrt(sky.stat_ivar(f, i)));
      if (field.spectra.ivar(f, i) == 0) continue;
      const double target = (field.light(f, i) - field.sky(f, i)) / through;
      const double residual = field.spectra.flux(f, i) / through - sky.flux(f, i) - target;
      if (std::abs(residual) > 10 * std::sqrt(variance + 1 / sky.ivar(f, i))) continue;  // hot
      left.add(residual / std::sqrt(variance), residual / std::sqrt(variance + 1 / sky.ivar(f, i)));
    }
  }
}

/// (C - truth) of a fibre in the middle: in units of 1 %, and of its error.
void judge_flux(const calibrate::FluxFit& got, const truth::Exposure& field,
                const std::string& where, Figures& figures) {
  constexpr std::size_t kEdge = 5;
  const std::size_t f = got.calib.rows() / 2, n = got.calib.cols();
  const Banded<const float> r = banded(field.spectra.resolution, f);
  const std::vector<double> sums = row_sums(r);
  std::vector<double> seen(n);
  multiply(r, std::span<const double>(field.calibration), std::span<double>(seen));
  for (std::size_t i = kEdge; i + kEdge < n; ++i) {
    const double wave = got.wave[i];
    const bool gas = std::abs(wave - 3952) < 25 || std::abs(wave - 5894) < 12;  // bridged
    if (gas || !(got.ivar(f, i) > 0)) continue;
    const double c = seen[i] / sums[i], error = got.calib(f, i) - c;
    figures["flux, " + where].add(100 * error / c, error * std::sqrt(got.ivar(f, i)));
  }
}

constexpr const char* kName = "bench_calibration";

struct Setting {
  std::size_t seeds = 2, threads = 1;
  double exptime_s = 900;
  truth::ExposureOptions exposure;
};

/// What is measured with each exposure, for one kind of ivar.
using Measure =
    std::function<void(const truth::Spectrograph&, std::size_t camera, std::uint64_t number,
                       const truth::ExposureOptions&, const std::string& where)>;

void each_exposure(const Setting& setting, const Measure& measure) {
  const truth::Spectrograph spectrograph(setting.exptime_s);
  for (std::uint64_t seed = 1; seed <= setting.seeds; ++seed) {
    for (std::size_t camera = 0; camera < 3; ++camera) {
      for (const auto noise : {truth::KnownNoise::kData, truth::KnownNoise::kLight}) {
        truth::ExposureOptions o = setting.exposure;
        o.seed = seed;
        o.noise = noise;
        measure(spectrograph, camera, seed, o,
                noise == truth::KnownNoise::kData ? "ivar of data" : "ivar of light");
      }
    }
  }
}

/// A sky fibre whose amplifier failed: the lines there have no pixels of it.
void lose_amplifier(Spectra& spectra, std::size_t fiber) {
  for (std::size_t i = 0; i < spectra.nwave() / 2; ++i) {
    spectra.ivar(fiber, i) = 0;
    spectra.mask(fiber, i) = kAllBadPix;
  }
}

template <class Options>
struct Rule {
  const char* name;
  std::function<void(Options&)> take;
};

void flats(const Setting& setting, Executor& executor) {
  const Rule<FiberFlatOptions> rules[] = {
      {"desispec", [](FiberFlatOptions&) {}},
      {"flat: median of smooth", [](auto& o) { o.median = calibrate::MedianOf::kSmooth; }}};
  std::vector<Figures> figures(std::size(rules));
  each_exposure(setting, [&](const auto& spectrograph, std::size_t camera, std::uint64_t number,
                             const auto& o, const std::string& where) {
    const truth::Exposure lamp = lamp_exposure(spectrograph, camera, o, number, executor);
    for (std::size_t r = 0; r < std::size(rules); ++r) {
      FiberFlatOptions options = calibrate::desispec_fiber_flat();
      options.systematic = 0;
      rules[r].take(options);
      judge_flat(compute_fiber_flat(lamp.spectra, "brz"[camera], options, executor), lamp, where,
                 figures[r]);
    }
  });
  for (std::size_t r = 0; r < std::size(rules); ++r) {
    print_rows(rules[r].name, figures[r]);
    if (r > 0) print_verdict(rules[r].name, figures[0], figures[r]);
  }
}

void skies(const Setting& setting, Executor& executor) {
  const Rule<SkyOptions> rules[] = {
      {"desispec", [](SkyOptions&) {}},
      {"sky: modelled weights", [](auto& o) { o.weight = calibrate::SkyWeight::kModel; }},
      {"sky: fibres with pixels", [](auto& o) { o.line_fibers = calibrate::LineFibers::kSeen; }}};
  std::vector<Figures> figures(std::size(rules));
  each_exposure(setting, [&](const auto& spectrograph, std::size_t camera, std::uint64_t number,
                             const auto& o, const std::string& where) {
    truth::Exposure field = field_exposure(spectrograph, camera, o, number, executor);
    lose_amplifier(field.spectra, o.sky_every / 2);
    Spectra divided = field.spectra;  // by the true flat: that is not the question here
    for (std::size_t k = 0; k < divided.flux.size(); ++k) {
      const double through = field.throughput.data()[k];
      divided.flux.data()[k] /= through;
      divided.ivar.data()[k] *= through * through;
    }
    for (std::size_t r = 0; r < std::size(rules); ++r) {
      SkyOptions options = calibrate::desispec_sky();
      rules[r].take(options);
      judge_sky(compute_sky(divided, "brz"[camera], options, executor), field,
                spectrograph.cameras()[camera].read_variance, where, figures[r]);
    }
  });
  for (std::size_t r = 0; r < std::size(rules); ++r) {
    print_rows(rules[r].name, figures[r]);
    if (r > 0) print_verdict(rules[r].name, figures[0], figures[r]);
  }
}

/// Flat and sky are known: that is not the question here.
void fluxes(const Setting& setting, Executor& executor) {
  const Rule<FluxOptions> rules[] = {
      {"desispec", [](FluxOptions&) {}},
      {"flux: final weights", [](auto& o) { o.weights = calibrate::FluxWeights::kFinal; }},
      {"flux: 20 % of the model", [](auto& o) { o.clip = calibrate::FluxClip::kModel; }},
      {"flux: both, beside the last", [](auto& o) {
         o.weights = calibrate::FluxWeights::kFinal;
         o.clip = calibrate::FluxClip::kModel;
       }}};
  std::vector<Figures> figures(std::size(rules));
  each_exposure(setting, [&](const auto& spectrograph, std::size_t camera, std::uint64_t number,
                             const auto& o, const std::string& where) {
    const truth::Exposure field = field_exposure(spectrograph, camera, o, number, executor);
    Spectra frame = field.spectra;
    for (std::size_t k = 0; k < frame.flux.size(); ++k) {
      const double through = field.throughput.data()[k];
      frame.flux.data()[k] = (frame.flux.data()[k] - field.sky.data()[k]) / through;
      frame.ivar.data()[k] *= through * through;
    }
    calibrate::StarModels models{frame.wave, {}};
    for (const std::size_t s : calibrate::standard_star_rows(frame)) {
      models.stars.push_back({s, {field.flux.row(s), field.flux.row(s) + frame.nwave()}});
    }
    for (std::size_t r = 0; r < std::size(rules); ++r) {
      FluxOptions options = calibrate::desispec_flux();
      rules[r].take(options);
      judge_flux(compute_flux_calibration(frame, models, options, executor), field, where,
                 figures[r]);
    }
  });
  for (std::size_t r = 0; r < std::size(rules); ++r) {
    print_rows(rules[r].name, figures[r]);
    const bool on_top = r == 3;  // of the rule before it, which alone is better
    if (r > 0) print_verdict(rules[r].name, figures[on_top ? 2 : 0], figures[r]);
  }
}

int judge(const Setting& setting, const std::string& only) {
  const auto executor = make_executor(setting.threads);
  if (only.empty() || only == "flat") flats(setting, *executor);
  if (only.empty() || only == "sky") skies(setting, *executor);
  if (only.empty() || only == "flux") fluxes(setting, *executor);
  if (only.empty() || only == "stars") judge_star_rules(setting.seeds, *executor);
  return 0;
}

Command make_command() {
  const auto setting = std::make_shared<Setting>();
  const auto only = std::make_shared<std::string>();
  Command command{.name = kName, .text = "rules of calibration against truth"};
  Options& options = command.options;
  options.add("--seeds", &setting->seeds, "exposures of each kind", {.shows_default = true});
  options.add("--nspec", &setting->exposure.nspec, "fibres", {.shows_default = true});
  options.add("--exptime", &setting->exptime_s, "seconds", {.shows_default = true});
  options.add("--threads", &setting->threads, "that compute", {.shows_default = true});
  options.add("--only", only.get(), "a step", {.words = {"flat", "sky", "flux", "stars"}});
  command.run = [=](const Invocation&) { return judge(*setting, *only); };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
