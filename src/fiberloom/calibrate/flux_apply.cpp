// SPDX-License-Identifier: BSD-3-Clause
// What of the flux calibration is not its fit: which rows are stars, models on other bins, and
// spectra divided by it.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibrate {

std::vector<std::size_t> standard_star_rows(const Spectra& spectra) {
  // STD_FAINT and STD_BRIGHT; of MWS_TARGET GAIA_STD_FAINT and GAIA_STD_BRIGHT: the same bits
  constexpr std::int64_t kStandard = (std::int64_t{1} << 33) | (std::int64_t{1} << 35);
  const auto bits = spectra.fibermap ? spectra.fibermap->integers("DESI_TARGET", 0) : std::nullopt;
  if (!bits) {
    throw Error(
        Status::kMissingKeyword,
        "standard stars: no column DESI_TARGET of a FIBERMAP, expected one to tell them by");
  }
  const auto mws = spectra.fibermap->integers("MWS_TARGET", 0);
  std::vector<std::size_t> out;
  for (std::size_t s = 0; s < bits->size(); ++s) {
    const std::int64_t all = (*bits)[s] | (mws ? (*mws)[s] : 0);
    if ((all & kStandard) != 0) out.push_back(s);
  }
  return out;
}

std::vector<double> resample_flux(std::span<const double> at, std::span<const double> x,
                                  std::span<const double> flux) {
  const std::size_t n = x.size(), m = at.size();
  std::vector<double> nodes{2 * x[0] - x[1]}, values{0.0};  // down to 0 at both ends
  nodes.insert(nodes.end(), x.begin(), x.end());
  values.insert(values.end(), flux.begin(), flux.end());
  nodes.push_back(2 * x[n - 1] - x[n - 2]);
  values.push_back(0.0);
  const auto edge = [&](std::size_t i) {
    if (i == 0) return 1.5 * at[0] - 0.5 * at[1];
    return i == m ? 1.5 * at[m - 1] - 0.5 * at[m - 2] : 0.5 * (at[i - 1] + at[i]);
  };
  std::vector<double> out(m, 0.0);
  std::size_t k = 0;  // the first node at or behind the bin's lower edge
  for (std::size_t i = 0; i < m; ++i) {
    const double low = edge(i), high = edge(i + 1);
    while (k < nodes.size() && nodes[k] < low) ++k;
    double sum = 0, from = low, value = interpolate(nodes, values, low);
    for (std::size_t j = k; j < nodes.size() && nodes[j] <= high; ++j) {
      sum += 0.5 * (value + values[j]) * (nodes[j] - from);
      from = nodes[j], value = values[j];
    }
    sum += 0.5 * (value + interpolate(nodes, values, high)) * (high - from);
    out[i] = sum / (high - low);
  }
  return out;
}

void apply_flux_calibration(Spectra& spectra, const FluxCalibration& c) {
  require_same_grid("flux calibration", c.wave, c.calib.rows(), spectra);
  const std::size_t n = spectra.nwave();
  std::vector<double> rows(n);
  for (std::size_t s = 0; s < spectra.nspec(); ++s) {
    const bool scaled = !spectra.resolution.empty() && !c.deconvolved.empty();
    const double p = c.flat_to_psf.empty() ? 1 : c.flat_to_psf[s];
    const bool seen = !scaled || (p > 0 && std::isfinite(p));  // else no R says what is
    bool any = false;
    for (std::size_t i = 0; i < n; ++i) {
      double &f = spectra.flux(s, i), &v = spectra.ivar(s, i);
      const double x = c.calib(s, i), x2 = x * x;
      const bool good = seen && c.ivar(s, i) > 0 && x > 0 && v > 0 && std::isfinite(x) &&
                        std::isfinite(c.ivar(s, i));
      v = good ? x2 * x2 * v * c.ivar(s, i) / (x2 * c.ivar(s, i) + f * f * v) : 0;
      f = x > 0 ? f / x : 0;
      rows[i] = good ? 1 / (x * p) : 0;
      any = any || good;
    }
    if (!scaled || !any) continue;
    const Banded<float> r = banded(spectra.resolution, s);
    scale_columns(r, c.deconvolved);
    scale_rows(r, rows);
  }
}

}  // namespace fiberloom::calibrate
