// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/wcs_fits.hpp"

#include <cmath>
#include <vector>

#include "loom/fits/fits_writer.hpp"

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
  const bool flat = place.projection == "CAR";  // its reference is on the equator
  const double middle_row = (static_cast<double>(place.rows) + 1) / 2;
  header.set("CTYPE1",
             axis_name(file.frame, true) + (file.frame == "C" ? "--" : "-") + place.projection);
  header.set("CTYPE2",
             axis_name(file.frame, false) + (file.frame == "C" ? "--" : "-") + place.projection);
  header.set("CUNIT1", std::string("deg"));
  header.set("CUNIT2", std::string("deg"));
  header.set("CRPIX1", (static_cast<double>(place.columns) + 1) / 2);
  header.set("CRPIX2", flat ? middle_row - place.lat_deg / place.cell_deg : middle_row);
  header.set("CRVAL1", place.lon_deg);
  header.set("CRVAL2", flat ? 0.0 : place.lat_deg);
  header.set("CDELT1", -place.cell_deg);
  header.set("CDELT2", place.cell_deg);
  if (file.frame == "C") header.set("RADESYS", std::string("ICRS"));
  header.set("PLANES", names, "what the third axis is");
  if (!file.unit.empty()) header.set("BUNIT", file.unit);
  return header;
}

}  // namespace

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
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    writer.image("", std::span<const double>(image), axes, type, header_of(place, file));
  });
}

}  // namespace skyloom
