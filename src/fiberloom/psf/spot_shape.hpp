// SPDX-License-Identifier: BSD-3-Clause
// What a PSF of another kind than GAUSS-HERMITE is to those who extract and project: stamps of one
// size, whose values it knows. Traces stay those of PsfModel. Knows no files and no bins.
#pragma once

#include <array>
#include <cstddef>

#include "fiberloom/foundation.hpp"
#include "loom/simd/isa.hpp"

namespace fiberloom {

struct TwoCores;

/// Where a spot lies: a fibre's wavelength, and the centre that its traces have there.
struct SpotPlace {
  std::size_t fiber = 0;
  double wave_aa = 0, x = 0, y = 0;
};

/// `n` rounded up to whole packs of the widest lanes, of doubles and of floats.
[[nodiscard]] constexpr std::size_t in_packs(std::size_t n) noexcept {
  return (n + kLanes - 1) / kLanes * kLanes;
}
[[nodiscard]] constexpr std::size_t in_float_packs(std::size_t n) noexcept {
  return (n + kFloatLanes - 1) / kFloatLanes * kFloatLanes;
}

/// A spot as a sum of images [ny][nx], moved by parts of a pixel with a damped sinc, negative
/// values cut, divided by its light. Images are in_float_packs(ny nx) long, zeros at the end, about
/// 1 at most, and stay the shape's. What is moved is one image, or `shared`.
struct ImageSum {
  static constexpr std::size_t kMost = 64;
  std::size_t count = 0;
  std::array<const double*, kMost> image;
  std::array<double, kMost> weight;
  double dx = 0, dy = 0;          ///< at most 1 either way
  bool shared = false;            ///< all spots of a fibre sum the same images
  const float* narrow = nullptr;  ///< image 0 as floats; the others as far from it as its doubles
  void add(const double* one, double times) {
    image[count] = one;
    weight[count++] = times;
  }
  void clear() {
    count = 0;
    dx = dy = 0;
  }
  template <class Real>
  [[nodiscard]] const Real* image_of(std::size_t k) const {
    if constexpr (sizeof(Real) == sizeof(double)) {
      return image[k];
    } else {
      return narrow + (image[k] - image[0]);
    }
  }
};

/// Immutable; threads share one.
class SpotShape {
 public:
  virtual ~SpotShape() = default;
  SpotShape(const SpotShape&) = delete;
  SpotShape& operator=(const SpotShape&) = delete;

  /// PSFTYPE of files of the kind.
  [[nodiscard]] virtual const char* kind() const noexcept = 0;
  /// Stamp, pixels, the same everywhere.
  [[nodiscard]] int nx() const noexcept { return nx_; }
  [[nodiscard]] int ny() const noexcept { return ny_; }
  /// First column of the stamp of a spot centred on x, and first row.
  [[nodiscard]] virtual int corner_x(double x) const noexcept = 0;
  [[nodiscard]] virtual int corner_y(double y) const noexcept = 0;
  /// Values [ny][nx] of a spot, not negative, of sum 1; all zero where it has none. The definition,
  /// in plain loops; kernels make several spots at a time, by one of the following.
  virtual void evaluate(const SpotPlace& place, double* value) const = 0;
  /// Of kinds whose spots are sums of images: which, into an empty sum. False: another kind. Not
  /// defined here, as the next: kernels of all levels would share them.
  [[nodiscard]] virtual bool sum_of(const SpotPlace& place, ImageSum& sum) const noexcept;
  /// Of kinds whose spots are Gauss-Hermite cores: their series. Null: another kind.
  [[nodiscard]] virtual const TwoCores* cores() const noexcept;

 protected:
  SpotShape(int nx, int ny) : nx_(nx), ny_(ny) {}

 private:
  int nx_, ny_;
};

/// Cuts n values at 0 and divides them by their sum; all zero where that is no positive number.
void make_unit_light(double* value, std::size_t n);

}  // namespace fiberloom
