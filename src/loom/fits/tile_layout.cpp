// SPDX-License-Identifier: BSD-3-Clause
// Keywords and descriptors of tile-compressed images (FITS standard 4.0, section 10.1).
#include "loom/fits/tile_layout.hpp"

#include <algorithm>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"

namespace loom::fits {

TileTable::TileTable(const ByteSource& source, const Hdu& hdu) : source_(source), hdu_(hdu) {
  for (const std::string& card : hdu.header.cards) {
    if (is_column_keyword(card_keyword(card))) table_.column_cards.push_back(card);
  }
  table_.rows = hdu.rows;
  table_.row_bytes = hdu.row_bytes;
  table_.data.resize(hdu.rows * hdu.row_bytes);
  source.read(hdu.data_offset, table_.data);
  cells_[0] = find_column(table_, "COMPRESSED_DATA");
  cells_[1] = find_column(table_, "GZIP_COMPRESSED_DATA");
  cells_[2] = find_column(table_, "UNCOMPRESSED_DATA");
  scale_ = find_column(table_, "ZSCALE");
  zero_ = find_column(table_, "ZZERO");
  blank_ = find_column(table_, "ZBLANK");
  if (find_column(table_, "NULL_PIXEL_MASK")) unsupported("NULL_PIXEL_MASK is not supported");
  read_tiles();
  read_parameters();
}

void TileTable::corrupt(const std::string& what) const {
  throw Error(Status::kCorrupt, source_.label() + ": " + hdu_.label() + ": " + what);
}

void TileTable::unsupported(const std::string& what) const {
  throw Error(Status::kUnsupported, source_.label() + ": " + hdu_.label() + ": " + what);
}

void TileTable::corrupt_tile(std::size_t t, const std::string& what) const {
  corrupt("tile " + std::to_string(t + 1) + " of " + std::to_string(count) + ": " + what);
}

void TileTable::read_tiles() {
  for (std::size_t i = 0; i < hdu_.axes.size(); ++i) {
    const std::string key = "ZTILE" + std::to_string(i + 1);
    const auto whole = static_cast<std::int64_t>(i == 0 ? hdu_.axes[0] : 1);
    const auto n = hdu_.header.integer(key).value_or(whole);
    if (n < 1) corrupt(key + " is " + std::to_string(n) + ", expected at least 1");
    tile.push_back(std::min(static_cast<std::size_t>(n), hdu_.axes[i]));
    tiles.push_back((hdu_.axes[i] + tile[i] - 1) / tile[i]);
    count *= tiles[i];  // no overflow: at most the number of pixels
  }
  if (count != hdu_.rows) {
    corrupt("the image has " + std::to_string(count) + " tiles, the table " +
            std::to_string(hdu_.rows) + " rows");
  }
}

void TileTable::read_parameters() {
  const HeaderCards& h = hdu_.header;
  code = h.text("ZCMPTYPE").value_or("(none)");
  std::int64_t bytes = 4, block = 32;
  for (int i = 1; i <= 9; ++i) {
    const std::string name = h.text("ZNAME" + std::to_string(i)).value_or("");
    const auto v = h.integer("ZVAL" + std::to_string(i)).value_or(0);
    if (name == "BYTEPIX") bytes = v;
    if (name == "BLOCKSIZE") block = v;
    if (name == "SMOOTH") hcompress_smooth = v;
  }
  if (code.starts_with("RICE") &&
      ((bytes != 1 && bytes != 2 && bytes != 4) || block < 1 || block > 65536)) {
    corrupt("RICE_1 with BYTEPIX " + std::to_string(bytes) + ", BLOCKSIZE " +
            std::to_string(block) + ", expected 1, 2 or 4, and 1 to 65536");
  }
  rice_bytes = static_cast<int>(std::clamp<std::int64_t>(bytes, 1, 4));
  rice_block = static_cast<std::size_t>(std::clamp<std::int64_t>(block, 1, 65536));
  read_quantiser();
}

void TileTable::read_quantiser() {
  const HeaderCards& h = hdu_.header;
  const std::string name = h.text("ZQUANTIZ").value_or("NO_DITHER");
  lossless = hdu_.bitpix > 0 || name == "NONE" || !(scale_ || h.has("ZSCALE"));
  if (hdu_.bitpix > 0) return;
  if (name == "SUBTRACTIVE_DITHER_1") {
    dither = Dither::kOne;
  } else if (name == "SUBTRACTIVE_DITHER_2") {
    dither = Dither::kTwo;
  } else if (name != "NO_DITHER" && name != "NONE") {
    unsupported("ZQUANTIZ " + name + " is not supported");
  }
  if (lossless || dither == Dither::kNone) return;
  dither_seed = h.integer("ZDITHER0").value_or(0);
  if (dither_seed < 1 || dither_seed > 10000) {
    corrupt("ZDITHER0 is " + h.text("ZDITHER0").value_or("missing") +
            ", expected 1 to 10000 with ZQUANTIZ " + name);
  }
}

std::span<const std::uint8_t> TileTable::cell(Cell which, std::size_t t,
                                              std::vector<std::uint8_t>& buffer) const {
  const auto& column = cells_[static_cast<std::size_t>(which)];
  if (!column || (column->type != 'P' && column->type != 'Q') || column->repeat == 0) return {};
  const std::uint8_t* p = table_.data.data() + t * table_.row_bytes + column->offset;
  const bool wide = column->type == 'Q';
  const std::uint64_t n = wide ? load_be<std::uint64_t>(p) : load_be<std::uint32_t>(p);
  const std::uint64_t at = wide ? load_be<std::uint64_t>(p + 8) : load_be<std::uint32_t>(p + 4);
  const std::uint64_t width = std::max<std::size_t>(1, type_bytes(column->element));
  const std::uint64_t heap = hdu_.data_bytes - hdu_.heap_offset;
  if (n > heap / width || at > heap - n * width) {
    corrupt_tile(t, "lies outside the heap of " + std::to_string(heap) + " bytes");
  }
  buffer.resize(static_cast<std::size_t>(n * width));
  source_.read(hdu_.data_offset + hdu_.heap_offset + at, buffer);
  return buffer;
}

std::optional<double> TileTable::value(const std::optional<TableColumn>& column,
                                       std::size_t t) const {
  if (!column || column->repeat == 0) return std::nullopt;
  const auto v = column_row(table_, *column, t);
  return v.empty() ? std::nullopt : std::optional<double>(v.front());
}

double TileTable::quantiser(const char* name, const std::optional<TableColumn>& column,
                            std::size_t t) const {
  const auto v = column ? value(column, t) : hdu_.header.number(name);
  if (v && std::isfinite(*v)) return *v;
  corrupt_tile(t, std::string(name) + (v ? " is not finite" : " is missing or no number"));
}

double TileTable::scale(std::size_t t) const {
  const double v = quantiser("ZSCALE", scale_, t);
  if (v == 0) corrupt_tile(t, "ZSCALE is 0");
  return v;
}

double TileTable::zero(std::size_t t) const { return quantiser("ZZERO", zero_, t); }

std::optional<std::int64_t> TileTable::blank(std::size_t t) const {
  if (!blank_) {
    const auto key = hdu_.header.integer("ZBLANK");
    return key ? key : hdu_.blank;
  }
  const auto v = value(blank_, t);
  if (!v || !(*v > -9e15 && *v < 9e15)) return std::nullopt;
  return static_cast<std::int64_t>(*v);
}

}  // namespace loom::fits
