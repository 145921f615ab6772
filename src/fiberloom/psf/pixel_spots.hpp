// SPDX-License-Identifier: BSD-3-Clause
// PSFs whose spots are images: SPOTGRID, MONOSPOT and PCA-PIX (docs/fiberloom/formats.md). The
// values are specter's to rounding, sinc shifts that run over the ends of rows included.
#pragma once

#include <memory>
#include <vector>

#include "fiberloom/psf/spot_shape.hpp"
#include "loom/base/array.hpp"

namespace fiberloom {

using loom::Array2D;

/// A spot on pixels finer than the CCD's, `fine` of them to a CCD pixel, as sums of all that lies
/// before: a rectangle's light is four reads. The definition: spots are made of images that it
/// binned beforehand.
class FineSpot {
 public:
  /// value [ny][nx]
  FineSpot(const double* value, std::size_t ny, std::size_t nx);
  /// Adds weight times the light within fine columns [x0, x1) and rows [y0, y1), any numbers, of
  /// spots on the grid of CCD pixels [ny][nx], the first at fine pixel (x, y); fractions of a fine
  /// pixel count by their share.
  void add_binned(double x, double y, int fine, double weight, int nx, int ny, double* out) const;

 private:
  [[nodiscard]] double before(double y, double x) const;
  std::size_t ny_, nx_;
  std::vector<double> sum_;  ///< [ny + 1][nx + 1]
};

/// Spots sampled along the slit and in wavelength, linear in between and beyond.
struct SpotGrid {
  std::vector<double> fiber_position;     ///< [nfiber] on the slit
  std::vector<double> position, wave_aa;  ///< of the samples, increasing, two or more each
  std::size_t spot_ny = 0, spot_nx = 0;   ///< fine pixels, multiples of `fine`
  int fine = 1;                           ///< fine pixels to a CCD pixel
  std::vector<double> spots;              ///< [position][wave][spot_ny][spot_nx]
};
[[nodiscard]] std::shared_ptr<const SpotShape> make_spot_grid(const SpotGrid& grid);

/// One spot for all.
struct MonoSpot {
  std::size_t ny = 0, nx = 0;  ///< fine pixels, multiples of `fine`
  int fine = 1;
  std::vector<double> spot;  ///< [ny][nx]
};
[[nodiscard]] std::shared_ptr<const SpotShape> make_mono_spot(const MonoSpot& spot);

/// Images times powers of the place on the CCD, then shifted by a fraction of a pixel.
struct PcaPix {
  std::vector<int> x_power, y_power;             ///< [nimage]
  std::vector<int> group;                        ///< [nfiber]
  std::vector<double> x0, x_scale, y0, y_scale;  ///< [nfiber]
  std::size_t ny = 0, nx = 0;                    ///< CCD pixels, odd
  std::vector<double> images;                    ///< [group][nimage][ny][nx]
};
[[nodiscard]] std::shared_ptr<const SpotShape> make_pca_pix(const PcaPix& pca);

/// Radius of the sinc shift's kernel, pixels.
inline constexpr int kSincRadius = 10;
inline constexpr int kSincTaps = 2 * kSincRadius + 1;
/// Where its damping is 1 / e, pixels.
inline constexpr double kSincDamping = 3.25;
/// The largest stamp of any kind, pixels on a side.
inline constexpr int kMaxShapeStamp = 63;
/// Shifts an image [ny][nx] by (dx, dy) pixels with a damped sinc, along rows that follow each
/// other, then along columns that do: as specter's sincshift(), ends of rows meet the next row.
void sinc_shift(int ny, int nx, double dx, double dy, double* image);
/// Shorter shifts are none.
inline constexpr double kLeastSincShift = 1e-6;

}  // namespace fiberloom
