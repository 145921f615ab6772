// SPDX-License-Identifier: BSD-3-Clause
// The magnitudes (curvature, smile, Gauss-Hermite terms and their change over the CCD) are rounded
// from public PSFs of DESI's r cameras.
#include "fiberloom/simulate/simulated_psf.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "fiberloom/simulate/streams.hpp"
#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kTraceCoef = 7, kShapeCoef = 2;

/// One Gauss-Hermite term: (mean + across t) + (slope + slope_across t) u, where t is the fibre's
/// place in -1..1 for terms odd in x and t^2 for even ones, and u the Legendre argument.
struct GhTerm {
  std::size_t i, j;
  double mean, across, slope, slope_across;
};

constexpr std::array<GhTerm, 24> kGhTerms{{
    {1, 0, 0.0015, 0.008, 0.0002, 0.010},  {2, 0, 0.0100, 0.004, 0.0078, 0.003},
    {3, 0, 0.0014, 0.010, -0.0015, 0.008}, {4, 0, -0.0010, 0.002, -0.0029, 0.003},
    {5, 0, 0.0003, 0.001, -0.0003, 0.002}, {6, 0, 0.0054, 0.0, -0.0002, 0.0},
    {0, 1, -0.0018, 0.008, 0.0041, 0.006}, {1, 1, -0.0060, 0.095, -0.0027, 0.040},
    {2, 1, -0.0136, 0.010, 0.0120, 0.012}, {3, 1, -0.0007, 0.007, 0.0008, 0.005},
    {0, 2, 0.0318, 0.004, 0.0056, 0.006},  {1, 2, 0.0009, 0.010, 0.0001, 0.012},
    {2, 2, -0.0030, 0.004, 0.0067, 0.006}, {4, 2, 0.0144, 0.0, 0.0024, 0.0},
    {0, 3, -0.0077, 0.006, 0.0104, 0.006}, {1, 3, -0.0009, 0.002, -0.0011, 0.006},
    {2, 3, -0.0008, 0.002, 0.0014, 0.003}, {3, 3, -0.0001, 0.003, -0.0005, 0.001},
    {0, 4, 0.0133, 0.001, 0.0023, 0.001},  {2, 4, 0.0149, 0.001, 0.0022, 0.001},
    {4, 4, 0.0020, 0.0, 0.0009, 0.0},      {0, 5, 0.0001, 0.001, 0.0017, 0.001},
    {0, 6, 0.0071, 0.0, 0.0, 0.0},         {4, 6, 0.0005, 0.0, 0.0001, 0.0},
}};

void check(const SimulatedPsfOptions& o, double width) {
  const auto fail = [](const std::string& what) {
    throw Error(Status::kUsage, "simulated PSF: " + what);
  };
  if (o.nfiber < 1 || o.bundle_size < 1) fail("needs at least one fibre and fibre per bundle");
  if (o.npix_x < 1 || o.npix_y < 1) fail("the CCD has no pixels");
  if (!(o.sigma_x > 0) || !(o.sigma_y > 0) || !(o.dispersion_aa > 0) || !(o.pitch > 0)) {
    fail("widths, pitch and dispersion must be positive");
  }
  if (!(o.crosstalk >= 0) || !(o.crosstalk < 1)) fail("crosstalk must lie in [0, 1)");
  if (o.gh_degree < 0 || o.gh_degree > 6) fail("gh_degree must lie in 0..6");
  if (o.hsize_x < 1 || o.hsize_y < 1) fail("half sizes of the spot must be at least 1");
  if (width > o.npix_x) fail("the fibres need more columns than the CCD has");
}

/// x of every fibre at the middle wavelength, centred on the CCD.
std::vector<double> fiber_positions(const SimulatedPsfOptions& o) {
  std::vector<double> x(static_cast<std::size_t>(o.nfiber), 0.0);
  for (std::size_t f = 1; f < x.size(); ++f) {
    const bool new_bundle = f % static_cast<std::size_t>(o.bundle_size) == 0;
    x[f] = x[f - 1] + (new_bundle ? o.gap : o.pitch);
  }
  check(o, x.back() + 1);
  const double shift = 0.5 * (o.npix_x - 1) - 0.5 * x.back();
  for (double& v : x) v += shift;
  return x;
}

LegendreSeries series(const PsfModel& psf, std::size_t nfiber, std::size_t ncoef, double constant) {
  LegendreSeries s{psf.x.wave_min, psf.x.wave_max, Array2D<double>(nfiber, ncoef, 0.0)};
  for (std::size_t f = 0; f < nfiber; ++f) s.coef(f, 0) = constant;
  return s;
}

void set_traces(PsfModel& psf, const SimulatedPsfOptions& o, const std::vector<double>& x_mid) {
  const CounterRng rng(o.seed, rng_stream(Draw::kPsf));
  const double half_rows = 0.5 * (psf.x.wave_max - psf.x.wave_min) / o.dispersion_aa;
  const double bow = 0.0285 * half_rows;  // the dispersion grows by some per cent along y
  const double x_half = 0.5 * o.npix_x;
  for (std::size_t f = 0; f < x_mid.size(); ++f) {
    const double t = x_mid[f] / x_half - 1.0;
    const auto jitter = rng.uniform2(f);
    psf.x.coef(f, 0) = x_mid[f] + 0.1 * (jitter[0] - 0.5);
    psf.x.coef(f, 1) = o.trace_curvature * (0.63 * t - 0.05);
    psf.x.coef(f, 2) = o.trace_curvature * 0.26 * t;
    psf.x.coef(f, 3) = o.trace_curvature * -0.01 * t;
    psf.y.coef(f, 0) =
        0.5 * (o.npix_y - 1) - 0.5 * bow + o.smile * (t * t - 0.4) + 0.4 * (jitter[1] - 0.5);
    psf.y.coef(f, 1) = half_rows + 0.16 * o.smile * (t * t - 0.4);
    psf.y.coef(f, 2) = bow;
    psf.y.coef(f, 3) = 0.003 * half_rows;
  }
}

void set_shapes(PsfModel& psf, const SimulatedPsfOptions& o) {
  const double sigma_x =
      o.crosstalk > 0 ? o.pitch / (2.0 * std::sqrt(-std::log(o.crosstalk))) : o.sigma_x;
  const std::size_t stride = static_cast<std::size_t>(o.gh_degree) + 1;
  for (std::size_t f = 0; f < psf.x.coef.rows(); ++f) {
    const double t = psf.x.coef(f, 0) / (0.5 * o.npix_x) - 1.0;
    psf.sigma_x.coef(f, 0) = sigma_x * (1.0 + 0.012 * (t * t - 0.33));
    psf.sigma_x.coef(f, 1) = sigma_x * (-0.015 + 0.02 * t);
    psf.sigma_y.coef(f, 0) = o.sigma_y * (1.0 + 0.008 * t);
    psf.sigma_y.coef(f, 1) = o.sigma_y * (0.087 + 0.012 * t);
    psf.gh[0].coef(f, 0) = 1.0;
    for (const GhTerm& term : kGhTerms) {
      if (term.i >= stride || term.j >= stride) continue;
      const double place = term.i % 2 == 1 ? t : t * t;
      LegendreSeries& gh = psf.gh[term.j * stride + term.i];
      gh.coef(f, 0) = o.gh_scale * (term.mean + term.across * place);
      gh.coef(f, 1) = o.gh_scale * (term.slope + term.slope_across * place);
    }
  }
}

}  // namespace

PsfModel make_psf(const SimulatedPsfOptions& o) {
  check(o, 0);
  const std::vector<double> x_mid = fiber_positions(o);
  const std::size_t n = x_mid.size();
  PsfModel psf;
  psf.npix_x = o.npix_x;
  psf.npix_y = o.npix_y;
  psf.hsize_x = o.hsize_x;
  psf.hsize_y = o.hsize_y;
  psf.gh_deg_x = psf.gh_deg_y = o.gh_degree;
  psf.psferr = o.psferr;
  // The domain of the series reaches past the first and the last row of every fibre.
  const double half_aa = (0.5 * o.npix_y + 0.8 * std::abs(o.smile) + 20.0) * o.dispersion_aa * 1.02;
  psf.x.wave_min = std::floor(o.wave_center_aa - half_aa);
  psf.x.wave_max = std::ceil(o.wave_center_aa + half_aa);
  psf.x = series(psf, n, kTraceCoef, 0);
  psf.y = series(psf, n, kTraceCoef, 0);
  psf.sigma_x = psf.sigma_y = series(psf, n, kShapeCoef, 0);
  const std::size_t ngh = static_cast<std::size_t>((o.gh_degree + 1) * (o.gh_degree + 1));
  psf.gh.assign(ngh, series(psf, n, kShapeCoef, 0));
  psf.tails = {series(psf, n, kShapeCoef, 0), series(psf, n, kShapeCoef, 1),
               series(psf, n, kShapeCoef, 1), series(psf, n, kShapeCoef, 1),
               series(psf, n, kShapeCoef, 2)};
  for (int f = 0; f < o.nfiber; ++f) psf.bundle.push_back(f / o.bundle_size);
  psf.status.assign(n, 0);
  set_traces(psf, o, x_mid);
  set_shapes(psf, o);
  return psf;
}

SimulatedPsfOptions camera_psf_options(char band) {
  SimulatedPsfOptions o;
  switch (band) {
    case 'b':
      o.npix_x = o.npix_y = 4096;
      o.wave_center_aa = 4695;
      o.dispersion_aa = 0.615;
      o.sigma_x = 1.05;
      o.sigma_y = 1.06;
      break;
    case 'r':
      break;
    case 'z':
      o.wave_center_aa = 8667;
      o.dispersion_aa = 0.625;
      o.sigma_x = 1.08;
      o.sigma_y = 1.09;
      break;
    default:
      throw Error(Status::kUsage, std::string("camera band '") + band + "': expected b, r or z");
  }
  return o;
}

std::vector<double> camera_wave_grid(char band) {
  static_cast<void>(camera_psf_options(band));
  const double first = band == 'b' ? 3600.0 : band == 'r' ? 5760.0 : 7520.0;
  const double last = band == 'b' ? 5800.0 : band == 'r' ? 7620.0 : 9824.0;
  const auto n = static_cast<std::size_t>(std::lround((last - first) / 0.8)) + 1;
  std::vector<double> wave(n);
  for (std::size_t i = 0; i < n; ++i) wave[i] = first + 0.8 * static_cast<double>(i);
  return wave;
}

SimulatedPsfOptions small_psf_options(int nfiber, double wave_min_aa, double wave_max_aa,
                                      double margin_aa, double dispersion_aa) {
  SimulatedPsfOptions o;
  const int bundles = (std::max(nfiber, 1) - 1) / o.bundle_size;
  o.nfiber = nfiber;
  o.dispersion_aa = dispersion_aa;
  o.wave_center_aa = 0.5 * (wave_min_aa + wave_max_aa);
  const double half_aa = 0.5 * (wave_max_aa - wave_min_aa) + margin_aa;
  const double rows = 2.0 * half_aa / dispersion_aa;
  o.smile = 0.02 * rows;
  o.trace_curvature = 0.0024 * rows;
  o.npix_y = static_cast<int>(std::ceil(1.08 * rows + 2.0 * o.smile)) + 4;
  o.npix_x = static_cast<int>(std::ceil((nfiber - 1 - bundles) * o.pitch + bundles * o.gap +
                                        2.0 * o.trace_curvature)) +
             24;
  return o;
}

PsfModel with_tails(PsfModel psf, double amplitude, double index) {
  const auto even = [&](double value) {
    return LegendreSeries{psf.x.wave_min, psf.x.wave_max,
                          Array2D<double>(static_cast<std::size_t>(psf.nfiber()), 1, value)};
  };
  psf.has_tails = true;
  psf.tails = {even(amplitude), even(1), even(1), even(1), even(index)};
  return psf;
}

}  // namespace fiberloom
