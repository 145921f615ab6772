// SPDX-License-Identifier: BSD-3-Clause
// Pack: W doubles that do the same thing, one problem a lane. Included only by *_cpu.cpp files,
// which are compiled once for every ISA level with FIBERLOOM_ISA_NS naming the level, so that no
// symbol of one level can stand in for another's. GCC's vector extension serves better here than
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
#else
inline constexpr int kWidth = 2;  // SSE2 and NEON; elsewhere the compiler takes it apart
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
  typedef float Narrow __attribute__((vector_size(kWidth * 4), aligned(4), may_alias));
  FL_INLINE static Pack load(const float* p) {
    return {__builtin_convertvector(*reinterpret_cast<const Narrow*>(p), Reg)};
  }
  FL_INLINE void store(float* p) const {
    *reinterpret_cast<Narrow*>(p) = __builtin_convertvector(v, Narrow);
  }
  FL_INLINE static Pack load(const double* p) { return {*reinterpret_cast<const Loose*>(p)}; }
  FL_INLINE void store(double* p) const { *reinterpret_cast<Loose*>(p) = v; }

  FL_INLINE friend Pack operator+(Pack a, Pack b) { return {a.v + b.v}; }
  FL_INLINE friend Pack operator-(Pack a, Pack b) { return {a.v - b.v}; }
  FL_INLINE friend Pack operator*(Pack a, Pack b) { return {a.v * b.v}; }
  FL_INLINE friend Pack operator/(Pack a, Pack b) { return {a.v / b.v}; }
  FL_INLINE Pack operator-() const { return {-v}; }
  FL_INLINE Pack& operator+=(Pack b) {
    v += b.v;
    return *this;
  }
  FL_INLINE Pack& operator-=(Pack b) {
    v -= b.v;
    return *this;
  }
  FL_INLINE Pack& operator*=(Pack b) {
    v *= b.v;
    return *this;
  }
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
  return (a + magic) - magic;  // strict IEEE arithmetic: nothing folds it
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
/// Is every lane below the limit?
FL_INLINE bool all_below(Pack a, double limit) {
  bool all = true;
  for (int i = 0; i < kWidth; ++i) all = all && a.v[i] < limit;
  return all;
}
FL_INLINE double lane_value(Pack a, int i) { return a.v[i]; }

/// Turns a kWidth x kWidth block: lane i of block[j] becomes lane j of block[i].
FL_INLINE void transpose(Pack* b) {
#if defined(__AVX512F__)
  typedef Pack::Reg R;
  R s[8], t[8];
  for (int i = 0; i < 8; i += 2) {
    s[i] = __builtin_shufflevector(b[i].v, b[i + 1].v, 0, 8, 2, 10, 4, 12, 6, 14);
    s[i + 1] = __builtin_shufflevector(b[i].v, b[i + 1].v, 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int h = 0; h < 8; h += 4) {
    for (int i = 0; i < 2; ++i) {
      t[h + i] = __builtin_shufflevector(s[h + i], s[h + 2 + i], 0, 1, 8, 9, 4, 5, 12, 13);
      t[h + 2 + i] = __builtin_shufflevector(s[h + i], s[h + 2 + i], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int i = 0; i < 4; ++i) {
    b[i].v = __builtin_shufflevector(t[i], t[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    b[i + 4].v = __builtin_shufflevector(t[i], t[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif defined(__AVX2__)
  typedef Pack::Reg R;
  const R s0 = __builtin_shufflevector(b[0].v, b[1].v, 0, 4, 2, 6);
  const R s1 = __builtin_shufflevector(b[0].v, b[1].v, 1, 5, 3, 7);
  const R s2 = __builtin_shufflevector(b[2].v, b[3].v, 0, 4, 2, 6);
  const R s3 = __builtin_shufflevector(b[2].v, b[3].v, 1, 5, 3, 7);
  b[0].v = __builtin_shufflevector(s0, s2, 0, 1, 4, 5);
  b[1].v = __builtin_shufflevector(s1, s3, 0, 1, 4, 5);
  b[2].v = __builtin_shufflevector(s0, s2, 2, 3, 6, 7);
  b[3].v = __builtin_shufflevector(s1, s3, 2, 3, 6, 7);
#else
  for (int i = 0; i < kWidth; ++i) {
    for (int j = i + 1; j < kWidth; ++j) {
      const double swap = b[i].v[j];
      b[i].v[j] = b[j].v[i];
      b[j].v[i] = swap;
    }
  }
#endif
}

}  // namespace fiberloom::FIBERLOOM_ISA_NS
