// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/sky_fits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "loom/base/print.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kStokes = 3;

const fits::Hdu& table_of_pixels(const fits::FitsReader& file) {
  for (const fits::Hdu& hdu : file.hdus()) {
    if (hdu.kind == fits::HduKind::kTable &&
        (hdu.header.has("NSIDE") || hdu.header.has("PIXTYPE"))) {
      return hdu;
    }
  }
  throw Error(Status::kMissingHdu, file.path() + ": no table of HEALPix pixels (keyword NSIDE)");
}

Ordering ordering_of(const fits::FitsReader& file, const fits::Hdu& hdu) {
  const auto text = hdu.header.text("ORDERING");
  if (!text) throw file.error(Status::kMissingKeyword, hdu, "no ORDERING");
  if (*text == "NESTED" || *text == "NEST") return Ordering::kNested;
  if (*text == "RING") return Ordering::kRing;
  throw file.error(kPixelisation, hdu, "ORDERING " + *text + ": expected NESTED or RING");
}

/// All values of a column, row after row.
std::vector<double> whole_column(const RawTable& table, const fits::TableColumn& column) {
  std::vector<double> out;
  out.reserve(table.rows * column.repeat);
  for (std::size_t row = 0; row < table.rows; ++row) {
    const std::vector<double> part = fits::column_row(table, column, row);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

}  // namespace

SkyMap read_sky(const std::string& path) {
  const fits::FitsReader file = fits::FitsReader::open(path);
  const fits::Hdu& hdu = table_of_pixels(file);
  const Ordering ordering = ordering_of(file, hdu);
  const RawTable table = file.read_table(hdu);
  std::vector<fits::TableColumn> columns = fits::table_columns(table);
  const bool part = hdu.header.text("INDXSCHM").value_or("IMPLICIT") == "EXPLICIT";
  std::vector<double> numbers;
  if (part) {
    if (columns.empty()) throw file.error(Status::kWrongShape, hdu, "no columns");
    numbers = whole_column(table, columns.front());
    columns.erase(columns.begin());
  }
  if (columns.size() != 1 && columns.size() < kStokes) {
    throw file.error(Status::kWrongShape, hdu,
                     print("%zu columns of values: expected 1 (I) or 3 (I, Q, U)", columns.size()));
  }
  const auto nside = hdu.header.integer("NSIDE");
  if (part && !nside) throw file.error(Status::kMissingKeyword, hdu, "no NSIDE");
  SkyMap sky;
  const std::size_t stokes = columns.size() < kStokes ? 1 : kStokes;
  for (std::size_t c = 0; c < stokes; ++c) {
    const std::vector<double> values = whole_column(table, columns[c]);
    if (c == 0) {
      sky.pixels = Healpix(part ? *nside : nside_of(static_cast<std::int64_t>(values.size())));
      if (nside && *nside != sky.pixels.nside()) {
        throw file.error(
            kPixelisation, hdu,
            print("NSIDE %lld and %zu pixels", static_cast<long long>(*nside), values.size()));
      }
      sky.values.assign(kStokes * static_cast<std::size_t>(sky.pixels.pixels()), 0.0F);
      const auto all = static_cast<std::size_t>(sky.pixels.pixels());
      if (part) sky.unseen = all - std::min(all, values.size());
    }
    if (part && values.size() != numbers.size()) {
      throw file.error(Status::kWrongShape, hdu,
                       print("%zu values of %zu pixels", values.size(), numbers.size()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double number = part ? numbers[i] : static_cast<double>(i);
      if (!(number >= 0 && number < static_cast<double>(sky.pixels.pixels()))) {
        throw file.error(kPixelisation, hdu,
                         print("pixel %g of a map of Nside %lld", number,
                               static_cast<long long>(sky.pixels.nside())));
      }
      auto pixel = static_cast<Pixel>(number);
      if (ordering == Ordering::kRing) pixel = sky.pixels.to_nested(pixel);
      const bool seen = std::isfinite(values[i]) && std::fabs(values[i] / kUnseen - 1) > 1e-5;
      if (!seen && c == 0) ++sky.unseen;
      sky.values[kStokes * static_cast<std::size_t>(pixel) + c] =
          seen ? static_cast<float>(values[i]) : 0.0F;
    }
  }
  return sky;
}

namespace {

RawTable layout_of(const Healpix& pixels, const MapFile& file, std::size_t bytes) {
  RawTable table;
  HeaderCards columns;
  for (std::size_t c = 0; c < file.columns.size(); ++c) {
    const std::string number = std::to_string(c + 1);
    columns.set("TTYPE" + number, file.columns[c]);
    columns.set("TFORM" + number, file.type == MapType::kFloat32   ? "E"
                                  : file.type == MapType::kFloat64 ? "D"
                                                                   : "J");
    if (!file.unit.empty()) columns.set("TUNIT" + number, file.unit);
  }
  table.column_cards = columns.cards;
  table.rows = static_cast<std::size_t>(pixels.pixels());
  table.row_bytes = bytes * file.columns.size();
  HeaderCards& header = table.header;
  header.set("PIXTYPE", "HEALPIX");
  header.set("ORDERING", file.ordering == Ordering::kNested ? "NESTED" : "RING");
  header.set("COORDSYS", file.frame, "ecliptic, equatorial (C) or galactic");
  header.set("NSIDE", pixels.nside());
  header.set("FIRSTPIX", 0);
  header.set("LASTPIX", pixels.pixels() - 1);
  header.set("INDXSCHM", "IMPLICIT");
  header.set("OBJECT", "FULLSKY");
  if (file.type != MapType::kInt32) header.set("BAD_DATA", kUnseen);
  return table;
}

}  // namespace

void write_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
               const MapFile& file, const std::function<void(Pixel, double*)>& values) {
  const std::size_t bytes = file.type == MapType::kFloat64 ? sizeof(double) : sizeof(float);
  const std::size_t n = file.columns.size();
  std::vector<double> row(n);
  const auto fill = [&](std::size_t first, std::size_t count, std::uint8_t* out) {
    for (std::size_t i = first; i < first + count; ++i) {
      const auto number = static_cast<Pixel>(i);
      values(file.ordering == Ordering::kNested ? number : pixels.to_nested(number), row.data());
      for (const double value : row) {
        switch (file.type) {
          case MapType::kFloat64:
            store_be(out, value);
            break;
          case MapType::kFloat32:
            store_be(out, static_cast<float>(value));
            break;
          case MapType::kInt32:
            store_be(out, static_cast<std::int32_t>(value));
            break;
        }
        out += bytes;
      }
    }
  };
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    writer.table("MAP", layout_of(pixels, file, bytes), fill);
  });
}

}  // namespace skyloom
