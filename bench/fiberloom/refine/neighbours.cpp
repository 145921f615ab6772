// SPDX-License-Identifier: BSD-3-Clause
// Whether errors of neighbouring fibres go together as --fiber-correlation says.
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr double kReadNoise = 3, kFirst = 6000, kStep = 0.8, kElectrons = 300;
constexpr std::size_t kEnds = 5;

/// Over bins and realisations.
struct Sums {
  double n = 0, said = 0, product = 0, product2 = 0;
  void add(double correlation, double pulls) {
    n += 1;
    said += correlation;
    product += pulls;
    product2 += pulls * pulls;
  }
  [[nodiscard]] double seen() const { return product / n; }
  [[nodiscard]] double error() const { return std::sqrt((product2 / n - seen() * seen()) / n); }
};

}  // namespace

void run(const NeighbourExperiment& e) {
  const auto executor = make_executor(0);
  const double last = kFirst + static_cast<double>(e.nwave) * kStep;
  SimulatedPsfOptions shape = small_psf_options(e.nfiber, kFirst, last, 60);
  shape.crosstalk = e.crosstalk;
  const PsfModel psf = make_psf(shape);
  const std::vector<double> lit = lit_wave_grid(psf, kFirst, kStep, kStep);
  const Array2D<double> light(static_cast<std::size_t>(e.nfiber), lit.size(), kElectrons);
  const Array2D<double> mean = project(psf, lit, light, *executor);
  Array2D<float> ivar(mean.rows(), mean.cols()), noiseless(mean.rows(), mean.cols());
  for (std::size_t i = 0; i < mean.size(); ++i) {
    ivar.data()[i] = static_cast<float>(1 / (kReadNoise * kReadNoise + mean.data()[i]));
    noiseless.data()[i] = static_cast<float>(mean.data()[i]);
  }
  ExtractOptions options;
  for (std::size_t j = 0; j < e.nwave; ++j)
    options.wave.push_back(kFirst + static_cast<double>(j) * kStep);
  options.fiber_correlation = true;
  const auto extract = [&](const Array2D<float>& image) {
    return extract_exact({PixelArray(image), PixelArray(ivar)}, psf, options, *executor);
  };
  const ExtractResult truth = extract(noiseless);
  options.fiber_correlation = false;
  const std::size_t ndiag = truth.fiber_correlation.rows(), half = ndiag / 2;
  std::vector<Sums> sums(ndiag);
  Sums both;  // of (a + b)^2, what the errors of two bins side by side add up to
  for (int i = 0; i < e.realisations; ++i) {
    NoiseOptions noise;
    noise.readnoise_e = kReadNoise;
    noise.seed = e.seed + static_cast<std::uint64_t>(i);
    const ExtractResult got = extract(add_noise(mean, noise, *executor).image);
    const auto pull = [&](std::size_t f, std::size_t j) {
      return (got.flux(f, j) - truth.flux(f, j)) * std::sqrt(truth.ivar(f, j));
    };
    for (std::size_t f = 0; f + 1 < got.flux.rows(); ++f) {
      for (std::size_t j = kEnds; j + kEnds < e.nwave; ++j) {
        for (std::size_t k = 0; k < ndiag; ++k)
          sums[k].add(truth.fiber_correlation(f, k, j), pull(f, j) * pull(f + 1, j + k - half));
        const double sum = pull(f, j) + pull(f + 1, j);
        both.add(2 + 2 * truth.fiber_correlation(f, half, j), sum * sum);
      }
    }
  }
  std::printf("%d realisations of %d fibres x %zu bins, crosstalk %g\n", e.realisations, e.nfiber,
              e.nwave, e.crosstalk);
  std::printf("%-24s %12s %12s %12s\n", "bins further", "said", "seen", "+-");
  for (std::size_t k = 0; k < ndiag; ++k) {
    const Sums& s = sums[k];
    std::printf("%-24d %+12.6f %+12.6f %12.6f\n", static_cast<int>(k) - static_cast<int>(half),
                s.said / s.n, s.seen(), s.error());
  }
  std::printf("%-24s %12.6f %12.6f %12.6f (without the term 2)\n", "variance of the sum",
              both.said / both.n, both.seen(), both.error());
}

}  // namespace fiberloom::bench
