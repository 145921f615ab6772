// SPDX-License-Identifier: BSD-3-Clause
// Square root of a whole bundle's precision N ('noise' decorrelation): errors are then uncorrelated
// between fibres too (docs/fiberloom/algorithm.md, "Decorrelation of fibres").
#pragma once

#include <vector>

#include "fiberloom/extract/exact/decorrelate.hpp"
#include "fiberloom/extract/exact/marginal.hpp"
#include "fiberloom/extract/exact/normal_equations.hpp"
#include "fiberloom/extract/exact/solve.hpp"

namespace fiberloom::exact {

struct BundleRootTask {
  int band = 8;                   ///< kept of each fibre's marginal precision
  int sweep_reach = 1;            ///< BundleGeometry
  int nd = 5;                     ///< entries of Q wanted on each side of a fibre's diagonal
  double low = 0;                 ///< lower bound on the spectrum of N
  double shift = 0;               ///< added to the diagonal of N, and part of `low`
  double signal = 0;              ///< largest signal-to-noise ratio of a bin
  double root_tolerance = 1e-7;   ///< error of the rational root, in units of a bin's sigma
  double solve_tolerance = 1e-7;  ///< error of all solutions together, likewise
  int most_iterations = 500;      ///< of a solution
  Sweeps sweeps = Sweeps::kBoth;
  const Observer* observer = nullptr;
};

struct BundleRootReport {
  double high = 1;  ///< bound on the largest eigenvalue of N
  int poles = 0;
  double error = 0;        ///< relative, of the rational root
  double solve_sigma = 0;  ///< bound on what the solutions were left with, in sigma of a bin
};

struct BundleRootWork {
  SolveWork solve;
  std::vector<double> rhs, diagonal;  ///< of N, put back at the end
  std::vector<double> q1, qx;         ///< Q 1 and Q x, laid out as n.rhs_
  std::vector<double> q;              ///< [nfiber][rows][nd + 1] lanes
  std::vector<double> zeros, unread, unshifted;
  std::vector<double> marginal;  ///< diagonals of the fibres' S, laid out as n.rhs_
};

/// Q = N^(1/2) of all fibres and bins together, into `work`: Q 1, Q x, and Q's entries within nd of
/// the diagonal of each fibre. By the rational root, Q = sum c (1 - t (N + t)^-1). A pole takes two
/// solutions by conjugate gradients, and for the entries the sweeps of N + t, since the inverse of
/// a diagonal block of (N + t)^-1 is the marginal precision of that fibre in N + t. `x` is laid out
/// as n.rhs_. n is changed on the way and put back to the bit. `sweeps` and `root` are scratch.
BundleRootReport bundle_root(const BundleRootTask& task, const Windows& windows, const double* x,
                             const BandedKernels& banded, const PixelKernels& pixel,
                             NormalEquations& n, MarginalWork& sweeps, RootBuffers& root,
                             BundleRootWork& work);

/// One fibre of it in lanes, as square_root() leaves one. Bins that know little more than `shift`
/// are drowned.
void load_root(const Windows& windows, const BundleRootTask& task, int fiber,
               const NormalEquations& n, const BundleRootWork& work, RootBuffers& root);

}  // namespace fiberloom::exact
