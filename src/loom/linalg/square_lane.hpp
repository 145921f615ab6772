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

/// A thread of a warp that multiplies squares, four columns of A with four rows of B at a time:
/// which entries of these it must know for its part.
struct SquareThread {
#if defined(__CUDA_ARCH__)
  static constexpr int kOfA = 1, kOfB = 1;
#else
  static constexpr int kOfA = 4, kOfB = 8;
#endif
  int row, column;  ///< of its part of a sum
  FL_LANE_HD explicit SquareThread(int thread) : row(thread % 32 / 4), column(thread % 4 * 2) {}
  [[nodiscard]] FL_LANE_HD int a_row(int) const { return row; }
  [[nodiscard]] FL_LANE_HD int a_k(int n) const { return kOfA > 1 ? n : column / 2; }
  [[nodiscard]] FL_LANE_HD int b_k(int n) const { return kOfB > 1 ? n % 4 : column / 2; }
  [[nodiscard]] FL_LANE_HD int b_column(int n) const { return kOfB > 1 ? column + n / 4 : row; }

  /// to += A B, of A(a_row(n), a_k(n)) and B(b_k(n), b_column(n)). All threads of a warp come here
  /// together.
  FL_LANE_HD static void add(SquarePart& to, const double (&a)[kOfA], const double (&b)[kOfB]) {
#if defined(__CUDA_ARCH__)
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(to.v[0]), "+d"(to.v[1])
                 : "d"(a[0]), "d"(b[0]));
#else
    for (int k = 0; k < 4; ++k) {
      to.v[0] += a[k] * b[k];
      to.v[1] += a[k] * b[4 + k];
    }
#endif
  }
  /// to += A B of squares in memory.
  FL_LANE_HD void multiply(SquarePart& to, const double* first, const double* second) const {
    add_halves(
        to, [=, this](int n, int k) { return first[square_at(a_row(n), k)]; }, second);
  }
  /// to += A^T D B, of a diagonal D.
  FL_LANE_HD void multiply(SquarePart& to, const double* first, const double* diagonal,
                           const double* second) const {
    add_halves(
        to, [=, this](int n, int k) { return first[square_at(k, a_row(n))] * diagonal[k]; },
        second);
  }
  FL_LANE_HD void put(SquarePart from, double* to) const {
    double* here = to + square_at(row, column);
    here[0] = from.v[0];
    here[1] = from.v[1];
  }

 private:
  template <class A>
  FL_LANE_HD void add_halves(SquarePart& to, A entry, const double* second) const {
    FL_UNROLL_ALL
    for (int half = 0; half < kSide; half += 4) {
      double a[kOfA], b[kOfB];
      FL_UNROLL_ALL
      for (int n = 0; n < kOfA; ++n) a[n] = entry(n, half + a_k(n));
      FL_UNROLL_ALL
      for (int n = 0; n < kOfB; ++n) b[n] = second[square_at(half + b_k(n), b_column(n))];
      add(to, a, b);
    }
  }
};

}  // namespace loom::lane
