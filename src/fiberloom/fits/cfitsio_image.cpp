// SPDX-License-Identifier: BSD-3-Clause
// cfitsio on a memory file of two HDUs: an empty primary and the compressed image.
#include "fiberloom/fits/cfitsio_image.hpp"

#include <fitsio.h>

#include <algorithm>
#include <array>
#include <limits>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/byte_order.hpp"
#include "fiberloom/fits/tile_layout.hpp"

namespace fiberloom::fits {
namespace {

/// A read-only cfitsio handle on memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::vector<std::uint8_t> bytes)
      : bytes_(std::move(bytes)), data_(bytes_.data()), size_(bytes_.size()) {
    // cfitsio may be built without thread safety; then its globals make it useless to us.
    if (fits_is_reentrant() == 0) throw Error(Status::kInternal, "cfitsio is not reentrant");
    fits_open_memfile(&file_, "image", READONLY, &data_, &size_, 0, nullptr, &status_);
  }
  ~MemoryFile() {
    int ignored = 0;
    if (file_ != nullptr) fits_close_file(file_, &ignored);
    fits_clear_errmsg();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Reads the image of the second HDU; the cfitsio status, 0 when all went well.
  int read_image(std::vector<double>& out) {
    fits_movabs_hdu(file_, 2, nullptr, &status_);
    double null = std::numeric_limits<double>::quiet_NaN();
    int any = 0;
    fits_read_img(file_, TDOUBLE, 1, static_cast<LONGLONG>(out.size()), &null, out.data(), &any,
                  &status_);
    return status_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
  void* data_;
  std::size_t size_;
  fitsfile* file_ = nullptr;
  int status_ = 0;
};

void append_header(std::vector<std::uint8_t>& out, const HeaderCards& header) {
  for (const std::string& card : header.cards) out.insert(out.end(), card.begin(), card.end());
  const std::string end = "END";
  out.insert(out.end(), end.begin(), end.end());
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock, std::uint8_t{' '});
}

HeaderCards clean_header(const Hdu& hdu, const TileTable& table) {
  HeaderCards h;
  h.set("XTENSION", "BINTABLE");
  h.set("BITPIX", 8);
  h.set("NAXIS", 2);
  h.set("NAXIS1", static_cast<std::int64_t>(hdu.row_bytes));
  h.set("NAXIS2", static_cast<std::int64_t>(hdu.rows));
  h.set("PCOUNT", static_cast<std::int64_t>(hdu.data_bytes - hdu.row_bytes * hdu.rows));
  h.set("GCOUNT", 1);
  const auto columns = table_columns(table.table());
  const HeaderCards cards{table.table().column_cards};
  h.set("TFIELDS", static_cast<std::int64_t>(columns.size()));
  for (std::size_t i = 1; i <= columns.size(); ++i) {
    const std::string index = std::to_string(i);
    h.set("TTYPE" + index, cards.text("TTYPE" + index).value_or(""));
    h.set("TFORM" + index, cards.text("TFORM" + index).value_or(""));
  }
  h.set("THEAP", static_cast<std::int64_t>(hdu.heap_offset));
  h.set_logical("ZIMAGE", true);
  h.set("ZCMPTYPE", "HCOMPRESS_1");
  h.set("ZBITPIX", hdu.bitpix);
  h.set("ZNAXIS", static_cast<std::int64_t>(hdu.axes.size()));
  for (std::size_t i = 0; i < hdu.axes.size(); ++i) {
    const std::string index = std::to_string(i + 1);
    h.set("ZNAXIS" + index, static_cast<std::int64_t>(hdu.axes[i]));
    h.set("ZTILE" + index, static_cast<std::int64_t>(table.tile[i]));
  }
  for (const char* key : {"ZNAME1", "ZNAME2", "ZQUANTIZ"}) {
    if (const auto v = hdu.header.text(key)) h.set(key, *v);
  }
  for (const char* key : {"ZVAL1", "ZVAL2", "ZSCALE", "ZZERO"}) {
    if (const auto v = hdu.header.number(key)) h.set(key, *v);
  }
  for (const char* key : {"ZDITHER0", "ZBLANK", "BLANK"}) {
    if (const auto v = hdu.header.integer(key)) h.set(key, *v);
  }
  return h;
}

/// The stream says its own size, and cfitsio believes it: it must be the tile's.
void check_tiles(TileTable& table, const Hdu& hdu) {
  for (std::size_t t = 0; t < table.count; ++t) {
    std::size_t pixels = 1, rest = t;
    for (std::size_t a = 0; a < hdu.axes.size(); ++a) {
      const std::size_t first = rest % table.tiles[a] * table.tile[a];
      rest /= table.tiles[a];
      pixels *= std::min(table.tile[a], hdu.axes[a] - first);
    }
    const auto bytes = table.cell(TileTable::Cell::kCompressed, t);
    if (bytes.empty()) continue;
    if (bytes.size() < 25 || bytes[0] != 0xdd || bytes[1] != 0x99) {
      table.corrupt_tile(t, "no HCOMPRESS data");
    }
    const auto nx = load_be<std::int32_t>(bytes.data() + 2);
    const auto ny = load_be<std::int32_t>(bytes.data() + 6);
    if (nx < 1 || ny < 1 ||
        static_cast<std::uint64_t>(nx) * static_cast<std::uint64_t>(ny) != pixels) {
      table.corrupt_tile(t, "HCOMPRESS data of another size");
    }
    for (std::size_t q = 22; q < 25; ++q) {
      if (bytes[q] > 64) table.corrupt_tile(t, "HCOMPRESS data with impossible bit planes");
    }
  }
}

}  // namespace

std::vector<double> read_with_cfitsio(const ByteSource& source, const Hdu& hdu) {
  TileTable table(source, hdu);
  check_tiles(table, hdu);
  HeaderCards primary;
  primary.set_logical("SIMPLE", true);
  primary.set("BITPIX", 8);
  primary.set("NAXIS", 0);
  primary.set_logical("EXTEND", true);
  std::vector<std::uint8_t> bytes;
  append_header(bytes, primary);
  append_header(bytes, clean_header(hdu, table));
  const std::size_t at = bytes.size();
  const std::size_t padded = (hdu.data_bytes + kBlock - 1) / kBlock * kBlock;
  bytes.resize(at + padded);
  source.read(hdu.data_offset, std::span(bytes).subspan(at, hdu.data_bytes));

  std::vector<double> out(hdu.pixels());
  MemoryFile file(std::move(bytes));
  if (const int status = file.read_image(out); status != 0) {
    std::array<char, FLEN_STATUS> text{};
    fits_get_errstatus(status, text.data());
    table.corrupt("cannot unpack: cfitsio " + std::to_string(status) + " (" + text.data() + ")");
  }
  return out;
}

}  // namespace fiberloom::fits
