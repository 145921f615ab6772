// SPDX-License-Identifier: BSD-3-Clause
// Assembly of the normal equations, tile by tile along the wavelength axis.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "fiberloom/base/error.hpp"

namespace fiberloom::exact {

void load_strip(const CcdFrame& ccd, const BundleGeometry& geometry, Strip& strip) {
  strip.x0 = geometry.x0;
  strip.y0 = geometry.y0;
  strip.rows = geometry.rows;
  strip.pitch = geometry.columns + kLanes;
  const std::size_t size =
      static_cast<std::size_t>(strip.rows) * static_cast<std::size_t>(strip.pitch);
  strip.weight.resize(size);
  strip.pixel.resize(size);
  const long nx = static_cast<long>(ccd.image.cols()), ny = static_cast<long>(ccd.image.rows());
  const long first = std::clamp(-static_cast<long>(strip.x0), 0L, strip.pitch);
  const long last = std::clamp(nx - strip.x0, first, strip.pitch);
  const auto copy = [&](const auto& source, double* target) {
    for (long r = 0; r < strip.rows; ++r) {
      const long y = r + strip.y0;
      double* out = target + r * strip.pitch;
      if (y < 0 || y >= ny || first == last) {
        std::fill(out, out + strip.pitch, 0.0);
        continue;
      }
      const auto* in = source.row(static_cast<std::size_t>(y)) + strip.x0;
      std::fill(out, out + first, 0.0);
      for (long c = first; c < last; ++c) out[c] = static_cast<double>(in[c]);
      std::fill(out + last, out + strip.pitch, 0.0);
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
  // Assembly writes every entry inside the matrix; the zeros around them survive from bundle to
  // bundle.
  const std::array<long, 6> now{pitch, nfiber, nbin, band, cross_band, reach};
  if (now == zeroed_) return;
  zeroed_ = now;
  own_.resize(f * static_cast<std::size_t>(band + 1) * p, 0.0);
  cross_.resize(
      static_cast<std::size_t>(reach) * f * static_cast<std::size_t>(2 * cross_band + 1) * p, 0.0);
  rhs_.resize(f * p, 0.0);
  phi_.resize(f * p, 0.0);
}

namespace {

/// Bins of a block: the spots of two fibres over a block stay in the second-level cache.
constexpr int kBlock = 8 * kLanes;

/// Spots of the current block of the last `reach + 1` fibres, each with a halo of earlier bins in
/// front; and the halos of all fibres, kept from block to block.
class SpotBlocks {
 public:
  SpotBlocks(const BundleGeometry& g, std::size_t spot_size, GrowBuffer<double>& memory)
      : halo_((std::max(g.band, g.cross_band) + kLanes - 1) / kLanes * kLanes),
        fibers_(g.reach + 1),
        size_(spot_size) {
    blocks_ = memory.resize(
        static_cast<std::size_t>(fibers_ * (halo_ + kBlock) + g.nfiber * halo_) * spot_size);
    halos_ = blocks_ + static_cast<std::size_t>(fibers_ * (halo_ + kBlock)) * spot_size;
  }
  [[nodiscard]] int halo() const { return halo_; }
  void start(int block) { block_ = block; }
  /// Spot of a bin of this block or its halo; neighbours follow at spot_size().
  [[nodiscard]] double* spot(int fiber, int j) const {
    return blocks_ +
           static_cast<std::size_t>((fiber % fibers_) * (halo_ + kBlock) + halo_ + j - block_) *
               size_;
  }
  [[nodiscard]] std::size_t spot_size() const { return size_; }
  void fetch_halo(int fiber) const {
    if (block_ > 0)
      std::copy_n(halo_of(fiber), static_cast<std::size_t>(halo_) * size_,
                  spot(fiber, block_ - halo_));
  }
  void keep_halo(int fiber) const {
    std::copy_n(spot(fiber, block_ + kBlock - halo_), static_cast<std::size_t>(halo_) * size_,
                halo_of(fiber));
  }

 private:
  [[nodiscard]] double* halo_of(int fiber) const {
    return halos_ + static_cast<std::size_t>(fiber * halo_) * size_;
  }
  int halo_, fibers_, block_ = 0;
  std::size_t size_;
  double *blocks_, *halos_;
};

class Assembler {
 public:
  Assembler(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
            const PixelKernels& kernels, const StripView& strip, GrowBuffer<double>& memory,
            NormalEquations& n)
      : plan_(plan),
        g_(g),
        shape_{plan.ny, plan.stride},
        spots_(spots),
        kernels_(kernels),
        strip_(strip),
        blocks_(g, plan.spot_size(), memory),
        weighted_(plan.spot_size()),
        n_(n) {}

  void run() {
    for (int block = 0; block < g_.nbin; block += kBlock) {
      blocks_.start(block);
      const int end = std::min(g_.nbin, block + kBlock);
      for (int f = 0; f < g_.nfiber; ++f) {
        fill(f, block, end);
        multiply(f, block, end);
        blocks_.keep_halo(f);
      }
    }
  }

 private:
  void fill(int f, int block, int end) {
    blocks_.fetch_halo(f);
    for (int j = block; j < end; j += kLanes) {
      spots_(plan_, g_.first_fiber + f, j, g_.trace[static_cast<std::size_t>(f)],
             blocks_.spot(f, j));
    }
  }

  void multiply(int f, int block, int end) {
    const FiberTrace& t = g_.trace[static_cast<std::size_t>(f)];
    for (int j = std::max(0, block - blocks_.halo()); j < end; ++j) {
      const bool old = j < block;  // then only what the other fibres' new bins add
      const auto at = static_cast<std::size_t>(j);
      double y, phi;
      kernels_.weigh(shape_, blocks_.spot(f, j), strip_, t.frame[at], t.y0[at], weighted_.data(),
                     &y, &phi);
      if (!old) {
        n_.rhs(f)[j] = y;
        n_.phi(f)[j] = phi;
        const int first = std::max(0, j - g_.band);
        products(f, j, f, first, j);
        for (int k = first; k <= j; ++k) n_.own(f, j - k)[k] = product_[k - first];
      }
      for (int other = f - 1; other >= std::max(0, f - g_.reach); --other) {
        const int first = std::max(old ? block : 0, j - g_.cross_band);
        const int last = std::min(end - 1, j + g_.cross_band);
        if (first > last) continue;
        products(f, j, other, first, last);
        for (int k = first; k <= last; ++k)
          n_.cross(f - other, other, j - k)[k] = product_[k - first];
      }
    }
  }

  /// The weighted spot of (fiber, j) times bins [first, last] of `other`.
  void products(int fiber, int j, int other, int first, int last) {
    const FiberTrace& a = g_.trace[static_cast<std::size_t>(fiber)];
    const FiberTrace& b = g_.trace[static_cast<std::size_t>(other)];
    kernels_.dots(shape_, weighted_.data(), a.frame[static_cast<std::size_t>(j)],
                  a.y0[static_cast<std::size_t>(j)], blocks_.spot(other, first),
                  blocks_.spot_size(), b.frame.data() + first, b.y0.data() + first,
                  last - first + 1, product_);
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  StampShape shape_;
  SpotKernel spots_;
  const PixelKernels& kernels_;
  StripView strip_;
  SpotBlocks blocks_;
  Buffer<double> weighted_;
  NormalEquations& n_;
  double product_[256];
};

}  // namespace

void assemble(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, GrowBuffer<double>& memory,
              NormalEquations& n) {
  if (2 * std::max(g.band, g.cross_band) + 1 + kLanes > 256 ||
      std::max(g.band, g.cross_band) > kBlock) {
    throw Error(Status::kUnsupported, "spots of " + std::to_string(std::max(g.band, g.cross_band)) +
                                          " bins share a CCD row, at most " +
                                          std::to_string(kBlock) +
                                          " supported: the wavelength step is too fine");
  }
  Assembler(plan, g, spots, kernels, strip.view(), memory, n).run();
}

void add_prior(NormalEquations& n, double ridge, double weak_prior) {
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
        // No good pixel at all: the bin meets no other, and any prior gives the same answer
        // elsewhere. A strong one keeps the condition number what the data make it.
        diagonal = median;
        continue;
      }
      diagonal += n.phi(f)[j] < kUnconstrainedBelow ? kPrior * median : ridge + weak_prior * median;
    }
  }
  n.scale = median;
}

}  // namespace fiberloom::exact
