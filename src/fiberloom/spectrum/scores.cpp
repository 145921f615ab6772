// SPDX-License-Identifier: BSD-3-Clause
// Scores of spectra, value for value as desispec's compute_frame_scores().
#include "fiberloom/spectrum/scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

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

std::vector<std::size_t> bins_of(const std::vector<double>& wave, const Camera& camera) {
  std::vector<std::size_t> bins;
  for (std::size_t j = 0; j < wave.size(); ++j) {
    if (wave[j] >= camera.low && wave[j] < camera.high) bins.push_back(j);
  }
  return bins;
}

/// Of each spectrum.
struct Light {
  std::vector<double> sum, integral;  ///< of flux, of flux times width
  std::vector<double> per_bin, flux;  ///< medians of flux / width, of flux
  std::vector<double> snr;            ///< median for a square root of an Angstrom
};

Light light_of(const Spectra& spectra, const std::vector<std::size_t>& bins) {
  const std::vector<double> width = bin_widths(spectra.wave);
  const std::size_t n = spectra.flux.rows();
  Light out;
  std::vector<double> per_bin(bins.size()), flux(bins.size()), signal(bins.size());
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, integral = 0;
    for (std::size_t b = 0; b < bins.size(); ++b) {
      const std::size_t j = bins[b];
      flux[b] = spectra.flux(i, j);
      sum += flux[b];
      integral += flux[b] * width[j];
      per_bin[b] = flux[b] / width[j];
      signal[b] = std::sqrt(std::max(spectra.ivar(i, j), 0.0)) * flux[b] / std::sqrt(width[j]);
    }
    out.sum.push_back(sum);
    out.integral.push_back(integral);
    out.per_bin.push_back(median_of(per_bin));
    out.flux.push_back(median_of(flux));
    out.snr.push_back(median_of(signal));
  }
  return out;
}

std::string range_of(const Camera& camera) {
  return " in wave. range " + std::to_string(camera.low) + "," + std::to_string(camera.high) + "A";
}

}  // namespace

std::optional<Table> frame_scores(const Spectra& spectra, ScoreStage stage) {
  if (spectra.wave.size() < 2) return std::nullopt;
  const Camera camera = camera_of(spectra.wave);
  const std::vector<std::size_t> bins = bins_of(spectra.wave, camera);
  if (bins.empty()) return std::nullopt;
  const Light light = light_of(spectra, bins);
  constexpr std::array kNames{"RAW", "FFLAT", "SKYSUB", "CALIB"};
  const std::string name = kNames[static_cast<std::size_t>(stage)], letter(1, camera.letter);
  const std::string range = range_of(camera);
  Table scores;
  scores.add("SUM_" + name + "_COUNT_" + letter, light.sum, "", "sum counts" + range)
      .add("MEDIAN_" + name + "_COUNT_" + letter, light.per_bin, "", "median counts/A" + range)
      .add("MEDIAN_" + name + "_SNR_" + letter, light.snr, "", "median SNR/sqrt(A)" + range);
  return scores;
}

void add_scores(Spectra& spectra, ScoreStage stage) {
  std::optional<Table> scores = frame_scores(spectra, stage);
  if (!scores) return;
  if (!spectra.scores) {
    spectra.scores = std::move(scores);
    return;
  }
  for (Column& column : scores->columns) {
    std::vector<Column>& all = spectra.scores->columns;
    const auto old = std::find_if(all.begin(), all.end(),
                                  [&](const Column& c) { return c.name == column.name; });
    if (old == all.end()) {
      all.push_back(std::move(column));
    } else {
      *old = std::move(column);
      spectra.scores->descriptions.clear();  // it may have been of another type
      spectra.scores->described = 0;
    }
  }
}

void append_coadd_scores(Table& scores, const Spectra& coadds, char camera) {
  const Camera range = camera == 'B' ? kBlue : camera == 'R' ? kRed : kInfrared;
  if (coadds.wave.size() < 2) return;
  const std::vector<std::size_t> bins = bins_of(coadds.wave, range);
  if (bins.empty()) return;
  const Light light = light_of(coadds, bins);
  const auto add = [&](const std::string& name, const std::vector<double>& values,
                       const std::string& comment) {
    const std::vector<float> single(values.begin(), values.end());
    scores.add(name + "_" + camera, std::span<const float>(single), "", comment + range_of(range));
  };
  add("INTEG_COADD_FLUX", light.integral, "integ. flux");
  add("MEDIAN_COADD_FLUX", light.flux, "median flux");
  add("MEDIAN_COADD_SNR", light.snr, "median SNR/sqrt(A)");
}

}  // namespace fiberloom
