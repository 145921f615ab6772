// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/view_noise.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/page/page.hpp"
#include "skyloom/noise/measured_spectrum.hpp"
#include "skyloom/noise/spectrum_lags.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

struct DetectorSpectrum {
  std::string name;
  std::vector<double> found, model;  ///< K sqrt(s); found is empty: there were too few samples
};

/// All, or evenly spaced ones, from the first on.
std::vector<std::size_t> chosen_detectors(std::size_t all) {
  std::vector<std::size_t> out;
  const std::size_t n = std::min(all, kViewedDetectors);
  for (std::size_t i = 0; i < n; ++i) out.push_back(i * all / n);
  return out;
}

/// Roots, with as many digits as a page shows.
void take_roots(std::vector<double>& values) {
  for (double& value : values) {
    const double root = std::sqrt(value);
    value = number_in(print("%.5g", root)).value_or(root);
  }
}

DetectorSpectrum spectrum_of(const TodSource& source, std::size_t detector,
                             const Boresight& boresight, const SpectrumMeter& meter) {
  const Observation& of = source.observation(0);
  DetectorSpectrum out{.name = of.plane.detectors[detector].name, .found = {}, .model = {}};
  std::vector<double> values(of.samples);
  std::vector<std::uint8_t> flags(of.samples);
  const Signal one{values, flags};
  source.read(0, boresight, detector, {&one, 1});
  out.found = meter.measure(values, flags);
  const NoisePsd psd = source.noise(0, detector);
  const LogCurve model(psd.frequency_hz, psd.psd);
  for (const double f : meter.frequencies()) out.model.push_back(model(f));
  take_roots(out.found);
  take_roots(out.model);
  return out;
}

/// What `share` of the values of all detectors lie below, band by band.
std::vector<double> quantiles(const std::vector<DetectorSpectrum>& of,
                              std::vector<double> DetectorSpectrum::*which, double share) {
  std::vector<double> out, column(of.size());
  for (std::size_t b = 0; b < (of.front().*which).size(); ++b) {
    for (std::size_t d = 0; d < of.size(); ++d) column[d] = (of[d].*which)[b];
    const auto at =
        static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(column.size() - 1)));
    std::nth_element(column.begin(), column.begin() + at, column.end());
    out.push_back(column[static_cast<std::size_t>(at)]);
  }
  return out;
}

}  // namespace

Json noise_spectra_json(const std::string& path, const StoredOptions& options, Executor& executor,
                        const Observer& observer) {
  const StoredTod source({path}, options);
  const Observation& of = source.observation(0);
  const SpectrumMeter meter(of.samples, of.plane.rate_hz);
  const std::vector<std::size_t> chosen = chosen_detectors(of.plane.detectors.size());
  const Boresight boresight;  // of what is stored nothing depends on it
  std::vector<DetectorSpectrum> all(chosen.size());
  const std::size_t at_once = 2 * executor.concurrency();
  for (std::size_t first = 0; first < all.size(); first += at_once) {
    stop_if_asked(observer);
    executor.run(std::min(at_once, all.size() - first), [&](std::size_t i) {
      all[first + i] = spectrum_of(source, chosen[first + i], boresight, meter);
    });
  }
  std::erase_if(all, [](const DetectorSpectrum& each) { return each.found.empty(); });
  if (all.empty()) {
    throw Error(kNoGoodData, path + ": no detector has enough good samples for a spectrum");
  }
  Json detectors = Json::array();
  for (const DetectorSpectrum& each : all) {
    detectors.push_back(
        {{"name", page::to_utf8(each.name)}, {"found", each.found}, {"model", each.model}});
  }
  const auto found = &DetectorSpectrum::found;
  return {{"name", page::to_utf8(std::filesystem::path(path).filename().string())},
          {"observation", page::to_utf8(of.name)},
          {"rate", of.plane.rate_hz},
          {"samples", of.samples},
          {"all", of.plane.detectors.size()},
          {"frequencies", meter.frequencies()},
          {"median", quantiles(all, found, 0.5)},
          {"low", quantiles(all, found, 0.1)},
          {"high", quantiles(all, found, 0.9)},
          {"model", quantiles(all, &DetectorSpectrum::model, 0.5)},
          {"detectors", detectors}};
}

}  // namespace skyloom
