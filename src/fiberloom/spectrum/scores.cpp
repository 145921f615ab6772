// SPDX-License-Identifier: BSD-3-Clause
// Scores of a frame, value for value as desispec's compute_and_append_frame_scores(suffix="RAW").
#include "fiberloom/spectrum/scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/median.hpp"

namespace fiberloom {
namespace {

struct Camera {
  char letter;
  int low, high;  ///< Angstrom, [low, high)
};
constexpr Camera kBlue{'B', 4000, 5800}, kRed{'R', 5800, 7600}, kInfrared{'Z', 7600, 9800};

Camera camera_of(const std::vector<double>& wave) {
  const double mean =
      std::accumulate(wave.begin(), wave.end(), 0.0) / static_cast<double>(wave.size());
  if (mean <= kBlue.high) return kBlue;
  return mean >= kInfrared.low ? kInfrared : kRed;
}

}  // namespace

std::optional<Table> frame_scores(const Spectra& spectra) {
  if (spectra.wave.size() < 2) return std::nullopt;
  const Camera camera = camera_of(spectra.wave);
  const std::vector<double> width = bin_widths(spectra.wave);
  std::vector<std::size_t> bins;
  for (std::size_t j = 0; j < spectra.wave.size(); ++j) {
    if (spectra.wave[j] >= camera.low && spectra.wave[j] < camera.high) bins.push_back(j);
  }
  if (bins.empty()) return std::nullopt;

  const std::size_t n = spectra.flux.rows();
  std::vector<double> sum(n), count(n), snr(n), per_aa(bins.size()), signal(bins.size());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t b = 0; b < bins.size(); ++b) {
      const std::size_t j = bins[b];
      const double flux = spectra.flux(i, j);
      sum[i] += flux;
      per_aa[b] = flux / width[j];
      signal[b] = std::sqrt(std::max(spectra.ivar(i, j), 0.0)) * flux / std::sqrt(width[j]);
    }
    count[i] = median_of(per_aa);
    snr[i] = median_of(signal);
  }
  const std::string letter(1, camera.letter);
  const std::string range =
      " in wave. range " + std::to_string(camera.low) + "," + std::to_string(camera.high) + "A";
  Table scores;
  scores.add("SUM_RAW_COUNT_" + letter, sum, "", "sum counts" + range)
      .add("MEDIAN_RAW_COUNT_" + letter, count, "", "median counts/A" + range)
      .add("MEDIAN_RAW_SNR_" + letter, snr, "", "median SNR/sqrt(A)" + range);
  return scores;
}

}  // namespace fiberloom
