// SPDX-License-Identifier: BSD-3-Clause
// Spectra of known redshift for benchmarks: drawn from the coefficients that template files keep of
// their training, seen through real or made-up resolution and noise.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/redshift/template.hpp"
#include "tests/fiberloom/parity/coadd_file.hpp"

namespace fiberloom::bench {

struct Truth {
  std::string spectype;
  double z = 0, snr = 0;  ///< median over pixels
};

struct SampleOptions {
  std::size_t targets = 100;
  std::uint64_t seed = 1;
  double least_snr = 0.5, most_snr = 20;  ///< even in log
  double resolution_spread = 0.3;  ///< variance that fibres add to the resolution, up to, pixels^2
};

struct Sample {
  parity::CoaddFile file;
  std::vector<Truth> truth;
};

/// Cameras like DESI's b, r, z with Gaussian resolution of 11 diagonals and even noise.
[[nodiscard]] parity::CoaddFile made_up_cameras();

/// Targets take turns among the templates that keep coefficients and, where given, the archetypes
/// (quasars). `base`: one target whose resolution and ivar shape all get.
[[nodiscard]] Sample draw(const redshift::TemplateSet& templates,
                          std::span<const redshift::Archetypes> archetypes,
                          const parity::CoaddFile& base, const SampleOptions& options);

/// As a coadd file that the peer can read, with an HDU TRUTH.
void write_sample(const std::string& path, const Sample& sample);

}  // namespace fiberloom::bench
