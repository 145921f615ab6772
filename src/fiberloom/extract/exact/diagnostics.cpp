// SPDX-License-Identifier: BSD-3-Clause
// One pass over the bins: the model runs ahead, chi2 of the rows it has left follows, then each
// spot's mean.
#include "fiberloom/extract/exact/diagnostics.hpp"

#include <algorithm>

namespace fiberloom::exact {

namespace {

/// rows[t]: first strip row that tiles t, t + 1, ... of any fibre still touch.
std::vector<int> first_rows(const BundleGeometry& g, int tiles) {
  std::vector<int> rows(static_cast<std::size_t>(tiles) + 1, g.rows);
  for (int t = tiles - 1; t >= 0; --t) {
    int low = rows[static_cast<std::size_t>(t) + 1];
    for (const FiberTrace& trace : g.trace) {
      for (int j = t * kLanes; j < std::min(g.nbin, (t + 1) * kLanes); ++j) {
        if (trace.live[static_cast<std::size_t>(j)]) {
          low = std::min(low, trace.y0[static_cast<std::size_t>(j)] - g.y0);
        }
      }
    }
    rows[static_cast<std::size_t>(t)] = low;
  }
  return rows;
}

/// last[t]: one past the last strip row that tile t touches.
std::vector<int> last_rows(const BundleGeometry& g, int tiles, int ny) {
  std::vector<int> rows(static_cast<std::size_t>(tiles), 0);
  for (int t = 0; t < tiles; ++t) {
    for (const FiberTrace& trace : g.trace) {
      for (int j = t * kLanes; j < std::min(g.nbin, (t + 1) * kLanes); ++j) {
        if (trace.live[static_cast<std::size_t>(j)]) {
          rows[static_cast<std::size_t>(t)] = std::max(
              rows[static_cast<std::size_t>(t)], trace.y0[static_cast<std::size_t>(j)] - g.y0 + ny);
        }
      }
    }
  }
  return rows;
}

/// The flux of an unconstrained bin is whatever its prior says: it counts where it was fitted,
/// nowhere else.
void add_to_good_pixels(const StampShape& shape, const double* spot, double flux,
                        const Strip& strip, double* model, int row, int column) {
  for (int r = 0; r < shape.ny; ++r) {
    const long first = (row + r) * strip.pitch + column;
    for (int c = 0; c < shape.stride; ++c) {
      if (strip.weight[static_cast<std::size_t>(first + c)] > 0)
        model[first + c] += flux * spot[r * shape.stride + c];
    }
  }
}

}  // namespace

void diagnose(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, const NormalEquations& n,
              const double* x, double psferr, DiagnosticWork& work) {
  const StampShape shape{plan.ny, plan.stride};
  const std::size_t size =
      static_cast<std::size_t>(strip.rows) * static_cast<std::size_t>(strip.pitch);
  double* model = work.model.resize(size, 0.0);
  double* chi2 = work.chi2.resize(size);
  work.chi2pix.resize(static_cast<std::size_t>(g.nfiber) * static_cast<std::size_t>(g.nbin_padded),
                      0.0);
  const int tiles = g.nbin_padded / kLanes;
  const auto open = first_rows(g, tiles);
  const auto close = last_rows(g, tiles, plan.ny);
  // Tile t's spots are needed again once no later tile touches its rows: keep as many tiles as the
  // longest wait.
  int wait = 1;
  for (int t = 0, ahead = 0; t < tiles; ++t) {
    while (ahead < tiles &&
           open[static_cast<std::size_t>(ahead)] < close[static_cast<std::size_t>(t)])
      ++ahead;
    wait = std::max(wait, ahead - t);
  }
  const std::size_t tile_size = kLanes * plan.spot_size();
  work.spots.resize(static_cast<std::size_t>(g.nfiber) * static_cast<std::size_t>(wait + 1) *
                    tile_size);
  double* tile = work.tile.resize(tile_size);
  const auto waiting = [&](int f, int t) {
    return work.spots.data() +
           static_cast<std::size_t>(f * (wait + 1) + t % (wait + 1)) * tile_size;
  };

  int done = 0, rows_done = 0;  // tiles averaged, rows of chi2 computed
  for (int t = 0; t <= tiles; ++t) {
    // everything whose rows are complete
    const int complete = open[static_cast<std::size_t>(t)];
    if (complete > rows_done) {
      const long first = rows_done * strip.pitch;
      kernels.chi2(strip.weight.data() + first, strip.pixel.data() + first, model + first, psferr,
                   (complete - rows_done) * strip.pitch, chi2 + first);
      rows_done = complete;
    }
    while (done < t && close[static_cast<std::size_t>(done)] <= rows_done) {
      for (int f = 0; f < g.nfiber; ++f) {
        const FiberTrace& trace = g.trace[static_cast<std::size_t>(f)];
        const float* kept = waiting(f, done);
        for (int j = done * kLanes; j < std::min(g.nbin, (done + 1) * kLanes); ++j) {
          const double phi = n.phi(f)[j];
          if (!(phi > 0)) continue;
          work.chi2pix[static_cast<std::size_t>(f) * static_cast<std::size_t>(g.nbin_padded) +
                       static_cast<std::size_t>(j)] =
              kernels.gather(shape, kept + static_cast<std::size_t>(j % kLanes) * plan.spot_size(),
                             chi2, strip.pitch, trace.y0[static_cast<std::size_t>(j)] - g.y0,
                             trace.frame[static_cast<std::size_t>(j)] - g.x0) /
              phi;
        }
      }
      ++done;
    }
    if (t == tiles) break;
    for (int f = 0; f < g.nfiber; ++f) {
      const FiberTrace& trace = g.trace[static_cast<std::size_t>(f)];
      float* kept = waiting(f, t);
      spots(plan, g.first_fiber + f, t * kLanes, trace, tile);
      for (std::size_t i = 0; i < kLanes; ++i) {
        kernels.narrow(shape, tile + i * plan.spot_size(), kept + i * plan.spot_size());
      }
      const double* flux = x + f * n.pitch + n.margin;
      for (int j = t * kLanes; j < std::min(g.nbin, (t + 1) * kLanes); ++j) {
        if (!trace.live[static_cast<std::size_t>(j)] || !(n.phi(f)[j] > 0)) continue;
        if (n.phi(f)[j] < kUnconstrainedBelow) {
          add_to_good_pixels(shape, tile + static_cast<std::size_t>(j % kLanes) * plan.spot_size(),
                             flux[j], strip, model, trace.y0[static_cast<std::size_t>(j)] - g.y0,
                             trace.frame[static_cast<std::size_t>(j)] - g.x0);
          continue;
        }
        kernels.add_model(shape, tile + static_cast<std::size_t>(j % kLanes) * plan.spot_size(),
                          flux[j], model, strip.pitch, trace.y0[static_cast<std::size_t>(j)] - g.y0,
                          trace.frame[static_cast<std::size_t>(j)] - g.x0);
      }
    }
  }
}

}  // namespace fiberloom::exact
