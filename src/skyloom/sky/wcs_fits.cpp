// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/wcs_fits.hpp"

#include <cmath>
#include <memory>
#include <sstream>
#include <vector>

#include "loom/base/print.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "skyloom/sky/map_contents.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

/// Names of axes by COORDSYS: equatorial, ecliptic, galactic.
std::string axis_name(const std::string& frame, bool longitude) {
  if (frame == "C") return longitude ? "RA-" : "DEC";
  return std::string(frame == "E" ? "E" : "G") + (longitude ? "LON" : "LAT");
}

HeaderCards header_of(const ImagePlace& place, const MapFile& file) {
  HeaderCards header;
  std::string names;
  for (const std::string& name : file.columns) names += (names.empty() ? "" : " ") + name;
  header.set("CTYPE1",
             axis_name(file.frame, true) + (file.frame == "C" ? "--" : "-") + place.projection);
  header.set("CTYPE2",
             axis_name(file.frame, false) + (file.frame == "C" ? "--" : "-") + place.projection);
  header.set("CUNIT1", std::string("deg"));
  header.set("CUNIT2", std::string("deg"));
  header.set("CRPIX1", place.column);
  header.set("CRPIX2", place.row);
  header.set("CRVAL1", place.lon_deg);
  header.set("CRVAL2", place.lat_deg);
  header.set("CDELT1", -place.cell_deg);
  header.set("CDELT2", place.cell_deg);
  if (file.frame == "C") header.set("RADESYS", std::string("ICRS"));
  header.set("PLANES", names, "what the third axis is");
  if (!file.unit.empty()) header.set("BUNIT", file.unit);
  note_convention(file.columns, header);
  return header;
}

/// What CTYPE says: RA---CAR.
struct Axis {
  std::string frame, projection;  ///< empty: it says something else
};

Axis axis_of(const std::string& ctype, bool longitude) {
  const std::size_t first = ctype.find('-'), last = ctype.rfind('-');
  if (first == std::string::npos) return {};
  for (const char* frame : {"C", "E", "G"}) {
    if (axis_name(frame, longitude).substr(0, first) == ctype.substr(0, first)) {
      return {frame, ctype.substr(last + 1)};
    }
  }
  return {};
}

/// The grid of a header. Throws kUnsupported where it is none of ours.
ImagePlace place_of(const fits::FitsReader& file, const fits::Hdu& hdu,
                    const std::string& projection) {
  const HeaderCards& header = hdu.header;
  const auto need = [&](const std::string& key) {
    const auto value = header.number(key);
    if (!value) throw file.error(Status::kMissingKeyword, hdu, "no number " + key);
    return *value;
  };
  const auto unsupported = [&](const std::string& what) {
    return file.error(Status::kUnsupported, hdu, what);
  };
  if (projection != "CAR" && projection != "TAN") {
    throw unsupported("projection '" + projection + "': expected CAR or TAN");
  }
  for (const char* key : {"PC1_2", "PC2_1", "CD1_2", "CD2_1", "CROTA2"}) {
    if (header.number(key).value_or(0) != 0) {
      throw unsupported(std::string("a grid that is turned (") + key + ")");
    }
  }
  const bool matrix = header.has("CD1_1");
  const double scale1 = header.number("PC1_1").value_or(1);
  const double scale2 = header.number("PC2_2").value_or(1);
  const double across = matrix ? need("CD1_1") : need("CDELT1") * scale1;
  const double up = matrix ? need("CD2_2") : need("CDELT2") * scale2;
  if (!(up > 0 && std::fabs(across + up) < 1e-9 * up)) {
    throw unsupported(
        print("cells of %g x %g degrees: expected squares, east to the left", across, up));
  }
  ImagePlace out{.columns = hdu.axes[0],
                 .rows = hdu.axes[1],
                 .projection = projection,
                 .lon_deg = need("CRVAL1"),
                 .lat_deg = need("CRVAL2"),
                 .column = need("CRPIX1"),
                 .row = need("CRPIX2"),
                 .cell_deg = up};
  if (projection == "CAR" && out.lat_deg != 0) {
    throw unsupported(print("CAR with CRVAL2 %g: expected 0, straight latitudes", out.lat_deg));
  }
  return out;
}

std::vector<std::string> plane_names(const HeaderCards& header, std::size_t planes) {
  std::vector<std::string> out;
  std::istringstream words(header.text("PLANES").value_or(""));
  for (std::string word; words >> word;) out.push_back(word);
  if (out.size() == planes) return out;
  out.clear();
  for (std::size_t k = 0; k < planes; ++k) out.push_back("PLANE" + std::to_string(k + 1));
  return out;
}

}  // namespace

bool is_flat_map(const fits::Hdu& hdu) {
  return hdu.is_image() && (hdu.axes.size() == 2 || hdu.axes.size() == 3) &&
         !axis_of(hdu.header.text("CTYPE1").value_or(""), true).frame.empty() &&
         !axis_of(hdu.header.text("CTYPE2").value_or(""), false).frame.empty();
}

MapContents open_flat_map(const std::shared_ptr<const fits::FitsReader>& file,
                          const fits::Hdu& hdu) {
  const Axis axis = axis_of(hdu.header.text("CTYPE1").value_or(""), true);
  MapContents out;
  out.image = place_of(*file, hdu, axis.projection);
  out.names = plane_names(hdu.header, hdu.axes.size() == 3 ? hdu.axes[2] : 1);
  out.unit = hdu.header.text("BUNIT").value_or("");
  out.frame = axis.frame;
  out.iau = is_iau(hdu.header);
  const auto pixels = std::make_shared<std::vector<double>>(hdu.pixels());
  file->read_pixels<double>(hdu, *pixels);
  const std::size_t cells = out.image->cells();
  out.values = [pixels, cells](std::size_t plane) {
    const auto first = pixels->begin() + static_cast<std::ptrdiff_t>(plane * cells);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(cells));
  };
  return out;
}

void write_image(const std::string& path, Overwrite overwrite, const ImagePlace& place,
                 const MapFile& file,
                 const std::function<void(std::size_t column, std::size_t row, double*)>& values) {
  const std::size_t planes = file.columns.size(), cells = place.columns * place.rows;
  std::vector<double> image(planes * cells), own(planes);
  for (std::size_t row = 0; row < place.rows; ++row) {
    for (std::size_t column = 0; column < place.columns; ++column) {
      values(column, row, own.data());
      for (std::size_t k = 0; k < planes; ++k) {
        image[k * cells + row * place.columns + column] = own[k] == kUnseen ? NAN : own[k];
      }
    }
  }
  const fits::PixelType type = file.type == MapType::kFloat64   ? fits::PixelType::kFloat64
                               : file.type == MapType::kFloat32 ? fits::PixelType::kFloat32
                                                                : fits::PixelType::kInt32;
  std::vector<std::size_t> axes{place.columns, place.rows};
  if (planes > 1) axes.push_back(planes);
  fits::write_fits(
      path, overwrite,
      [&](fits::FitsWriter& writer) {
        writer.image("", std::span<const double>(image), axes, type, header_of(place, file));
      },
      0, file.together);
}

}  // namespace skyloom
