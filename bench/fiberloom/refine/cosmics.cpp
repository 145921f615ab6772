// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/simulate/defects.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr double kReadNoise = 3, kFirst = 6000, kStep = 0.8, kFineStep = 0.4;
constexpr int kFibers = 25;
/// Sigma of a pixel, model and read noise: the classes of the tables.
constexpr double kClasses[] = {6, 10, 20, 50, 200, 1e9};
constexpr std::size_t kClassCount = std::size(kClasses) - 1;

struct Tally {
  std::size_t n[kClassCount]{}, found[kClassCount]{};
  void add(double sigma, bool was_found) {
    for (std::size_t k = 0; k < kClassCount; ++k) {
      if (sigma < kClasses[k] || sigma >= kClasses[k + 1]) continue;
      ++n[k];
      found[k] += was_found;
    }
  }
  void print(const char* name) const {
    std::printf("%-34s", name);
    for (std::size_t k = 0; k < kClassCount; ++k) {
      if (n[k] == 0) {
        std::printf(" %16s", "-");
      } else {
        std::printf("  %5.1f %% of %5zu",
                    100.0 * static_cast<double>(found[k]) / static_cast<double>(n[k]), n[k]);
      }
    }
    std::printf("\n");
  }
};

struct Pulls {
  double n = 0, sum2 = 0;
  std::size_t beyond = 0;
  void add(double pull) {
    n += 1;
    sum2 += pull * pull;
    beyond += std::abs(pull) > 5;
  }
  void print(const char* name) const {
    std::printf("%-34s %10.0f bins, rms %8.4f, beyond 5 sigma %zu\n", name, n, std::sqrt(sum2 / n),
                beyond);
  }
};

/// Light on bins half as wide as those of the extraction: continua of 20 to 2000 electrons a bin,
/// and lines one fine bin wide, of 30 to 30,000 electrons, one in 20 bins.
struct Light {
  std::vector<double> wave;
  Array2D<double> electrons;
};

Light make_light(const PsfModel& psf, std::uint64_t seed) {
  Light light;
  light.wave = lit_wave_grid(psf, kFirst, kStep, kFineStep);
  light.electrons = Array2D<double>(kFibers, light.wave.size());
  const CounterRng rng(seed, 901);
  for (std::size_t f = 0; f < kFibers; ++f) {
    const double continuum = 10 * std::pow(100, static_cast<double>(f % 5) / 4);
    for (std::size_t j = 0; j < light.wave.size(); ++j) {
      const auto u = rng.uniform2(f * light.wave.size() + j);
      light.electrons(f, j) = continuum + (u[0] < 0.025 ? 30 * std::pow(1000, u[1]) : 0.0);
    }
  }
  return light;
}

struct Hit {
  std::size_t row, column;
  double sigma;
};

struct Frame {
  PsfModel psf;
  std::vector<double> wave;
  Array2D<double> mean;
  Array2D<float> clean, image;
  std::set<std::pair<int, int>> hit;  ///< (row, column) of every pixel with charge added
  std::vector<Hit> tracks, singles, on_trace;
  [[nodiscard]] CcdFrame ccd(const Array2D<float>& pixels, bool without_hits) const {
    Array2D<float> ivar(pixels.rows(), pixels.cols());
    for (std::size_t i = 0; i < ivar.size(); ++i)
      ivar.data()[i] = static_cast<float>(1 / (kReadNoise * kReadNoise + mean.data()[i]));
    if (without_hits) {
      for (const auto& [r, c] : hit)
        ivar(static_cast<std::size_t>(r), static_cast<std::size_t>(c)) = 0;
    }
    CcdFrame out{PixelArray(pixels), PixelArray(std::move(ivar))};
    out.readnoise.all_e = kReadNoise;
    return out;
  }
  /// Adds charge to a pixel; null list: only noted.
  void strike(std::size_t row, std::size_t column, double charge, std::vector<Hit>* list) {
    if (row >= image.rows() || column >= image.cols()) return;
    image(row, column) += static_cast<float>(charge);
    const double sigma = charge / std::sqrt(kReadNoise * kReadNoise + mean(row, column));
    if (hit.insert({static_cast<int>(row), static_cast<int>(column)}).second)
      list->push_back({row, column, sigma});
  }
};

/// Rows and columns in which spots of the grid's bins lie, roughly: hits elsewhere do not count.
bool under_spots(const Frame& f, const Hit& h) {
  const auto middle = static_cast<std::size_t>(kFibers / 2);
  const double low = f.psf.y(middle, f.wave.front()), high = f.psf.y(middle, f.wave.back());
  const auto row = static_cast<double>(h.row);
  if (row < low || row > high) return false;
  const double wave =
      f.wave.front() + (row - low) / (high - low) * (f.wave.back() - f.wave.front());
  for (std::size_t i = 0; i < kFibers; ++i) {
    if (std::abs(f.psf.x(i, wave) - static_cast<double>(h.column)) < 3.5) return true;
  }
  return false;
}

Frame make_frame(const CosmicExperiment& e, std::uint64_t seed, Executor& executor) {
  Frame f;
  const double last = kFirst + static_cast<double>(e.nwave) * kStep;
  f.psf = make_psf(small_psf_options(kFibers, kFirst, last, 60));
  for (std::size_t j = 0; j < e.nwave; ++j)
    f.wave.push_back(kFirst + kStep * static_cast<double>(j));
  const Light light = make_light(f.psf, seed);
  f.mean = project(f.psf, light.wave, light.electrons, executor);
  NoiseOptions noise;
  noise.readnoise_e = kReadNoise;
  noise.seed = seed;
  f.clean = f.image = add_noise(f.mean, noise, executor).image;
  const CounterRng rng(seed, 902);
  std::uint64_t at = 0;
  const auto charge = [&] { return 30 * std::pow(1000, rng.uniform(at++)); };
  const auto rows = static_cast<double>(f.image.rows()), cols = static_cast<double>(f.image.cols());
  for (int i = 0; i < 60; ++i) {
    const auto u = rng.uniform2(at++);
    f.strike(static_cast<std::size_t>(u[0] * rows), static_cast<std::size_t>(u[1] * cols), charge(),
             &f.singles);
  }
  for (int i = 0; i < 60; ++i) {  // on the pixel in which the middle of a trace lies
    const auto u = rng.uniform2(at++);
    const auto fiber = static_cast<std::size_t>(u[0] * kFibers);
    const double wave = f.wave.front() + u[1] * (f.wave.back() - f.wave.front());
    f.strike(static_cast<std::size_t>(std::lround(f.psf.y(fiber, wave))),
             static_cast<std::size_t>(std::lround(f.psf.x(fiber, wave))), charge(), &f.on_trace);
  }
  for (int i = 0; i < 20; ++i) {
    const auto u = rng.uniform2(at++), v = rng.uniform2(at++);
    const double angle = 3.14159 * v[0], length = 3 + 20 * v[1];
    for (double s = 0; s < length; s += 0.5) {
      const auto row = static_cast<std::size_t>(std::max(u[0] * rows + s * std::sin(angle), 0.0));
      const auto column =
          static_cast<std::size_t>(std::max(u[1] * cols + s * std::cos(angle), 0.0));
      if (!f.hit.contains({static_cast<int>(row), static_cast<int>(column)}))
        f.strike(row, column, -400 * std::log(rng.uniform(at++)), &f.tracks);
    }
  }
  return f;
}

struct Score {
  Tally tracks, singles, on_trace;
  std::size_t good = 0, lost = 0;           ///< pixels under spots without a hit; of these dropped
  std::size_t bright = 0, bright_lost = 0;  ///< the same with more than 100 electrons of light
  std::size_t dropped = 0, right = 0;
  Pulls without, with, known;
};

void score_pixels(const Frame& f, const ExtractResult& r, Score& score) {
  std::set<std::pair<int, int>> dropped;
  for (const CcdPixel& p : r.rejected) dropped.insert({p.row, p.column});
  const auto count = [&](const std::vector<Hit>& hits, Tally& tally) {
    for (const Hit& h : hits) {
      if (under_spots(f, h))
        tally.add(h.sigma, dropped.contains({static_cast<int>(h.row), static_cast<int>(h.column)}));
    }
  };
  count(f.tracks, score.tracks);
  count(f.singles, score.singles);
  count(f.on_trace, score.on_trace);
  score.dropped += dropped.size();
  for (const auto& p : dropped) score.right += f.hit.contains(p);
  for (std::size_t row = 0; row < f.mean.rows(); ++row) {
    for (std::size_t column = 0; column < f.mean.cols(); ++column) {
      if (!under_spots(f, {row, column, 0})) continue;
      const std::pair<int, int> at{static_cast<int>(row), static_cast<int>(column)};
      if (f.hit.contains(at)) continue;
      const bool is_bright = f.mean(row, column) > 100, is_lost = dropped.contains(at);
      ++score.good;
      score.lost += is_lost;
      score.bright += is_bright;
      score.bright_lost += is_bright && is_lost;
    }
  }
}

/// Against the extraction of the frame that was not hit: what hits do to spectra.
void score_flux(const ExtractResult& r, const ExtractResult& clean, Pulls& pulls) {
  for (std::size_t i = 0; i < r.flux.size(); ++i) {
    if (r.ivar.data()[i] > 0)
      pulls.add((r.flux.data()[i] - clean.flux.data()[i]) * std::sqrt(clean.ivar.data()[i]));
  }
}

}  // namespace

void run(const CosmicExperiment& e) {
  const auto executor = make_executor(0);
  Score score;
  int most = 0;
  for (int i = 0; i < e.frames; ++i) {
    const Frame f = make_frame(e, e.seed + static_cast<std::uint64_t>(i), *executor);
    ExtractOptions options;
    options.wave = f.wave;
    const ExtractResult clean = extract_exact(f.ccd(f.clean, false), f.psf, options, *executor);
    const ExtractResult plain = extract_exact(f.ccd(f.image, false), f.psf, options, *executor);
    const ExtractResult known = extract_exact(f.ccd(f.image, true), f.psf, options, *executor);
    options.reject_nsig = e.nsig;
    options.model_variance = true;
    const ExtractResult r = extract_exact(f.ccd(f.image, false), f.psf, options, *executor);
    most = std::max(most, r.bundles.front().refinements);
    score_pixels(f, r, score);
    score_flux(plain, clean, score.without);
    score_flux(r, clean, score.with);
    score_flux(known, clean, score.known);
  }
  std::printf(
      "%d frames of %d fibres x %zu bins, --reject %g --model-variance; solved again at "
      "most %d times\n\n",
      e.frames, kFibers, e.nwave, e.nsig, most);
  std::printf("%-34s", "dropped, by charge/sigma of a pixel");
  for (std::size_t k = 0; k < kClassCount; ++k) {
    std::printf(" %7g-%-8.4g", kClasses[k], kClasses[k + 1]);
  }
  std::printf("\n");
  score.singles.print("one pixel, anywhere");
  score.on_trace.print("one pixel, middle of a trace");
  score.tracks.print("tracks, pixel by pixel");
  std::printf("\ndropped pixels %zu, of these hit %zu (%.2f %%)\n", score.dropped, score.right,
              100.0 * static_cast<double>(score.right) /
                  static_cast<double>(std::max<std::size_t>(score.dropped, 1)));
  std::printf(
      "pixels under spots that were not hit %zu, dropped %zu; with more than 100 electrons "
      "of light %zu, dropped %zu\n\n",
      score.good, score.lost, score.bright, score.bright_lost);
  std::printf("flux against that of the frame without hits, in sigma:\n");
  score.without.print("  as by default");
  score.with.print("  --reject");
  score.known.print("  hits masked by who knows them");
}

}  // namespace fiberloom::bench
