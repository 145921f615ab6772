// SPDX-License-Identifier: BSD-3-Clause
// What a PSF of another kind than GAUSS-HERMITE is to those who extract and project: stamps of one
// size, whose values it knows. Traces stay those of PsfModel. Knows no files and no bins.
#pragma once

#include <cstddef>

namespace fiberloom {

/// Where a spot lies: a fibre's wavelength, and the centre that its traces have there.
struct SpotPlace {
  std::size_t fiber = 0;
  double wave_aa = 0, x = 0, y = 0;
};

/// Inner loops that exist for each ISA level.
struct ShapeKernels {
  /// out[i] = sum over k < taps of weight[k] in[i + k] for i < n. `in` has n + taps - 1 elements.
  void (*slide)(const double* in, const double* weight, int taps, long n, double* out);
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
  /// Values [ny][nx] of a spot, not negative, of sum 1; all zero where it has none.
  virtual void evaluate(const SpotPlace& place, const ShapeKernels& kernels,
                        double* value) const = 0;

 protected:
  SpotShape(int nx, int ny) : nx_(nx), ny_(ny) {}

 private:
  int nx_, ny_;
};

/// Of plain loops: the definition.
[[nodiscard]] const ShapeKernels& reference_shape_kernels();

/// Cuts n values at 0 and divides them by their sum; all zero where that is not positive.
void make_unit_light(double* value, std::size_t n);

}  // namespace fiberloom
