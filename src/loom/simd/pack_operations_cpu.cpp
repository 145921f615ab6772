// SPDX-License-Identifier: BSD-3-Clause
// For tests only: the packs of one level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "loom/simd/pack_operations.hpp"

namespace loom::FIBERLOOM_ISA_NS {
namespace {

template <class V>
V unary_of(int which, V a) {
  switch (which) {
    case kNegate:
      return -a;
    case kAbs:
      return abs(a);
    case kRoundEven:
      return round_even(a);
    case kFloor:
      return floor(a);
    case kSqrt:
      return sqrt(a);
    default:
      return pow2(a);
  }
}

template <class V>
V ternary_of(int which, V a, V b, V c) {
  switch (which) {
    case kFma:
      return fma(a, b, c);
    case kFnma:
      return fnma(a, b, c);
    case kMax:
      return max(a, b);
    case kMin:
      return min(a, b);
    case kSelect:
      return select_positive(a, b, c);
    default:
      c += a;
      c -= b;
      c *= a;
      return (a + b) / c - c;
  }
}

template <class V, class Real>
void unary(int which, const Real* a, Real* out, int count) {
  for (int i = 0; i < count; i += V::width) unary_of(which, V::load(a + i)).store(out + i);
}

template <class V, class Real>
void ternary(int which, const Real* a, const Real* b, const Real* c, Real* out, int count) {
  for (int i = 0; i < count; i += V::width)
    ternary_of(which, V::load(a + i), V::load(b + i), V::load(c + i)).store(out + i);
}

template <class V, class Real>
void transpose_block(const Real* in, Real* out) {
  V block[V::width];
  for (int i = 0; i < V::width; ++i) block[i] = V::load(in + i * V::width);
  transpose(block);
  for (int i = 0; i < V::width; ++i) block[i].store(out + i * V::width);
}

template <class V, class Real>
bool is_all_below(const Real* a, double limit) {
  return all_below(V::load(a), limit);
}

void widen_and_back(const float* in, double* wide, float* back, int count) {
  for (int i = 0; i < count; i += Pack::width) {
    const Pack p = Pack::load_floats(in + i);
    p.store(wide + i);
    p.store_floats(back + i);
  }
}

template <class V, class Real>
constexpr PackOperations<Real> operations() {
  return {V::width, unary<V, Real>, ternary<V, Real>, transpose_block<V, Real>,
          is_all_below<V, Real>};
}
constexpr PackOperations<double> kDoubles = operations<Pack, double>();
constexpr PackOperations<float> kFloats = operations<FloatPack, float>();

}  // namespace

extern const LevelOperations kOperations;
const LevelOperations kOperations{&kDoubles, &kFloats, widen_and_back};

}  // namespace loom::FIBERLOOM_ISA_NS
