// SPDX-License-Identifier: BSD-3-Clause
// Factor, solve, selected inverse, and one pole of the square root, for lanes with many registers
// and slow memory (GPU threads): the same operations in the same order as in banded_lane.hpp, but
// what later rows wait for is held in a window that every row shifts by one while it updates it,
// indexed by constants only, and what comes from memory is asked for long before it is used.
// Results are written, not added. A second text: with one for both either side would lose
// (bench_texts; docs/fiberloom/gpu.md, "Second texts").
#pragma once

#include "loom/linalg/banded_lane.hpp"

namespace loom::lane {

/// Bands up to this fit into a thread's registers, more or less.
inline constexpr int kMostInRegisters = 16;

/// Rows that are asked for before they are worked on, where registers are left for them: a load
/// from memory waits as long as three or four rows take.
template <int B>
inline constexpr int kRowsAhead = B <= 8    ? 4
                                  : B <= 12 ? 2
                                            : 1;
template <int B>
inline constexpr int kSolveRowsAhead = B <= 8 ? 6 : 3;
template <int B>
inline constexpr int kPoleRowsAhead = B <= 8 ? 2 : 0;  // 0: when its turn comes

/// Of a matrix, what row j of a factorisation is the first to touch.
template <class V, int B>
struct FreshRow {
  V later[B], own;  ///< entry (j + 1 + i, j + B) at i; (j, j + B)
  FL_LANE_HD void ask(const double* matrix, int j) {
    FL_UNROLL_ALL
    for (int i = 0; i < B; ++i) later[i] = at<V>(matrix, (j + 1 + i) * (B + 1) + B - i - 1);
    own = at<V>(matrix, j * (B + 1) + B);
  }
};

/// As factor() (banded_lane.hpp), to the bit; rows before `first`, which nobody wants, are not
/// stored, and none at all where the smallest pivot is all that is wanted. Reads up to B rows past
/// the end, whatever is there.
template <class V, int B, bool kStored = true>
FL_LANE_HD inline V factor_registers(int n, const double* matrix, V shift, double* l, double* inv_d,
                                     int first = 0) {
  constexpr int kAhead = kRowsAhead<B>;
  V smallest(1e300);
  V w[B][B];  // w[i][e]: entry (j + i, j + i + e), once a row before j + i has touched it
  FL_UNROLL_ALL
  for (int i = 0; i < B; ++i) {
    FL_UNROLL_ALL
    for (int e = 0; e < B - i; ++e)
      w[i][e] = at<V>(matrix, i * (B + 1) + e) + (e == 0 ? shift : V(0.0));
  }
  FreshRow<V, B> fresh[kAhead];
  FL_UNROLL_ALL
  for (int r = 0; r < kAhead; ++r) fresh[r].ask(matrix, r < n ? r : n - 1);
  for (int begin = 0; begin < n; begin += kAhead) {
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) {
      const int j = begin + r;
      if (j >= n) break;
      V u[B + 1], f[B + 1];
      FL_UNROLL_ALL
      for (int e = 0; e < B; ++e) u[e] = w[0][e];
      u[B] = fresh[r].own;
      const V inverse = V(1.0) / u[0];
      smallest = min(u[0], smallest);
      smallest = select_positive(abs(u[0]), smallest, V(-1.0));
      FL_UNROLL_ALL
      for (int e = 1; e <= B; ++e) f[e] = u[e] * inverse;
      FL_UNROLL_ALL
      for (int i = 0; i < B; ++i) {
        FL_UNROLL_ALL
        for (int e = 0; e < B - i; ++e) {
          const bool first_touch = e == B - i - 1;
          V before = first_touch ? fresh[r].later[i] : w[first_touch ? i : i + 1][e];
          if (first_touch && e == 0) before += shift;
          w[i][e] = fnma(f[i + 1], u[i + 1 + e], before);
        }
      }
      fresh[r].ask(matrix, j + kAhead < n ? j + kAhead : n - 1);
      if (kStored && j >= first) {
        put(inv_d, j, inverse);
        FL_UNROLL_ALL
        for (int e = 1; e <= B; ++e) put(l, j * B + e - 1, f[e]);
      }
    }
  }
  return smallest;
}

/// Solves L D L^T x = b, the operations of solve() to the bit: b of a row is rhs(row), done(row, x)
/// gets the solution from the last row to row `end`, the last that anybody reads. Work: work[n].
// Long: its rows are held in registers from end to end.
template <class V, int B, class Rhs, class Done>
FL_LANE_HD inline void solve_registers(int n, const double* l, const double* inv_d, Rhs rhs,
                                       double* work, Done done, int end = 0) {
  constexpr int kAhead = kSolveRowsAhead<B>;
  if (n < 1) return;
  struct Row {
    V f[B + 1], b;
  } ahead[kAhead];
  {
    const auto ask = [&](Row& row, int wanted) {
      const int j = wanted < n ? wanted : n - 1;
      FL_UNROLL_ALL
      for (int k = 1; k <= B; ++k) row.f[k] = at<V>(l, j * B + k - 1);
      row.b = rhs(j + B < n ? j + B : n - 1);
    };
    V wait[B];  // b of row j + i, less what the rows before j take away
    FL_UNROLL_ALL
    for (int i = 0; i < B; ++i) wait[i] = rhs(i < n ? i : n - 1);
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) ask(ahead[r], r);
    for (int begin = 0; begin < n; begin += kAhead) {
      FL_UNROLL_ALL
      for (int r = 0; r < kAhead; ++r) {
        const V v = wait[0];
        FL_UNROLL_ALL
        for (int i = 0; i < B; ++i) {
          wait[i] =
              fnma(ahead[r].f[i + 1], v, i + 1 < B ? wait[i + 1 < B ? i + 1 : i] : ahead[r].b);
        }
        ask(ahead[r], begin + r + kAhead);
        if (begin + r < n) put(work, begin + r, v);
      }
    }
  }
  const auto ask = [&](Row& row, int wanted) {
    const int j = wanted > 0 ? wanted : 0;
    FL_UNROLL_ALL
    for (int k = 1; k <= B; ++k) row.f[k] = at<V>(l, j * B + k - 1);
    row.f[0] = at<V>(inv_d, j);
    row.b = at<V>(work, j);
  };
  V after[B];  // solutions of rows j + 1, ...
  FL_UNROLL_ALL
  for (int i = 0; i < B; ++i) after[i] = V(0.0);
  FL_UNROLL_ALL
  for (int r = 0; r < kAhead; ++r) ask(ahead[r], n - 1 - r);
  for (int begin = n - 1; begin >= end; begin -= kAhead) {
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) {
      const int j = begin - r;
      V s = ahead[r].b * ahead[r].f[0];
      FL_UNROLL_ALL
      for (int k = B; k >= 1; --k) s = fnma(ahead[r].f[k], after[k - 1], s);
      FL_UNROLL_ALL
      for (int i = B - 1; i >= 1; --i) after[i] = after[i - 1];
      after[0] = s;
      ask(ahead[r], j - kAhead);
      if (j >= end) done(j, s);
    }
  }
}

/// One pole c (I - t (S + t I)^-1) of a matrix: its entries (j, j + e) and its products with `ones`
/// and with x, row by row from the last to `first`; of rows before that nothing is kept. A caller
/// may stop between rows: what goes on is in registers.
template <class V, int B>
class RegisterPole {
 public:
  /// Rows that work[n][kWork] keeps: of L, 1 / D, and both right sides on their way.
  static constexpr int kWork = B + 3;
  /// Rows that are done at once, at most.
  static constexpr int kSlots = kPoleRowsAhead<B> > 0 ? kPoleRowsAhead<B> : 1;

  /// The way there. Reads s, ones and x up to B rows past the end, whatever is there. Returns the
  /// smallest pivot.
  // Long: its rows are held in registers from end to end.
  FL_LANE_HD V factor(int n, const double* s, V t, V c, const double* ones, const double* x,
                      int first, double* work) {
    t_ = t;
    c_ = c;
    ones_ = ones;
    x_ = x;
    work_ = work;
    V smallest(1e300);
    // w[i][e]: entry (j + i, j + i + e) of what is left to factor, once a row before j + i has
    // touched it
    V w[B][B], a_wait[B], b_wait[B];
    FL_UNROLL_ALL
    for (int i = 0; i < B; ++i) {  // rows behind a short matrix are read, and do not matter
      a_wait[i] = at<V>(ones, i);
      b_wait[i] = at<V>(x, i);
      FL_UNROLL_ALL
      for (int e = 0; e < B - i; ++e) w[i][e] = at<V>(s, i * (B + 1) + e) + (e == 0 ? t : V(0.0));
    }
    struct Fresh {
      FreshRow<V, B> s;
      V one, x;
    } fresh[kSlots];
    const auto ask = [&](Fresh& row, int j) {
      row.s.ask(s, j);
      row.one = at<V>(ones, j + B);
      row.x = at<V>(x, j + B);
    };
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) ask(fresh[r], r < n ? r : n - 1);
    for (int begin = 0; begin < n; begin += kSlots) {
      FL_UNROLL_ALL
      for (int r = 0; r < kSlots; ++r) {
        const int j = begin + r;
        if (j >= n) break;
        if constexpr (kAhead == 0) ask(fresh[r], j);
        V u[B + 1], f[B + 1];
        FL_UNROLL_ALL
        for (int e = 0; e < B; ++e) u[e] = w[0][e];
        u[B] = fresh[r].s.own;
        const V a = a_wait[0], b = b_wait[0];
        const V inverse = V(1.0) / u[0];
        smallest = min(u[0], smallest);
        FL_UNROLL_ALL
        for (int e = 1; e <= B; ++e) f[e] = u[e] * inverse;
        FL_UNROLL_ALL
        for (int i = 0; i < B; ++i) {
          const bool last_one = i + 1 == B;
          a_wait[i] = fnma(f[i + 1], a, last_one ? fresh[r].one : a_wait[last_one ? i : i + 1]);
          b_wait[i] = fnma(f[i + 1], b, last_one ? fresh[r].x : b_wait[last_one ? i : i + 1]);
          FL_UNROLL_ALL
          for (int e = 0; e < B - i; ++e) {
            const bool first_touch = e == B - i - 1;
            V before = first_touch ? fresh[r].s.later[i] : w[first_touch ? i : i + 1][e];
            if (first_touch && e == 0) before += t;
            w[i][e] = fnma(f[i + 1], u[i + 1 + e], before);
          }
        }
        if constexpr (kAhead > 0) ask(fresh[r], j + kAhead < n ? j + kAhead : n - 1);
        if (j < first) continue;
        FL_UNROLL_ALL
        for (int e = 1; e <= B; ++e) put(work, j * kWork + e - 1, f[e]);
        put(work, j * kWork + B, inverse);
        put(work, j * kWork + B + 1, a);
        put(work, j * kWork + B + 2, b);
      }
    }
    turn(n, first);
    return smallest;
  }

  /// The next kSlots rows of the way back, the first of them row j, none before `first`: done(r, e,
  /// value) for row j - r of entries 0 to B of the pole, and of its products at B + 1 and B + 2.
  template <class Done>
  FL_LANE_HD void next_rows(int j_begin, int first, Done done) {
    const V ct = c_ * t_;
    FL_UNROLL_ALL
    for (int r = 0; r < kSlots; ++r) {
      const int j = j_begin - r;
      if (j < first) break;
      // what is wanted last of a row is asked for first, or a row before
      const V inverse = at<V>(work_, j * kWork + B), one_here = one_next_, x_here = x_next_;
      one_next_ = at<V>(ones_, j > first ? j - 1 : j);
      x_next_ = at<V>(x_, j > first ? j - 1 : j);
      V w[B + 1], a = at<V>(work_, j * kWork + B + 1), b = at<V>(work_, j * kWork + B + 2);
      V(&f)[B + 1] = ahead_[r];
      if constexpr (kAhead == 0) ask_back(f, j);
      FL_UNROLL_ALL
      for (int e = B; e >= 1; --e) {
        V sum(0.0), sum2(0.0);
        FL_UNROLL_ALL
        for (int k = B; k >= 2; k -= 2) {
          sum = fnma(f[k], k >= e ? z_[e - 1][k - e] : z_[k - 1][e - k], sum);
          const int m = k - 1;
          sum2 = fnma(f[m], m >= e ? z_[e - 1][m - e] : z_[m - 1][e - m], sum2);
        }
        w[e] = sum + sum2;
      }
      V d = inverse, d2(0.0);
      a *= inverse;
      b *= inverse;
      FL_UNROLL_ALL
      for (int k = B; k >= 1; --k) {
        a = fnma(f[k], a_last_[k - 1], a);
        b = fnma(f[k], b_last_[k - 1], b);
      }
      FL_UNROLL_ALL
      for (int k = B; k >= 2; k -= 2) {
        d = fnma(f[k], w[k], d);
        d2 = fnma(f[k - 1], w[k - 1], d2);
      }
      w[0] = d + d2;
      FL_UNROLL_ALL
      for (int i = B - 1; i >= 1; --i) {
        a_last_[i] = a_last_[i - 1];
        b_last_[i] = b_last_[i - 1];
        FL_UNROLL_ALL
        for (int e = 0; e < B - i; ++e) z_[i][e] = z_[i - 1][e];
      }
      FL_UNROLL_ALL
      for (int e = 0; e < B; ++e) z_[0][e] = w[e];
      a_last_[0] = a;
      b_last_[0] = b;
      if constexpr (kAhead > 0) ask_back(f, j - kAhead > first ? j - kAhead : first);
      FL_UNROLL_ALL
      for (int e = 0; e <= B; ++e) done(r, e, fnma(ct, w[e], e == 0 ? c_ : V(0.0)));
      done(r, B + 1, fma(c_, one_here, -(ct * a)));
      done(r, B + 2, fma(c_, x_here, -(ct * b)));
    }
  }

 private:
  static constexpr int kAhead = kPoleRowsAhead<B>;
  FL_LANE_HD void ask_back(V (&row)[B + 1], int j) {
    FL_UNROLL_ALL
    for (int k = B; k >= 1; --k) row[k] = at<V>(work_, j * kWork + k - 1);
  }
  FL_LANE_HD void turn(int n, int first) {
    FL_UNROLL_ALL
    for (int i = 0; i < B; ++i) {
      a_last_[i] = b_last_[i] = V(0.0);
      FL_UNROLL_ALL
      for (int e = 0; e < B - i; ++e) z_[i][e] = V(0.0);
    }
    one_next_ = at<V>(ones_, n - 1);
    x_next_ = at<V>(x_, n - 1);
    FL_UNROLL_ALL
    for (int r = 0; r < kAhead; ++r) ask_back(ahead_[r], n - 1 - r > first ? n - 1 - r : first);
  }

  V t_, c_, one_next_, x_next_;
  const double *ones_, *x_;
  double* work_;
  V z_[B][B], a_last_[B],
      b_last_[B];           ///< z_[i][e]: entry (j + 1 + i, j + 1 + i + e) of the inverse
  V ahead_[kSlots][B + 1];  ///< rows of L
};

/// The one of the two texts that suits the band.
template <class V, int B, class Rhs, class Done>
FL_LANE_HD inline void solve_somewhere(int n, const double* l, const double* inv_d, Rhs rhs,
                                       double* work, Done done, int end = 0) {
  if constexpr (B <= kMostInRegisters) {
    solve_registers<V, B>(n, l, inv_d, rhs, work, done, end);
  } else {
    for (int j = 0; j < n; ++j) put(work, j, rhs(j));
    solve<V, B>(n, l, inv_d, work);
    for (int j = n - 1; j >= end; --j) done(j, at<V>(work, j));
  }
}

}  // namespace loom::lane
