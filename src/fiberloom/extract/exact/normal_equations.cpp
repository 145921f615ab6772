// SPDX-License-Identifier: BSD-3-Clause
// Assembly of the normal equations, tile by tile along the wavelength axis.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "fiberloom/extract/exact/spot_blocks.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::exact {

void load_strip(const CcdFrame& ccd, const BundleGeometry& geometry, const PixelKernels& kernels,
                Strip& strip) {
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
  constexpr long kAhead = 8;
  const auto widen = [&](const auto* in, long n, double* out) {
    if constexpr (std::is_same_v<decltype(in), const float*>) {
      kernels.widen(in, n, out);
    } else {
      std::copy_n(in, n, out);
    }
  };
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
      if (r + kAhead < strip.rows && y + kAhead < ny) {  // the next rows lie on other pages
        const auto* later = source.row(static_cast<std::size_t>(y + kAhead)) + strip.x0;
        for (long c = first; c < last; c += 8) __builtin_prefetch(later + c);
      }
      widen(in + first, last - first, out + first);
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

/// Products are taken in tiles, a pair of spots by a group of kTileB others.
class Assembler {
 public:
  Assembler(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
            const PixelKernels& kernels, const StripView& strip, GrowBuffer<double>& memory,
            const TouchedPacks* touched, NormalEquations& n)
      : plan_(plan),
        g_(g),
        shape_{plan.ny, plan.stride},
        spots_(spots),
        kernels_(kernels),
        blocks_(g, plan.ny, plan.stride, memory),
        pixels_{blocks_.spots(), plan.stride, blocks_.slot_size(), strip},
        touched_(touched),
        n_(n),
        product_(static_cast<std::size_t>(
            ((g.band + 2 * g.cross_band + kTileA) / kTileB + 3) * kTileA * kTileB + kLanes)) {}

  void run() {
    for (int block = 0; block < g_.nbin; block += kBlockBins) {
      blocks_.start(block);
      const int end = std::min(g_.nbin, block + kBlockBins);
      for (int f = 0; f < g_.nfiber; ++f) {
        // fill() makes whole packs: the bins that pad the last one need their place too
        for (int j = block; j < end; j += kLanes) {
          if (!wanted(f, j)) continue;
          for (int i = 0; i < kLanes; i += kTileB) blocks_.prepare(f, j + i);
        }
        if (touched_ == nullptr) prefetch(f, block, end);
        // One pass for the fibre itself, one for each neighbour: the spots that a bin meets in one
        // pass fit the first-level cache.
        for (int j = block; j < end; j += kLanes) {
          if (!wanted(f, j)) continue;
          fill(f, j);
          for (int a = j; a < std::min(j + kLanes, end); a += kTileA) multiply_own(f, a, end);
        }
        for (int other = f - 1; other >= std::max(0, f - g_.reach); --other) {
          for (int j = std::max(0, block - blocks_.halo()); j < end; j += kTileA) {
            if (wanted(f, j)) multiply(f, j, other, block, end);
          }
        }
        if (f >= g_.reach) blocks_.keep_halo(f - g_.reach, touched_);
      }
      for (int f = std::max(0, g_.nfiber - g_.reach); f < g_.nfiber; ++f)
        blocks_.keep_halo(f, touched_);
    }
  }

 private:
  [[nodiscard]] bool wanted(int f, int j) const { return touched_ == nullptr || (*touched_)(f, j); }

  /// Eight spots into their slots.
  void fill(int f, int first) {
    double* out[kLanes];
    for (int i = 0; i < kLanes; ++i) out[i] = blocks_.spot(f, first + i);
    spots_(plan_, g_.first_fiber + f, first, g_.trace[static_cast<std::size_t>(f)], out);
  }

  /// Asks for the pixels and the entries of N that this block will touch: they lie in many short
  /// pieces, which the processor does not foresee, and the spots take long enough to fetch them.
  void prefetch(int f, int block, int end) {
    for (int j = block; j < end; j += kTileB) {
      const Patch& p = blocks_.group(f, j);
      const int until =
          j + kTileB < end ? std::min(blocks_.group(f, j + kTileB).row, p.end) : p.end;
      for (int row = p.row; row < until; ++row) {
        for (int c = 0; c < plan_.stride; c += kLanes) {
          __builtin_prefetch(pixels_.strip.weight + pixels_.strip.at(p.frame + c, row));
          __builtin_prefetch(pixels_.strip.pixel + pixels_.strip.at(p.frame + c, row));
        }
      }
    }
    for (int j = block; j < end; j += kLanes) {
      for (int a = 0; a <= n_.band; ++a) __builtin_prefetch(n_.own(f, a) + j, 1);
      for (int other = std::max(0, f - g_.reach); other < f; ++other) {
        for (int a = -n_.cross_band; a <= n_.cross_band; ++a)
          __builtin_prefetch(n_.cross(f - other, other, a) + j, 1);
      }
    }
  }

  /// What bins j ... j + kTileA - 1 of a fibre have by themselves, and with the fibre's earlier
  /// ones.
  void multiply_own(int f, int j, int end) {
    const int last = std::min(j + kTileA, end) - 1, own = j / kTileB * kTileB;
    const int from = std::max(0, j - g_.band) / kTileB * kTileB;
    products(f, j, f, from, own);
    products_and_sums(f, j, last, product_.data() + (own - from) * kTileA);
    const double* product = product_.data();
    for (int g = from; g <= own; g += kTileB) {
      if (!wanted(f, g)) {
        product += kTileA * kTileB;
        continue;
      }
      for (int a = j; a <= last; ++a, product += kTileB) {
        store(n_.own(f, 0), product, a, g, std::max(g, a - g_.band), std::min(g + kTileB - 1, a));
      }
      product += (j + kTileA - 1 - last) * kTileB;
    }
  }

  /// Products of these bins with those of an earlier fibre. Bins of the halo have met the others
  /// of the halo before.
  void multiply(int f, int j, int other, int block, int end) {
    const int last = std::min(j + kTileA, end) - 1;
    const int first = std::max(j < block ? block : 0, j - g_.cross_band);
    const int to = std::min(end - 1, last + g_.cross_band), from = first / kTileB * kTileB;
    products(f, j, other, from, to + 1);
    const double* product = product_.data();
    for (int g = from; g <= to; g += kTileB) {
      if (!wanted(other, g)) {
        product += kTileA * kTileB;
        continue;
      }
      for (int a = j; a <= last; ++a, product += kTileB) {
        store(n_.cross(f - other, other, 0), product, a, g, std::max({g, first, a - g_.cross_band}),
              std::min({g + kTileB - 1, to, a + g_.cross_band}));
      }
      product += (j + kTileA - 1 - last) * kTileB;
    }
  }

  /// Entries (a, low ... high) of the products of bin a with group g, to diagonal[a - b][b].
  void store(double* diagonal, const double* product, int a, int g, int low, int high) const {
    const long step = 1 - n_.pitch;
    double* to = diagonal + (a - g) * n_.pitch + g;
    if (high - low + 1 == kTileB) {  // most of them: straight-line code
      for (int k = 0; k < kTileB; ++k) to[k * step] = product[k];
      return;
    }
    for (int k = low - g; k <= high - g; ++k) to[k * step] = product[k];
  }

  /// The pair of bin j of a fibre by the groups of another that begin in [from, to), as far as they
  /// are wanted.
  void products(int fiber, int j, int other, int from, int to) {
    if (touched_ == nullptr) return products_of_run(fiber, j, other, from, to, product_.data());
    for (int g = from; g < to; g += kTileB) {
      const int begin = g;
      while (g < to && wanted(other, g)) g += kTileB;
      products_of_run(fiber, j, other, begin, std::min(g, to),
                      product_.data() + (begin - from) * kTileA);
    }
  }

  void products_of_run(int fiber, int j, int other, int from, int to, double* out) {
    if (to <= from) return;
    const Patch &a = blocks_.pair(fiber, j), *b = &blocks_.group(other, from);
    const int n = (to - from + kTileB - 1) / kTileB;
    kernels_.tiles(pixels_, a, b, n, out);
    for (int k = 0; k < n; ++k) {
      if (!a.same_columns || !b[k].same_columns)
        separate_products(fiber, j, other, from + k * kTileB, out + k * kTileA * kTileB);
    }
  }

  /// The pair of bin j by its own group, and what each of its bins has alone.
  void products_and_sums(int f, int j, int last, double* out) {
    const int g = j / kTileB * kTileB;
    const Patch &a = blocks_.pair(f, j), &b = blocks_.group(f, g);
    if (!b.same_columns) {
      separate_products(f, j, f, g, out);
      for (int i = j; i <= last; ++i) {
        const Patch one = blocks_.single(f, i);
        kernels_.weigh(shape_, blocks_.spot(f, i), pixels_.strip, one.frame, one.row, n_.rhs(f) + i,
                       n_.phi(f) + i);
      }
      return;
    }
    kernels_.tile_and_sums(pixels_, a, b, out);
    const double* sums = out + kTileA * kTileB;
    for (int i = j; i <= last; ++i) {
      n_.rhs(f)[i] = sums[i - j];
      n_.phi(f)[i] = sums[kTileA + i - j];
    }
  }

  /// Where the columns differ within a patch, since a trace has just moved to the next pack.
  void separate_products(int fiber, int j, int other, int g, double* out) {
    for (int i = 0; i < kTileA; ++i) {
      const Patch a = blocks_.single(fiber, j + i);
      for (int k = 0; k < kTileB; ++k) {
        const Patch b = blocks_.single(other, g + k);
        PatchPixels::Shared s;
        out[i * kTileB + k] =
            pixels_.share(a, b, s)
                ? kernels_.dot(s.pixels, pixels_.at(a, s), pixels_.strip.weight + s.in_strip,
                               pixels_.at(b, s))
                : 0.0;
      }
    }
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  StampShape shape_;
  SpotKernel spots_;
  const PixelKernels& kernels_;
  SpotBlocks blocks_;
  PatchPixels pixels_;
  const TouchedPacks* touched_;
  NormalEquations& n_;
  std::vector<double> product_;  ///< of a pair with the groups that it meets
};

}  // namespace

void assemble(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, GrowBuffer<double>& memory,
              NormalEquations& n, const TouchedPacks* touched) {
  if (std::max(g.band, g.cross_band) > kBlockBins) {
    throw Error(Status::kUnsupported, "spots of " + std::to_string(std::max(g.band, g.cross_band)) +
                                          " bins share a CCD row, at most " +
                                          std::to_string(kBlockBins) +
                                          " supported: the wavelength step is too fine");
  }
  Assembler(plan, g, spots, kernels, strip.view(), memory, touched, n).run();
}

void keep_diagonal(const NormalEquations& n, std::vector<double>& diagonal) {
  diagonal.clear();
  for (int f = 0; f < n.nfiber; ++f)
    diagonal.insert(diagonal.end(), n.own(f, 0), n.own(f, 0) + n.nbin);
}

void set_diagonal(NormalEquations& n, const std::vector<double>& diagonal, double more) {
  const double* from = diagonal.data();
  for (int f = 0; f < n.nfiber; ++f) {
    double* to = n.own(f, 0);
    for (int j = 0; j < n.nbin; ++j) to[j] = *from++ + more;
  }
}

void add_prior(NormalEquations& n, double ridge, double weak_prior) {
  std::vector<double> good;
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      if (n.phi(f)[j] > kInMedianAbove) good.push_back(n.own(f, 0)[j]);
    }
  }
  // nothing known about the bundle: any positive number will do
  const double median = good.empty() ? 1.0 : median_of(good);
  for (int f = 0; f < n.nfiber; ++f) {
    for (int j = 0; j < n.nbin; ++j) {
      double& diagonal = n.own(f, 0)[j];
      diagonal = with_prior(diagonal, n.phi(f)[j], median, ridge, weak_prior);
    }
  }
  n.scale = median;
}

}  // namespace fiberloom::exact
