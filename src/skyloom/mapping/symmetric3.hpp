// SPDX-License-Identifier: BSD-3-Clause
// Symmetric matrices of three rows, one a pixel: eigenvalues, inverse, reciprocal condition number.
// Seen by .cu.
#pragma once

#include "loom/base/scalar_lane.hpp"
#include "skyloom/foundation.hpp"

namespace skyloom {

/// Rows and columns I, Q, U; the upper triangle.
struct Symmetric3 {
  double ii = 0, iq = 0, iu = 0, qq = 0, qu = 0, uu = 0;
};

inline void operator+=(Symmetric3& to, const Symmetric3& m) noexcept {
  to.ii += m.ii, to.iq += m.iq, to.iu += m.iu, to.qq += m.qq, to.qu += m.qu, to.uu += m.uu;
}

struct Conditioned {
  Symmetric3 inverse;
  double reciprocal = 0;  ///< smallest eigenvalue over the largest; 0 where none is positive
};

/// The inverse by eigenvectors (cyclic Jacobi, to some eps), all 0 where the reciprocal condition
/// number is below `least`, as in a pixel without hits.
[[nodiscard]] Conditioned invert(const Symmetric3& matrix, double least) noexcept;

struct Stokes {
  double i = 0, q = 0, u = 0;
};

inline void operator+=(Stokes& to, const Stokes& v) noexcept {
  to.i += v.i, to.q += v.q, to.u += v.u;
}

[[nodiscard]] inline Stokes operator-(const Stokes& a, const Stokes& b) noexcept {
  return {a.i - b.i, a.q - b.q, a.u - b.u};
}

[[nodiscard]] FL_LANE_HD inline Stokes operator*(const Symmetric3& m, const Stokes& v) noexcept {
  return {m.ii * v.i + m.iq * v.q + m.iu * v.u, m.iq * v.i + m.qq * v.q + m.qu * v.u,
          m.iu * v.i + m.qu * v.q + m.uu * v.u};
}

}  // namespace skyloom
