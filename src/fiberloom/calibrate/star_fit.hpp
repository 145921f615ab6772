// SPDX-License-Identifier: BSD-3-Clause
// Which model a standard star's spectrum is: its velocity, and its place in a grid of temperature,
// gravity and metallicity (docs/fiberloom/calibration-design.md). Knows no files.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "fiberloom/spectrum/calibration.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::calibrate {

/// One camera's spectrum of a star, flat-fielded, without sky; spans [nwave].
struct StarSpectrum {
  std::span<const double> wave, flux, ivar;  ///< ivar: 0 where a pixel is not to be used
  Banded<const float> resolution;
};

/// What a pixel above the continuum is held against, 3 sigma of it. kModel: of noise and template
/// error. kNoise: of its noise, as desispec; of bright stars that takes half the pixels between
/// lines.
enum class SpikeLimit { kModel, kNoise };

/// What data and models are divided by. kMean: means over a window, the same for noisy data and for
/// models; mixtures are of the models' light. kMedian: medians, which noise draws from the light
/// between lines into them (F stars are 280 K too cool at a S/N of 10), and mixtures of what was
/// divided, as desispec.
enum class Continuum { kMean, kMedian };

/// Bins that a continuum is told from: wide enough for what is left of the spectrograph's
/// throughput, wider than a line.
inline constexpr std::size_t kContinuumBins = 200;

struct StarFitOptions {
  SpikeLimit spikes = SpikeLimit::kModel;
  Continuum continuum = Continuum::kMean;
  double most_redshift = 0.008, redshift_step = 2e-5;
  double template_error = 0.1;  ///< of a model, as a share of the continuum
};

struct StarFit {
  std::vector<double> coefficients;  ///< [models] of the grid's; they sum to 1
  double redshift = 0, chi2_per_dof = 0;
};

/// Pixels that would mislead the fit get weight 0: strong sky lines, bands of the atmosphere, all
/// above 8270 Angstrom.
void mask_atmosphere(std::span<const double> wave, std::span<double> ivar);

/// The star's redshift against one model: least chi2 of continuum-normalised fluxes on a
/// logarithmic grid of `options.redshift_step`.
[[nodiscard]] double fit_redshift(std::span<const StarSpectrum> cameras,
                                  std::span<const double> model_wave, std::span<const float> model,
                                  const StarFitOptions& options);

/// One of the nodes about the best model: -1, 0 or 1 steps of each parameter away from it.
struct GridNode {
  std::size_t model = 0;  ///< its number among the models, not in the grid
  std::array<double, 3> at{};
};
/// Those of `models` (indices, a cube of the grid or a part of it) that lie beside models[best].
[[nodiscard]] std::vector<GridNode> nodes_about(const StellarGrid& grid,
                                                std::span<const std::size_t> models,
                                                std::size_t best);

struct NodeFit {
  std::vector<double> coefficients;  ///< [nodes], they sum to 1
  double chi2 = 0;
};
/// The place between nodes that fits best: a linear mixture in each of the three parameters, never
/// beyond the nodes. `a` [nodes][nodes]: products of what the nodes leave of the data, so that chi2
/// of shares c that sum to 1 is c^T a c.
[[nodiscard]] NodeFit fit_between_nodes(std::span<const GridNode> nodes, const Array2D<double>& a);

/// The mixture of `models` (indices into the grid) that the star's spectrum is. Throws kNumerical
/// where no pixel is left.
[[nodiscard]] StarFit fit_star(std::span<const StarSpectrum> cameras, const StellarGrid& grid,
                               std::span<const std::size_t> models, const StarFitOptions& options,
                               Executor& executor);

}  // namespace fiberloom::calibrate
