// SPDX-License-Identifier: BSD-3-Clause
// Spectra of a target, of all exposures and cameras, as one spectrum on another grid: what they say
// together of the light (spectro-perfectionism), its errors without correlation. Knows no files.
#pragma once

#include <span>
#include <vector>

#include "fiberloom/calibrate/coadd.hpp"
#include "fiberloom/spectrum/spectra.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// One camera's spectra, a row an exposure of a target; `band`: whose FIBERSTATUS counts.
struct ResampledCamera {
  const Spectra* spectra = nullptr;
  char band = '\0';
};

/// The light s at the bins of `wave`, linear between them, as camera c shows it in exposure e: f =
/// R_ce P_c s + noise. With A = sum (R P)^T W R P, banded, y = sum (R P)^T W f, and Q = A^(1/2), q
/// = Q 1: flux = Q^-1 y / q, ivar = q^2, R = diag(1 / q) Q, cut to its diagonals: then flux = R s,
/// without covariance. Pixels whose R reaches light beyond the grid are left out. A bin of which
/// nothing is known has flux and ivar 0, and kAllBadPix beside the bits of its pixels. Rows of
/// targets as coadd_exposures() has them; no tables. O(ntarget nwave band^2) for each of two dozen
/// poles. Throws kUsage where bins are too fine, or none is in reach of the data, kWrongShape for
/// rows that are not there.
[[nodiscard]] Coadd resample_exposures(std::span<const ResampledCamera> cameras,
                                       std::span<const std::vector<std::size_t>> targets,
                                       const std::vector<double>& wave, const CoaddOptions& options,
                                       Executor& executor);

}  // namespace fiberloom::calibrate
