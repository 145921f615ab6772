// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/prepare.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/redshift/robust.hpp"
#include "fiberloom/redshift/sky_residual.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift {
namespace {

void check(const TargetView& target, const CameraView& camera) {
  const std::size_t n = camera.wave.size();
  const auto fail = [&](const std::string& what) {
    throw Error(Status::kWrongShape,
                print("target %lld: ", static_cast<long long>(target.id)) + what);
  };
  if (n < 2) fail(print("%zu wavelengths, expected two or more", n));
  for (std::size_t i = 0; i < n; ++i) {
    if (std::isfinite(camera.wave[i]) &&
        (i == 0 ? camera.wave[0] > 0 : camera.wave[i] > camera.wave[i - 1])) {
      continue;
    }
    fail(print("wavelength %zu is %g: expected finite numbers above 0 that increase", i,
               camera.wave[i]));
  }
  const bool mask_fits = camera.mask.empty() || camera.mask.size() == n;
  if (camera.flux.size() != n || camera.ivar.size() != n || !mask_fits) {
    fail(print("%zu wavelengths, but flux %zu, ivar %zu, mask %zu", n, camera.flux.size(),
               camera.ivar.size(), camera.mask.size()));
  }
  const bool blurred = camera.ndiag != 0;
  if ((blurred && camera.ndiag % 2 == 0) || camera.resolution.size() != camera.ndiag * n) {
    fail(
        print("resolution of %zu numbers in %zu diagonals, expected %zu wavelengths times an odd "
              "number",
              camera.resolution.size(), camera.ndiag, n));
  }
}

/// One exposure: weights after its own faults, rows of R.
Block one_block(const CameraView& camera, const PrepareOptions& options) {
  Block b;
  b.pixels = camera.wave.size();
  b.ndiag = std::max<std::size_t>(camera.ndiag, 1);
  const std::size_t padded = (b.pixels + kTile - 1) / kTile * kTile;
  b.weight = Buffer<double>(padded, 0.0);
  b.flux = Buffer<double>(padded, 0.0);
  b.rows = Buffer<double>(padded * b.ndiag, 0.0);
  for (std::size_t i = 0; i < b.pixels; ++i) {
    const double flux = camera.flux[i], ivar = camera.ivar[i];
    const bool masked = !camera.mask.empty() && camera.mask[i] != 0;
    if (!std::isfinite(flux) || !std::isfinite(ivar) || !(ivar > 0) || masked) continue;
    if (options.negative_nsig > 0 && flux * std::sqrt(ivar) < -options.negative_nsig) continue;
    b.weight[i] = ivar;
    b.flux[i] = flux;
  }
  if (camera.ndiag == 0) {
    for (std::size_t i = 0; i < b.pixels; ++i) b.rows[i] = 1;
    return b;
  }
  const std::size_t half = b.ndiag / 2;
  for (std::size_t i = 0; i < b.pixels; ++i) {
    for (std::size_t m = 0; m < b.ndiag; ++m) {
      if (i + m < half || i + m - half >= b.pixels) continue;  // columns beyond the grid
      const double value = camera.resolution[(b.ndiag - 1 - m) * b.pixels + i + m - half];
      b.rows[i * b.ndiag + m] = std::isfinite(value) ? value : 0;
    }
  }
  return b;
}

/// The largest ivar that is not absurd beside the others.
double largest_ivar(const Block& b, double most_ratio) {
  std::vector<double> ivar;
  for (std::size_t i = 0; i < b.pixels && most_ratio > 0; ++i) {
    if (b.weight[i] > 0) ivar.push_back(b.weight[i]);
  }
  if (ivar.empty()) return HUGE_VAL;
  const auto middle = ivar.begin() + static_cast<std::ptrdiff_t>(ivar.size() / 2);
  std::nth_element(ivar.begin(), middle, ivar.end());
  return *middle * most_ratio;
}

/// Rows of R that are none become those of no blur, and their pixels are dropped; how many.
long drop_absurd_rows(Block& b, double most_sum) {
  long dropped = 0;
  for (std::size_t i = 0; i < b.pixels && most_sum > 0; ++i) {
    const std::span<double> row(b.rows.data() + i * b.ndiag, b.ndiag);
    double sum = 0;
    for (const double r : row) sum += std::abs(r);
    if (!(sum > most_sum)) continue;
    std::ranges::fill(row, 0.0);
    row[b.ndiag / 2] = 1;
    if (b.weight[i] > 0) ++dropped;
    b.weight[i] = b.flux[i] = 0;
  }
  return dropped;
}

/// Pixels of an absurd ivar or an absurd S/N are dropped; how many.
long drop_absurd_pixels(Block& b, const PrepareOptions& options) {
  const double largest = largest_ivar(b, options.most_ivar_ratio);
  const double most_snr = options.most_snr > 0 ? options.most_snr : HUGE_VAL;
  long dropped = 0;
  for (std::size_t i = 0; i < b.pixels; ++i) {
    const bool absurd =
        b.weight[i] > largest || std::abs(b.flux[i]) * std::sqrt(b.weight[i]) > most_snr;
    if (!absurd) continue;
    b.weight[i] = b.flux[i] = 0;
    ++dropped;
  }
  return dropped;
}

/// The weights with which exposure `b` enters row i, diagonal m of the coadd's R.
double resolution_weight(const Block& b, Coadd coadd, std::size_t i, std::size_t m) {
  if (coadd == Coadd::kRows) return b.weight[i];
  const std::size_t half = b.ndiag / 2;
  return i + m < half || i + m - half >= b.pixels ? 0 : b.weight[i + m - half];
}

/// The gradients of one exposure and their variances, bad pixels bridged.
void gradients(const Block& b, std::span<const double> wave, std::vector<double>& gradient,
               std::vector<double>& variance) {
  const std::size_t n = b.pixels;
  std::vector<double> flux(n), ivar(n);
  std::vector<std::size_t> good;
  for (std::size_t i = 0; i < n; ++i) {
    if (b.weight[i] > 0) good.push_back(i);
  }
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < n; ++i) {
    const auto above = std::lower_bound(good.begin(), good.end(), i);
    const std::size_t hi = above == good.end() ? good.back() : *above;
    const std::size_t lo = hi <= i || above == good.begin() ? hi : *(above - 1);
    const double t = hi == lo ? 0 : (wave[i] - wave[lo]) / (wave[hi] - wave[lo]);
    flux[i] = b.flux[lo] + t * (b.flux[hi] - b.flux[lo]);
    ivar[i] = b.weight[lo] + t * (b.weight[hi] - b.weight[lo]);
    least = std::min(least, ivar[i]);
  }
  gradient.assign(n, 0.0);
  variance.assign(n, 1 / ivar[0]);
  for (std::size_t i = 1; i < n; ++i) {
    gradient[i] = flux[i] - flux[i - 1];
    variance[i] = 1 / ivar[i] + 1 / ivar[i - 1];
  }
}

/// The peer's rejection: where the gradients of the exposures scatter by more than n sigma about a
/// mean (weighted with the sum over all pixels, as theirs), the worst one loses the pixel.
void reject_cosmics(std::span<Block* const> exposures, std::span<const double> wave, double nsig) {
  std::vector<std::vector<double>> gradient, variance;
  std::vector<Block*> used;
  double total = 0;
  for (Block* b : exposures) {
    if (std::none_of(b->weight.begin(), b->weight.end(), [](double w) { return w > 0; })) continue;
    used.push_back(b);
    gradients(*b, wave, gradient.emplace_back(), variance.emplace_back());
    for (const double v : variance.back()) total += 1 / v;
  }
  if (used.size() < 2) return;
  for (std::size_t i = 0; i < wave.size(); ++i) {
    double mean = 0, chi2 = 0, worst = -1;
    std::size_t which = 0;
    for (std::size_t e = 0; e < used.size(); ++e) mean += gradient[e][i] / variance[e][i];
    mean /= total;
    for (std::size_t e = 0; e < used.size(); ++e) {
      const double d = gradient[e][i] - mean, term = d * d / variance[e][i];
      chi2 += term;
      if (term > worst) worst = term, which = e;
    }
    if (chi2 / static_cast<double>(used.size() - 1) > nsig * nsig) used[which]->weight[i] = 0;
  }
}

/// Row i of R where no exposure has a good pixel: their mean, so that a model is seen there too.
void blur_unseen(std::span<Block* const> exposures, std::size_t i, Block& out) {
  for (const Block* b : exposures) {
    const std::size_t shift = out.ndiag / 2 - b->ndiag / 2;
    for (std::size_t m = 0; m < b->ndiag; ++m) {
      out.rows[i * out.ndiag + m + shift] +=
          b->rows[i * b->ndiag + m] / static_cast<double>(exposures.size());
    }
  }
}

Block coadded(std::span<Block* const> exposures, std::span<const double> wave,
              const PrepareOptions& options) {
  Block out = *exposures[0];
  for (const Block* b : exposures) {
    if (b->ndiag > out.ndiag) out.ndiag = b->ndiag;
  }
  const std::size_t n = out.pixels;
  out.rows = Buffer<double>(out.padded() * out.ndiag, 0.0);
  for (const Block* b : exposures) {
    const std::size_t shift = out.ndiag / 2 - b->ndiag / 2;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t m = 0; m < b->ndiag; ++m) {
        out.rows[i * out.ndiag + m + shift] +=
            b->rows[i * b->ndiag + m] * resolution_weight(*b, options.coadd, i, m);
      }
    }
  }
  if (options.coadd == Coadd::kColumns && options.cosmic_nsig > 0) {
    reject_cosmics(exposures, wave, options.cosmic_nsig);  // after R, as the peer
  }
  out.weight.fill(0);
  out.flux.fill(0);
  for (const Block* b : exposures) {
    for (std::size_t i = 0; i < n; ++i) {
      out.weight[i] += b->weight[i];
      out.flux[i] += b->weight[i] * b->flux[i];
    }
  }
  Block total =
      Block{.pixels = n, .ndiag = out.ndiag, .weight = out.weight, .flux = {}, .rows = {}};
  for (std::size_t i = 0; i < n; ++i) {
    if (out.weight[i] > 0) out.flux[i] /= out.weight[i];
    for (std::size_t m = 0; m < out.ndiag; ++m) {
      const double w = resolution_weight(total, options.coadd, i, m);
      double& value = out.rows[i * out.ndiag + m];
      value = w > 0 ? value / w : 0;
    }
    if (options.coadd == Coadd::kRows && !(out.weight[i] > 0)) blur_unseen(exposures, i, out);
  }
  return out;
}

void drop_lost_pixels(Block& b, std::span<const double> wave, const PrepareOptions& options) {
  for (std::size_t i = 0; i < b.pixels; ++i) {
    double sum = 0;
    for (std::size_t m = 0; m < b.ndiag; ++m) sum += b.rows[i * b.ndiag + m];
    const bool sky_line =
        (wave[i] >= 5572 && wave[i] <= 5582) || (wave[i] >= 9792 && wave[i] <= 9795);
    if (!(sum >= options.least_row_sum) || (options.mask_sky_lines && sky_line)) b.weight[i] = 0;
    if (b.weight[i] == 0) b.flux[i] = 0;
  }
}

/// Lines of the sky: what of them is left goes, and where they are errors grow.
void mind_the_sky(Block& b, const PrepareOptions& options) {
  const std::vector<double> usual = usual_variance(b);
  const std::vector<std::vector<double>> shapes = sky_shapes(b, usual);
  widen_sky_lines(b, usual, options.sky_line_share);
  if (options.sky_residual == SkyResidual::kSubtract) subtract_sky_residual(b, shapes);
}

PreparedTarget one_target(const TargetView& view, std::span<const std::size_t> grid_of,
                          std::span<const WaveGrid> grids, const PrepareOptions& options) {
  PreparedTarget out;
  out.id = view.id;
  std::vector<Block> exposures;
  for (std::size_t s = 0; s < view.spectra.size(); ++s) {
    exposures.push_back(one_block(view.spectra[s], options));
    exposures.back().grid = grid_of[s];
    out.absurd_pixels += drop_absurd_rows(exposures.back(), options.most_row_sum) +
                         drop_absurd_pixels(exposures.back(), options);
    drop_hot_pixels(exposures.back(), options.hot_pixel_nsig);
  }
  if (options.coadd == Coadd::kNone) {
    out.blocks = std::move(exposures);
  } else {
    std::vector<bool> done(exposures.size(), false);
    for (std::size_t s = 0; s < exposures.size(); ++s) {
      if (done[s]) continue;
      std::vector<Block*> same;
      for (std::size_t e = s; e < exposures.size(); ++e) {
        if (exposures[e].grid != exposures[s].grid) continue;
        same.push_back(&exposures[e]);
        done[e] = true;
      }
      out.blocks.push_back(coadded(same, grids[exposures[s].grid].wave, options));
    }
  }
  for (Block& b : out.blocks) {
    drop_lost_pixels(b, grids[b.grid].wave, options);
    if (options.sky_line_share > 0) mind_the_sky(b, options);
    for (std::size_t i = 0; i < b.pixels; ++i) {
      out.weight_flux2 += b.weight[i] * b.flux[i] * b.flux[i];
      if (b.weight[i] > 0) ++out.good_pixels;
    }
  }
  return out;
}

}  // namespace

std::vector<double> bin_edges(std::span<const double> wave) {
  const std::size_t n = wave.size();
  std::vector<double> edges(n + 1);
  for (std::size_t i = 1; i < n; ++i) edges[i] = (wave[i - 1] + wave[i]) / 2;
  edges[0] = wave[0] - (wave[1] - edges[1]);
  edges[n] = wave[n - 1] + (wave[n - 1] - edges[n - 1]);
  return edges;
}

WaveGrid wave_grid(std::span<const double> wave) {
  WaveGrid grid{{wave.begin(), wave.end()}, bin_edges(wave), {}};
  for (const double e : grid.edges) grid.log_edges.push_back(std::log10(e));
  return grid;
}

std::size_t TargetSet::halo() const noexcept {
  std::size_t widest = 1;
  for (const PreparedTarget& t : targets) {
    for (const Block& b : t.blocks) widest = std::max(widest, b.ndiag);
  }
  return widest / 2;
}

double TargetSet::lowest_edge() const noexcept {
  double lowest = HUGE_VAL;
  for (const WaveGrid& g : grids) lowest = std::min(lowest, g.edges.front());
  return lowest;
}

double TargetSet::highest_edge() const noexcept {
  double highest = 0;
  for (const WaveGrid& g : grids) highest = std::max(highest, g.edges.back());
  return highest;
}

TargetSet prepare(std::span<const TargetView> targets, const PrepareOptions& options,
                  Executor& executor) {
  TargetSet out;
  std::vector<std::vector<std::size_t>> grid_of(targets.size());
  for (std::size_t t = 0; t < targets.size(); ++t) {
    for (const CameraView& camera : targets[t].spectra) {
      check(targets[t], camera);
      std::size_t g = 0;
      while (g < out.grids.size() && !std::equal(out.grids[g].wave.begin(), out.grids[g].wave.end(),
                                                 camera.wave.begin(), camera.wave.end())) {
        ++g;
      }
      if (g == out.grids.size()) {
        out.grids.push_back(wave_grid(camera.wave));
      }
      grid_of[t].push_back(g);
    }
  }
  out.targets.resize(targets.size());
  executor.run(targets.size(), [&](std::size_t t) {
    out.targets[t] = one_target(targets[t], grid_of[t], out.grids, options);
  });
  return out;
}

}  // namespace fiberloom::redshift
