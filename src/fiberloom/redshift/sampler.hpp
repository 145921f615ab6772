// SPDX-License-Identifier: BSD-3-Clause
// Templates on the pixels of spectra, exactly: the mean over a pixel of what is linear between the
// template's wavelengths, from integrals that are tabulated once.
//
//   T(i, z) = 1 / (e_{i+1} - e_i) * integral from e_i to e_{i+1} of t(x / (1 + z)) dx
//           = (1 + z) / (e_{i+1} - e_i) * (S(e_{i+1} / (1 + z)) - S(e_i / (1 + z)))
//
// with S the integral of t, times the transmission of the pixel's middle. No other factor 1 + z: a
// coefficient means the same height at every redshift.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/redshift/igm.hpp"
#include "fiberloom/redshift/scan_kernels.hpp"
#include "fiberloom/redshift/target.hpp"
#include "fiberloom/redshift/template.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::redshift {

/// Redshifts that kernels take side by side, one a lane.
using ZPack = std::array<double, kLanes>;

/// Template vectors and their integrals at the template's wavelengths.
class Integrals {
 public:
  Integrals(std::span<const double> wave, View2D<const double> flux);
  [[nodiscard]] std::size_t nbasis() const noexcept { return nbasis_; }
  [[nodiscard]] double first() const noexcept { return first_wave_; }
  [[nodiscard]] double last() const noexcept { return last_wave_; }
  [[nodiscard]] KnotTable table() const noexcept;

 private:
  std::size_t nbasis_, knots_;
  double first_wave_, last_wave_;
  Buffer<double> rows_;
  double first_ = 0, per_ = 0;
  bool in_log10_ = false;
};

/// A template on all grids of a TargetSet at once: one "pack" for kLanes redshifts.
class Sampler {
 public:
  Sampler(const Template& source, std::span<const WaveGrid> grids, std::size_t halo,
          const ScanKernels& kernels, IgmEdge edge = IgmEdge::kAtMiddle);
  [[nodiscard]] std::size_t nbasis() const noexcept { return integrals_.nbasis(); }
  /// Doubles in a pack: for each grid [halo + padded + halo][nbasis][kLanes], zeros outside.
  [[nodiscard]] std::size_t pack_size() const noexcept { return size_; }
  /// Where grid g's pixel `halo` before its first one lies in a pack.
  [[nodiscard]] std::size_t grid_offset(std::size_t g) const noexcept { return offset_[g]; }
  void sample(const ZPack& z, double* pack) const noexcept;
  /// Edges [first, last) of a grid's pixels that lie within the template at all of some redshifts.
  struct Edges {
    std::size_t first, last;
  };
  /// A grid at the redshifts of a pack: what all of its parts share.
  struct OnGrid {
    ZPack z;
    std::size_t grid;
    Edges edges;
    std::array<std::size_t, kLanes> absorbed;  ///< pixels of each lane that hydrogen may dim
  };
  [[nodiscard]] OnGrid on_grid(const ZPack& z, std::size_t grid) const noexcept;
  /// Doubles of a part of `count` pixels.
  [[nodiscard]] std::size_t part_size(std::size_t count) const noexcept {
    return (count + 2 * halo_) * nbasis() * kLanes;
  }
  /// Pixels [first, first + count) of the grid's padded ones with their halo, as they stand in a
  /// pack: small parts of many redshifts one after the other find their knots in the caches.
  void sample(const OnGrid& on, std::size_t first, std::size_t count, double* part) const noexcept;
  /// Does the template reach over all grids at z?
  [[nodiscard]] bool covers(double z) const noexcept;
  /// Share of the pixels of all grids that it reaches.
  [[nodiscard]] double coverage(double z) const noexcept;
  /// Pixels [first, last) of a grid, of its padded ones, that the template reaches at all redshifts
  /// of a pack, with all that blurs into them: everything, or whole tiles of kReachTile.
  struct Reach {
    std::size_t first = 0, last = 0;
  };
  [[nodiscard]] Reach reach(const ZPack& z, std::size_t grid) const noexcept;

 private:
  [[nodiscard]] Edges edges_within(std::size_t grid, double least_z, double most_z) const noexcept;
  /// Multiplies pixels [first, last) of a grid, [pixel][nbasis][kLanes], with what the hydrogen
  /// lets through.
  void absorb(const OnGrid& on, std::size_t first, std::size_t last, double* pixels) const noexcept;
  Integrals integrals_;
  std::span<const WaveGrid> grids_;
  const ScanKernels& kernels_;
  std::size_t halo_, size_ = 0;
  double lowest_, highest_;
  std::vector<std::size_t> offset_;
  std::vector<IgmTable> igm_;
};

}  // namespace fiberloom::redshift
