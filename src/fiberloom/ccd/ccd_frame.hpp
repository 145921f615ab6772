// SPDX-License-Identifier: BSD-3-Clause
// The image of one CCD and how much each of its pixels weighs. Knows no files and no spectra.
#pragma once

#include <cstddef>
#include <utility>
#include <variant>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

/// CCD pixels as the file has them, float32 or float64, [npix_y][npix_x].
class PixelArray {
 public:
  PixelArray() = default;
  explicit PixelArray(Array2D<float> a) : data_(std::move(a)) {}
  explicit PixelArray(Array2D<double> a) : data_(std::move(a)) {}
  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] std::size_t cols() const;
  [[nodiscard]] double at(std::size_t r, std::size_t c) const;
  [[nodiscard]] std::variant<Array2D<float>, Array2D<double>>& data() { return data_; }
  [[nodiscard]] const std::variant<Array2D<float>, Array2D<double>>& data() const { return data_; }

 private:
  std::variant<Array2D<float>, Array2D<double>> data_;
};

/// Read noise, electrons: one for all, and of each pixel where that is known.
struct ReadNoise {
  double all_e = 0;         ///< the mean; 0: not known
  Array2D<float> by_pixel;  ///< [npix_y][npix_x], or empty
  [[nodiscard]] bool known() const { return all_e > 0 && all_e < kMost; }
  /// Its square; of a pixel whose own is no positive number that of all.
  [[nodiscard]] double variance(std::size_t row, std::size_t column) const {
    const double own = by_pixel.empty() ? all_e : static_cast<double>(by_pixel(row, column));
    const double noise_e = own > 0 && own < kMost ? own : all_e;
    return noise_e * noise_e;
  }
  static constexpr double kMost = 1e6;  ///< no CCD has more; infinite neither
};

/// Image (electrons) and weights (inverse variance, 1/electron^2; 0 where masked) of one CCD.
/// Who extracts wants it sanitised: call apply_mask first (pixel_mask.hpp).
struct CcdFrame {
  PixelArray image, ivar;
  ReadNoise readnoise = {};  ///< for who makes weights of a model; nobody else reads it
  /// Electrons that a solution before has found in each pixel, for weights of a model to begin
  /// with; empty: they begin with the pixels.
  Array2D<float> light = {};
};

}  // namespace fiberloom
