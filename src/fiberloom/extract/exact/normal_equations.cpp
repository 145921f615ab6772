// SPDX-License-Identifier: BSD-3-Clause
// Assembly of the normal equations, tile by tile along the wavelength axis.
#include "fiberloom/extract/exact/normal_equations.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "fiberloom/base/error.hpp"

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
/// the block before, its halo.
class SpotBlocks {
 public:
  SpotBlocks(const BundleGeometry& g, std::size_t slot_size, GrowBuffer<double>& memory)
      : halo_((std::max(g.band, g.cross_band) + kLanes - 1) / kLanes * kLanes),
        fibers_(g.reach + 1),
        size_(slot_size) {
    blocks_ =
        memory.resize(static_cast<std::size_t>(fibers_ * kBlock + g.nfiber * halo_) * slot_size);
    halos_ = blocks_ + static_cast<std::size_t>(fibers_ * kBlock) * slot_size;
  }
  [[nodiscard]] int halo() const { return halo_; }
  void start(int block) { block_ = block; }
  /// Slot of a bin of this block or its halo; the neighbours of the same group follow at
  /// slot_size().
  [[nodiscard]] double* slot(int fiber, int j) const {
    return j < block_
               ? halos_ + static_cast<std::size_t>(fiber * halo_ + halo_ + j - block_) * size_
               : blocks_ +
                     static_cast<std::size_t>((fiber % fibers_) * kBlock + j - block_) * size_;
  }
  [[nodiscard]] std::size_t slot_size() const { return size_; }
  /// Makes the end of this block the next one's halo. Not before all fibres within reach have used
  /// the present one.
  void keep_halo(int fiber) const {
    std::copy_n(slot(fiber, block_ + kBlock - halo_), static_cast<std::size_t>(halo_) * size_,
                halos_ + static_cast<std::size_t>(fiber * halo_) * size_);
  }

 private:
  int halo_, fibers_, block_ = 0;
  std::size_t size_;
  double *blocks_, *halos_;
};

/// Place of some neighbouring bins' spots on the CCD.
struct Place {
  int row = 0, height = 0;    ///< the rows that any of them touches
  int frame = 0;              ///< of the first
  bool same_columns = false;  ///< all have that frame
};

Place place_of(const FiberTrace& t, int first, int count, int ny) {
  const auto begin = static_cast<std::size_t>(first);
  Place p{t.y0[begin], 0, t.frame[begin], true};
  int last = p.row;
  for (std::size_t j = begin + 1; j < begin + static_cast<std::size_t>(count); ++j) {
    p.row = std::min(p.row, t.y0[j]);
    last = std::max(last, t.y0[j]);
    p.same_columns = p.same_columns && t.frame[j] == p.frame;
  }
  p.height = last - p.row + ny;
  return p;
}

/// Places of all groups of kTileB bins of a bundle.
class Groups {
 public:
  Groups(const BundleGeometry& g, int ny) : per_fiber_(g.nbin_padded / kTileB) {
    for (const FiberTrace& t : g.trace) {
      for (int k = 0; k < per_fiber_; ++k) {
        places_.push_back(place_of(t, k * kTileB, kTileB, ny));
        height_ = std::max(height_, places_.back().height);
      }
    }
  }
  [[nodiscard]] const Place& of(int fiber, int group) const {
    return places_[static_cast<std::size_t>(fiber * per_fiber_ + group)];
  }
  [[nodiscard]] int height() const { return height_; }  ///< of the highest

 private:
  int per_fiber_, height_ = 0;
  std::vector<Place> places_;
};

/// Products are taken in tiles, kTileA spots by a group of kTileB others. For that the spots of a
/// group lie in slots that begin at one CCD row, with zeros above and below each.
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
        groups_(g, plan.ny),
        blocks_(g, static_cast<std::size_t>(groups_.height() * plan.stride + kLanes), memory),
        n_(n) {}

  void run() {
    for (int block = 0; block < g_.nbin; block += kBlock) {
      blocks_.start(block);
      const int end = std::min(g_.nbin, block + kBlock);
      for (int f = 0; f < g_.nfiber; ++f) {
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
  [[nodiscard]] const FiberTrace& trace(int f) const {
    return g_.trace[static_cast<std::size_t>(f)];
  }
  /// Puts zeros into the rows of a slot of `height` rows beside those of a spot at `row`.
  void clear_around(double* slot, int row, int height) const {
    std::fill(slot, slot + row * plan_.stride, 0.0);
    std::fill(slot + (row + plan_.ny) * plan_.stride, slot + height * plan_.stride, 0.0);
  }

  /// Eight spots into their slots.
  void fill(int f, int first) {
    double* out[kLanes];
    const FiberTrace& t = trace(f);
    for (int i = 0; i < kLanes; ++i) {
      out[i] = spot(f, first + i);
    }
    spots_(plan_, g_.first_fiber + f, first, t, out);
    for (int j = first; j < first + kLanes; ++j) {
      const Place& place = groups_.of(f, j / kTileB);
      clear_around(blocks_.slot(f, j), t.y0[static_cast<std::size_t>(j)] - place.row, place.height);
    }
  }
  [[nodiscard]] double* spot(int f, int j) const {
    return blocks_.slot(f, j) +
           (trace(f).y0[static_cast<std::size_t>(j)] - groups_.of(f, j / kTileB).row) *
               plan_.stride;
  }

  /// Asks for the pixels and the entries of N that this block will touch: they lie in many short
  /// pieces, which the processor does not foresee, and the spots take long enough to fetch them.
  void prefetch(int f, int block, int end) {
    const int last = (end - 1) / kTileB;
    for (int g = block / kTileB; g <= last; ++g) {
      const Place& p = groups_.of(f, g);
      const int until =
          g < last ? std::min(groups_.of(f, g + 1).row, p.row + p.height) : p.row + p.height;
      for (int row = p.row; row < until; ++row) {
        for (int c = 0; c < plan_.stride; c += kLanes) {
          __builtin_prefetch(strip_.weight + strip_.at(p.frame + c, row));
          __builtin_prefetch(strip_.pixel + strip_.at(p.frame + c, row));
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
    const int last = std::min(j + kTileA, end) - 1;
    const Place place = place_of(trace(f), j, kTileA, plan_.ny);
    for (int g = std::max(0, j - g_.band) / kTileB; g <= j / kTileB; ++g) {
      if (g < j / kTileB) {
        products(f, j, place, f, g);
      } else {
        products_and_sums(f, j, last, place);
      }
      for (int a = j; a <= last; ++a) {
        const int low = std::max(g * kTileB, a - g_.band);
        const int high = std::min(g * kTileB + kTileB - 1, a);
        store(n_.own(f, 0), a - j, a, low, high);
      }
    }
  }

  /// Products of these bins with those of an earlier fibre. Bins of the halo have met the others
  /// of the halo before.
  void multiply(int f, int j, int other, int block, int end) {
    const int last = std::min(j + kTileA, end) - 1;
    const int from = std::max(j < block ? block : 0, j - g_.cross_band);
    const int to = std::min(end - 1, last + g_.cross_band);
    const Place place = place_of(trace(f), j, kTileA, plan_.ny);
    for (int g = from / kTileB; g <= to / kTileB && from <= to; ++g) {
      products(f, j, place, other, g);
      for (int a = j; a <= last; ++a) {
        const int low = std::max({g * kTileB, from, a - g_.cross_band});
        const int high = std::min({g * kTileB + kTileB - 1, to, a + g_.cross_band});
        store(n_.cross(f - other, other, 0), a - j, a, low, high);
      }
    }
  }

  /// Entries (a, low ... high) of the last products(), those of one group, to diagonal[a - b][b].
  void store(double* diagonal, int i, int a, int low, int high) const {
    const double* from = product_ + i * kTileB;
    const long step = 1 - n_.pitch;
    double* to = diagonal + (a - low) * n_.pitch + low;
    if (high - low + 1 == kTileB) {  // most of them: straight-line code
      for (int k = 0; k < kTileB; ++k) to[k * step] = from[k];
      return;
    }
    for (int b = low; b <= high; ++b, to += step) *to = from[b % kTileB];
  }

  /// The spots of bins j ... of a fibre by a group of `other`.
  void products(int fiber, int j, const Place& a, int other, int group) {
    const Place& b = groups_.of(other, group);
    if (!a.same_columns || !b.same_columns) return separate_products(fiber, j, other, group);
    Shared s;
    if (!share(a, b, s)) {
      std::fill(product_, product_ + kTileA * kTileB, 0.0);
      return;
    }
    kernels_.tile(s.pixels, row_of(fiber, j, s.row) + s.column_a, weight(s.x, s.row),
                  row_of(other, group * kTileB, s.row) + s.column_b,
                  static_cast<long>(blocks_.slot_size()), product_);
  }

  /// The spots of bins j ... by their own group, and what each of them has alone.
  void products_and_sums(int f, int j, int last, const Place& place) {
    const int group = j / kTileB;
    const FiberTrace& t = trace(f);
    if (!groups_.of(f, group).same_columns) {
      products(f, j, place, f, group);
      for (int a = j; a <= last; ++a) {
        const auto at = static_cast<std::size_t>(a);
        kernels_.weigh(shape_, spot(f, a), strip_, t.frame[at], t.y0[at], n_.rhs(f) + a,
                       n_.phi(f) + a);
      }
      return;
    }
    const Overlap all{place.height, plan_.stride, plan_.stride, strip_.pitch};
    kernels_.tile_and_sums(all, row_of(f, j, place.row), weight(place.frame, place.row),
                           row_of(f, group * kTileB, place.row),
                           static_cast<long>(blocks_.slot_size()),
                           strip_.pixel + strip_.at(place.frame, place.row), product_);
    const double* sums = product_ + kTileA * kTileB;
    for (int a = j; a <= last; ++a) {
      n_.rhs(f)[a] = sums[a - j];
      n_.phi(f)[a] = sums[kTileA + a - j];
    }
  }

  /// The same where the columns differ within a tile: a trace has just moved to the next pack.
  void separate_products(int fiber, int j, int other, int group) {
    for (int i = 0; i < kTileA; ++i) {
      const Place a = place_of(trace(fiber), j + i, 1, plan_.ny);
      for (int k = 0; k < kTileB; ++k) {
        const int bin = group * kTileB + k;
        Shared s;
        product_[i * kTileB + k] =
            share(a, place_of(trace(other), bin, 1, plan_.ny), s)
                ? kernels_.dot(s.pixels, row_of(fiber, j + i, s.row) + s.column_a,
                               weight(s.x, s.row), row_of(other, bin, s.row) + s.column_b)
                : 0.0;
      }
    }
  }

  struct Shared {
    Overlap pixels;
    int x, row;              ///< first pixel on the CCD
    int column_a, column_b;  ///< its column in the spots
  };
  /// Pixels that both places cover; false when there are none.
  bool share(const Place& a, const Place& b, Shared& s) const {
    const int dx = b.frame - a.frame;
    s.row = std::max(a.row, b.row);
    s.column_a = std::max(dx, 0);
    s.column_b = std::max(-dx, 0);
    s.x = a.frame + s.column_a;
    s.pixels = {std::min(a.row + a.height, b.row + b.height) - s.row, plan_.stride - std::abs(dx),
                plan_.stride, strip_.pitch};
    return s.pixels.rows > 0 && s.pixels.columns > 0;
  }
  /// CCD row of a slot.
  [[nodiscard]] const double* row_of(int fiber, int j, int row) const {
    return blocks_.slot(fiber, j) + (row - groups_.of(fiber, j / kTileB).row) * plan_.stride;
  }
  [[nodiscard]] const double* weight(int x, int row) const {
    return strip_.weight + strip_.at(x, row);
  }

  const SpotPlan& plan_;
  const BundleGeometry& g_;
  StampShape shape_;
  SpotKernel spots_;
  const PixelKernels& kernels_;
  StripView strip_;
  Groups groups_;
  SpotBlocks blocks_;
  NormalEquations& n_;
  double product_[kTileA * kTileB + kLanes];
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
