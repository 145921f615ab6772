// SPDX-License-Identifier: BSD-3-Clause
// Scores of spectra, value for value as desispec's compute_frame_scores().
#include "fiberloom/spectrum/scores.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/steady_median.hpp"

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
  std::vector<double> median;         ///< of flux, or of flux / width
  std::vector<double> snr;            ///< median for a square root of an Angstrom
};

/// What Light::median is of.
enum class MedianOf { kFlux, kFluxPerAngstrom };

Light light_of(const Spectra& spectra, const std::vector<std::size_t>& bins, MedianOf what) {
  const std::vector<double> width = bin_widths(spectra.wave);
  const std::size_t n = spectra.flux.rows(), count = bins.size();
  std::vector<double> step(count), root(count);  // widths
  for (std::size_t b = 0; b < count; ++b) step[b] = width[bins[b]];
  for (std::size_t b = 0; b < count; ++b) root[b] = std::sqrt(step[b]);
  Light out;
  std::vector<double> flux(count), ivar(count), light(count), signal(count);
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0, integral = 0;
    for (std::size_t b = 0; b < count; ++b) {
      flux[b] = spectra.flux(i, bins[b]);
      ivar[b] = spectra.ivar(i, bins[b]);
      sum += flux[b];
      integral += flux[b] * step[b];
    }
    for (std::size_t b = 0; b < count; ++b) {  // a loop of its own: the compiler makes packs of it
      light[b] = what == MedianOf::kFlux ? flux[b] : flux[b] / step[b];
      signal[b] = std::sqrt(std::max(ivar[b], 0.0)) * flux[b] / root[b];
    }
    out.sum.push_back(sum);
    out.integral.push_back(integral);
    out.median.push_back(loom::steady_median_of(light));
    out.snr.push_back(loom::steady_median_of(signal));
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
  const Light light = light_of(spectra, bins, MedianOf::kFluxPerAngstrom);
  constexpr std::array kNames{"RAW", "FFLAT", "SKYSUB", "CALIB"};
  const std::string name = kNames[static_cast<std::size_t>(stage)], letter(1, camera.letter);
  const std::string range = range_of(camera);
  Table scores;
  scores.add("SUM_" + name + "_COUNT_" + letter, light.sum, "", "sum counts" + range)
      .add("MEDIAN_" + name + "_COUNT_" + letter, light.median, "", "median counts/A" + range)
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
  const Light light = light_of(coadds, bins, MedianOf::kFlux);
  const auto add = [&](const std::string& name, const std::vector<double>& values,
                       const std::string& comment) {
    const std::vector<float> single(values.begin(), values.end());
    scores.add(name + "_" + camera, std::span<const float>(single), "", comment + range_of(range));
  };
  add("INTEG_COADD_FLUX", light.integral, "integ. flux");
  add("MEDIAN_COADD_FLUX", light.median, "median flux");
  add("MEDIAN_COADD_SNR", light.snr, "median SNR/sqrt(A)");
}

}  // namespace fiberloom
