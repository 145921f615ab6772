// SPDX-License-Identifier: BSD-3-Clause
// Reading, checking and shrinking of CCD images.
#include "fiberloom/recipes/report/ccd_images.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "fiberloom/ccd/pixel_mask.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::report {
namespace {

constexpr std::size_t kPictureSize = 700;  // dots; three of them are a fifth of a page
constexpr double kSignificanceRange = 5;

Array2D<float> narrow(const PixelArray& pixels) {
  Array2D<float> out(pixels.rows(), pixels.cols());
  std::visit(
      [&](const auto& a) {
        for (std::size_t i = 0; i < out.size(); ++i)
          out.data()[i] = static_cast<float>(a.data()[i]);
      },
      pixels.data());
  return out;
}

void require_same_size(const std::string& path, const Array2D<float>& a, const std::string& other,
                       const Array2D<float>& b) {
  if (a.empty() || b.empty() || (a.rows() == b.rows() && a.cols() == b.cols())) return;
  const auto size = [](const Array2D<float>& m) {
    return std::to_string(m.rows()) + " x " + std::to_string(m.cols());
  };
  throw Error(kSizeMismatch,
              path + ": image of " + size(a) + " pixels, but " + other + " has " + size(b));
}

/// A file of another kind may hold images too (traces of a PSF): a CCD has a column for each fibre.
void require_room(const std::string& path, const Array2D<float>& image, std::size_t nspec) {
  if (image.empty() || image.cols() >= nspec) return;
  throw Error(kSizeMismatch, path + ": image of " + std::to_string(image.rows()) + " x " +
                                 std::to_string(image.cols()) + " pixels, too small for " +
                                 std::to_string(nspec) + " spectra");
}

/// Image, model and residual: any two give the third, where the pixel was used.
void add_third(CcdImages& ccd) {
  if (ccd.model.empty() == ccd.residual.empty()) return;
  const Array2D<float>& known = ccd.model.empty() ? ccd.residual : ccd.model;
  Array2D<float> other(ccd.image.rows(), ccd.image.cols());
  for (std::size_t i = 0; i < other.size(); ++i) {
    const bool used = ccd.ivar.data()[i] > 0;
    other.data()[i] = used ? ccd.image.data()[i] - known.data()[i] : 0.0F;
  }
  (ccd.model.empty() ? ccd.model : ccd.residual) = std::move(other);
}

Picture make_picture(const std::string& name, const std::string& unit,
                     const Array2D<double>& blocks, const Region& region, Block block,
                     const Stretch& stretch, Scale scale) {
  Picture out{name, unit, {}, blocks.cols(), blocks.rows(), block, region, stretch, scale};
  out.png = draw(blocks, stretch,
                 scale == Scale::kDiverging ? diverging_palette() : sequential_palette());
  return out;
}

}  // namespace

const Array2D<float>& CcdImages::any() const {
  return !image.empty() ? image : !model.empty() ? model : residual;
}

CcdImages read_images(const ReportInput& in, const HeaderCards& header, std::size_t nspec) {
  CcdImages ccd;
  if (!in.image.empty()) {
    PreprocFile file = read_preproc(in.image, in.verify);
    const auto bits = header.integer("EXMASK");
    apply_mask(file.ccd, file.mask, bits ? static_cast<std::uint32_t>(*bits) : kDefaultMaskBits);
    ccd.image = narrow(file.ccd.image);
    ccd.ivar = narrow(file.ccd.ivar);
    ccd.headers.emplace_back(in.image, std::move(file.header));
  }
  const auto read = [&](const std::string& path, const char* name) {
    if (path.empty()) return Array2D<float>();
    ImageFile file = read_image(path, name, in.verify);
    ccd.headers.emplace_back(path, std::move(file.header));
    return std::move(file.pixels);
  };
  ccd.model = read(in.model, "MODEL");
  ccd.residual = read(in.residual, "RESIDUAL");
  require_room(in.image, ccd.image, nspec);
  require_room(in.model, ccd.model, nspec);
  require_room(in.residual, ccd.residual, nspec);
  require_same_size(in.model, ccd.model, in.image, ccd.image);
  require_same_size(in.residual, ccd.residual, in.image, ccd.image);
  require_same_size(in.residual, ccd.residual, in.model, ccd.model);
  if (!ccd.image.empty()) add_third(ccd);
  return ccd;
}

std::vector<Picture> make_pictures(const CcdImages& ccd, const Region& region) {
  std::vector<Picture> out;
  if (ccd.any().empty()) return out;
  const Block block = block_for(region.rows, region.cols, kPictureSize);
  const std::string unit = "electron a pixel";
  const Array2D<float> ivar = crop(ccd.ivar, region), model = crop(ccd.model, region);
  std::optional<Stretch> shared;  // image and model look alike where they are
  if (!ccd.image.empty()) {
    const Array2D<double> blocks = block_mean(crop(ccd.image, region), ivar, block);
    shared = image_stretch(blocks);
    out.push_back(make_picture("Image", unit, blocks, region, block, *shared, Scale::kSequential));
  }
  if (!ccd.model.empty()) {
    const Array2D<double> blocks = block_mean(model, {}, block);
    out.push_back(make_picture("Model", unit, blocks, region, block,
                               shared ? *shared : image_stretch(blocks), Scale::kSequential));
  }
  if (ccd.residual.empty()) return out;
  const Array2D<float> residual = crop(ccd.residual, region);
  if (ccd.complete()) {
    out.push_back(make_picture("Residual", "sum over a dot's lit pixels / its sigma",
                               block_significance(residual, model, ivar, block), region, block,
                               {-kSignificanceRange, kSignificanceRange, 0}, Scale::kDiverging));
    return out;
  }
  const Array2D<double> blocks = block_mean(residual, {}, block);
  const Stretch range = image_stretch(blocks);
  const double limit = std::max({std::abs(range.low), std::abs(range.high), 1e-30});
  out.push_back(
      make_picture("Residual", unit, blocks, region, block, {-limit, limit, 0}, Scale::kDiverging));
  return out;
}

}  // namespace fiberloom::report
