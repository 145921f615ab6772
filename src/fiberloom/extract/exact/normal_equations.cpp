// SPDX-License-Identifier: BSD-3-Clause
// Assembly of the normal equations, tile by tile along the wavelength axis.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>

namespace fiberloom::exact {

void load_strip(const CcdFrame& ccd, const BundleGeometry& geometry, Strip& strip) {
  strip.x0 = geometry.x0;
  strip.y0 = geometry.y0;
  strip.rows = geometry.rows;
  strip.pitch = geometry.columns + kLanes;
  const std::size_t size = static_cast<std::size_t>(strip.rows) * static_cast<std::size_t>(strip.pitch);
  strip.weight.resize(size, 0.0);
  strip.pixel.resize(size, 0.0);
  const long nx = static_cast<long>(ccd.image.cols()), ny = static_cast<long>(ccd.image.rows());
  const long first = std::max(0L, -static_cast<long>(strip.x0));
  const long last = std::min(strip.pitch, nx - strip.x0);
  const auto copy = [&](const auto& source, double* target) {
    for (long r = 0; r < strip.rows; ++r) {
      const long y = r + strip.y0;
      if (y < 0 || y >= ny || first >= last) continue;
      const auto* in = source.row(static_cast<std::size_t>(y)) + (first + strip.x0);
      double* out = target + r * strip.pitch + first;
      for (long c = 0; c < last - first; ++c) out[c] = static_cast<double>(in[c]);
    }
  };
  std::visit([&](const auto& a) { copy(a, strip.pixel.data()); }, ccd.image.data());
  std::visit([&](const auto& a) { copy(a, strip.weight.data()); }, ccd.ivar.data());
}

void NormalEquations::resize(const BundleGeometry& g, int least_margin) {
  nfiber = g.nfiber;
  nbin = g.nbin;
  band = g.band;
  reach = g.reach;
  cross_band = g.cross_band;
  margin = (std::max({band, cross_band, least_margin}) + 2 * kLanes) / kLanes * kLanes;
  pitch = g.nbin_padded + 2 * margin;
  const auto p = static_cast<std::size_t>(pitch), f = static_cast<std::size_t>(nfiber);
  // Assembly writes every entry inside the matrix; the zeros around them survive from bundle to bundle.
  const std::array<long, 6> now{pitch, nfiber, nbin, band, cross_band, reach};
  if (now == zeroed_) return;
  zeroed_ = now;
  own_.resize(f * static_cast<std::size_t>(band + 1) * p, 0.0);
  cross_.resize(static_cast<std::size_t>(reach) * f * static_cast<std::size_t>(2 * cross_band + 1) * p, 0.0);
  rhs_.resize(f * p, 0.0);
  phi_.resize(f * p, 0.0);
}

namespace {

/// One spot against a run of bins of a fibre: the arguments of PixelKernels::dots, gathered.
struct Partners {
  static constexpr int kMost = 256;
  const double* spot[kMost];
  int x[kMost], y[kMost];
  double product[kMost + kLanes];
  int count = 0;

  void gather(SpotRing& ring, int fiber, const FiberTrace& trace, int first, int last) {
    count = last - first + 1;
    const int* frame = trace.frame.data() + first;
    const int* row = trace.y0.data() + first;
    const double* next = nullptr;
    for (int k = 0; k < count; ++k) {
      const int in_tile = (first + k) % kLanes;
      if (k == 0 || in_tile == 0) {
        next = ring.tile(fiber, (first + k) / kLanes) + static_cast<std::size_t>(in_tile) * ring.spot_size;
      }
      spot[k] = next;
      next += ring.spot_size;
      x[k] = frame[k];
      y[k] = row[k];
    }
  }
};

class Assembler {
 public:
  Assembler(const BundleGeometry& g, const StampShape& shape, const PixelKernels& kernels,
            SpotRing& ring, NormalEquations& n)
      : g_(g), shape_(shape), kernels_(kernels), ring_(ring), n_(n) {}

  /// Products of the weighted spot of (fibre, j) with its own fibre's bins up to j.
  void own(int fiber, int j, const double* weighted) {
    const int first = std::max(0, j - g_.band);
    multiply(fiber, j, weighted, fiber, first, j);
    for (int k = first; k <= j; ++k) n_.own(fiber, j - k)[k] = partners_.product[k - first];
  }

  /// Products of the weighted spot of (fibre, j) with bins [first, last] of `other`.
  void cross(int fiber, int j, const double* weighted, int other, int first, int last) {
    first = std::max({0, first, j - g_.cross_band});
    last = std::min({last, j + g_.cross_band, g_.nbin - 1});
    if (first > last) return;
    multiply(fiber, j, weighted, other, first, last);
    for (int k = first; k <= last; ++k) {
      const double product = partners_.product[k - first];
      if (other < fiber) {
        n_.cross(fiber - other, other, j - k)[k] = product;
      } else {
        n_.cross(other - fiber, fiber, k - j)[j] = product;
      }
    }
  }

 private:
  void multiply(int fiber, int j, const double* weighted, int other, int first, int last) {
    const FiberTrace& t = g_.trace[static_cast<std::size_t>(fiber)];
    partners_.gather(ring_, other, g_.trace[static_cast<std::size_t>(other)], first, last);
    kernels_.dots(shape_, weighted, t.frame[static_cast<std::size_t>(j)],
                  t.y0[static_cast<std::size_t>(j)], partners_.spot, partners_.x, partners_.y,
                  partners_.count, partners_.product);
  }

  const BundleGeometry& g_;
  const StampShape& shape_;
  const PixelKernels& kernels_;
  SpotRing& ring_;
  NormalEquations& n_;
  Partners partners_;
};

}  // namespace

void assemble(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, SpotRing& ring, NormalEquations& n) {
  const StampShape shape{plan.ny, plan.stride};
  const int halo = std::max(g.band, g.cross_band);
  ring.resize(g.nfiber, (halo + kLanes - 1) / kLanes + 1, plan.spot_size());
  const StripView view = strip.view();
  Assembler assembler(g, shape, kernels, ring, n);
  // Weighted spots of the current tile: of this fibre and the `reach` before it.
  const std::size_t tile_size = kLanes * plan.spot_size();
  Buffer<double> weighted(static_cast<std::size_t>(g.reach + 1) * tile_size);
  const auto weighted_spot = [&](int fiber, int lane) {
    return weighted.data() + static_cast<std::size_t>(fiber % (g.reach + 1)) * tile_size +
           static_cast<std::size_t>(lane) * plan.spot_size();
  };

  for (int j0 = 0; j0 < g.nbin; j0 += kLanes) {
    const int count = std::min(kLanes, g.nbin - j0);
    for (int f = 0; f < g.nfiber; ++f) {
      const FiberTrace& t = g.trace[static_cast<std::size_t>(f)];
      const double* tile = ring.tile(f, j0 / kLanes);
      spots(plan, g.first_fiber + f, j0, t, ring.tile(f, j0 / kLanes));
      for (int i = 0; i < count; ++i) {
        const int j = j0 + i;
        kernels.weigh(shape, tile + static_cast<std::size_t>(i) * ring.spot_size, view, t.frame[static_cast<std::size_t>(j)],
                      t.y0[static_cast<std::size_t>(j)], weighted_spot(f, i), n.rhs(f) + j,
                      n.phi(f) + j);
        assembler.own(f, j, weighted_spot(f, i));
      }
      for (int other = f - 1; other >= std::max(0, f - g.reach); --other) {
        for (int i = 0; i < count; ++i) {
          const int j = j0 + i;
          // this fibre's new bins with all the other's so far, then the other's new bins with this one's old
          assembler.cross(f, j, weighted_spot(f, i), other, 0, j0 + count - 1);
          assembler.cross(other, j, weighted_spot(other, i), f, 0, j0 - 1);
        }
      }
    }
  }
}

double add_prior(NormalEquations& n, double ridge, double weak_prior) {
  std::vector<double> good;
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      if (n.phi(f)[j] > 0.5) good.push_back(n.own(f, 0)[j]);
    }
  }
  double median = 1.0;  // nothing known about the bundle: any positive number will do
  if (!good.empty()) {
    const auto middle = good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2);
    std::nth_element(good.begin(), middle, good.end());
    median = *middle;
    if (good.size() % 2 == 0) median = 0.5 * (median + *std::max_element(good.begin(), middle));
  }
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      double& diagonal = n.own(f, 0)[j];
      if (diagonal == 0.0) {
        // No good pixel at all: the bin meets no other, and any prior gives the same answer elsewhere. A strong one
        // keeps the condition number what the data make it.
        diagonal = median;
        continue;
      }
      diagonal += ridge + weak_prior * median;
      if (n.phi(f)[j] < kUnconstrainedBelow) diagonal += kPrior * median;
    }
  }
  return median;
}

}  // namespace fiberloom::exact
