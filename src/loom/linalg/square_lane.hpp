// SPDX-License-Identifier: BSD-3-Clause
// Products of 8 x 8 matrices by a warp of a GPU: operands lie in the memory of its block, a sum is
// spread over its threads. NVIDIA's cards from 8.0 on have a unit for them: twice the rate of their
// other arithmetic, and two loads of a thread for eight of its multiply-adds. Elsewhere a thread
// adds up its own two entries.
#pragma once

#include "loom/base/scalar_lane.hpp"

namespace loom::lane {

inline constexpr int kSide = 8, kSquare = kSide * kSide;

/// How many squares hold n rows.
FL_LANE_HD constexpr int squares_of(int n) { return (n + kSide - 1) / kSide; }

/// Entry (row, column) of a square in memory. What a warp asks for at once, four of a row or of a
/// column of each of eight others, lies in different banks.
FL_LANE_HD constexpr int square_at(int row, int column) {
  return row * kSide + (column ^ ((row & 2) << 1));
}

/// What a thread of a warp has of a sum: two neighbours of a row.
struct SquarePart {
  double v[2];
};

/// A thread of a warp that multiplies squares.
struct SquareThread {
  int row, column;  ///< of its part of a sum
#if defined(__CUDA_ARCH__)
  int a, b;  ///< its entries of the first half of the columns of A, of the rows of B
#endif
  FL_LANE_HD explicit SquareThread(int thread) : row(thread % 32 / 4), column(thread % 4 * 2) {
#if defined(__CUDA_ARCH__)
    a = square_at(row, thread % 4);
    b = square_at(thread % 4, row);
#endif
  }

  /// to += A B of squares in memory. All threads of a warp come here together.
  FL_LANE_HD void multiply(SquarePart& to, const double* first, const double* second) const {
#if defined(__CUDA_ARCH__)
    add(to, first[a], second[b]);
    add(to, first[a ^ 4], second[b + kSquare / 2]);
#else
    sum(
        to, [=, this](int k) { return first[square_at(row, k)]; }, second);
#endif
  }
  /// to += A^T D B, of a diagonal D.
  FL_LANE_HD void multiply(SquarePart& to, const double* first, const double* diagonal,
                           const double* second) const {
#if defined(__CUDA_ARCH__)
    const double* d = diagonal + column / 2;
    add(to, first[b] * d[0], second[b]);
    add(to, first[b + kSquare / 2] * d[kSide / 2], second[b + kSquare / 2]);
#else
    sum(
        to, [=, this](int k) { return first[square_at(k, row)] * diagonal[k]; }, second);
#endif
  }
  FL_LANE_HD void put(SquarePart from, double* to) const {
    double* here = to + square_at(row, column);
    here[0] = from.v[0];
    here[1] = from.v[1];
  }
#if defined(__CUDA_ARCH__)
  /// to += A B of A 8 x 4 and B 4 x 8, of which a thread gives A(row, k) and B(k, row), k its
  /// number in a group of four.
  __device__ static void add(SquarePart& to, double of_a, double of_b) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(to.v[0]), "+d"(to.v[1])
                 : "d"(of_a), "d"(of_b));
  }
#else
  template <class A>
  FL_LANE_HD void sum(SquarePart& to, A of_row, const double* second) const {
    for (int k = 0; k < kSide; ++k) {
      const double f = of_row(k);
      to.v[0] += f * second[square_at(k, column)];
      to.v[1] += f * second[square_at(k, column + 1)];
    }
  }
#endif
};

}  // namespace loom::lane
