// SPDX-License-Identifier: BSD-3-Clause
// Small synthetic problems for tests: five curved fibres on a CCD of 75 x 260 pixels, with a PSF of
// varying width and shape, noise, defects. Independent of the simulate module and of the spot code.
#pragma once

#include <cstdint>
#include <vector>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom::oracle {

enum class Defect {
  kDeadBlock,      ///< 25 x 41 pixels without weight across two fibres, inside the grid
  kDeadColumns,    ///< three columns along the trace of fibre 1, whole height
  kDeadAmplifier,  ///< the top 30 % of the rows; the grid reaches into it
  kCosmics,        ///< 2 % of the pixels, at random
};

/// Where the grid ends.
enum class CaseEdges {
  kInside,  ///< grid and nearby light well inside the CCD
  kOffCcd,  ///< grid runs off both ends; first and last fibre are cut by the CCD's sides
};

/// Condition number of S with everything inside the CCD (rows = 300): 21 at 1.2 A, 1e3 at 0.8 A;
/// below that sigma_y decides: 0.6 A 1.5e5, 0.5 A 3e9, 0.4 A 8e12 with 1.15 pixels, 1.3e3,
/// 5e6, 1.2e9 with 0.85. Guard bins that hang over the edge of the CCD bring it to 1e9 and more at
/// any step.
struct SmallCaseKnobs {
  int nfiber = 5;
  int rows = 260;            ///< CCD height, pixels (0.57 A a pixel)
  double step_aa = 0.8;      ///< bin width, Angstrom
  int nwave = 100;           ///< bins of the grid (kOffCcd: as many as it takes)
  double pitch = 7.3;        ///< fibre distance, pixels
  double sigma_x = 1.10;     ///< PSF sigma across the trace, pixels
  double sigma_y = 1.15;     ///< along the trace
  double continuum_e = 300;  ///< electrons a bin
  double line_snr = 0;       ///< peak bins of bright lines hold line_snr^2 electrons; 0: no lines
  double read_noise_e = 3;
  double noise = 1;  ///< scale of the noise drawn; 0: image = A f exactly
  CaseEdges edges = CaseEdges::kInside;
  std::vector<Defect> defects;
  std::uint64_t seed = 1;
};

/// Crosstalk of 5 %: N_(i,i+1)[j,j] is 0.05 of the diagonal in the middle of the CCD.
[[nodiscard]] SmallCaseKnobs with_crosstalk(SmallCaseKnobs knobs);

struct SmallCase {
  PsfModel psf;
  CcdFrame ccd;            ///< masked pixels have ivar = image = 0 (apply_mask's contract)
  ExtractOptions options;  ///< wave set, bundle_size = nfiber
  Array2D<double> truth;   ///< [nfiber][nwave] electrons a bin; beyond the grid there is light too
};

/// Light sits on the bins of the grid and on its continuation over the whole CCD.
[[nodiscard]] SmallCase make_small_case(const SmallCaseKnobs& knobs = {});

}  // namespace fiberloom::oracle
