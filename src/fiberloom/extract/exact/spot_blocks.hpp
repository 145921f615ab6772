// SPDX-License-Identifier: BSD-3-Clause
// Where the spots of a block of bins lie while the normal equations are assembled. Knows no pixels.
#pragma once

#include <algorithm>
#include <vector>

#include "fiberloom/extract/exact/geometry.hpp"
#include "fiberloom/extract/exact/kernels.hpp"
#include "fiberloom/extract/exact/touched_packs.hpp"
#include "fiberloom/extract/exact/workspace.hpp"

namespace fiberloom::exact {

/// Bins of a block: the spots of two fibres over a block stay in the second-level cache.
inline constexpr int kBlockBins = 8 * kLanes;

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
    halos_ = fibers_ * kBlockBins;
    const auto fibers = static_cast<std::size_t>(g.nfiber);
    spots_ = memory.resize(
        static_cast<std::size_t>(slot_size_) *
        (static_cast<std::size_t>(halos_) + fibers * static_cast<std::size_t>(halo_)));
    const auto bins = static_cast<std::size_t>(halo_ + kBlockBins);
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
    const long slot = static_cast<long>((f % fibers_) * kBlockBins + j - block_) * slot_size_;
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
  void keep_halo(int f, const TouchedPacks* touched) {
    const long from =
        static_cast<long>((f % fibers_) * kBlockBins + kBlockBins - halo_) * slot_size_;
    const long to = static_cast<long>(halos_ + f * halo_) * slot_size_;
    const int first_bin = block_ + kBlockBins - halo_;
    for (int j = 0; j < halo_; j += kLanes) {
      if (touched != nullptr && (first_bin + j >= g_.nbin_padded || !(*touched)(f, first_bin + j)))
        continue;
      std::copy_n(spots_ + from + j * slot_size_, kLanes * slot_size_,
                  spots_ + to + j * slot_size_);
    }
    const auto keep = [&](std::vector<Patch>& patches, int count) {
      const auto first = static_cast<std::ptrdiff_t>(index(f, block_ - halo_, count));
      const auto begin = patches.begin() + first;
      std::copy_n(begin + kBlockBins / count, halo_ / count, begin);
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
    return static_cast<std::size_t>(f * (halo_ + kBlockBins) + halo_ + j - block_) /
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

}  // namespace fiberloom::exact
