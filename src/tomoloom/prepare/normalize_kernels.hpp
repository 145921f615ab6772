// SPDX-License-Identifier: BSD-3-Clause
// The loops over pixels of an ISA level. For normalize.cpp and normalize_cpu.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loom/simd/isa.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct NormalizeKernels {
  void (*from_counts)(const std::uint16_t* in, const float* dark, const float* scale, std::size_t n,
                      float* out);
  void (*from_floats)(const float* in, const float* dark, const float* scale, std::size_t n,
                      float* out);
  void (*minus_log)(float* values, std::size_t n);
};

[[nodiscard]] const NormalizeKernels& normalize_kernels(Isa isa);

}  // namespace tomoloom
