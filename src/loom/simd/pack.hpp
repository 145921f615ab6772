// SPDX-License-Identifier: BSD-3-Clause
// Pack: W doubles that do the same thing, one problem a lane; FloatPack: twice as many floats.
// Included only by *_cpu.cpp files, which are compiled once for every ISA level with
// FIBERLOOM_ISA_NS naming the level, so that no symbol of one level can stand in for another's.
// GCC's vector extension serves better here than std::experimental::simd: it leaves no weak symbols
// behind and compiles twice as fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "loom/base/scalar_lane.hpp"

#ifndef FIBERLOOM_ISA_NS
#error "pack.hpp is for per-ISA sources only (fiberloom_isa_sources)"
#endif

#define FL_INLINE [[gnu::always_inline]] inline

namespace loom::FIBERLOOM_ISA_NS {

#if defined(__AVX512F__)
inline constexpr int kPackBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kPackBytes = 32;
#else
inline constexpr int kPackBytes = 16;  // SSE2 and NEON; elsewhere the compiler takes it apart
#endif

template <class Number>
struct PackOf {
  using Real = Number;
  using Integer = std::conditional_t<sizeof(Real) == 8, std::int64_t, std::int32_t>;
  static constexpr int width = kPackBytes / static_cast<int>(sizeof(Real));
  typedef Real Reg __attribute__((vector_size(kPackBytes)));
  typedef Integer Bits __attribute__((vector_size(kPackBytes)));
  typedef Real Loose __attribute__((vector_size(kPackBytes), aligned(sizeof(Real)), may_alias));

  Reg v;

  PackOf() = default;
  FL_INLINE PackOf(Reg r) : v(r) {}
  FL_INLINE PackOf(double s) : v(static_cast<Real>(s) - Reg{}) {}
  FL_INLINE static PackOf load(const Real* p) { return {*reinterpret_cast<const Loose*>(p)}; }
  FL_INLINE void store(Real* p) const { *reinterpret_cast<Loose*>(p) = v; }
  /// As many floats, widened; and back.
  typedef float Floats __attribute__((vector_size(width * 4), aligned(4), may_alias));
  FL_INLINE static PackOf load_floats(const float* p) {
    return {__builtin_convertvector(*reinterpret_cast<const Floats*>(p), Reg)};
  }
  FL_INLINE void store_floats(float* p) const {
    *reinterpret_cast<Floats*>(p) = __builtin_convertvector(v, Floats);
  }

  FL_INLINE friend PackOf operator+(PackOf a, PackOf b) { return {a.v + b.v}; }
  FL_INLINE friend PackOf operator-(PackOf a, PackOf b) { return {a.v - b.v}; }
  FL_INLINE friend PackOf operator*(PackOf a, PackOf b) { return {a.v * b.v}; }
  FL_INLINE friend PackOf operator/(PackOf a, PackOf b) { return {a.v / b.v}; }
  FL_INLINE PackOf operator-() const { return {-v}; }
  FL_INLINE PackOf& operator+=(PackOf b) {
    v += b.v;
    return *this;
  }
  FL_INLINE PackOf& operator-=(PackOf b) {
    v -= b.v;
    return *this;
  }
  FL_INLINE PackOf& operator*=(PackOf b) {
    v *= b.v;
    return *this;
  }

  /// a * b + c and c - a * b; one rounding where the level has FMA (contraction is on there).
  FL_INLINE friend PackOf fma(PackOf a, PackOf b, PackOf c) { return {a.v * b.v + c.v}; }
  FL_INLINE friend PackOf fnma(PackOf a, PackOf b, PackOf c) { return {c.v - a.v * b.v}; }
  FL_INLINE friend PackOf max(PackOf a, PackOf b) { return {a.v > b.v ? a.v : b.v}; }
  FL_INLINE friend PackOf min(PackOf a, PackOf b) { return {a.v < b.v ? a.v : b.v}; }
  FL_INLINE friend PackOf abs(PackOf a) {
    return {(Reg)((Bits)a.v & (std::numeric_limits<Integer>::max() + Bits{}))};
  }
  /// c > 0 ? a : b
  FL_INLINE friend PackOf select_positive(PackOf c, PackOf a, PackOf b) {
    return {c.v > Real{0} ? a.v : b.v};
  }
  /// Nearest integer, ties to even, for |a| < 2^51 (2^22).
  FL_INLINE friend PackOf round_even(PackOf a) {
    const PackOf magic(kMagic);
    return (a + magic) - magic;  // strict IEEE arithmetic: nothing folds it
  }
  FL_INLINE friend PackOf floor(PackOf a) {
    const PackOf r = round_even(a);
    return {r.v > a.v ? r.v - Real{1} : r.v};
  }
  /// 2^n for integral n in [-1022, 1023] ([-126, 127]).
  FL_INLINE friend PackOf pow2(PackOf n) {
    constexpr int bias = std::numeric_limits<Real>::max_exponent - 1;
    const PackOf biased = n + PackOf(kMagic + bias);
    return {(Reg)((Bits)biased.v << (std::numeric_limits<Real>::digits - 1))};
  }
  FL_INLINE friend PackOf sqrt(PackOf a) {
    PackOf r;
    for (int i = 0; i < width; ++i) r.v[i] = static_cast<Real>(__builtin_sqrt(a.v[i]));
    return r;
  }
  /// Natural logarithm, within 2 ulp for normal numbers above 0.
  FL_INLINE friend PackOf log(PackOf a) {
    constexpr int kFraction = std::numeric_limits<Real>::digits - 1;
    // 2^n m with m from sqrt(1/2) to sqrt(2)
    const Bits half = (Bits)PackOf(0.70710678118654752440).v;
    const Bits above = (Bits)a.v - half;
    const Bits n = above >> kFraction;
    const PackOf m((Reg)((Bits)a.v - (n << kFraction)));
    const PackOf t = (m - PackOf(1.0)) / (m + PackOf(1.0)), t2 = t * t;
    PackOf p(1.0 / 23);  // of 2 atanh(t), |t| < 0.172
    for (int k = 21; k >= 3; k -= 2) p = fma(p, t2, PackOf(1.0 / k));
    const PackOf exponent(__builtin_convertvector(n, Reg));
    const PackOf twice = t + t;
    return fma(exponent, PackOf(0.69314718055994530942), fma(twice * t2, p, twice));
  }
  /// Is every lane below the limit?
  FL_INLINE friend bool all_below(PackOf a, double limit) {
    bool all = true;
    for (int i = 0; i < width; ++i) all = all && a.v[i] < static_cast<Real>(limit);
    return all;
  }
  FL_INLINE friend Real lane_value(PackOf a, int i) { return a.v[i]; }

 private:
  static constexpr double kMagic = sizeof(Real) == 8 ? 0x1.8p52 : 0x1.8p23;
};

using Pack = PackOf<double>;
using FloatPack = PackOf<float>;
inline constexpr int kWidth = Pack::width;

/// One step of transpose(): registers `Step` apart exchange blocks of as many lanes.
template <int Step, class Real, int... I>
FL_INLINE void exchange(PackOf<Real>* b, std::integer_sequence<int, I...>) {
  using P = PackOf<Real>;
  using N = typename P::Integer;
  constexpr int w = P::width;
  constexpr typename P::Bits low{static_cast<N>((I & Step) != 0 ? I - Step + w : I)...};
  constexpr typename P::Bits high{static_cast<N>((I & Step) != 0 ? I + w : I + Step)...};
  FL_UNROLL
  for (int i = 0; i < w; ++i) {
    if ((i & Step) != 0) continue;
    const typename P::Reg x = b[i].v, y = b[i + Step].v;
    b[i].v = __builtin_shuffle(x, y, low);
    b[i + Step].v = __builtin_shuffle(x, y, high);
  }
}

/// Turns a width x width block: lane i of block[j] becomes lane j of block[i].
template <class Real>
FL_INLINE void transpose(PackOf<Real>* b) {
  constexpr int w = PackOf<Real>::width;
  constexpr std::make_integer_sequence<int, w> lanes;
  exchange<1>(b, lanes);
  if constexpr (w > 2) exchange<2>(b, lanes);
  if constexpr (w > 4) exchange<4>(b, lanes);
  if constexpr (w > 8) exchange<8>(b, lanes);
}

}  // namespace loom::FIBERLOOM_ISA_NS
