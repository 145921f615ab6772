// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/exposure_qa.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

constexpr std::uint32_t kNoGoodPosition =
    kBrokenFiber | kMissingPosition | kBadPosition | kPoorPosition;

bool is_masked(const Spectra& s, std::size_t f, std::size_t i) {
  return !s.mask.empty() && s.mask(f, i) != 0;
}

double median_or_zero(std::vector<double> values) { return values.empty() ? 0 : median_of(values); }

std::vector<std::uint32_t> status_of(const Spectra& frame) {
  std::vector<std::uint32_t> out(frame.nspec(), 0U);
  const auto bits = frame.fibermap ? frame.fibermap->integers("FIBERSTATUS", 0) : std::nullopt;
  for (std::size_t f = 0; bits && f < out.size(); ++f) {
    out[f] = static_cast<std::uint32_t>((*bits)[f]);
  }
  return out;
}

/// Fibres that are far from their targets, or nobody knows where.
void check_positions(const Spectra& frame, const QaLimits& limits, ExposureQa& out) {
  const auto x = frame.fibermap ? frame.fibermap->column("DELTA_X") : std::nullopt;
  const auto y = frame.fibermap ? frame.fibermap->column("DELTA_Y") : std::nullopt;
  for (std::size_t f = 0; x && y && f < out.status.size(); ++f) {
    const double off = std::hypot((*x)[f], (*y)[f]);
    if (std::isnan(off)) out.status[f] |= kMissingPosition;
    if (off > limits.poor_offset_mm) out.status[f] |= kPoorPosition;
  }
  for (const std::uint32_t s : out.status) out.good_positions += (s & kNoGoodPosition) == 0 ? 1 : 0;
  const std::size_t bad = out.status.size() - out.good_positions;
  if (static_cast<double>(bad) >
      limits.most_bad_positions * static_cast<double>(out.status.size())) {
    for (std::uint32_t& s : out.status) s |= kBadPetalPositions;
  }
}

/// What is left where only sky was: sky fibres that are to be used.
void measure_sky(const Spectra& frame, const std::vector<bool>& of_sky,
                 const std::vector<bool>& used, CameraQa& out) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t f = 0; f < frame.nspec(); ++f) {
    if (!of_sky[f] || !used[f]) continue;
    ++out.sky_fibers;
    for (std::size_t i = 0; i < frame.nwave(); ++i) {
      const double v = frame.ivar(f, i);
      if (!(v > 0) || is_masked(frame, f, i)) continue;
      const double pull = frame.flux(f, i) * std::sqrt(v);
      ++count, sum += pull, squares += pull * pull;
    }
  }
  const double free = count - static_cast<double>(frame.nwave());  // the sky has a number a bin
  if (free > 0) out.sky_chi2_per_dof = squares / free;
  if (count > 0) out.sky_mean = sum / count, out.sky_width = std::sqrt(squares / count);
}

double throughput_of(const FluxCalibration& c) {
  const std::size_t n = c.calib.cols(), first = n / 4, last = n - n / 4;
  std::vector<double> of_fiber;
  for (std::size_t f = 0; f < c.calib.rows(); ++f) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += c.calib(f, i);
    of_fiber.push_back(sum / static_cast<double>(last - first));
  }
  return median_or_zero(of_fiber);
}

CameraQa measure(const QaCamera& camera, const std::vector<std::uint32_t>& status) {
  const Spectra& frame = *camera.frame;
  const std::vector<double> widths = bin_widths(frame.wave);
  const std::vector<bool> of_sky =
      sky_fibers(frame.fibermap).value_or(std::vector<bool>(frame.nspec()));
  const std::uint32_t fatal = fatal_bits(Purpose::kFlux, camera.band);
  CameraQa out;
  out.band = camera.band;
  std::vector<bool> used(frame.nspec());
  std::vector<double> targets;
  double pixels = 0, empty = 0;
  for (std::size_t f = 0; f < frame.nspec(); ++f) {
    std::vector<double> signal(frame.nwave());
    double without = 0;
    for (std::size_t i = 0; i < signal.size(); ++i) {
      const double v = std::max(0.0, frame.ivar(f, i));
      signal[i] = v > 0 ? frame.flux(f, i) * std::sqrt(v / widths[i]) : 0;
      without += v > 0 ? 0 : 1;
    }
    out.snr.push_back(median_of(signal));
    used[f] = (status[f] & fatal) == 0;
    if (!used[f]) continue;
    pixels += static_cast<double>(frame.nwave()), empty += without;
    if (!of_sky[f]) targets.push_back(out.snr.back());
  }
  out.median_snr = median_or_zero(targets);
  out.without = pixels > 0 ? empty / pixels : 1;
  measure_sky(frame, of_sky, used, out);
  if (camera.sky != nullptr && !camera.sky->throughput.empty()) {
    std::vector<double> off;
    for (const double t : camera.sky->throughput) off.push_back(std::abs(t - 1));
    constexpr double kSigmaOfMad = 1.48;
    out.sky_throughput_rms = kSigmaOfMad * median_or_zero(off);
  }
  if (camera.flux != nullptr) out.throughput = throughput_of(*camera.flux);
  return out;
}

/// A star's light against its model, in coarse bins of the red camera.
std::optional<double> scale_of(const Spectra& red, const QaStars& stars, const QaStar& star) {
  constexpr double kFirst = 6000, kLast = 7500;
  constexpr std::size_t kBins = 100;
  std::vector<double> bins(kBins), weighted(red.nwave()), weight(red.nwave());
  for (std::size_t i = 0; i < kBins; ++i) {
    bins[i] = kFirst + (kLast - kFirst) * static_cast<double>(i) / (kBins - 1);
  }
  for (std::size_t i = 0; i < red.nwave(); ++i) {
    weight[i] = std::max(0.0, red.ivar(star.row, i));
    weighted[i] = weight[i] > 0 ? weight[i] * red.flux(star.row, i) : 0;
  }
  const std::vector<double> a = resample_flux(bins, red.wave, weighted),
                            b = resample_flux(bins, red.wave, weight),
                            m = resample_flux(bins, stars.wave, star.flux);
  double light = 0, model = 0;
  for (std::size_t i = 0; i < kBins; ++i) light += a[i] * m[i], model += b[i] * m[i] * m[i];
  if (!(model > 0)) return std::nullopt;
  return light / model;
}

void check_stars(const Spectra& red, const QaStars& stars, const QaLimits& limits,
                 ExposureQa& out) {
  double squares = 0;
  for (const QaStar& star : stars.stars) {
    const std::optional<double> scale = scale_of(red, stars, star);
    if (!scale) continue;
    ++out.stars;
    squares += (*scale - 1) * (*scale - 1);
  }
  const double n = static_cast<double>(out.stars);
  if (out.stars > 1) out.star_rms = std::sqrt(squares / n) * std::sqrt(n / (n - 1));
  const double most = out.stars >= limits.fewest_stars ? limits.star_rms : limits.star_rms_of_few;
  if (out.stars > 1 && out.star_rms <= most) return;
  for (std::uint32_t& s : out.status) s |= kBadPetalStars;
}

}  // namespace

std::uint32_t not_good_bits() noexcept {
  return kUnassigned | kNoGoodPosition | kBadFiberStatus | kBadTrace | kBadFlat | kBadArc |
         kManyRejected | kBadAmpB | kBadAmpR | kBadAmpZ | kLowEffectiveTime | kBadPetalPositions |
         kBadPetalSky | kBadPetalStars | kBadPetalFlux | kBadPetalSnr | kBadReadNoise;
}

ExposureQa exposure_qa(std::span<const QaCamera> cameras, const QaStars* stars,
                       const QaLimits& limits) {
  const bool same = std::all_of(cameras.begin(), cameras.end(), [&](const QaCamera& c) {
    return c.frame->nspec() == cameras.front().frame->nspec() && c.frame->nwave() > 1;
  });
  if (cameras.empty() || !same) {
    throw Error(Status::kWrongShape,
                "quality of an exposure: expected cameras of the same fibres, one at least");
  }
  ExposureQa out;
  out.status = status_of(*cameras.front().frame);
  for (const QaCamera& c : cameras.subspan(1)) {
    const std::vector<std::uint32_t> more = status_of(*c.frame);
    for (std::size_t f = 0; f < more.size(); ++f) out.status[f] |= more[f];
  }
  check_positions(*cameras.front().frame, limits, out);
  for (const QaCamera& c : cameras) out.cameras.push_back(measure(c, out.status));
  const auto red =
      std::find_if(cameras.begin(), cameras.end(), [](const QaCamera& c) { return c.band == 'r'; });
  if (stars != nullptr && red != cameras.end()) check_stars(*red->frame, *stars, limits, out);
  for (const std::uint32_t s : out.status) out.good_fibers += (s & not_good_bits()) == 0 ? 1 : 0;
  return out;
}

}  // namespace fiberloom::calibrate
