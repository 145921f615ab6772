// SPDX-License-Identifier: BSD-3-Clause
// Gathering of results; the only place that knows both windows and the requested grid.
#include "fiberloom/extract/exact/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/recipe.hpp"

namespace fiberloom::exact {

namespace {

/// Values of one fibre by bin, read out of the window that owns the bin.
class RootReader {
 public:
  RootReader(const Windows& w, int nd, const RootBuffers& b) : w_(w), nd_(nd), b_(b) {}
  /// From the window of bin j.
  [[nodiscard]] RootBin bin(int j) const {
    const std::size_t at = index(j, w_.window_of(j)), lane = at % kLanes;
    return {b_.q1[at], b_.qx[at],
            b_.q.data() + (at - lane) * static_cast<std::size_t>(nd_ + 1) + lane,
            b_.is_drowned(at)};
  }
  [[nodiscard]] double q1_in(int j, int window) const { return b_.q1[index(j, window)]; }
  [[nodiscard]] double qx_in(int j, int window) const { return b_.qx[index(j, window)]; }

 private:
  [[nodiscard]] int row(int j, int window) const { return j - w_.bin(window, 0); }
  [[nodiscard]] std::size_t index(int j, int window) const {
    return static_cast<std::size_t>(row(j, window)) * kLanes + static_cast<std::size_t>(window);
  }
  const Windows& w_;
  int nd_;
  const RootBuffers& b_;
};

/// `root`: bin(j) gives a bin's entries of Q, `step` apart.
template <class Root>
std::size_t scatter_from(const FrameContext& frame, const Root& root, long step,
                         const BundleWorkspace& work, int fiber, std::size_t row,
                         ExtractResult& result) {
  const int guard = frame.grid.guard, nwave = static_cast<int>(result.flux.cols());
  const int nd = frame.options.ndiag / 2;
  const double* phi = work.normal.phi(fiber);
  const double* x = work.solve.solution(fiber, work.normal);
  const std::vector<double> width =
      widths_of(frame.options, frame.options.spec_min + static_cast<int>(row));
  std::size_t unconstrained = 0;
  std::vector<double> inverse_sum(static_cast<std::size_t>(nwave));
  for (int j = 0; j < nwave; ++j) {
    const int bin = j + guard;
    const auto at = static_cast<std::size_t>(j);
    const RootBin root_bin = root.bin(bin);
    const BinResult found =
        bin_result(phi[bin], root_bin.q1, root_bin.qx, x[bin], width[at], root_bin.drowned);
    inverse_sum[at] = found.inverse_sum;
    result.flux(row, at) = found.flux;
    result.ivar(row, at) = found.ivar;
    result.xflux(row, at) = found.xflux;
    if (found.inverse_sum == 0.0) ++unconstrained;
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
      const double value = q[gap * step];
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

}  // namespace

std::size_t scatter_fiber(const FrameContext& frame, const Windows& windows,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result) {
  const RootReader root(windows, frame.options.ndiag / 2, work.root);
  return scatter_from(frame, root, kLanes, work, fiber, row, result);
}

std::size_t scatter_fiber(const FrameContext& frame, const FiberRoot& root,
                          const BundleWorkspace& work, int fiber, std::size_t row,
                          ExtractResult& result) {
  return scatter_from(frame, root, 1, work, fiber, row, result);
}

void FiberRoot::take(const Windows& w, const RootBuffers& b, BinRange bins) {
  const RootReader root(w, nd_, b);
  const auto size = static_cast<std::size_t>(w.nbin);
  if (q1_.empty()) {
    q1_.resize(size);
    qx_.resize(size);
    drowned_.resize(size);
    q_.resize(size * static_cast<std::size_t>(nd_ + 1));
  }
  for (int j = bins.first; j < bins.last; ++j) {
    const RootBin bin = root.bin(j);
    const auto at = static_cast<std::size_t>(j);
    q1_[at] = bin.q1;
    qx_[at] = bin.qx;
    drowned_[at] = bin.drowned ? 1 : 0;
    for (int d = 0; d <= nd_; ++d) {
      q_[at * static_cast<std::size_t>(nd_ + 1) + static_cast<std::size_t>(d)] =
          bin.q[static_cast<long>(d) * kLanes];
    }
  }
}

double FiberRoot::difference(const Windows& w, const RootBuffers& b, int j) const {
  const RootReader root(w, nd_, b);
  const int window = w.window_of(std::clamp(j, w.core().first, w.core().last - 1));
  const auto at = static_cast<std::size_t>(j);
  return seam_of(qx_[at], q1_[at], root.qx_in(j, window), root.q1_in(j, window));
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
      result.pixmask_fraction(static_cast<std::size_t>(row), j) = lost_share(1.0, phi[j]);
    }
    if (result.rejected_fraction.empty()) continue;
    const double* before = work.refine.first_phi_of(f, work.normal) + frame.grid.guard;
    for (std::size_t j = 0; j < result.flux.cols(); ++j) {
      result.rejected_fraction(static_cast<std::size_t>(row), j) = lost_share(before[j], phi[j]);
    }
  }
}

void scatter_fluxes(const FrameContext& frame, const BundleGeometry& g, const BundleWorkspace& work,
                    ExtractResult& result) {
  for (int f = 0; f < g.nfiber; ++f) {
    const int row = g.first_fiber + f - frame.options.spec_min;
    if (row < 0 || row >= static_cast<int>(result.xflux.rows())) continue;
    const double* x = work.solve.solution(f, work.normal) + frame.grid.guard;
    const double* phi = work.normal.phi(f) + frame.grid.guard;
    const std::vector<double> width = widths_of(frame.options, g.first_fiber + f);
    for (std::size_t j = 0; j < result.xflux.cols(); ++j) {
      const double xflux = x[j] / width[j];
      const bool good = phi[j] >= kUnconstrainedBelow && std::abs(xflux) <= kMostStored;
      result.xflux(static_cast<std::size_t>(row), j) = good ? xflux : 0.0;
    }
  }
}

double seam_difference(const Windows& w, int nd, const RootBuffers& buffers) {
  if (w.count == 1) return 0.0;
  const RootReader root(w, nd, buffers);
  double worst = 0;
  for (int window = 1; window < w.count; ++window) {
    const int border = w.origin + window * w.stride;
    for (int j = border - 1; j <= border; ++j) {
      if (j < 0 || j >= w.nbin) continue;
      worst = std::max(worst, seam_of(root.qx_in(j, window - 1), root.q1_in(j, window - 1),
                                      root.qx_in(j, window), root.q1_in(j, window)));
    }
  }
  return worst;
}

}  // namespace fiberloom::exact
