// SPDX-License-Identifier: BSD-3-Clause
// The experiments of bench_refine; each prints a table.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fiberloom::bench {

/// Every fibre has a level of its own; weights from the noisy pixels, from the truth, from the
/// model.
struct VarianceExperiment {
  int realisations = 100;
  std::size_t nwave = 200;
  std::uint64_t seed = 1;
};
void run(const VarianceExperiment& experiment);

/// Hits of known charge, one pixel and tracks, anywhere and on the middle of a trace, among
/// emission lines one bin wide.
struct CosmicExperiment {
  int frames = 10;
  std::size_t nwave = 400;
  double nsig = 6;
  std::uint64_t seed = 1;
};
void run(const CosmicExperiment& experiment);

/// Traces (and widths) moved by polynomials that are drawn: found, and used.
struct TraceExperiment {
  int frames = 20, nfiber = 50, degree = 1;
  double pixels = 0.15;  ///< size of the constant; gradients are 0.3 of it, widths 0.2
  bool widths = false;
  std::uint64_t seed = 1;
};
void run(const TraceExperiment& experiment);

/// Two bundles of faint fibres, a bright star at the edge of one, a PSF with tails.
struct WingExperiment {
  int frames = 10, reach = 50;
  std::size_t nwave = 400;
  double amplitude = 0.002;                            ///< of the tails
  double star_e = 20000, faint_e = 40, line_e = 5000;  ///< electrons a bin
  std::uint64_t seed = 1;
};
void run(const WingExperiment& experiment);

/// Fibres whose light overlaps, noise drawn.
struct NeighbourExperiment {
  int realisations = 200, nfiber = 10;
  std::size_t nwave = 200;
  double crosstalk = 0.05;  ///< overlap of the profiles of two neighbours
  std::uint64_t seed = 1;
};
void run(const NeighbourExperiment& experiment);

/// Two slits of 40 fibres; and a slit of which one fibre has no fit in the PSF.
struct SlitExperiment {
  int frames = 10;
  std::size_t nwave = 200;
  double crosstalk = 0.01;  ///< overlap of the profiles of two neighbours
  std::uint64_t seed = 1;
};
void run(const SlitExperiment& experiment);

/// One spectrum on grids of several kinds; fibres that each move at a speed of their own.
struct GridExperiment {
  int frames = 10, nfiber = 25;
  std::size_t nwave = 400;
  double most_kms = 0.8;  ///< of the outermost fibres
  std::uint64_t seed = 1;
};
void run(const GridExperiment& experiment);

}  // namespace fiberloom::bench
