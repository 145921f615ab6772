// SPDX-License-Identifier: BSD-3-Clause
// Pack: W doubles that do the same thing, one problem a lane. Included only by *_cpu.cpp files, which are
// compiled once for every ISA level with FIBERLOOM_ISA_NS naming the level, so that no symbol of one
// level can stand in for another's. GCC's vector extension serves better here than
// std::experimental::simd: it leaves no weak symbols behind and compiles twice as fast.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#ifndef FIBERLOOM_ISA_NS
#error "pack.hpp is for per-ISA sources only (fiberloom_isa_sources)"
#endif

#define FL_INLINE [[gnu::always_inline]] inline

namespace fiberloom::FIBERLOOM_ISA_NS {

#if defined(__AVX512F__)
inline constexpr int kWidth = 8;
#elif defined(__AVX2__)
inline constexpr int kWidth = 4;
#elif defined(__SSE4_2__)
inline constexpr int kWidth = 2;
#else
inline constexpr int kWidth = 1;
#endif

struct Pack {
  static constexpr int width = kWidth;
  typedef double Reg __attribute__((vector_size(kWidth * 8)));
  typedef std::int64_t Bits __attribute__((vector_size(kWidth * 8)));
  typedef double Loose __attribute__((vector_size(kWidth * 8), aligned(8), may_alias));

  Reg v;

  Pack() = default;
  FL_INLINE Pack(Reg r) : v(r) {}
  FL_INLINE Pack(double s) : v(s - Reg{}) {}
  FL_INLINE static Pack load(const double* p) { return {*reinterpret_cast<const Loose*>(p)}; }
  FL_INLINE void store(double* p) const { *reinterpret_cast<Loose*>(p) = v; }

  FL_INLINE friend Pack operator+(Pack a, Pack b) { return {a.v + b.v}; }
  FL_INLINE friend Pack operator-(Pack a, Pack b) { return {a.v - b.v}; }
  FL_INLINE friend Pack operator*(Pack a, Pack b) { return {a.v * b.v}; }
  FL_INLINE friend Pack operator/(Pack a, Pack b) { return {a.v / b.v}; }
  FL_INLINE Pack operator-() const { return {-v}; }
  FL_INLINE Pack& operator+=(Pack b) { v += b.v; return *this; }
  FL_INLINE Pack& operator-=(Pack b) { v -= b.v; return *this; }
  FL_INLINE Pack& operator*=(Pack b) { v *= b.v; return *this; }
};

/// a * b + c and c - a * b; one rounding where the level has FMA (contraction is on there).
FL_INLINE Pack fma(Pack a, Pack b, Pack c) { return {a.v * b.v + c.v}; }
FL_INLINE Pack fnma(Pack a, Pack b, Pack c) { return {c.v - a.v * b.v}; }
FL_INLINE Pack max(Pack a, Pack b) { return {a.v > b.v ? a.v : b.v}; }
FL_INLINE Pack min(Pack a, Pack b) { return {a.v < b.v ? a.v : b.v}; }
FL_INLINE Pack abs(Pack a) {
  return {(Pack::Reg)((Pack::Bits)a.v & (std::int64_t{0x7fffffffffffffff} + Pack::Bits{}))};
}
/// c > 0 ? a : b
FL_INLINE Pack select_positive(Pack c, Pack a, Pack b) { return {c.v > 0.0 ? a.v : b.v}; }
/// Nearest integer, ties to even, for |a| < 2^51.
FL_INLINE Pack round_even(Pack a) {
  const Pack magic(0x1.8p52);
  Pack s = a + magic;
  asm("" : "+x"(s.v));  // keeps the compiler from folding (a + m) - m
  return s - magic;
}
FL_INLINE Pack floor(Pack a) {
  const Pack r = round_even(a);
  return {r.v > a.v ? r.v - 1.0 : r.v};
}
/// 2^n for integral n in [-1022, 1023].
FL_INLINE Pack pow2(Pack n) {
  const Pack biased = n + Pack(0x1.8p52 + 1023.0);
  return {(Pack::Reg)((Pack::Bits)biased.v << 52)};
}
FL_INLINE Pack sqrt(Pack a) {
  Pack r;
  for (int i = 0; i < kWidth; ++i) r.v[i] = __builtin_sqrt(a.v[i]);
  return r;
}
/// Sum over lanes in a fixed order: always ((0+4)+(2+6))+((1+5)+(3+7)) of eight, whatever the width.
FL_INLINE double lane_value(Pack a, int i) { return a.v[i]; }

}  // namespace fiberloom::FIBERLOOM_ISA_NS
