// SPDX-License-Identifier: BSD-3-Clause
// How likely spectra are under a template with its coefficients integrated out: what models with
// different numbers of vectors are compared by. Knows no redshift prior.
//
//   p(f | z) = sum_k w_k int dA/A int dc N(f | B c, 1 / w) N(c | A mu_k, A^2 S_k)
//
// mu_k, S_k: the shapes that coefficients have in the template's training, A: the brightness, even
// in its logarithm.
#pragma once

#include <vector>

#include "fiberloom/redshift/scan_kernels.hpp"
#include "fiberloom/redshift/template.hpp"

namespace fiberloom::redshift {

/// One Gaussian of the shapes, for coefficients of a template whose brightness (the root of
/// sum_a (c_a rms_a)^2, rms_a that of vector a) is 1.
struct ShapeComponent {
  double weight = 1;          ///< all sum to 1
  std::vector<double> mean;   ///< [nbasis]
  Array2D<double> precision;  ///< [nbasis][nbasis], positive definite
};

/// At most kMostShapes Gaussians around groups of similar training spectra. A template without
/// training: three around its first vector, the ratios of the others' brightness to it 0 +-
/// 0.35 / sqrt(a), as quasars' archetypes have in quasars' templates, half and a quarter of that.
inline constexpr std::size_t kMostShapes = 4;
[[nodiscard]] std::vector<ShapeComponent> coefficient_shapes(const Template& t);

/// What the kernel and finish_evidence() take: built once a template.
struct EvidenceTable {
  int nb = 0, components = 0;
  std::vector<double> numbers;   ///< [component]: kernel's (scan_kernels.hpp)
  std::vector<double> constant;  ///< [component]: the logarithm that no spectrum changes
};
[[nodiscard]] EvidenceTable evidence_table(const std::vector<ShapeComponent>& shapes);

/// log p(f | z) less that of no light at all (which no template changes): [kLanes]. `parts` is what
/// ScanKernels::evidence left, and overwritten.
void finish_evidence(const EvidenceTable& table, double* parts, double* out);

}  // namespace fiberloom::redshift
