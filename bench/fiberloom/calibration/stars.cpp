// SPDX-License-Identifier: BSD-3-Clause
#include "bench/fiberloom/calibration/stars.hpp"

#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/fiberloom/calibration/tally.hpp"
#include "fiberloom/calibrate/star_fit.hpp"
#include "fiberloom/calibrate/test_stars.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom::bench {
namespace {

using calibrate::Continuum;
using calibrate::SpikeLimit;
using calibrate::test::stellar_flux;
using calibrate::test::stellar_grid;

constexpr std::size_t kStars = 24;
constexpr double kSpikes = 0.003;  // share of pixels, in which up to 3 times the light is added

calibrate::test::StarPlace place_of(const CounterRng& rng, std::size_t star) {
  const auto [teff, logg] = rng.uniform2(2 * star);
  const auto [metal, z] = rng.uniform2(2 * star + 1);
  return {5600 + 1100 * teff, 3.6 + 0.8 * logg, -2.4 + 1.8 * metal, 8e-4 * (z - 0.5)};
}

/// One star with spikes that nobody flagged, or without.
class Seen {
 public:
  Seen(const calibrate::test::ObservedStar& star, bool spikes, const CounterRng& rng)
      : cameras_(star.cameras()) {
    flux_.reserve(cameras_.size());
    std::uint64_t number = 0;
    for (calibrate::StarSpectrum& c : cameras_) {
      std::vector<double>& flux = flux_.emplace_back(c.flux.begin(), c.flux.end());
      for (double& f : flux) {
        const auto [whether, height] = rng.uniform2(number++);
        if (spikes && whether < kSpikes) f += 3 * 400 * height;
      }
      c.flux = flux;
    }
  }
  [[nodiscard]] const std::vector<calibrate::StarSpectrum>& cameras() const { return cameras_; }

 private:
  std::vector<calibrate::StarSpectrum> cameras_;
  std::vector<std::vector<double>> flux_;
};

/// Shape: what is wrong with the light between lines where 6500 Angstrom are right, in units of
/// 1 %. Velocity: in units of 1e-5.
void judge(const calibrate::StarFit& got, const calibrate::test::StarPlace& truth,
           const std::string& where, Figures& figures) {
  const StellarGrid& grid = stellar_grid();
  const auto mixture = [&](double wave) {
    const auto i = static_cast<std::size_t>((wave - grid.wave[0]) / 0.4 + 0.5);
    double sum = 0;
    for (std::size_t m = 0; m < grid.nmodel(); ++m) {
      sum += got.coefficients[m] * static_cast<double>(grid.flux(m, i));
    }
    return sum / stellar_flux(grid.wave[i], truth.teff, truth.logg, truth.metal);
  };
  for (double wave = 3700; wave < 9000; wave += 100) {
    figures["shape, " + where].add(100 * (mixture(wave) / mixture(6500) - 1), 0);
  }
  figures["velocity, " + where].add(1e5 * (got.redshift - truth.redshift), 0);
}

}  // namespace

void judge_star_rules(std::size_t seeds, loom::Executor& executor) {
  std::vector<std::size_t> models(stellar_grid().nmodel());
  std::iota(models.begin(), models.end(), std::size_t{0});
  Figures theirs, spikes_of_model, continuum_of_means;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const CounterRng rng(seed, 700);
    for (std::size_t star = 0; star < kStars; ++star) {
      const calibrate::test::StarPlace place = place_of(rng, star);
      for (const double snr : {10.0, 30.0, 100.0, 300.0}) {
        const calibrate::test::ObservedStar clean(place, snr, 100 * seed + star);
        for (const bool hit : {false, true}) {
          const Seen seen(clean, hit, CounterRng(seed, 800 + star));
          const std::string where =
              std::string(snr > 50 ? "bright" : "faint") + (hit ? ", spikes" : "");
          const auto fit = [&](SpikeLimit limit, Continuum continuum, Figures& figures) {
            judge(fit_star(seen.cameras(), stellar_grid(), models,
                           {.spikes = limit, .continuum = continuum}, executor),
                  place, where, figures);
          };
          fit(SpikeLimit::kNoise, Continuum::kMedian, theirs);
          fit(SpikeLimit::kModel, Continuum::kMedian, spikes_of_model);
          fit(SpikeLimit::kModel, Continuum::kMean, continuum_of_means);
        }
      }
    }
  }
  print_rows("desispec", theirs);
  print_rows("stars: spikes", spikes_of_model);
  print_verdict("stars: spikes of model", theirs, spikes_of_model);
  print_rows("stars: continuum", continuum_of_means);
  print_verdict("stars: continuum of means, beside that", spikes_of_model, continuum_of_means);
}

}  // namespace fiberloom::bench
