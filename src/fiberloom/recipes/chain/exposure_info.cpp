// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/exposure_info.hpp"

#include <map>
#include <optional>
#include <utility>

#include "fiberloom/foundation.hpp"
#include "fiberloom/recipes/average_flats.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::chain {
namespace {

HeaderCards header_of(const std::string& image) {
  const auto file = fits::FitsReader::open(image, fits::Verify::kNo);
  if (const fits::Hdu* hdu = file.find("IMAGE")) return hdu->user_header();
  for (const fits::Hdu& hdu : file.hdus()) {
    if (hdu.axes.size() == 2) return hdu.user_header();
  }
  return {};
}

/// Nothing: it cannot be read.
std::optional<ExposureInfo> read_info(const std::string& image) {
  ExposureInfo out;
  HeaderCards header;
  try {
    header = header_of(image);
  } catch (const Error&) {
    return std::nullopt;
  }
  out.known = true;
  std::string type = header.text("OBSTYPE").value_or("");
  if (type.empty()) type = header.text("FLAVOR").value_or("");
  type = fits::normal_name(type);
  if (!type.empty()) out.flavor = type;
  const bool field = type.empty() || type == "SCIENCE" || type == "OBJECT";
  out.kind = field            ? ExposureKind::kField
             : type == "FLAT" ? ExposureKind::kLamp
                              : ExposureKind::kOther;
  if (const auto night = header.integer("NIGHT")) out.night = std::to_string(*night);
  out.tile = static_cast<long>(header.integer("TILEID").value_or(-1));
  out.lamp = lamp_of(header.text("PROGRAM").value_or(""));
  return out;
}

std::optional<ExposureInfo> read_info(const std::string& image, ExposureCache& cache) {
  const auto stamp = loom::batch::stamp_file(image);
  if (!stamp) return std::nullopt;
  const auto known = cache.find(image);
  if (known != cache.end() && known->second.first == *stamp) return known->second.second;
  const auto info = read_info(image);
  cache[image] = {*stamp, info};
  return info;
}

}  // namespace

std::vector<ExposureInfo> read_exposures(const std::vector<ExposureImage>& images,
                                         ExposureCache& cache) {
  std::map<std::pair<std::string, long>, ExposureInfo> by_exposure;
  for (const ExposureImage& image : images) {
    ExposureInfo& info = by_exposure[{image.night, image.expid}];
    if (info.known) continue;
    if (const auto said = read_info(image.image, cache)) info = *said;
  }
  std::vector<ExposureInfo> out;
  out.reserve(images.size());
  for (const ExposureImage& image : images) {
    out.push_back(by_exposure[{image.night, image.expid}]);
  }
  return out;
}

}  // namespace fiberloom::chain
