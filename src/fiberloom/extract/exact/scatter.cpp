// SPDX-License-Identifier: BSD-3-Clause
// Gathering of results; the only place that knows both windows and the requested grid.
#include "fiberloom/extract/exact/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/storable.hpp"

namespace fiberloom::exact {

namespace {

/// Values of one fibre by bin, read out of the window that owns the bin.
class RootReader {
 public:
  RootReader(const Windows& w, int nd, const RootBuffers& b) : w_(w), nd_(nd), b_(b) {}
  struct Bin {
    double q1, qx;
    const double* q;  ///< Q(j, j + d) for 0 <= d <= nd, kLanes apart
    bool drowned;
  };
  /// From the window of bin j.
  [[nodiscard]] Bin bin(int j) const {
    const std::size_t at = index(j, w_.window_of(j)), lane = at % kLanes;
    return {b_.q1[at], b_.qx[at],
            b_.q.data() + (at - lane) * static_cast<std::size_t>(nd_ + 1) + lane,
            b_.is_drowned(at)};
  }
  [[nodiscard]] double q1_in(int j, int window) const { return b_.q1[index(j, window)]; }
  [[nodiscard]] double qx_in(int j, int window) const { return b_.qx[index(j, window)]; }

 private:
  [[nodiscard]] int row(int j, int window) const { return j - window * w_.stride + w_.skirt; }
  [[nodiscard]] std::size_t index(int j, int window) const {
    return static_cast<std::size_t>(row(j, window)) * kLanes + static_cast<std::size_t>(window);
  }
  const Windows& w_;
  int nd_;
  const RootBuffers& b_;
};

}  // namespace

std::size_t scatter_fiber(const FrameContext& frame, const Windows& windows,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result) {
  const int guard = frame.grid.guard, nwave = static_cast<int>(result.flux.cols());
  const int nd = frame.options.ndiag / 2;
  const RootReader root(windows, nd, work.root);
  const double* phi = work.normal.phi(fiber);
  const double* x = work.solve.solution(fiber, work.normal);
  const std::vector<double> width =
      widths_of(frame.options, frame.options.spec_min + static_cast<int>(row));
  std::size_t unconstrained = 0;
  std::vector<double> inverse_sum(static_cast<std::size_t>(nwave));
  for (int j = 0; j < nwave; ++j) {
    const int bin = j + guard;
    const auto at = static_cast<std::size_t>(j);
    const RootReader::Bin root_bin = root.bin(bin);
    const double s = root_bin.q1;
    const double flux = root_bin.qx / s / width[at], ivar = s * s * width[at] * width[at],
                 xflux = x[bin] / width[at];
    const bool good = phi[bin] >= kUnconstrainedBelow && s > 0 && !root_bin.drowned &&
                      storable(flux, ivar, xflux);
    inverse_sum[at] = good ? 1.0 / s : 0.0;
    result.flux(row, at) = good ? flux : 0.0;
    result.ivar(row, at) = good ? ivar : 0.0;
    result.xflux(row, at) = good ? xflux : 0.0;
    if (!good) ++unconstrained;
  }
  // Stored entry (k, j) is R[j - nd + k, j]; rows outside the grid are 0, rows without information
  // the identity's. Entry (low, low + gap) of Q serves both triangles. Adding 0 makes -0 a 0.
  std::vector<float*> stored;
  for (std::size_t k = 0; k <= 2 * static_cast<std::size_t>(nd); ++k)
    stored.push_back(&result.resolution(row, k, 0));
  const auto upper = stored.begin() + nd;
  for (int j = 0; j < nwave; ++j) {
    const double* q = root.bin(j + guard).q;
    const auto at = static_cast<std::size_t>(j);
    const int meets = std::min(nd, nwave - 1 - j);
    for (int gap = 0; gap <= meets; ++gap) {
      const double value = q[gap * kLanes];
      upper[-gap][j + gap] = static_cast<float>(value * inverse_sum[at] + 0.0);
      upper[gap][j] =
          static_cast<float>(value * inverse_sum[at + static_cast<std::size_t>(gap)] + 0.0);
    }
    for (int gap = meets + 1; gap <= nd; ++gap) upper[gap][j] = 0.0F;  // rows below the grid
    for (int gap = j + 1; gap <= nd; ++gap) upper[-gap][j] = 0.0F;     // rows above it
    if (inverse_sum[at] == 0.0) upper[0][j] = 1.0F;
  }
  return unconstrained;
}

void scatter_diagnostics(const FrameContext& frame, const BundleGeometry& g,
                         const BundleWorkspace& work, ExtractResult& result) {
  for (int f = 0; f < g.nfiber; ++f) {
    const int row = g.first_fiber + f - frame.options.spec_min;
    if (row < 0 || row >= static_cast<int>(result.flux.rows())) continue;
    const double* chi2 = work.diagnostics.chi2pix_of(f, g.nbin_padded) + frame.grid.guard;
    const double* phi = work.normal.phi(f) + frame.grid.guard;
    for (std::size_t j = 0; j < result.flux.cols(); ++j) {
      result.chi2pix(static_cast<std::size_t>(row), j) = chi2[j];
      // a whole spot sums to 1 up to rounding; less than that is no masked light
      const double lost = 1.0 - phi[j];
      result.pixmask_fraction(static_cast<std::size_t>(row), j) = lost > 1e-12 ? lost : 0.0;
    }
    if (result.rejected_fraction.empty()) continue;
    const double* before = work.refine.first_phi_of(f, work.normal) + frame.grid.guard;
    for (std::size_t j = 0; j < result.flux.cols(); ++j) {
      const double dropped = before[j] - phi[j];
      result.rejected_fraction(static_cast<std::size_t>(row), j) = dropped > 1e-12 ? dropped : 0.0;
    }
  }
}

double seam_difference(const Windows& w, int nd, const RootBuffers& buffers) {
  if (w.count == 1) return 0.0;
  const RootReader root(w, nd, buffers);
  double worst = 0;
  for (int window = 1; window < w.count; ++window) {
    for (int j = window * w.stride - 1; j <= window * w.stride; ++j) {
      if (j < 0 || j >= w.nbin) continue;
      const double x0 = root.qx_in(j, window - 1), x1 = root.qx_in(j, window);
      const double s0 = root.q1_in(j, window - 1), s1 = root.q1_in(j, window);
      worst = std::max(worst, std::abs(x0 - x1));
      if (s1 > 0) worst = std::max(worst, std::abs(s0 - s1) / s1 * (1.0 + std::abs(x1)));
    }
  }
  return worst;
}

}  // namespace fiberloom::exact
