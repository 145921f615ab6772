// SPDX-License-Identifier: BSD-3-Clause
// Images of checked dimensions, shared by the readers; and the list of HDUs.
#include "fiberloom/formats/from_reader.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

void require_image(const FitsReader& file, const Hdu& hdu, std::size_t axes) {
  const bool image =
      hdu.kind == fits::HduKind::kImage || hdu.kind == fits::HduKind::kCompressedImage;
  if (image && hdu.axes.size() == axes) {
    if (hdu.pixels() > 0) return;
    throw file.error(Status::kWrongShape, hdu, "shape " + hdu.shape() + ": there is nothing in it");
  }
  throw file.error(Status::kWrongShape, hdu,
                   (image ? "shape " + hdu.shape() : std::string("a table or unknown extension")) +
                       ", expected an image with " + std::to_string(axes) +
                       (axes == 1 ? " axis" : " axes"));
}

Array2D<double> read_matrix(const FitsReader& file, const Hdu& hdu) {
  require_image(file, hdu, 2);
  Array2D<double> out(hdu.axes[1], hdu.axes[0]);
  file.read_pixels<double>(hdu, {out.data(), out.size()});
  return out;
}

std::vector<double> read_vector(const FitsReader& file, const Hdu& hdu) {
  require_image(file, hdu, 1);
  std::vector<double> out(hdu.pixels());
  file.read_pixels<double>(hdu, out);
  return out;
}

Array2D<std::uint32_t> read_bits(const FitsReader& file, const Hdu& hdu) {
  require_image(file, hdu, 2);
  Array2D<std::uint32_t> out(hdu.axes[1], hdu.axes[0]);
  file.read_pixels<std::uint32_t>(hdu, {out.data(), out.size()});
  return out;
}

namespace {

std::string pixel_type(const Hdu& hdu) {
  if (hdu.bitpix == 8 && hdu.bzero == -128) return "int8";
  if (hdu.bitpix == 16 && hdu.bzero == 32768) return "uint16";
  if (hdu.bitpix == 32 && hdu.bzero == 2147483648.0) return "uint32";
  if (hdu.bitpix == 64 && hdu.bzero == 9223372036854775808.0) return "uint64";
  switch (hdu.bitpix) {
    case 8:
      return "uint8";
    case 16:
      return "int16";
    case 32:
      return "int32";
    case 64:
      return "int64";
    case -32:
      return "float32";
    default:
      return "float64";
  }
}

const char* kind_name(fits::HduKind kind) {
  switch (kind) {
    case fits::HduKind::kImage:
    case fits::HduKind::kCompressedImage:
      return "image";
    case fits::HduKind::kTable:
      return "table";
    case fits::HduKind::kAsciiTable:
      return "ascii table";
    case fits::HduKind::kOther:
      break;
  }
  return "other";
}

}  // namespace

std::vector<HduSummary> summarise(const FitsReader& file) {
  std::vector<HduSummary> out;
  for (const Hdu& hdu : file.hdus()) {
    HduSummary s;
    s.number = static_cast<int>(hdu.number);
    s.name = hdu.name;
    s.signed_data = fits::has_checksums(hdu);
    s.kind = kind_name(hdu.kind);
    s.compressed = hdu.kind == fits::HduKind::kCompressedImage;
    if (hdu.kind == fits::HduKind::kTable || hdu.kind == fits::HduKind::kAsciiTable) {
      s.type = hdu.header.text("TFIELDS").value_or("?") + " columns";
      s.shape = std::to_string(hdu.rows) + " rows";
    } else {
      s.type = hdu.is_image() ? pixel_type(hdu) : "";
      s.shape = hdu.shape();
    }
    out.push_back(std::move(s));
  }
  return out;
}

}  // namespace formats

ImageFile read_image(const std::string& path, const std::string& extname, Verify verify) {
  const auto file = fits::FitsReader::open(path, verify);
  const fits::Hdu* hdu = file.find(extname);
  for (const fits::Hdu& other : file.hdus()) {
    if (hdu == nullptr && other.is_image()) hdu = &other;
  }
  if (hdu == nullptr) hdu = &file.require(extname);  // throws with the list of HDUs
  formats::require_image(file, *hdu, 2);
  ImageFile out{hdu->user_header(), Array2D<float>(hdu->axes[1], hdu->axes[0])};
  file.read_pixels<float>(*hdu, {out.pixels.data(), out.pixels.size()});
  return out;
}

std::vector<HduSummary> list_hdus(const std::string& path, Verify verify) {
  const auto file = fits::FitsReader::open(path, Verify::kNo);
  auto out = formats::summarise(file);
  for (std::size_t i = 0; i < out.size() && verify == Verify::kYes; ++i) {
    const fits::Hdu& hdu = file.hdus()[i];
    const auto fault = file.checksum_fault(hdu);
    if (fault && !fault->empty()) out[i].fault = hdu.label() + ": " + *fault;
  }
  return out;
}

}  // namespace fiberloom
