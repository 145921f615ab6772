// SPDX-License-Identifier: BSD-3-Clause
// From line integrals to counts of a camera: beam, pixels, noise, and what is wrong with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loom/base/array.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct DetectorOptions {
  double photons = 20000;  ///< in a pixel of a flat; 0: counts without noise
  double rings = 0;        ///< standard deviation of what flats do not tell of a pixel's response
  double drift = 0;        ///< by which fraction the beam is weaker at the end of the scan
  double zingers = 0;      ///< fraction of pixels hit by something else
  std::uint64_t seed = 1;
};

/// A camera of rows x columns pixels. Each frame is a pure function of the options and its number.
class Detector {
 public:
  Detector(std::size_t rows, std::size_t columns, const DetectorOptions& options);

  /// Counts of a dark, of a flat, and of projection `number` of `total` with these line integrals.
  /// [rows][columns]
  void dark(std::size_t number, std::span<std::uint16_t> out) const;
  void flat(std::size_t number, std::span<std::uint16_t> out) const;
  void projection(std::size_t number, std::size_t total, std::span<const double> integrals,
                  std::span<std::uint16_t> out) const;

 private:
  [[nodiscard]] double response(std::size_t row, std::size_t column) const noexcept;
  void expose(std::uint64_t stream, std::span<const double> light,
              std::span<std::uint16_t> out) const;

  std::size_t rows_, columns_;
  DetectorOptions options_;
  std::vector<double> response_;  ///< of beam and pixel together, as flats see it
};

}  // namespace tomoloom
