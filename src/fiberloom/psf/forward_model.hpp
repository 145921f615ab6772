// SPDX-License-Identifier: BSD-3-Clause
// Light through the PSF, fast: p = A f and f' = A^T p for a range of fibres on one wavelength grid.
// The spots are those of the engine's kernel; simulate/project.hpp has the plain counterpart. Must
// not know of noise, weights or files.
#pragma once

#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "loom/base/array.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

/// The matrix A: npix_y x npix_x pixels, nfiber x nwave bins; a column is the spot of a bin,
/// cropped at the CCD and not renormalised. It is never stored: a product evaluates every spot
/// anew, about 0.5 core-seconds for 500 fibres x 2326 bins. Same bytes for any executor.
class ForwardModel {
 public:
  /// Fibres [first_fiber, first_fiber + nfiber), nfiber < 0: all from first_fiber. Throws
  /// kFiberRange, or kUsage for a grid that is empty or does not increase.
  ForwardModel(const PsfModel& psf, const std::vector<double>& wave_aa, int first_fiber = 0,
               int nfiber = -1);

  [[nodiscard]] std::size_t nfiber() const noexcept { return nfiber_; }
  [[nodiscard]] std::size_t nwave() const noexcept { return static_cast<std::size_t>(plan_.nwave); }
  [[nodiscard]] std::size_t npix_y() const noexcept {
    return static_cast<std::size_t>(plan_.npix_y);
  }
  [[nodiscard]] std::size_t npix_x() const noexcept {
    return static_cast<std::size_t>(plan_.npix_x);
  }

  /// The CCD in electrons [npix_y][npix_x] that `electrons` [nfiber][nwave], per bin, make. Bins of
  /// 0 cost next to nothing. Throws kSizeMismatch, or kInterrupted when the observer asks.
  [[nodiscard]] Array2D<double> project(View2D<const double> electrons, Executor& executor,
                                        const Observer& observer = {}) const;

  /// The transposed product: sums of `image` [npix_y][npix_x] under each spot, [nfiber][nwave].
  [[nodiscard]] Array2D<double> adjoint(View2D<const double> image, Executor& executor,
                                        const Observer& observer = {}) const;

 private:
  /// Neighbouring fibres and the pixels that their spots touch, which may lie off the CCD.
  struct Group {
    std::size_t first = 0, last = 0;  ///< rows of the spectra
    int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
    [[nodiscard]] bool dark() const noexcept { return x0 >= x1; }
  };
  struct Strip;

  void find_pixels(Group& group) const;
  void find_colours();
  void project_group(const Group& group, View2D<const double> electrons, Strip& strip,
                     Array2D<double>& image) const;
  void gather_group(const Group& group, View2D<const double> image, Strip& strip,
                    Array2D<double>& electrons) const;

  SpotPlan plan_;
  Isa isa_;
  int first_fiber_ = 0;
  std::size_t nfiber_ = 0;
  std::vector<Group> groups_;
  std::vector<std::vector<std::size_t>> colours_;  ///< groups of one colour share no pixel
};

}  // namespace fiberloom
