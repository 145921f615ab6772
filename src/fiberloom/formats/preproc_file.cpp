// SPDX-License-Identifier: BSD-3-Clause
// Preprocessed CCD frames: IMAGE, IVAR, MASK, READNOISE, FIBERMAP (docs/fiberloom/formats.md).
#include <algorithm>
#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/status.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

/// Other kinds of file that also begin with two images of one shape: their numbers must not pass
/// for pixels.
void refuse_other_kinds(const FitsReader& file) {
  if (file.find("IMAGE") != nullptr) return;
  const auto refuse = [&](const Hdu& hdu, const char* kind) {
    throw file.error(
        Status::kMissingHdu, hdu,
        std::string("this is ") + kind + ", expected a preprocessed image (IMAGE, IVAR)");
  };
  for (const char* name : {"XTRACE", "XCOEF", "XCOEFF", "PSF"}) {
    if (const Hdu* hdu = file.find(name)) refuse(*hdu, "a PSF");
  }
  if (const Hdu* hdu = file.find("FLUX")) refuse(*hdu, "a file of spectra");
}

/// The HDU of this name, else the n-th image (from 0) that has no name of its own.
const Hdu* named_or_nth_image(const FitsReader& file, const std::string& name, std::size_t n) {
  if (const Hdu* hdu = file.find(name)) return hdu;
  std::size_t seen = 0;
  for (const Hdu& hdu : file.hdus()) {
    if (!hdu.is_image() || seen++ != n) continue;
    const bool taken =
        hdu.name == "MASK" || hdu.name == "READNOISE" || hdu.name == "IVAR" || hdu.name == "IMAGE";
    return taken ? nullptr : &hdu;
  }
  return nullptr;
}

const Hdu& require_image_hdu(const FitsReader& file, const std::string& name, std::size_t n) {
  const Hdu* hdu = named_or_nth_image(file, name, n);
  if (hdu == nullptr) hdu = &file.require(name);  // throws with the list of HDUs
  require_image(file, *hdu, 2);
  return *hdu;
}

template <class T>
PixelArray read_as(const FitsReader& file, const Hdu& hdu) {
  Array2D<T> out(hdu.axes[1], hdu.axes[0]);
  file.read_pixels<T>(hdu, {out.data(), out.size()});
  return PixelArray(std::move(out));
}

/// float32 where that loses nothing, else float64.
PixelArray read_ccd(const FitsReader& file, const Hdu& hdu) {
  const bool narrow = hdu.bitpix == -32 || hdu.bitpix == 8 || hdu.bitpix == 16;
  return narrow ? read_as<float>(file, hdu) : read_as<double>(file, hdu);
}

void require_same_shape(const FitsReader& file, const Hdu& hdu, const Hdu& image) {
  if (hdu.axes == image.axes) return;
  throw file.error(kSizeMismatch, hdu,
                   "shape " + hdu.shape() + ", but " + image.label() + " has " + image.shape());
}

/// Mean of the good (finite, positive) pixels.
template <class T>
std::optional<double> mean_of(const Array2D<T>& noise) {
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double v = noise.data()[i];
    if (!std::isfinite(v) || v <= 0) continue;
    sum += v;
    n += 1;
  }
  return n > 0 ? std::optional<double>(sum / n) : std::nullopt;
}

}  // namespace

PreprocFile parse_preproc(const FitsReader& file, NoiseMap map) {
  refuse_other_kinds(file);
  const Hdu& image = require_image_hdu(file, "IMAGE", 0);
  const Hdu& ivar = require_image_hdu(file, "IVAR", 1);
  require_same_shape(file, ivar, image);
  PreprocFile out;
  out.path = file.path();
  out.header = image.user_header();
  out.ccd.image = read_ccd(file, image);
  out.ccd.ivar = read_ccd(file, ivar);
  if (const Hdu* mask = file.find("MASK")) {
    require_image(file, *mask, 2);
    require_same_shape(file, *mask, image);
    out.mask = read_bits(file, *mask);
  }
  if (file.find("FIBERMAP") != nullptr) out.fibermap = parse_fibermap(file);
  out.readnoise = image.header.number("RDNOISE");
  const Hdu* noise = file.find("READNOISE");
  if (noise != nullptr && map == NoiseMap::kByPixel) {
    require_image(file, *noise, 2);
    require_same_shape(file, *noise, image);
    Array2D<float>& by_pixel = out.ccd.readnoise.by_pixel;
    by_pixel = Array2D<float>(noise->axes[1], noise->axes[0]);
    file.read_pixels<float>(*noise, {by_pixel.data(), by_pixel.size()});
    if (!out.readnoise) out.readnoise = mean_of(by_pixel);
  } else if (noise != nullptr && !out.readnoise) {
    out.readnoise = mean_of(read_matrix(file, *noise));
  }
  out.ccd.readnoise.all_e = out.readnoise.value_or(0);
  return out;
}

RawTable parse_fibermap(const FitsReader& file) {
  const Hdu* hdu = file.find("FIBERMAP");
  for (const Hdu& other : file.hdus()) {
    if (hdu == nullptr && other.kind == fits::HduKind::kTable) hdu = &other;
  }
  if (hdu == nullptr) hdu = &file.require("FIBERMAP");  // throws with the list of HDUs
  return file.read_table(*hdu);
}

}  // namespace formats

PreprocFile read_preproc(const std::string& path, Verify verify, NoiseMap noise,
                         Executor* executor) {
  return formats::parse_preproc(fits::FitsReader::open(path, verify, executor), noise);
}

RawTable read_fibermap(const std::string& path, Verify verify) {
  return formats::parse_fibermap(fits::FitsReader::open(path, verify));
}

namespace {

template <class AnyTable>
std::optional<std::int64_t> lowest_of(const AnyTable& fibermap) {
  constexpr std::int64_t kUndefined = INT64_MAX;
  const auto fibers = fibermap.integers("FIBER", kUndefined);
  if (!fibers || fibers->empty()) return std::nullopt;
  const std::int64_t lowest = *std::min_element(fibers->begin(), fibers->end());
  return lowest == kUndefined ? std::nullopt : std::optional(lowest);
}

}  // namespace

std::optional<std::int64_t> lowest_fiber(const RawTable& fibermap) { return lowest_of(fibermap); }
std::optional<std::int64_t> lowest_fiber(const Table& fibermap) { return lowest_of(fibermap); }

namespace {

void write_pixels(fits::FitsWriter& writer, const std::string& name, const PixelArray& pixels,
                  const HeaderCards& header) {
  std::visit(
      [&](const auto& a) {
        using T = std::remove_cvref_t<decltype(*a.data())>;
        writer.image(name, std::span<const T>(a.data(), a.size()), {a.cols(), a.rows()},
                     fits::PixelType::kFloat32, header);
      },
      pixels.data());
}

}  // namespace

void write_preproc(const std::string& path, const PreprocFile& frame, Overwrite overwrite,
                   FilesTogether* together) {
  HeaderCards header = frame.header;
  if (frame.readnoise && !header.has("RDNOISE")) {
    header.set("RDNOISE", *frame.readnoise, "Read noise [RMS electrons/pixel]");
  }
  fits::write_fits(
      path, overwrite,
      [&](fits::FitsWriter& writer) {
        write_pixels(writer, "IMAGE", frame.ccd.image, header);
        write_pixels(writer, "IVAR", frame.ccd.ivar, {});
        if (!frame.mask.empty()) {
          writer.compressed_mask("MASK", {frame.mask.data(), frame.mask.size()}, frame.mask.cols(),
                                 frame.mask.rows());
        }
        if (frame.fibermap) writer.table("FIBERMAP", *frame.fibermap);
      },
      0, together);
}

void write_mask(const std::string& path, const Array2D<std::uint32_t>& mask, Overwrite overwrite,
                FilesTogether* together) {
  fits::write_fits(
      path, overwrite,
      [&](fits::FitsWriter& writer) {
        writer.compressed_mask("MASK", {mask.data(), mask.size()}, mask.cols(), mask.rows());
      },
      0, together);
}

}  // namespace fiberloom
