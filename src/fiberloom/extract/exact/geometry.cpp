// SPDX-License-Identifier: BSD-3-Clause
// Guard bins, strips and bands.
#include "fiberloom/extract/exact/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::exact {

namespace {

constexpr double kDecayBelow = 1e-10;
constexpr int kMaxGuard = 400, kMostBand = 64;
/// Below so many CCD rows a bin (0.6 A for DESI) the products of every spot are looked at.
constexpr double kNarrowBin = 1.05;

/// A symmetric banded matrix; row j holds its products with j, j + 1, ... j + band.
struct SpotProducts {
  int rows = 0, band = -1;
  std::vector<double> value;  ///< [rows][band + 1]; a single row stands for all
  [[nodiscard]] const double* row(int j) const {
    const int stored = static_cast<int>(value.size()) / (band + 1);
    return value.data() + std::min(j, stored - 1) * (band + 1);
  }
};

double product(const Spot& a, const Spot& b) {
  double sum = 0;
  for (int r = 0; r < a.ny; ++r) {
    const int rb = r + a.y0 - b.y0;
    if (rb < 0 || rb >= b.ny) continue;
    for (int c = 0; c < a.nx; ++c) {
      const int cb = c + a.x0 - b.x0;
      if (cb < 0 || cb >= b.nx) continue;
      sum += a.value[static_cast<std::size_t>(r * a.nx + c)] *
             b.value[static_cast<std::size_t>(rb * b.nx + cb)];
    }
  }
  return sum;
}

/// The Toeplitz matrix of a noise-free spot's products with those 0, 1, 2 ... bins away.
SpotProducts toeplitz_products(const PsfModel& psf, std::size_t fiber, double wave, double step) {
  const Spot a = spot_reference(psf, fiber, wave);
  SpotProducts products{2 * kMaxGuard + 1, -1, {}};
  for (int d = 0; d < kMostBand; ++d) {
    const Spot b = spot_reference(psf, fiber, wave + d * step);
    if (std::abs(b.y0 - a.y0) >= a.ny) break;
    products.value.push_back(product(a, b));
  }
  products.band = static_cast<int>(products.value.size()) - 1;
  return products;
}

/// The products of noise-free spots, each where it lies. Where bins are about as narrow as rows
/// the place of a spot within its row matters so much that the matrix above, made from one spot,
/// may not even be positive definite, and tells nothing; this one always is.
SpotProducts true_products(const PsfModel& psf, std::size_t fiber, double wave, double step) {
  SpotProducts products{2 * kMaxGuard + 1, 0, {}};
  std::vector<Spot> spots;
  for (int j = -kMaxGuard; j <= kMaxGuard; ++j) {
    spots.push_back(spot_reference(psf, fiber, wave + j * step));
  }
  const auto meet = [&](std::size_t j, std::size_t k) {
    return k < spots.size() && std::abs(spots[k].y0 - spots[j].y0) < spots[j].ny;
  };
  for (std::size_t j = 0; j < spots.size(); ++j) {
    while (products.band + 1 < kMostBand &&
           meet(j, j + static_cast<std::size_t>(products.band) + 1))
      ++products.band;
  }
  for (std::size_t j = 0; j < spots.size(); ++j) {
    for (std::size_t d = 0; d <= static_cast<std::size_t>(products.band); ++d) {
      products.value.push_back(meet(j, j + d) ? product(spots[j], spots[j + d]) : 0.0);
    }
  }
  return products;
}

/// Bins over which the inverse of the matrix of these products falls below kDecayBelow.
int decay_length(const SpotProducts& products, double* rate) {
  const int band = products.band, n = products.rows;
  if (band < 0 || !(products.row(0)[0] > 0)) return 0;
  const double scale = products.row(n / 2)[0];
  const auto at = [band](int j, int d) { return static_cast<std::size_t>(j * (band + 1) + d); };
  std::vector<double> u(static_cast<std::size_t>(n) * static_cast<std::size_t>(band + 1));
  std::vector<double> x(static_cast<std::size_t>(n), 0.0);
  x[kMaxGuard] = 1.0;
  for (int j = 0; j < n; ++j) {  // LDL^T, then both solves
    for (int d = 0; d <= band; ++d) u[at(j, d)] = products.row(j)[d];
    u[at(j, 0)] *= 1.0 + 1e-12;  // finer grids than the pixels can carry must not break it
    for (int k = 1; k <= std::min(band, j); ++k) {
      const double f = u[at(j - k, k)] / u[at(j - k, 0)];
      for (int d = 0; d + k <= band; ++d) u[at(j, d)] -= f * u[at(j - k, k + d)];
      x[static_cast<std::size_t>(j)] -= f * x[static_cast<std::size_t>(j - k)];
    }
    if (!(u[at(j, 0)] > 1e-14 * scale)) u[at(j, 0)] = 1e-14 * scale;
  }
  for (int j = n - 1; j >= 0; --j) {
    double s = x[static_cast<std::size_t>(j)];
    for (int k = 1; k <= band && j + k < n; ++k)
      s -= u[at(j, k)] * x[static_cast<std::size_t>(j + k)];
    x[static_cast<std::size_t>(j)] = s / u[at(j, 0)];
  }
  int length = kMaxGuard;
  const double peak = std::abs(x[kMaxGuard]);
  const auto below = [&](int at_bin) {
    return std::abs(x[static_cast<std::size_t>(at_bin)]) < kDecayBelow * peak;
  };
  while (length > 1 && below(kMaxGuard + length) && below(kMaxGuard - length)) --length;
  *rate = std::max(*rate, std::pow(kDecayBelow, 1.0 / length));
  return length + 1;
}

}  // namespace

Skirt skirt_of(const PsfModel& psf, double step) {
  Skirt skirt;
  int length = 1;
  const double span = psf.y.wave_max - psf.y.wave_min;
  const std::size_t nfiber = psf.x.coef.rows();
  for (const std::size_t fiber : {std::size_t{0}, nfiber / 2, nfiber - 1}) {
    for (const double where : {0.05, 0.275, 0.5, 0.725, 0.95}) {
      const double wave = psf.y.wave_min + where * span;
      const double rows = std::abs(psf.y(fiber, wave + 0.5) - psf.y(fiber, wave - 0.5)) * step;
      const auto products = rows < kNarrowBin ? true_products : toeplitz_products;
      length = std::max(length, decay_length(products(psf, fiber, wave, step), &skirt.decay));
    }
  }
  skirt.bins = std::min(kMaxGuard, (length + kLanes - 1) / kLanes * kLanes);
  return skirt;
}

std::vector<double> with_guards(const std::vector<double>& wave_aa, int guard) {
  const std::size_t n = wave_aa.size();
  const double first_step = n > 1 ? wave_aa[1] - wave_aa[0] : 1.0;
  const double last_step = n > 1 ? wave_aa[n - 1] - wave_aa[n - 2] : 1.0;
  std::vector<double> wave;
  wave.reserve(n + 2 * static_cast<std::size_t>(guard));
  for (int g = guard; g > 0; --g) wave.push_back(wave_aa.front() - g * first_step);
  wave.insert(wave.end(), wave_aa.begin(), wave_aa.end());
  for (int g = 1; g <= guard; ++g) wave.push_back(wave_aa.back() + g * last_step);
  return wave;
}

GuardedGrid guard_grid(const PsfModel& psf, const std::vector<double>& wave_aa, double finest_aa) {
  const Skirt skirt = skirt_of(psf, finest_aa);
  GuardedGrid grid;
  grid.step_aa = finest_aa;
  grid.guard = skirt.bins;
  grid.decay = skirt.decay;
  grid.wave = with_guards(wave_aa, grid.guard);
  return grid;
}

GuardedGrid guard_grid(const PsfModel& psf, const std::vector<double>& wave_aa) {
  return guard_grid(psf, wave_aa, finest_step(wave_aa));
}

Error too_fine(double band, double cross_band, double step_aa) {
  const double excess = std::max(band / kMostOwnBins, cross_band / kMostCrossBins);
  return {
      Status::kUnsupported,
      print("a wavelength step of %g Angstrom is too fine: spots of bins up to %.0f apart share "
            "CCD rows, at most %d is supported; about %.2f Angstrom is the finest possible",
            step_aa, std::max(band, cross_band), kMostCrossBins,
            0.01 * std::ceil(100 * excess * step_aa))};
}

void require_bands(const BundleGeometry& g, double step_aa) {
  // where second neighbours matter a block is a pair of fibres, its bins interleaved
  const int cross_band = g.sweep_reach * (g.cross_band + 1) - 1;
  if (g.band > kMostOwnBins || cross_band > kMostCrossBins)
    throw too_fine(g.band, cross_band, step_aa);
}

BinRange model_bins(const BundleGeometry& g, int guard) {
  const int left_out = std::max(guard - std::max(g.band, g.cross_band), 0);
  return {left_out, g.nbin - left_out};
}

namespace {

/// Largest |j - k| over live bins whose stamps share a row.
int row_band(const FiberTrace& a, const FiberTrace& b, int nbin, int ny) {
  int band = 0;
  for (int j = 0; j < nbin; ++j) {
    if (!a.live[static_cast<std::size_t>(j)]) continue;
    const auto meets = [&](int k) {
      return k >= 0 && k < nbin && b.live[static_cast<std::size_t>(k)] &&
             std::abs(a.y0[static_cast<std::size_t>(j)] - b.y0[static_cast<std::size_t>(k)]) < ny;
    };
    // bands grow slowly: look only beyond what is known
    while (meets(j + band + 1) || meets(j - band - 1)) ++band;
  }
  return band;
}

bool columns_meet(const FiberTrace& a, const FiberTrace& b, int nbin, int nx) {
  for (int j = 0; j < nbin; ++j) {
    const auto i = static_cast<std::size_t>(j);
    if (a.live[i] && b.live[i] && std::abs(a.x0[i] - b.x0[i]) < nx) return true;
  }
  return false;
}

/// Unweighted product of two stored spots.
double overlap(const SpotPlan& plan, const double* a, const double* b, int dx, int dy) {
  double sum = 0;
  for (int r = std::max(0, dy); r < std::min(plan.ny, plan.ny + dy); ++r) {
    for (int c = std::max(0, dx); c < std::min(plan.stride, plan.stride + dx); ++c) {
      sum += a[r * plan.stride + c] * b[(r - dy) * plan.stride + c - dx];
    }
  }
  return sum;
}

constexpr int kCouplingStep = 16 * kLanes;

/// The first pack from j0 on, of kCouplingStep bins, whose middle is live in both; -1: none is.
/// Dead bins tell nothing of a coupling.
int live_pack(const FiberTrace& a, const FiberTrace& b, int j0, int nbin) {
  for (int j = j0; j < std::min(nbin, j0 + kCouplingStep); j += kLanes) {
    const auto middle = static_cast<std::size_t>(j) + kLanes / 2;
    if (a.live[middle] && b.live[middle]) return j;
  }
  return -1;
}

/// Largest unweighted coupling of two fibres relative to their diagonals, at about every 128th bin.
double coupling(const SpotPlan& plan, const BundleGeometry& g, int a, int b, SpotKernel spots) {
  Buffer<double> sa(kLanes * plan.spot_size()), sb(kLanes * plan.spot_size());
  const FiberTrace& ta = g.trace[static_cast<std::size_t>(a)];
  const FiberTrace& tb = g.trace[static_cast<std::size_t>(b)];
  double worst = 0;
  for (int step = 0; step < g.nbin; step += kCouplingStep) {
    const int j0 = live_pack(ta, tb, step, g.nbin);
    if (j0 < 0) continue;
    make_spots(spots, plan, g.first_fiber + a, j0, ta, sa.data());
    make_spots(spots, plan, g.first_fiber + b, j0, tb, sb.data());
    const auto ja = static_cast<std::size_t>(j0) + kLanes / 2;
    const double* spot_a = sa.data() + kLanes / 2 * plan.spot_size();
    const double aa = overlap(plan, spot_a, spot_a, 0, 0);
    for (std::size_t k = 0; k < kLanes; ++k) {
      const auto jb = static_cast<std::size_t>(j0) + k;
      const double* spot_b = sb.data() + k * plan.spot_size();
      const double bb = overlap(plan, spot_b, spot_b, 0, 0);
      const double ab =
          overlap(plan, spot_a, spot_b, tb.frame[jb] - ta.frame[ja], tb.y0[jb] - ta.y0[ja]);
      if (aa > 0 && bb > 0) worst = std::max(worst, ab / std::sqrt(aa * bb));
    }
  }
  return worst;
}

/// The spots of dead bins are zero, so their place does not matter: it is that of the live bin
/// before them (or of the first), which keeps neighbours together, or (x, y) where none is live.
void place_dead_bins(FiberTrace& t, int x, int y) {
  std::size_t from = 0;
  while (from < t.live.size() && !t.live[from]) ++from;
  const bool any = from < t.live.size();
  for (std::size_t j = 0; j < t.live.size(); ++j) {
    if (t.live[j]) {
      from = j;
      continue;
    }
    t.x0[j] = any ? t.x0[from] : x;
    t.y0[j] = any ? t.y0[from] : y;
    t.frame[j] = any ? t.frame[from] : x;
  }
}

/// Traces of a bundle's fibres, and the part of the CCD on which their spots lie.
void place_traces(const SpotPlan& plan, BundleRange bundle, BundleGeometry& g) {
  int x_low = plan.npix_x, x_high = -plan.nx, y_low = plan.npix_y, y_high = -plan.ny;
  for (int f = bundle.first; f < bundle.last; ++f) {
    g.trace.push_back(trace_fiber(plan, f));
    const FiberTrace& t = g.trace.back();
    for (std::size_t j = 0; j < t.live.size(); ++j) {
      if (!t.live[j]) continue;
      x_low = std::min(x_low, t.frame[j]);
      x_high = std::max(x_high, t.frame[j]);
      y_low = std::min(y_low, t.y0[j]);
      y_high = std::max(y_high, t.y0[j]);
    }
  }
  if (x_low > x_high) x_low = x_high = y_low = y_high = 0;  // no bin on the CCD at all
  g.x0 = x_low;
  g.y0 = y_low;
  g.rows = y_high - y_low + plan.ny;
  g.columns = (x_high - x_low + plan.stride + kLanes - 1) / kLanes * kLanes;
  for (FiberTrace& t : g.trace) {
    place_dead_bins(t, x_low, y_low);
    g.band = std::max(g.band, row_band(t, t, g.nbin, plan.ny));
  }
}

}  // namespace

BundleGeometry bundle_geometry(const SpotPlan& plan, BundleRange bundle, SpotKernel spots,
                               double coupling_floor) {
  BundleGeometry g;
  g.first_fiber = bundle.first;
  g.nfiber = bundle.last - bundle.first;
  g.nbin = plan.nwave;
  g.nbin_padded = plan.nwave_padded;
  place_traces(plan, bundle, g);
  std::vector<double> back{
      1.0};  // strongest product of couplings that leads `distance` fibres far in smaller steps
  for (int distance = 1; distance < g.nfiber; ++distance) {
    double strongest = 0;
    bool meet = false;
    for (int f = 0; f + distance < g.nfiber; ++f) {
      const FiberTrace& a = g.trace[static_cast<std::size_t>(f)];
      const FiberTrace& b = g.trace[static_cast<std::size_t>(f + distance)];
      if (!columns_meet(a, b, g.nbin, plan.nx)) continue;
      meet = true;
      // The PSF changes slowly from fibre to fibre: every eighth pair tells whether more than 1
      // matter
      if (f % 8 == 0 || f < 4)
        strongest = std::max(strongest, coupling(plan, g, f, f + distance, spots));
    }
    double steps = 0;
    for (int step = 1; step < distance; ++step) {
      steps = std::max(steps, back[static_cast<std::size_t>(step)] *
                                  back[static_cast<std::size_t>(distance - step)]);
    }
    back.push_back(std::max(strongest, steps));
    if (!meet || (distance > 1 && strongest < coupling_floor)) break;
    g.reach = distance;
    // the marginal precision feels a coupling only together with a way back
    if (distance > 1 && strongest * back.back() > 0.1 * coupling_floor) g.sweep_reach = distance;
    for (int f = 0; f + distance < g.nfiber; ++f) {
      g.cross_band = std::max(
          g.cross_band, row_band(g.trace[static_cast<std::size_t>(f)],
                                 g.trace[static_cast<std::size_t>(f + distance)], g.nbin, plan.ny));
    }
  }
  if (g.sweep_reach > 2) {
    throw Error(Status::kUnsupported, "fibres " + std::to_string(bundle.first) + " to " +
                                          std::to_string(bundle.last - 1) +
                                          ": the light of a fibre reaches its " +
                                          std::to_string(g.sweep_reach) +
                                          ". neighbour; at most second neighbours are supported");
  }
  return g;
}

}  // namespace fiberloom::exact
