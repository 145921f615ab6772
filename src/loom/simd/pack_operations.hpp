// SPDX-License-Identifier: BSD-3-Clause
// For tests only: the operations of the packs of one level as functions on arrays, so that a test
// which is compiled once can call those of every level.
#pragma once

#include "loom/simd/isa.hpp"

namespace loom {

/// Arrays hold `count` elements, a multiple of every width.
template <class Real>
struct PackOperations {
  int width;
  void (*unary)(int which, const Real* a, Real* out, int count);
  void (*ternary)(int which, const Real* a, const Real* b, const Real* c, Real* out, int count);
  /// Turns a width x width block.
  void (*transpose)(const Real* in, Real* out);
  bool (*all_below)(const Real* a, double limit);  ///< of one pack
};

enum UnaryOperation { kNegate, kAbs, kRoundEven, kFloor, kSqrt, kPow2, kUnaryCount };
enum TernaryOperation { kFma, kFnma, kMax, kMin, kSelect, kArithmetic, kTernaryCount };

/// What ScalarLane gives, and each level.
struct LevelOperations {
  const PackOperations<double>* doubles;
  const PackOperations<float>* floats;
  void (*widen_and_back)(const float* in, double* wide, float* back, int count);
};
[[nodiscard]] const LevelOperations& pack_operations(Isa isa);

}  // namespace loom
