// SPDX-License-Identifier: BSD-3-Clause
// Which pixels are used: those of the mask, those that are no numbers, and those that no CCD gives.
#include "fiberloom/ccd/pixel_mask.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

namespace {

constexpr std::size_t kMostNamed = 3;
/// Pixels looked at for the median weight, and fewest that tell it.
constexpr std::size_t kSampled = 32768, kFewest = 256;

template <class Image, class Ivar>
class PixelMasker {
 public:
  PixelMasker(Array2D<Image>& image, Array2D<Ivar>& ivar, const Array2D<std::uint32_t>& mask,
              std::uint32_t bits)
      : image_(image), ivar_(ivar), mask_(mask), bits_(bits) {}

  MaskCounts run() {
    counts_.pixels = image_.size();
    counts_.median_ivar = median_ivar();
    least_ = std::max(kLeastIvar * counts_.median_ivar, kIvarRange.front());
    most_ = std::min(kMostIvar * counts_.median_ivar, kIvarRange.back());
    for (std::size_t begin = 0; begin < image_.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, image_.size());
      if (all_good(begin, end)) continue;
      for (std::size_t i = begin; i < end; ++i) look_at(i);
    }
    return std::move(counts_);
  }

 private:
  static constexpr std::size_t kBlock = 64;

  /// Without a branch, in the pixels' own type, where a square may overflow: false says no more
  /// than that a pixel needs a closer look.
  [[nodiscard]] bool all_good(std::size_t begin, std::size_t end) const {
    using Real = std::common_type_t<Image, Ivar>;
    const Image* image = image_.data();
    const Ivar* ivar = ivar_.data();
    const std::uint32_t* mask = mask_.empty() ? nullptr : mask_.data();
    const auto least = static_cast<Ivar>(least_), most = static_cast<Ivar>(most_);
    constexpr auto kMostSquare = static_cast<Real>(kMostSignal * kMostSignal);
    int good = 1;
    for (std::size_t i = begin; i < end; ++i) {
      const Ivar w = ivar[i];
      const Real p = image[i];
      good &= static_cast<int>(w >= least) & static_cast<int>(w <= most) &
              static_cast<int>(p * p * static_cast<Real>(w) <= kMostSquare);
    }
    if (mask == nullptr) return good != 0;
    std::uint32_t set = 0;
    for (std::size_t i = begin; i < end; ++i) set |= mask[i];
    return good != 0 && (set & bits_) == 0;
  }

  /// One pixel, in double precision; false of a comparison for whatever is no number.
  void look_at(std::size_t i) {
    const double w = ivar_.data()[i], p = image_.data()[i];
    const bool masked = is_masked(i);
    if (!masked && w >= least_ && w <= most_ && p * p * w <= kMostSignal * kMostSignal) return;
    count(i, masked, w < least_ || w > most_);
    ivar_.data()[i] = 0;
    image_.data()[i] = 0;  // never 0 x NaN
  }

  [[nodiscard]] bool is_masked(std::size_t i) const {
    return !mask_.empty() && (mask_.data()[i] & bits_) != 0;
  }

  /// Of pixels that are not masked: of a fixed sample of them where that tells, else of all.
  [[nodiscard]] double median_ivar() const {
    std::vector<double> good;
    const auto look = [&](std::size_t step) {
      good.clear();
      for (std::size_t i = 0; i < image_.size(); i += step) {
        const double w = ivar_.data()[i];
        if (w > 0 && std::isfinite(w) && !is_masked(i)) good.push_back(w);
      }
    };
    const std::size_t step = (image_.size() / kSampled) | 1U;  // odd: no column is favoured
    look(step);
    if (good.size() < kFewest && step > 1) look(1);
    return good.empty() ? 0.0 : median_of(good);
  }

  void count(std::size_t i, bool masked, bool wild_weight) {
    const double w = ivar_.data()[i], p = image_.data()[i];
    if (masked) {
      ++counts_.by_mask;
    } else if (!std::isfinite(w)) {
      ++counts_.nan_ivar;
    } else if (w < 0) {
      ++counts_.negative_ivar;
    } else if (w == 0) {
      ++counts_.zero_ivar;
    } else if (!std::isfinite(p)) {
      ++counts_.nan_image;
    } else {
      ++(wild_weight ? counts_.wild_ivar : counts_.wild_image);
      if (counts_.wild.size() < kMostNamed)
        counts_.wild.push_back({i / image_.cols(), i % image_.cols(), p, w, wild_weight});
    }
  }

  Array2D<Image>& image_;
  Array2D<Ivar>& ivar_;
  const Array2D<std::uint32_t>& mask_;
  std::uint32_t bits_;
  double least_ = 0, most_ = 0;
  MaskCounts counts_;
};

std::string shape(const PixelArray& a) {
  return std::to_string(a.cols()) + " x " + std::to_string(a.rows());
}

}  // namespace

std::size_t MaskCounts::bad() const {
  return by_mask + zero_ivar + nan_ivar + negative_ivar + nan_image + wild_ivar + wild_image;
}

MaskCounts apply_mask(CcdFrame& ccd, const Array2D<std::uint32_t>& mask, std::uint32_t mask_bits) {
  const std::size_t rows = ccd.image.rows(), cols = ccd.image.cols();
  if (ccd.ivar.rows() != rows || ccd.ivar.cols() != cols) {
    throw Error(kSizeMismatch,
                "IVAR is " + shape(ccd.ivar) + " pixels, IMAGE is " + shape(ccd.image));
  }
  if (!mask.empty() && (mask.rows() != rows || mask.cols() != cols)) {
    throw Error(kSizeMismatch, "MASK is " + std::to_string(mask.cols()) + " x " +
                                   std::to_string(mask.rows()) + " pixels, IMAGE is " +
                                   shape(ccd.image));
  }
  return std::visit(
      [&](auto& image, auto& ivar) { return PixelMasker(image, ivar, mask, mask_bits).run(); },
      ccd.image.data(), ccd.ivar.data());
}

std::string wild_pixels_text(const MaskCounts& counts) {
  const std::size_t all = counts.wild_ivar + counts.wild_image;
  if (all == 0) return {};
  std::string text = print("%zu pixel%s with a wild value %s taken as masked: ", all,
                           all == 1 ? "" : "s", all == 1 ? "is" : "are");
  const char* between = "";
  for (const WildPixel& p : counts.wild) {
    text += print("%s%s[%zu,%zu] is %.3g", between, p.in_ivar ? "IVAR" : "IMAGE", p.row, p.column,
                  p.in_ivar ? p.ivar : p.image);
    if (!p.in_ivar) text += print(" with ivar %.3g", p.ivar);
    between = ", ";
  }
  if (all > counts.wild.size()) text += print(" and %zu more", all - counts.wild.size());
  return text + print(" (row, column; the median ivar of good pixels is %.3g)", counts.median_ivar);
}

}  // namespace fiberloom
