// SPDX-License-Identifier: BSD-3-Clause
// What lies between the two halves of a long transform: factors, and blocks of eight by eight
// numbers turned.
#pragma once

#include <cstddef>

#include "loom/simd/pack.hpp"

namespace loom::FIBERLOOM_ISA_NS {

/// Element `row` times fine[row] coarse[(row c) & mask].
inline void turn_rows(double* elements, std::size_t rows, const double* fine, const double* coarse,
                      std::size_t c, std::size_t mask) {
  constexpr std::size_t w = static_cast<std::size_t>(Pack::width);
  std::size_t at = 0;
  for (std::size_t row = 0; row < rows; ++row, at = (at + c) & mask) {
    const Pack cr(coarse[2 * at]), ci(coarse[2 * at + 1]);
    double* const e = elements + row * 16;
    const double* const f = fine + row * 16;
    for (std::size_t l = 0; l < 8; l += w) {
      const Pack fr = Pack::load(f + l), fi = Pack::load(f + 8 + l);
      const Pack tr = fr * cr - fi * ci, ti = fr * ci + fi * cr;
      const Pack er = Pack::load(e + l), ei = Pack::load(e + 8 + l);
      (er * tr - ei * ti).store(e + l);
      (er * ti + ei * tr).store(e + 8 + l);
    }
  }
}

/// Lane l of element i becomes lane i of element l, of eight elements.
inline void transpose_elements(const double* from, double* to) {
  constexpr int w = Pack::width;
  for (int part = 0; part < 16; part += 8) {
    for (int r = 0; r < 8; r += w) {
      for (int q = 0; q < 8; q += w) {
        Pack block[static_cast<std::size_t>(w)];
        for (int i = 0; i < w; ++i) block[i] = Pack::load(from + (r + i) * 16 + part + q);
        transpose(block);
        for (int i = 0; i < w; ++i) block[i].store(to + (q + i) * 16 + part + r);
      }
    }
  }
}

}  // namespace loom::FIBERLOOM_ISA_NS
