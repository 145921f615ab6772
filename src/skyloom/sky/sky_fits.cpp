// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/sky_fits.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

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

struct MapTable::Impl {
  explicit Impl(const std::string& path) : file(fits::FitsReader::open(path)) {}
  fits::FitsReader file;
  const fits::Hdu* hdu = nullptr;
  Ordering ordering = Ordering::kNested;
  RawTable table;
  std::vector<fits::TableColumn> columns;
  std::vector<double> numbers;  ///< of the pixels of a part of the sky; empty: all of it
};

MapTable::MapTable(const std::string& path) : impl_(std::make_unique<Impl>(path)) {
  Impl& own = *impl_;
  own.hdu = &table_of_pixels(own.file);
  const fits::Hdu& hdu = *own.hdu;
  own.ordering = ordering_of(own.file, hdu);
  own.table = own.file.read_table(hdu);
  own.columns = fits::table_columns(own.table);
  const bool part = hdu.header.text("INDXSCHM").value_or("IMPLICIT") == "EXPLICIT";
  if (part && !own.columns.empty()) {
    own.numbers = whole_column(own.table, own.columns.front());
    own.columns.erase(own.columns.begin());
  }
  if (own.columns.empty()) throw own.file.error(Status::kWrongShape, hdu, "no columns");
  const auto nside = hdu.header.integer("NSIDE");
  if (part && !nside) throw own.file.error(Status::kMissingKeyword, hdu, "no NSIDE");
  const std::size_t rows = own.table.rows * own.columns.front().repeat;
  pixels_ = Healpix(part ? *nside : nside_of(static_cast<std::int64_t>(rows)));
  if (nside && *nside != pixels_.nside()) {
    throw own.file.error(kPixelisation, hdu,
                         print("NSIDE %lld and %zu pixels", static_cast<long long>(*nside), rows));
  }
  for (const fits::TableColumn& column : own.columns) names_.push_back(column.name);
  frame_ = hdu.header.text("COORDSYS").value_or("");
  unit_ = hdu.header.text("TUNIT" + std::to_string(part ? 2 : 1)).value_or("");
}

MapTable::~MapTable() = default;

std::vector<double> MapTable::column(std::size_t number) const {
  const Impl& own = *impl_;
  const std::vector<double> values = whole_column(own.table, own.columns[number]);
  const bool part = !own.numbers.empty();
  const auto all = static_cast<std::size_t>(pixels_.pixels());
  if (values.size() != (part ? own.numbers.size() : all)) {
    throw own.file.error(Status::kWrongShape, *own.hdu,
                         print("column %zu: %zu values of %zu pixels", number + 1, values.size(),
                               part ? own.numbers.size() : all));
  }
  std::vector<double> out(all, NAN);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = part ? own.numbers[i] : static_cast<double>(i);
    if (!(at >= 0 && at < static_cast<double>(all))) {
      throw own.file.error(
          kPixelisation, *own.hdu,
          print("pixel %g of a map of Nside %lld", at, static_cast<long long>(pixels_.nside())));
    }
    auto pixel = static_cast<Pixel>(at);
    if (own.ordering == Ordering::kRing) pixel = pixels_.to_nested(pixel);
    const bool seen = std::isfinite(values[i]) && std::fabs(values[i] / kUnseen - 1) > 1e-5;
    out[static_cast<std::size_t>(pixel)] = seen ? values[i] : NAN;
  }
  return out;
}

SkyMap read_sky(const std::string& path) {
  const MapTable file(path);
  const std::size_t columns = file.names().size();
  if (columns != 1 && columns < kStokes) {
    throw Error(Status::kWrongShape,
                path + print(": %zu columns of values: expected 1 (I) or 3 (I, Q, U)", columns));
  }
  SkyMap sky;
  sky.pixels = file.pixels();
  sky.values.assign(kStokes * static_cast<std::size_t>(sky.pixels.pixels()), 0.0F);
  for (std::size_t c = 0; c < (columns < kStokes ? 1 : kStokes); ++c) {
    const std::vector<double> values = file.column(c);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        sky.unseen += c == 0 ? 1 : 0;
      } else {
        sky.values[kStokes * i + c] = static_cast<float>(values[i]);
      }
    }
  }
  return sky;
}

namespace {

RawTable layout_of(const Healpix& pixels, const MapFile& file, std::size_t bytes) {
  RawTable table;
  HeaderCards columns;
  const std::size_t numbers = file.part == nullptr ? 0 : 1;
  if (file.part != nullptr) {
    columns.set("TTYPE1", "PIXEL");
    columns.set("TFORM1", "J");
  }
  for (std::size_t c = 0; c < file.columns.size(); ++c) {
    const std::string number = std::to_string(c + 1 + numbers);
    columns.set("TTYPE" + number, file.columns[c]);
    columns.set("TFORM" + number, file.type == MapType::kFloat32   ? "E"
                                  : file.type == MapType::kFloat64 ? "D"
                                                                   : "J");
    if (!file.unit.empty()) columns.set("TUNIT" + number, file.unit);
  }
  table.column_cards = columns.cards;
  table.rows = file.part == nullptr ? static_cast<std::size_t>(pixels.pixels()) : file.part->size();
  table.row_bytes = numbers * sizeof(std::int32_t) + bytes * file.columns.size();
  HeaderCards& header = table.header;
  header.set("PIXTYPE", "HEALPIX");
  header.set("ORDERING", file.ordering == Ordering::kNested ? "NESTED" : "RING");
  header.set("COORDSYS", file.frame, "ecliptic, equatorial (C) or galactic");
  header.set("NSIDE", pixels.nside());
  if (file.part == nullptr) {
    header.set("FIRSTPIX", 0);
    header.set("LASTPIX", pixels.pixels() - 1);
  }
  header.set("INDXSCHM", file.part == nullptr ? "IMPLICIT" : "EXPLICIT");
  header.set("OBJECT", file.part == nullptr ? "FULLSKY" : "PARTIAL");
  if (file.type != MapType::kInt32) header.set("BAD_DATA", kUnseen);
  return table;
}

/// Numbers of the file's pixels in its ordering, growing; empty: all of them.
std::vector<Pixel> numbers_of(const Healpix& pixels, const MapFile& file) {
  if (file.part == nullptr) return {};
  std::vector<Pixel> numbers = *file.part;
  if (file.ordering == Ordering::kRing) {
    for (Pixel& number : numbers) number = static_cast<Pixel>(pixels.to_ring(number));
    std::sort(numbers.begin(), numbers.end());
  }
  return numbers;
}

}  // namespace

void write_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
               const MapFile& file, const std::function<void(Pixel, double*)>& values) {
  const std::size_t bytes = file.type == MapType::kFloat64 ? sizeof(double) : sizeof(float);
  const std::size_t n = file.columns.size();
  std::vector<double> row(n);
  const std::vector<Pixel> numbers = numbers_of(pixels, file);
  const auto fill = [&](std::size_t first, std::size_t count, std::uint8_t* out) {
    for (std::size_t i = first; i < first + count; ++i) {
      const Pixel number = file.part == nullptr ? static_cast<Pixel>(i) : numbers[i];
      if (file.part != nullptr) {
        store_be(out, static_cast<std::int32_t>(number));
        out += sizeof(std::int32_t);
      }
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
