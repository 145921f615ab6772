// SPDX-License-Identifier: BSD-3-Clause
// The loops over samples of an ISA level. For expand.cpp and expand_cpu.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/simd/isa.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

struct ExpandView {
  const double *x = nullptr, *y = nullptr, *z = nullptr, *w = nullptr;  ///< of the boresight
  double place[4] = {0, 0, 0, 1};
  double efficiency = 1;
  const double *plate_cos = nullptr, *plate_sin = nullptr;  ///< cos 4h, sin 4h; null: no plate
  double gamma_cos = 1, gamma_sin = 0;                      ///< of 4 gamma
  int order = 0;                                            ///< log2(Nside)
  std::size_t samples = 0;
  std::int32_t* pixels = nullptr;
  double *q = nullptr, *u = nullptr;
};

struct ExpandKernels {
  void (*expand)(const ExpandView& view);
};

[[nodiscard]] const ExpandKernels& expand_kernels(Isa isa);

}  // namespace skyloom
