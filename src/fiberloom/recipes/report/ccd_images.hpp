// SPDX-License-Identifier: BSD-3-Clause
// The CCD images that belong to a frame, and pictures of the part of them that its fibres light.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/report/report.hpp"
#include "fiberloom/recipes/report/thumbnail.hpp"

namespace fiberloom::report {

enum class Scale { kSequential, kDiverging };

/// A thumbnail with its place on the CCD and the meaning of its colours.
struct Picture {
  std::string name, unit;  ///< "image", "electron a pixel"
  std::vector<std::uint8_t> png;
  std::size_t width = 0, height = 0;  ///< dots
  Block block;                        ///< pixels a dot
  Region region;                      ///< pixels shown
  Stretch stretch;
  Scale scale = Scale::kSequential;
};

struct CcdImages {
  Array2D<float> image, ivar, model, residual;  ///< image and ivar masked; empty: not given
  std::vector<std::pair<std::string, HeaderCards>> headers;  ///< of what was given, by its path
  /// All of what a comparison of image and model needs.
  [[nodiscard]] bool complete() const { return !ivar.empty() && !model.empty(); }
  [[nodiscard]] const Array2D<float>& any() const;
};

/// What the paths name, of one size. Two of image, model and residual give the third. Throws what
/// reading throws, kSizeMismatch where sizes disagree or a CCD is narrower than `nspec` fibres.
[[nodiscard]] CcdImages read_images(const ReportInput& in, const HeaderCards& header,
                                    std::size_t nspec);

/// Image, model and residual (in sigma of a dot's lit pixels where ivar is known) of the region.
[[nodiscard]] std::vector<Picture> make_pictures(const CcdImages& ccd, const Region& region);

}  // namespace fiberloom::report
