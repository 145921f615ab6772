// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/frame_quality.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "fiberloom/recipes/report/statistics.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::night {
namespace {

constexpr const char* kNames[kMetrics] = {"snr", "chi2", "flagged", "resolution"};
constexpr std::size_t kMostValues = 100000;  // of a frame's million: medians to 0.5 % of a sigma
constexpr std::size_t kMostWidths = 1000;
constexpr double kFwhm = 2.3548200450309493;  // of a Gaussian, in sigma
constexpr double kMadToSigma = 1.4826022185;  // of a Gaussian
constexpr std::size_t kLeastFrames = 5;       // of a camera, for what is usual there
// Sigma; of the median or of what is odd, that the scatter counts at least as: rounding is no
// outlier.
constexpr double kFar = 5, kLeastShare = 0.02;

/// A step through `n` places that comes to each wavelength in turn: no common divisor with `row`.
std::size_t step_through(std::size_t n, std::size_t row, std::size_t most) {
  std::size_t step = std::max<std::size_t>(1, n / most);
  while (std::gcd(step, row) != 1) ++step;
  return step;
}

/// 0 of none.
double median(std::vector<double>& values) { return values.empty() ? 0 : median_of(values); }

double median_resolution(const ExtractResult& r) {
  const std::size_t rows = r.resolution.rows(), half = rows / 2, nwave = r.wave.size();
  if (r.resolution.empty() || nwave <= 2 * half) return 0;
  const std::vector<double> width = bin_widths(r.wave);
  std::vector<double> column(rows), values;
  const std::size_t n = r.flux.size();
  for (std::size_t i = 0; i < n; i += step_through(n, nwave, kMostWidths)) {
    const std::size_t s = i / nwave, j = i % nwave;
    if (j < half || j + half >= nwave || !(r.ivar(s, j) > 0)) continue;
    for (std::size_t k = 0; k < rows; ++k) column[k] = r.resolution(s, k, j);
    const double sigma = report::fit_sigma(column);
    if (std::isfinite(sigma)) values.push_back(r.wave[j] / (kFwhm * sigma * width[j]));
  }
  return median(values);
}

double& limit_member(Limit& limit, std::size_t i) { return i == 0 ? limit.odd : limit.bad; }

Verdict verdict_above(double value, const Limit& limit) {
  return value > limit.bad ? Verdict::kBad : value > limit.odd ? Verdict::kOdd : Verdict::kGood;
}

/// Of one metric and camera.
struct Usual {
  double median = 0, sigma = 0;
  std::size_t n = 0;
};

Usual usual_of(std::vector<double> values) {
  Usual usual;
  usual.n = values.size();
  usual.median = median(values);
  for (double& v : values) v = std::abs(v - usual.median);
  usual.sigma = kMadToSigma * median(values);
  return usual;
}

Verdict verdict_of(std::size_t metric, double value, const Usual& usual,
                   const QualityLimits& limits) {
  switch (metric) {
    case 0:
      return verdict_above(-value, {-limits.snr.odd, -limits.snr.bad});
    case 1:
      return verdict_above(value, limits.chi2);
    case 2:
      return verdict_above(value, limits.flagged);
    default:
      if (!(value > 0) || usual.n < kLeastFrames) return Verdict::kGood;
      return verdict_above(std::abs(value / usual.median - 1), limits.resolution);
  }
}

}  // namespace

const char* metric_name(std::size_t metric) { return kNames[metric]; }

double metric_value(const FrameQuality& q, std::size_t metric) {
  const double values[kMetrics] = {q.snr, q.chi2, q.flagged, q.resolution};
  return values[metric];
}

Limit limit_of(const QualityLimits& limits, std::size_t metric) {
  const Limit all[kMetrics] = {limits.snr, limits.chi2, limits.flagged, limits.resolution};
  return all[metric];
}

std::vector<batch::Measure> to_measures(const FrameQuality& quality) {
  std::vector<batch::Measure> measures;
  for (std::size_t m = 0; m < kMetrics; ++m) {
    measures.push_back({metric_name(m), metric_value(quality, m)});
  }
  return measures;
}

std::optional<FrameQuality> quality_of(const std::vector<batch::Measure>& measures) {
  std::array<double, kMetrics> values{};
  for (std::size_t m = 0; m < kMetrics; ++m) {
    const auto found = std::find_if(measures.begin(), measures.end(), [&](const auto& measure) {
      return measure.name == metric_name(m);
    });
    if (found == measures.end()) return std::nullopt;
    values[m] = found->value;
  }
  return FrameQuality{values[0], values[1], values[2], values[3]};
}

FrameQuality measure_quality(const ExtractResult& r) {
  FrameQuality quality;
  const std::size_t n = r.flux.size(), nwave = r.wave.size();
  if (n == 0) return quality;
  const std::uint32_t* mask = r.mask.data();
  const auto flagged =
      std::count_if(mask, mask + r.mask.size(), [](std::uint32_t bits) { return bits != 0; });
  quality.flagged = static_cast<double>(flagged) / static_cast<double>(n);
  std::vector<double> snr, chi2;
  for (std::size_t i = 0; i < n; i += step_through(n, nwave, kMostValues)) {
    const double ivar = r.ivar.data()[i];
    if (!(ivar > 0)) continue;
    snr.push_back(r.flux.data()[i] * std::sqrt(ivar));
    chi2.push_back(r.chi2pix.data()[i]);
  }
  quality.snr = median(snr);
  quality.chi2 = median(chi2);
  quality.resolution = median_resolution(r);
  for (double* value : {&quality.snr, &quality.chi2, &quality.resolution}) {
    if (!std::isfinite(*value)) *value = 0;  // records hold numbers
  }
  return quality;
}

void set_limit(const std::string& text, QualityLimits& limits) {
  Limit* const all[kMetrics] = {&limits.snr, &limits.chi2, &limits.flagged, &limits.resolution};
  const auto fail = [&] {
    throw Error(Status::kUsage, "--limit " + text +
                                    ": expected snr, chi2, flagged or resolution with where it "
                                    "begins to be odd, and bad: chi2=1.5,3");
  };
  const auto equals = text.find('=');
  const auto* const name = std::find(std::begin(kNames), std::end(kNames), text.substr(0, equals));
  if (equals == std::string::npos || name == std::end(kNames)) fail();
  Limit limit;
  const char* at = text.data() + equals + 1;
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto [next, error] = std::from_chars(at, end, limit_member(limit, i));
    const bool separated = i == 1 ? next == end : next != end && *next == ',';
    if (error != std::errc() || !separated || !std::isfinite(limit_member(limit, i))) fail();
    at = next + 1;
  }
  const std::size_t metric = static_cast<std::size_t>(name - std::begin(kNames));
  if (metric == 0 ? limit.bad > limit.odd : limit.bad < limit.odd) fail();
  *all[metric] = limit;
}

Ratings rate_frames(const std::vector<RatedFrame>& frames, const QualityLimits& limits) {
  Ratings ratings;
  ratings.verdicts.resize(frames.size());
  for (std::size_t m = 0; m < kMetrics; ++m) {
    std::map<std::string, std::vector<double>> values;
    for (const RatedFrame& f : frames) {
      const double value = metric_value(f.quality, m);
      if (m != 3 || value > 0) values[f.camera].push_back(value);
    }
    std::map<std::string, Usual> usual;
    for (auto& [camera, of_camera] : values) usual[camera] = usual_of(std::move(of_camera));
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const double value = metric_value(frames[i].quality, m);
      const Usual& u = usual[frames[i].camera];
      ratings.verdicts[i][m] = verdict_of(m, value, u, limits);
      if (u.n < kLeastFrames || (m == 3 && !(value > 0))) continue;
      const double away = std::abs(value - u.median);
      const double floor =
          m == 3 ? u.median : std::max(std::abs(u.median), limit_of(limits, m).odd);
      const double sigma = std::max(u.sigma, kLeastShare * floor / kFar);
      if (!(away > kFar * sigma)) continue;
      ratings.outliers.push_back({i, m, value, u.median, away / sigma});
    }
  }
  std::stable_sort(ratings.outliers.begin(), ratings.outliers.end(),
                   [](const Outlier& a, const Outlier& b) { return a.sigmas > b.sigmas; });
  return ratings;
}

}  // namespace fiberloom::night
