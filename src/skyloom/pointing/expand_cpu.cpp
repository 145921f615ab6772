// SPDX-License-Identifier: BSD-3-Clause
// Plain loops that the compiler takes apart into lanes of this ISA level by itself (compiled once
// for each).
#include "skyloom/pointing/expand_kernels.hpp"

namespace skyloom::FIBERLOOM_ISA_NS {
namespace {

constexpr std::size_t kBlock = 256;

/// What a direction is, as far as pixels ask.
struct Directions {
  double x[kBlock], y[kBlock], z[kBlock];
  [[gnu::always_inline]] lane::Look at(std::size_t i) const { return {x[i], y[i], z[i]}; }
};

struct Diagonals {
  std::int32_t rising[kBlock], falling[kBlock], face[kBlock];
};

// Views and grids are taken by value: nothing that a loop writes can be them.
void turn_block(const ExpandView view, std::size_t first, std::size_t n, Directions& to) {
  for (std::size_t i = 0; i < n; ++i) {
    const lane::Look look = lane::turn_sample(view, first + i);
    to.x[i] = look.x;
    to.y[i] = look.y;
    to.z[i] = look.z;
  }
  if (view.plate_cos == nullptr) return;
  for (std::size_t i = 0; i < n; ++i) lane::turn_plate(view, first + i);
}

void number_healpix(const Directions& to, std::size_t n, int order, std::int32_t* out) {
  Diagonals all;
  const auto nside = static_cast<double>(std::int64_t{1} << order);
  for (std::size_t i = 0; i < n; ++i) {
    const lane::Diagonals found = lane::diagonals(to.at(i), nside);
    all.rising[i] = found.rising;
    all.falling[i] = found.falling;
    all.face[i] = found.face;
  }
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = lane::healpix_number({all.rising[i], all.falling[i], all.face[i]}, order);
  }
}

void number_car(const Directions& to, std::size_t n, const FlatGrid grid, std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = lane::flat_number(lane::car_cell(to.at(i), grid), grid);
  }
}

void number_tan(const Directions& to, std::size_t n, const FlatGrid grid, std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = lane::flat_number(lane::tan_cell(to.at(i), grid), grid);
  }
}

void expand(const ExpandView& view) {
  Directions to;
  for (std::size_t first = 0; first < view.samples; first += kBlock) {
    const std::size_t left = view.samples - first, n = left < kBlock ? left : kBlock;
    turn_block(view, first, n, to);
    std::int32_t* const out = view.pixels + first;
    switch (view.kind) {
      case PixelKind::kHealpix:
        number_healpix(to, n, view.order, out);
        break;
      case PixelKind::kCar:
        number_car(to, n, view.flat, out);
        break;
      case PixelKind::kTan:
        number_tan(to, n, view.flat, out);
        break;
    }
  }
}

}  // namespace

extern const ExpandKernels kExpand;
const ExpandKernels kExpand{expand};

}  // namespace skyloom::FIBERLOOM_ISA_NS
