// SPDX-License-Identifier: BSD-3-Clause
// Marginal precision of each fibre, S_i = N_ii - N_iO N_OO^-1 N_Oi with O the other fibres of the
// bundle: two sweeps over the fibres, one window of wavelength a lane (docs/fiberloom/algorithm.md,
// "Marginal precision").
#pragma once

#include <functional>

#include "fiberloom/extract/exact/band_products.hpp"
#include "fiberloom/extract/exact/normal_equations.hpp"
#include "fiberloom/extract/exact/windows.hpp"
#include "loom/linalg/banded.hpp"

namespace fiberloom::exact {

/// Which couplings the sweeps keep; anything but kBoth is for tests of the error bound.
enum class Sweeps { kBoth, kLeftOnly, kNone };

struct PairWork {
  WorkArena& arena;
  GrowBuffer<double> other{arena}, columns{arena}, l{arena}, inv_d{arena}, inverse{arena},
      scratch{arena}, schur{arena}, result{arena};
  GrowBuffer<double> coupling{};  ///< large, rarely used
};

/// Of pairs of fibres, where second neighbours matter.
struct Pairs {
  int first = 0;  ///< the first pair begins with this fibre, 0 or -1 (which does not exist)
  /// use(f, C): C is what couples fibre f (rows) with the next once all others are eliminated;
  /// after the S of both.
  std::function<void(int, Band<const double>)> use;
};

struct MarginalWork {
  WorkArena& arena;
  GrowBuffer<double> precision{arena}, schur{arena}, l{arena}, inv_d{arena}, inverse{arena},
      columns{arena}, scratch{arena};
  GrowBuffer<double> left{};  ///< large
  PairWork pair{arena};
};

/// `reach`: 1, or 2 where second neighbours matter (couplings further than that are left out).
/// Calls use(fiber, S) for every fibre, from the last to the first, S being rows[rows][band +
/// 1][kLanes] (valid only during the call); `band` one of kBands. Ends with kInterrupted where
/// `observer` (may be null) is asked to stop. `pairs` is for a reach of 2.
void marginal_precisions(const NormalEquations& n, int reach, const Windows& windows, int band,
                         const BandedKernels& banded, const PixelKernels& pixel, Sweeps sweeps,
                         const Observer* observer, MarginalWork& work,
                         const std::function<void(int, const double*)>& use,
                         const Pairs& pairs = {});

}  // namespace fiberloom::exact
