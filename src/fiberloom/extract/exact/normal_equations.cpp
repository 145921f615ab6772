// SPDX-License-Identifier: BSD-3-Clause
// Assembly of the normal equations, tile by tile along the wavelength axis.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

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

/// Bins of a block: the spots of two fibres over a block stay in the second-level cache.
constexpr int kBlock = 8 * kLanes;

/// Spots of the current block of the last `reach + 1` fibres; and of all fibres the last bins of
/// the block before, its halo. The spots of a group of kTileB bins lie in slots that begin at one
/// CCD row, with zeros above and below each, so that products can be taken in tiles.
class SpotBlocks {
 public:
  SpotBlocks(const BundleGeometry& g, int ny, int stride, GrowBuffer<double>& memory)
      : g_(g),
        halo_((std::max(g.band, g.cross_band) + kLanes - 1) / kLanes * kLanes),
        fibers_(g.reach + 1),
        ny_(ny),
        stride_(stride) {
    int height = 0;
    for (int f = 0; f < g.nfiber; ++f) {
      for (int j = 0; j < g.nbin_padded; j += kTileB) {
        const Patch p = covered(f, j, kTileB);
        height = std::max(height, p.end - p.row);
      }
    }
    slot_size_ = static_cast<long>(height) * stride + kLanes;
    halos_ = fibers_ * kBlock;
    const auto fibers = static_cast<std::size_t>(g.nfiber);
    spots_ = memory.resize(
        static_cast<std::size_t>(slot_size_) *
        (static_cast<std::size_t>(halos_) + fibers * static_cast<std::size_t>(halo_)));
    const auto bins = static_cast<std::size_t>(halo_ + kBlock);
    groups_.resize(fibers * bins / kTileB);
    pairs_.resize(fibers * bins / kTileA);
  }
  [[nodiscard]] int halo() const { return halo_; }
  [[nodiscard]] long slot_size() const { return slot_size_; }
  [[nodiscard]] const double* spots() const { return spots_; }
  /// The group or the pair that begins with a bin of this block or its halo.
  [[nodiscard]] const Patch& group(int f, int j) const { return groups_[index(f, j, kTileB)]; }
  [[nodiscard]] const Patch& pair(int f, int j) const { return pairs_[index(f, j, kTileA)]; }
  /// A single bin.
  [[nodiscard]] Patch single(int f, int j) const {
    const Patch& first = group(f, j / kTileB * kTileB);
    Patch p = covered(f, j, 1);
    p.origin = first.origin + first.frame + j % kTileB * slot_size_ - p.frame;
    return p;
  }
  [[nodiscard]] double* spot(int f, int j) {
    const Patch p = single(f, j);
    return spots_ + p.origin + static_cast<long>(p.row) * stride_ + p.frame;
  }

  void start(int block) { block_ = block; }
  /// Makes room for the bins j ... j + kTileB - 1: notes where they lie, with zeros around where
  /// their spots will be.
  void prepare(int f, int j) {
    const long slot = static_cast<long>((f % fibers_) * kBlock + j - block_) * slot_size_;
    Patch& group = groups_[index(f, j, kTileB)];
    group = covered(f, j, kTileB);
    const long row_0 = slot - static_cast<long>(group.row) * stride_;
    group.origin = row_0 - group.frame;
    for (int i = 0; i < kTileB; i += kTileA) {
      Patch& pair = pairs_[index(f, j + i, kTileA)];
      pair = covered(f, j + i, kTileA);
      pair.origin = row_0 + i * slot_size_ - pair.frame;
    }
    for (int i = 0; i < kTileB; ++i) {
      double* begin = spots_ + slot + i * slot_size_;
      double* spot = begin + (trace(f).y0[static_cast<std::size_t>(j + i)] - group.row) * stride_;
      std::fill(begin, spot, 0.0);
      std::fill(spot + ny_ * stride_, begin + (group.end - group.row) * stride_, 0.0);
    }
  }
  /// Makes the end of this block the next one's halo. Not before all fibres within reach have used
  /// the present one.
  void keep_halo(int f) {
    const long from = static_cast<long>((f % fibers_) * kBlock + kBlock - halo_) * slot_size_;
    const long to = static_cast<long>(halos_ + f * halo_) * slot_size_;
    std::copy_n(spots_ + from, halo_ * slot_size_, spots_ + to);
    const auto keep = [&](std::vector<Patch>& patches, int count) {
      const auto first = static_cast<std::ptrdiff_t>(index(f, block_ - halo_, count));
      const auto begin = patches.begin() + first;
      std::copy_n(begin + kBlock / count, halo_ / count, begin);
      for (auto p = begin; p != begin + halo_ / count; ++p) p->origin += to - from;
    };
    keep(groups_, kTileB);
    keep(pairs_, kTileA);
  }

 private:
  [[nodiscard]] const FiberTrace& trace(int f) const {
    return g_.trace[static_cast<std::size_t>(f)];
  }
  [[nodiscard]] std::size_t index(int f, int j, int count) const {
    return static_cast<std::size_t>(f * (halo_ + kBlock) + halo_ + j - block_) /
           static_cast<std::size_t>(count);
  }
  [[nodiscard]] Patch covered(int f, int j, int count) const {
    const FiberTrace& t = trace(f);
    const auto begin = static_cast<std::size_t>(j);
    Patch p{t.y0[begin], t.y0[begin], t.frame[begin], true, 0};
    for (std::size_t i = begin + 1; i < begin + static_cast<std::size_t>(count); ++i) {
      p.row = std::min(p.row, t.y0[i]);
      p.end = std::max(p.end, t.y0[i]);
      p.same_columns = p.same_columns && t.frame[i] == p.frame;
    }
    p.end += ny_;
    return p;
  }
  const BundleGeometry& g_;
  int halo_, fibers_, ny_, stride_, halos_ = 0, block_ = 0;
  long slot_size_ = 0;
  double* spots_ = nullptr;
  std::vector<Patch> groups_, pairs_;  // of each fibre: those of the halo, those of the block
};

/// Products are taken in tiles, a pair of spots by a group of kTileB others.
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
        blocks_(g, plan.ny, plan.stride, memory),
        pixels_{blocks_.spots(), plan.stride, blocks_.slot_size(), strip},
        n_(n),
        product_(static_cast<std::size_t>(
            ((g.band + 2 * g.cross_band + kTileA) / kTileB + 3) * kTileA * kTileB + kLanes)) {}

  void run() {
    for (int block = 0; block < g_.nbin; block += kBlock) {
      blocks_.start(block);
      const int end = std::min(g_.nbin, block + kBlock);
      for (int f = 0; f < g_.nfiber; ++f) {
        // fill() makes whole packs: the bins that pad the last one need their place too
        for (int j = block; j < end; j += kLanes) {
          for (int i = 0; i < kLanes; i += kTileB) blocks_.prepare(f, j + i);
        }
        prefetch(f, block, end);
        // One pass for the fibre itself, one for each neighbour: the spots that a bin meets in one
        // pass fit the first-level cache.
        for (int j = block; j < end; j += kLanes) {
          fill(f, j);
          for (int a = j; a < std::min(j + kLanes, end); a += kTileA) multiply_own(f, a, end);
        }
        for (int other = f - 1; other >= std::max(0, f - g_.reach); --other) {
          for (int j = std::max(0, block - blocks_.halo()); j < end; j += kTileA)
            multiply(f, j, other, block, end);
        }
        if (f >= g_.reach) blocks_.keep_halo(f - g_.reach);
      }
      for (int f = std::max(0, g_.nfiber - g_.reach); f < g_.nfiber; ++f) blocks_.keep_halo(f);
    }
  }

 private:
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

  /// The pair of bin j of a fibre by the groups of another that begin in [from, to).
  void products(int fiber, int j, int other, int from, int to) {
    if (to <= from) return;
    const Patch &a = blocks_.pair(fiber, j), *b = &blocks_.group(other, from);
    const int n = (to - from + kTileB - 1) / kTileB;
    kernels_.tiles(pixels_, a, b, n, product_.data());
    for (int k = 0; k < n; ++k) {
      if (!a.same_columns || !b[k].same_columns)
        separate_products(fiber, j, other, from + k * kTileB,
                          product_.data() + k * kTileA * kTileB);
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
  NormalEquations& n_;
  std::vector<double> product_;  ///< of a pair with the groups that it meets
};

}  // namespace

void assemble(const SpotPlan& plan, const BundleGeometry& g, SpotKernel spots,
              const PixelKernels& kernels, const Strip& strip, GrowBuffer<double>& memory,
              NormalEquations& n) {
  if (std::max(g.band, g.cross_band) > kBlock) {
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
  // nothing known about the bundle: any positive number will do
  const double median = good.empty() ? 1.0 : median_of(good);
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
