// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <span>

#include "loom/base/print.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/fits/fits_reader.hpp"
#include "loom/fits/fits_writer.hpp"
#include "skyloom/sky/map_contents.hpp"
#include "skyloom/sky/stokes_names.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

/// The table of HEALPix pixels, else a flat map.
const fits::Hdu& hdu_of_map(const fits::FitsReader& file) {
  for (const fits::Hdu& hdu : file.hdus()) {
    if (hdu.kind == fits::HduKind::kTable &&
        (hdu.header.has("NSIDE") || hdu.header.has("PIXTYPE"))) {
      return hdu;
    }
  }
  for (const fits::Hdu& hdu : file.hdus()) {
    if (is_flat_map(hdu)) return hdu;
  }
  throw Error(Status::kMissingHdu,
              file.path() +
                  ": neither a table of HEALPix pixels (keyword NSIDE) nor a flat map "
                  "(CTYPE1 and CTYPE2)");
}

Ordering ordering_of(const fits::FitsReader& file, const fits::Hdu& hdu) {
  const auto text = hdu.header.text("ORDERING");
  if (!text) throw file.error(Status::kMissingKeyword, hdu, "no ORDERING");
  return ordering_named(*text, file.path());
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

MapContents open_fits_map(const std::string& path) {
  const auto file = std::make_shared<const fits::FitsReader>(fits::FitsReader::open(path));
  const fits::Hdu& hdu = hdu_of_map(*file);
  if (hdu.kind != fits::HduKind::kTable) return open_flat_map(file, hdu);
  const auto table = std::make_shared<const RawTable>(file->read_table(hdu));
  std::vector<fits::TableColumn> columns = fits::table_columns(*table);
  MapContents out{.ordering = ordering_of(*file, hdu)};
  const bool part = hdu.header.text("INDXSCHM").value_or("IMPLICIT") == "EXPLICIT";
  if (part && !columns.empty()) {
    out.numbers = whole_column(*table, columns.front());
    columns.erase(columns.begin());
  }
  if (columns.empty()) throw file->error(Status::kWrongShape, hdu, "no columns");
  const auto nside = hdu.header.integer("NSIDE");
  if (part && !nside) throw file->error(Status::kMissingKeyword, hdu, "no NSIDE");
  const std::size_t rows = table->rows * columns.front().repeat;
  out.pixels = part ? pixels_of_file(path, *nside) : so_many_pixels(path, rows);
  if (nside && *nside != out.pixels.nside()) {
    throw file->error(kPixelisation, hdu,
                      print("NSIDE %lld and %zu pixels", static_cast<long long>(*nside), rows));
  }
  const auto unit_of = [&](std::size_t number) {
    return hdu.header.text("TUNIT" + std::to_string(number + (part ? 2 : 1))).value_or("");
  };
  for (const fits::TableColumn& column : columns) {
    out.units.push_back(unit_of(out.names.size()));
    out.names.push_back(column.name);
  }
  out.frame = hdu.header.text("COORDSYS").value_or("");
  out.iau = is_iau(hdu.header);
  out.unit = out.units.front();
  out.values = [table, columns](std::size_t c) { return whole_column(*table, columns[c]); };
  return out;
}

void note_convention(const std::vector<std::string>& columns, HeaderCards& header) {
  const bool has_u = std::any_of(columns.begin(), columns.end(), [](const std::string& name) {
    return is_stokes(name, 'U') || name.ends_with('U');  // of products: IU, QU, UU
  });
  if (has_u) header.set("POLCCONV", "COSMO", "sign of U: HEALPix's");
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
  header.set("ORDERING", name_of(file.ordering));
  header.set("COORDSYS", file.frame, "ecliptic, equatorial (C) or galactic");
  note_convention(file.columns, header);
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

}  // namespace

void write_fits_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values, Executor& executor) {
  constexpr std::size_t kRowsOfATask = 1024;
  const std::vector<Pixel> numbers = numbers_of(pixels, file);
  const auto put_row = [&]<class Number>(std::size_t i, std::span<double> row, std::uint8_t* to,
                                         Number) {
    const Pixel number = file.part == nullptr ? static_cast<Pixel>(i) : numbers[i];
    if (file.part != nullptr) {
      store_be(to, static_cast<std::int32_t>(number));
      to += sizeof(std::int32_t);
    }
    values(file.ordering == Ordering::kNested ? number : pixels.to_nested(number), row.data());
    for (std::size_t c = 0; c < row.size(); ++c) {
      store_be(to + c * sizeof(Number), static_cast<Number>(row[c]));
    }
  };
  const auto write_as = [&](auto number) {
    const RawTable layout = layout_of(pixels, file, sizeof(number));
    const auto fill = [&](std::size_t first, std::size_t count, std::uint8_t* out) {
      run_in_parts(executor, count, kRowsOfATask, [&](std::size_t begin, std::size_t rows) {
        std::vector<double> row(file.columns.size());
        for (std::size_t r = begin; r < begin + rows; ++r) {
          put_row(first + r, row, out + r * layout.row_bytes, number);
        }
      });
    };
    fits::write_fits(
        path, overwrite, [&](fits::FitsWriter& writer) { writer.table("MAP", layout, fill); }, 0,
        file.together);
  };
  switch (file.type) {
    case MapType::kFloat64:
      return write_as(double{});
    case MapType::kFloat32:
      return write_as(float{});
    case MapType::kInt32:
      return write_as(std::int32_t{});
  }
}

}  // namespace skyloom
