// SPDX-License-Identifier: BSD-3-Clause
// The pixels of one patch and the projection of its spots on them: A, A^T, A^T W A.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fiberloom/extract/patch/patch_solve.hpp"

namespace fiberloom::patch {

/// CCD pixels [x0, x1) x [y0, y1).
struct Box {
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  [[nodiscard]] bool empty() const { return x0 >= x1 || y0 >= y1; }
};

[[nodiscard]] inline Box intersect(const Box& a, const Box& b) {
  return {std::max(a.x0, b.x0), std::min(a.x1, b.x1), std::max(a.y0, b.y0), std::min(a.y1, b.y1)};
}

/// Spots of the unknowns (fibre-major: fibre * nbin + bin) and the image under them.
class PatchPixels {
 public:
  /// `spots` must outlive this.
  PatchPixels(const CcdFrame& ccd, const SpotTable& spots, const PatchPlan& plan, std::size_t pad,
              double pixpad_frac);

  [[nodiscard]] std::size_t size() const { return spot_.size(); }
  [[nodiscard]] std::size_t nbin() const { return nbin_; }
  [[nodiscard]] const Array2D<double>& image() const { return image_; }    ///< [y][x]
  [[nodiscard]] const Array2D<double>& weight() const { return weight_; }  ///< 0: masked

  [[nodiscard]] Array2D<double> normal_matrix() const;                             ///< A^T W A
  [[nodiscard]] std::vector<double> transposed(const Array2D<double>& map) const;  ///< A^T map
  [[nodiscard]] Array2D<double> projected(const double* x) const;                  ///< A x
  /// The part of spot u that fell on bad pixels or off the patch; 1 when all of it did.
  [[nodiscard]] double lost_fraction(std::size_t u) const;

 private:
  [[nodiscard]] Box choose_box(const PatchPlan& plan, std::size_t pad, double pixpad_frac,
                               const CcdFrame& ccd) const;
  /// Sum of (weight x spot a) x spot b over the pixels of both.
  [[nodiscard]] double overlap(const Spot& a, const std::vector<double>& weighted, const Spot& b,
                               const Box& both) const;
  [[nodiscard]] std::size_t row(int y) const { return static_cast<std::size_t>(y - box_.y0); }
  [[nodiscard]] std::size_t col(int x) const { return static_cast<std::size_t>(x - box_.x0); }

  std::vector<const Spot*> spot_;
  std::vector<Box> reach_;  ///< of each spot, inside box_
  std::size_t nbin_ = 0;
  Box box_;
  Array2D<double> image_, weight_;
};

}  // namespace fiberloom::patch
