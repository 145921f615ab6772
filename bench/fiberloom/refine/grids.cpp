// SPDX-License-Identifier: BSD-3-Clause
// The same light on grids of several kinds, and fibres that each move at a speed of their own: one
// factor for all, or each fibre solved on its own grid (--barycentric-fibers).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "bench/fiberloom/refine/pulls.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr double kFirst = 6000, kStep = 0.8, kFine = 0.1, kReadNoise = 3, kLightKms = 299792.458;

/// Electrons per Angstrom: a continuum with lines of 2 Angstrom, 20 apart; the integral of it, so
/// that a bin's mean is exact.
double light_below(double wave_aa) {
  constexpr double kSigma = 2, kApart = 20, kContinuum = 600, kPeak = 10000;
  double sum = kContinuum * wave_aa;
  const double area = kPeak * kSigma * std::sqrt(2 * M_PI);
  for (int k = -10; k < 60; ++k) {
    const double centre = kFirst + kApart * k;
    sum += area * 0.5 * std::erf((wave_aa - centre) / (kSigma * std::sqrt(2)));
  }
  return sum;
}

/// Mean of the light over bins around `wave`, which light of a fibre that moves at `kms` has there.
std::vector<double> light_on(const std::vector<double>& wave, double kms) {
  const double factor = 1 + kms / kLightKms;
  const std::vector<double> width = bin_widths(wave);
  std::vector<double> out(wave.size());
  for (std::size_t j = 0; j < wave.size(); ++j) {
    const double low = (wave[j] - width[j] / 2) * factor, high = (wave[j] + width[j] / 2) * factor;
    out[j] = (light_below(high) - light_below(low)) / width[j];
  }
  return out;
}

/// The speed that (flux - R t) / sigma tells: least squares along R dt/dv.
struct Shift {
  double up = 0, down = 0;
  void add(double residual, double slope, double ivar) {
    up += ivar * residual * slope;
    down += ivar * slope * slope;
  }
  [[nodiscard]] double kms() const { return up / down; }
  [[nodiscard]] double error() const { return 1 / std::sqrt(down); }
};

struct Way {
  std::string name;
  Pulls pulls{};
  double n = 0, shift2 = 0, pull2 = 0, most = 0;  ///< of the speeds of fibres
};

/// Against the truth on the grid that names the bins, of fibres that have no speed there.
void judge(const ExtractResult& result, const std::vector<double>& wave, Way& way) {
  constexpr std::size_t edge = 20;
  constexpr double kSmall = 0.1;  // km/s
  const std::vector<double> truth = light_on(wave, 0), moved = light_on(wave, kSmall);
  std::vector<double> expected(wave.size()), further(wave.size());
  for (std::size_t f = 0; f < result.flux.rows(); ++f) {
    multiply(banded(result.resolution, f), truth, expected);
    multiply(banded(result.resolution, f), moved, further);
    Shift shift;
    for (std::size_t j = edge; j + edge < wave.size(); ++j) {
      const double ivar = result.ivar(f, j);
      if (!(ivar > 0)) continue;
      way.pulls.add(result.flux(f, j), expected[j], ivar);
      shift.add(result.flux(f, j) - expected[j], (further[j] - expected[j]) / kSmall, ivar);
    }
    way.n += 1;
    way.shift2 += shift.kms() * shift.kms();
    way.pull2 += std::pow(shift.kms() / shift.error(), 2);
    way.most = std::max(way.most, std::abs(shift.kms()));
  }
}

void print(const std::vector<Way>& ways) {
  std::printf("%-40s mean pull, rms, flux off; speed: rms, largest km/s, pull rms\n", "");
  for (const Way& way : ways) {
    std::printf("%-40s", way.name.c_str());
    way.pulls.print();
    std::printf(" %.3f %.3f %.3f\n", std::sqrt(way.shift2 / way.n), way.most,
                std::sqrt(way.pull2 / way.n));
  }
}

/// Bins that widen from three quarters of the usual step to five quarters.
std::vector<double> widening_grid(double last) {
  std::vector<double> wave;
  for (double at = kFirst; at <= last; at += kStep * (0.75 + 0.5 * (at - kFirst) / (last - kFirst)))
    wave.push_back(at);
  return wave;
}

/// The CCD without noise of fibres that move at these speeds.
Array2D<double> lit_ccd(const PsfModel& psf, const std::vector<double>& kms, Executor& executor) {
  const std::vector<double> fine = lit_wave_grid(psf, kFirst, kStep, kFine);
  Array2D<double> electrons(kms.size(), fine.size());
  for (std::size_t f = 0; f < kms.size(); ++f) {
    const std::vector<double> light = light_on(fine, kms[f]);
    for (std::size_t j = 0; j < fine.size(); ++j) electrons(f, j) = light[j] * kFine;
  }
  return project(psf, fine, electrons, executor);
}

}  // namespace

void run(const GridExperiment& e) {
  const auto executor = make_executor(0);
  const double last = kFirst + kStep * static_cast<double>(e.nwave - 1);
  const PsfModel psf = make_psf(small_psf_options(e.nfiber, kFirst, last, 60));
  const auto nfiber = static_cast<std::size_t>(e.nfiber);
  const std::vector<double> linear = linear_wave_grid(kFirst, last, kStep);
  const std::vector<double> kinds[] = {
      linear, log10_wave_grid(kFirst, last, std::log10(1 + kStep / (0.5 * (kFirst + last)))),
      widening_grid(last)};
  std::vector<Way> of_kind{{"linear, 0.8 A"}, {"--wave-log10"}, {"--wave-file, 0.6 to 1.0 A"}};
  std::vector<double> kms(nfiber, 0.0);
  const Array2D<double> still = lit_ccd(psf, kms, *executor);
  for (std::size_t f = 0; f < nfiber; ++f)
    kms[f] = e.most_kms * (2 * static_cast<double>(f) / static_cast<double>(nfiber - 1) - 1);
  const Array2D<double> moving = lit_ccd(psf, kms, *executor);
  std::vector<Way> of_speed{{"one factor for all fibres"}, {"each fibre its own grid"}};
  for (int i = 0; i < e.frames; ++i) {
    const std::uint64_t seed = e.seed + static_cast<std::uint64_t>(i);
    const CcdFrame ccd = noisy_frame(still, kReadNoise, seed, *executor);
    ExtractOptions options;
    options.ndiag = 15;
    for (std::size_t k = 0; k < of_kind.size(); ++k) {
      options.wave = kinds[k];
      judge(extract_exact(ccd, psf, options, *executor), kinds[k], of_kind[k]);
    }
    const CcdFrame fast = noisy_frame(moving, kReadNoise, seed, *executor);
    options.wave = linear;
    judge(extract_exact(fast, psf, options, *executor), linear, of_speed[0]);
    options.fiber_wave = Array2D<double>(nfiber, linear.size());
    for (std::size_t f = 0; f < nfiber; ++f) {
      for (std::size_t j = 0; j < linear.size(); ++j)
        options.fiber_wave(f, j) = linear[j] / (1 + kms[f] / kLightKms);
    }
    judge(extract_exact(fast, psf, options, *executor), linear, of_speed[1]);
  }
  std::printf("%d frames of %d fibres x %zu bins, fine truth\n", e.frames, e.nfiber, e.nwave);
  print(of_kind);
  std::printf("the same, fibres at -%g to %g km/s\n", e.most_kms, e.most_kms);
  print(of_speed);
}

}  // namespace fiberloom::bench
