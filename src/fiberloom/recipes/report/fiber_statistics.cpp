// SPDX-License-Identifier: BSD-3-Clause
// Medians of each fibre; lines and sky that all fibres share.
#include "fiberloom/recipes/report/fiber_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fiberloom::report {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kLineWindow = 31, kLeastFibers = 5, kLeastSky = 3;
constexpr double kBrightPart = 0.05;  // of the bins: where the lines are
constexpr double kLeastLine = 8;      // sigma of a mean; a median of noise reaches 5
constexpr double kLargestLightError = 0.15;
constexpr std::size_t kNoiseSamples = 200000;

double median_or_unknown(std::vector<float>& values) {
  return values.empty() ? kUnknown : median(values);
}

/// Spectrum less its mean over a window of good bins; 0 where a bin is flagged.
std::vector<float> without_continuum(const double* flux, const std::uint8_t* flags, std::size_t n) {
  std::vector<double> sum(n + 1, 0.0), count(n + 1, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    sum[j + 1] = sum[j] + (flags[j] == 0 ? flux[j] : 0.0);
    count[j + 1] = count[j] + (flags[j] == 0 ? 1.0 : 0.0);
  }
  std::vector<float> out(n, 0.0F);
  constexpr std::size_t kHalf = kLineWindow / 2;
  for (std::size_t j = 0; j < n; ++j) {
    if (flags[j] != 0) continue;
    const std::size_t a = j - std::min(j, kHalf), b = std::min(n, j + kHalf + 1);
    out[j] = static_cast<float>(flux[j] - (sum[b] - sum[a]) / (count[b] - count[a]));
  }
  return out;
}

/// Median over the fibres of each bin's line light; 0 but in the brightest bins, and where it is no
/// more than the noise of a median.
std::vector<float> line_template(const Array2D<float>& lines, const Spectra& frame,
                                 const Array2D<std::uint8_t>& flags) {
  std::vector<float> out(flags.cols(), 0.0F), column;
  for (std::size_t j = 0; j < flags.cols(); ++j) {
    column.clear();
    double weight = 0;
    for (std::size_t s = 0; s < flags.rows(); ++s) {
      if (flags(s, j) != 0) continue;
      column.push_back(lines(s, j));
      weight += frame.ivar(s, j);
    }
    if (column.size() < kLeastFibers) continue;
    const double value = median(column);
    if (value * std::sqrt(weight) > kLeastLine) out[j] = static_cast<float>(value);
  }
  std::vector<float> sorted = out;
  const auto place =
      static_cast<std::ptrdiff_t>((1 - kBrightPart) * static_cast<double>(out.size()));
  if (place >= static_cast<std::ptrdiff_t>(sorted.size())) return out;
  std::nth_element(sorted.begin(), sorted.begin() + place, sorted.end());
  const float least = sorted[static_cast<std::size_t>(place)];
  for (float& v : out) v = v >= least ? v : 0.0F;
  return out;
}

/// Bins of a row that may be compared: no flag, and of the third with the highest ivar.
std::vector<std::uint8_t> quiet_bins(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                                     std::size_t row) {
  const double least = upper_third(frame.ivar.row(row), flags.cols());
  std::vector<std::uint8_t> out(flags.cols(), 0);
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = flags(row, j) == 0 && frame.ivar(row, j) >= least ? 1 : 0;
  }
  return out;
}

/// Mean of the sky fibres, each divided by its factor; ivar of the mean.
struct MeanSky {
  std::vector<double> flux, ivar;
};
MeanSky mean_sky(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                 const std::vector<std::size_t>& sky, const std::vector<double>& scale) {
  const std::size_t n = flags.cols();
  MeanSky out{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
  for (std::size_t k = 0; k < sky.size(); ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      if (flags(sky[k], j) != 0) continue;
      const double w = frame.ivar(sky[k], j);
      out.flux[j] += w * scale[k] * frame.flux(sky[k], j);
      out.ivar[j] += w * scale[k] * scale[k];
    }
  }
  for (std::size_t j = 0; j < n; ++j) out.flux[j] /= out.ivar[j] > 0 ? out.ivar[j] : 1.0;
  return out;
}

}  // namespace

std::vector<LineLight> line_light(const Spectra& frame, const Array2D<std::uint8_t>& flags) {
  std::vector<LineLight> out(flags.rows(), {kUnknown, kUnknown});
  if (flags.rows() < kLeastFibers) return out;
  Array2D<float> lines(flags.rows(), flags.cols());
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    const auto row = without_continuum(frame.flux.row(s), flags.row(s), flags.cols());
    std::copy(row.begin(), row.end(), lines.row(s));
  }
  const std::vector<float> model = line_template(lines, frame, flags);
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    double top = 0, bottom = 0;
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      if (flags(s, j) != 0) continue;
      const double w = frame.ivar(s, j), t = model[j];
      top += w * t * lines(s, j);
      bottom += w * t * t;
    }
    const double error = bottom > 0 ? 1 / std::sqrt(bottom) : kUnknown;
    if (error < kLargestLightError) out[s] = {top / bottom, error};
  }
  return out;
}

std::vector<FiberStatistics> fiber_statistics(const FrameFile& frame,
                                              const Array2D<std::uint8_t>& flags,
                                              const Array2D<float>& sigma) {
  std::vector<FiberStatistics> out(flags.rows());
  const auto light = line_light(frame, flags);
  std::vector<float> snr, chi2, flux, width;
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    FiberStatistics& f = out[s];
    for (auto* values : {&snr, &chi2, &flux, &width}) values->clear();
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      f.rejected += (flags(s, j) & kUnusable) != 0;
      f.low += (flags(s, j) & (kFlagSomeBad | kUnusable)) == kFlagSomeBad;
      f.bad_fit += (flags(s, j) & kFlagBadFit) != 0;
      if ((flags(s, j) & kUnusable) != 0) continue;
      flux.push_back(static_cast<float>(frame.flux(s, j)));
      snr.push_back(static_cast<float>(frame.flux(s, j) * std::sqrt(frame.ivar(s, j))));
      if (!frame.chi2pix.empty() && std::isfinite(frame.chi2pix(s, j))) {
        chi2.push_back(static_cast<float>(frame.chi2pix(s, j)));
      }
    }
    for (std::size_t b = 0; b < sigma.cols(); ++b) {
      if (std::isfinite(sigma(s, b))) width.push_back(sigma(s, b));
    }
    f.snr = median_or_unknown(snr);
    f.chi2 = median_or_unknown(chi2);
    f.flux = median_or_unknown(flux);
    f.width = median_or_unknown(width);
    f.light = light[s].ratio;
    f.light_error = light[s].error;
  }
  return out;
}

Histogram sky_pulls(const Spectra& frame, const Array2D<std::uint8_t>& flags,
                    const std::vector<std::size_t>& sky) {
  Histogram out = pull_histogram();
  if (sky.size() < kLeastSky) return out;
  std::vector<std::vector<std::uint8_t>> quiet;
  for (const std::size_t s : sky) quiet.push_back(quiet_bins(frame, flags, s));
  std::vector<double> scale(sky.size(), 1.0);
  MeanSky mean = mean_sky(frame, flags, sky, scale);
  for (int iteration = 0; iteration < 3; ++iteration) {  // factors and mean settle quickly
    for (std::size_t k = 0; k < sky.size(); ++k) {
      double top = 0, bottom = 0;
      for (std::size_t j = 0; j < flags.cols(); ++j) {
        if (quiet[k][j] == 0) continue;
        const double w = frame.ivar(sky[k], j);
        top += w * mean.flux[j] * frame.flux(sky[k], j);
        bottom += w * mean.flux[j] * mean.flux[j];
      }
      scale[k] = bottom > 0 ? top / bottom : 1.0;
    }
    mean = mean_sky(frame, flags, sky, scale);
  }
  for (std::size_t k = 0; k < sky.size(); ++k) {
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      if (quiet[k][j] == 0 || !(mean.ivar[j] > 0)) continue;
      // The fibre is part of the mean: the difference has the smaller variance.
      const double own = 1 / frame.ivar(sky[k], j);
      const double variance = own - scale[k] * scale[k] / mean.ivar[j];
      if (!(variance > 0.05 * own)) continue;  // it is nearly alone in the mean
      out.add((frame.flux(sky[k], j) - scale[k] * mean.flux[j]) / std::sqrt(variance));
    }
  }
  return out;
}

Array2D<std::uint8_t> flag_bright(const Spectra& frame, const Array2D<std::uint8_t>& flags) {
  Array2D<std::uint8_t> out = flags;
  for (std::size_t s = 0; s < flags.rows(); ++s) {
    const auto quiet = quiet_bins(frame, flags, s);
    for (std::size_t j = 0; j < flags.cols(); ++j) {
      if (quiet[j] == 0) out(s, j) = static_cast<std::uint8_t>(flags(s, j) | kFlagOther);
    }
  }
  return out;
}

double noise_ratio(const Spectra& frame, const Array2D<std::uint8_t>& flags, double read_noise_e,
                   double pixels) {
  const std::size_t n = flags.cols();
  if (n < 2 || flags.rows() == 0) return kUnknown;
  const double step = (frame.wave.back() - frame.wave.front()) / static_cast<double>(n - 1);
  const std::size_t stride = std::max<std::size_t>(1, flags.size() / kNoiseSamples);
  std::vector<float> ratios;
  for (std::size_t i = 0; i < flags.size(); i += stride) {
    if (flags.data()[i] != 0) continue;
    const double photons = std::max(frame.flux.data()[i], 0.0) * step;
    const double least = photons + pixels * read_noise_e * read_noise_e;  // electrons^2 of a bin
    ratios.push_back(static_cast<float>(std::sqrt(least * frame.ivar.data()[i]) / step));
  }
  return median_or_unknown(ratios);
}

}  // namespace fiberloom::report
