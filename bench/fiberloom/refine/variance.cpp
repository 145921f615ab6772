// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "bench/fiberloom/refine/experiments.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/simulate/project.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::bench {
namespace {

constexpr std::size_t kEnds = 15;
constexpr double kReadNoise = 3, kFirst = 6000, kStep = 0.8;
/// Electrons a bin; five fibres each.
constexpr double kLevels[] = {0, 10, 100, 1000, 20000};
constexpr std::size_t kLevelCount = std::size(kLevels), kFibersEach = 5;

enum Weights : std::size_t { kFile, kTrue, kModel, kWays };
constexpr const char* kNames[kWays] = {"of the noisy pixels", "of the truth", "--model-variance"};

/// Sums over the bins of a level. sigma: that of the extraction with true weights.
struct Sums {
  double n = 0, offset = 0, pull = 0, pull2 = 0, weighted = 0, weight = 0, electrons = 0;
};

struct Case {
  PsfModel psf;
  std::vector<double> wave, lit;
  Array2D<double> electrons, mean;
  Array2D<double> truth;  ///< [nfiber][nwave], electron/Angstrom
};

Case make_case(const VarianceExperiment& e, Executor& executor) {
  Case c;
  const int nfiber = static_cast<int>(kLevelCount * kFibersEach);
  const double last = kFirst + static_cast<double>(e.nwave) * kStep;
  c.psf = make_psf(small_psf_options(nfiber, kFirst, last, 60));
  c.lit = lit_wave_grid(c.psf, kFirst, kStep, kStep);
  const auto first = static_cast<std::size_t>(
      std::lower_bound(c.lit.begin(), c.lit.end(), kFirst - 0.5 * kStep) - c.lit.begin());
  c.wave.assign(c.lit.begin() + static_cast<long>(first),
                c.lit.begin() + static_cast<long>(first + e.nwave));
  c.electrons = Array2D<double>(static_cast<std::size_t>(nfiber), c.lit.size());
  for (std::size_t f = 0; f < c.electrons.rows(); ++f)
    std::fill_n(c.electrons.row(f), c.lit.size(), kLevels[f % kLevelCount]);
  c.mean = project(c.psf, c.lit, c.electrons, executor);
  c.truth = Array2D<double>(c.electrons.rows(), e.nwave);
  for (std::size_t f = 0; f < c.truth.rows(); ++f)
    std::fill_n(c.truth.row(f), e.nwave, kLevels[f % kLevelCount] / kStep);
  return c;
}

CcdFrame frame_of(const Array2D<float>& image, const Array2D<double>& variance_of) {
  Array2D<float> ivar(image.rows(), image.cols());
  for (std::size_t i = 0; i < ivar.size(); ++i) {
    ivar.data()[i] =
        static_cast<float>(1 / (kReadNoise * kReadNoise + std::max(variance_of.data()[i], 0.0)));
  }
  CcdFrame ccd{PixelArray(image), PixelArray(std::move(ivar))};
  ccd.readnoise.all_e = kReadNoise;
  return ccd;
}

Array2D<double> widened(const Array2D<float>& image) {
  Array2D<double> out(image.rows(), image.cols());
  std::copy_n(image.data(), image.size(), out.data());
  return out;
}

void add(const Case& c, const ExtractResult& got, const ExtractResult& best, Sums* sums) {
  const std::size_t nwave = c.wave.size();
  std::vector<double> expected(nwave);
  for (std::size_t f = 0; f < c.truth.rows(); ++f) {
    Sums& s = sums[f % kLevelCount];
    multiply(banded(got.resolution, f), std::span<const double>(c.truth.row(f), nwave),
             std::span<double>(expected));
    // rows of R at the ends reach beyond the grid, where the product has no truth
    for (std::size_t j = kEnds; j + kEnds < nwave; ++j) {
      const double offset = got.flux(f, j) - expected[j];
      const double sigma = 1 / std::sqrt(best.ivar(f, j)),
                   pull = offset * std::sqrt(got.ivar(f, j));
      s.n += 1;
      s.offset += offset / sigma;
      s.pull += pull;
      s.pull2 += pull * pull;
      s.weighted += got.ivar(f, j) * offset;
      s.weight += got.ivar(f, j);
      s.electrons += offset * kStep;
    }
  }
}

}  // namespace

void run(const VarianceExperiment& e) {
  const auto executor = make_executor(0);
  const Case c = make_case(e, *executor);
  ExtractOptions options;
  options.wave = c.wave;
  options.ndiag = 25;
  Sums sums[kWays][kLevelCount];
  int most = 0;
  for (int i = 0; i < e.realisations; ++i) {
    NoiseOptions noise;
    noise.readnoise_e = kReadNoise;
    noise.seed = e.seed + static_cast<std::uint64_t>(i);
    const Array2D<float> image = add_noise(c.mean, noise, *executor).image;
    const CcdFrame noisy = frame_of(image, widened(image)), right = frame_of(image, c.mean);
    options.model_variance = false;
    const ExtractResult best = extract_exact(right, c.psf, options, *executor);
    add(c, best, best, sums[kTrue]);
    add(c, extract_exact(noisy, c.psf, options, *executor), best, sums[kFile]);
    options.model_variance = true;
    const ExtractResult model = extract_exact(noisy, c.psf, options, *executor);
    most = std::max(most, model.bundles.front().refinements);
    add(c, model, best, sums[kModel]);
  }
  std::printf(
      "%d realisations of %zu fibres x %zu bins, read noise %g electrons; solved again at "
      "most %d times\n",
      e.realisations, c.truth.rows(), e.nwave, kReadNoise, most);
  std::printf("%-20s %10s %12s %12s %12s %10s %10s %14s\n", "weights", "e/bin", "bias (e/bin)",
              "bias/sigma", "+-", "pull mean", "width", "coadd/sigma");
  for (std::size_t way = 0; way < kWays; ++way) {
    for (std::size_t level = 0; level < kLevelCount; ++level) {
      const Sums& s = sums[way][level];
      const double pull = s.pull / s.n, width = std::sqrt(s.pull2 / s.n - pull * pull);
      // of a mean weighted with ivar over the realisations, in sigma of one of them
      const double coadd = s.weighted / s.weight * std::sqrt(s.weight / s.n);
      std::printf("%-20s %10g %12.3f %12.5f %12.5f %10.4f %10.4f %14.5f\n", kNames[way],
                  kLevels[level], s.electrons / s.n, s.offset / s.n, 1 / std::sqrt(s.n), pull,
                  width, coadd);
    }
  }
}

}  // namespace fiberloom::bench
