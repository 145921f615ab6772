// SPDX-License-Identifier: BSD-3-Clause
// Makes a BandedKernels table out of the lane templates for one lane type V.
#pragma once

#include "loom/linalg/banded.hpp"
#include "loom/linalg/banded_lane.hpp"
#include "loom/linalg/congruence_lane.hpp"

namespace loom::lane {

template <class V>
struct BandedTable {
  /// Calls body.template operator()<B>() with the compile-time band.
  template <class Body>
  static void with_band(int band, Body body) {
    switch (band) {
      case 8:
        return body.template operator()<8>();
      case 12:
        return body.template operator()<12>();
      case 16:
        return body.template operator()<16>();
      case 24:
        return body.template operator()<24>();
      case 32:
        return body.template operator()<32>();
      case 48:
        return body.template operator()<48>();
      default:
        return body.template operator()<64>();
    }
  }

  static void factor(int band, int n, const double* matrix, const double* shift, double* l,
                     double* inv_d, double* min_pivot) {
    with_band(band, [&]<int B>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::factor<V, B>(n, matrix + i, V::load(shift + i), l + i, inv_d + i)
            .store(min_pivot + i);
      }
    });
  }
  static void solve(int band, int n, const double* l, const double* inv_d, double* rhs) {
    with_band(band, [&]<int B>() {
      for (int i = 0; i < kLanes; i += V::width) lane::solve<V, B>(n, l + i, inv_d + i, rhs + i);
    });
  }
  static void selected_inverse(int band, int n, const double* l, const double* inv_d, int width,
                               double* z) {
    with_band(band, [&]<int B>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::selected_inverse<V, B>(n, l + i, inv_d + i, width, z + i);
      }
    });
  }
  static void congruence(int half_width, int n, const double* columns, const double* z, int band,
                         double* t, double* e) {
    const auto body = [&]<int H>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::congruence<V, H>(n, columns + i, z + i, band, t + i, e + i);
      }
    };
    switch (half_width) {
      case 4:
        return body.template operator()<4>();
      case 6:
        return body.template operator()<6>();
      case 8:
        return body.template operator()<8>();
      case 12:
        return body.template operator()<12>();
      case 16:
        return body.template operator()<16>();
      case 24:
        return body.template operator()<24>();
      default:
        return body.template operator()<32>();
    }
  }
  static void largest_row_sum(int band, int n, const double* matrix, double* largest) {
    with_band(band, [&]<int B>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::largest_row_sum<V, B>(n, matrix + i).store(largest + i);
      }
    });
  }
  static void subtract(long n, const double* e, double* m) {
    for (long i = 0; i < n; i += V::width) (V::load(m + i) - V::load(e + i)).store(m + i);
  }
  static void root_pole(int band, int n, const double* s, const double* t, const double* c,
                        const double* ones, const double* x, int nd, const RootWork& work,
                        double* q, double* q1, double* qx, double* min_pivot) {
    with_band(band, [&]<int B>() {
      for (int i = 0; i < kLanes; i += V::width) {
        lane::root_pole<V, B>(n, s + i, V::load(t + i), V::load(c + i), ones + i, x + i, nd,
                              work.l + i, work.inv_d + i, work.v1 + i, work.vx + i, q + i, q1 + i,
                              qx + i)
            .store(min_pivot + i);
      }
    });
  }
  static constexpr BandedKernels table() {
    return {factor, solve, selected_inverse, congruence, largest_row_sum, subtract, root_pole};
  }
};

}  // namespace loom::lane
