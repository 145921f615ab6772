// SPDX-License-Identifier: BSD-3-Clause
// cfitsio on a memory file of two HDUs: an empty primary and the compressed image.
#include "loom/fits/cfitsio_image.hpp"

#include <fitsio.h>

#include <algorithm>
#include <array>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"

namespace loom::fits {
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
  int read_image(std::vector<std::int32_t>& out) {
    static_assert(sizeof(int) == sizeof(std::int32_t));
    fits_movabs_hdu(file_, 2, nullptr, &status_);
    fits_read_img(file_, TINT, 1, static_cast<LONGLONG>(out.size()), nullptr, out.data(), nullptr,
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

/// Pixels of tile t.
std::size_t tile_pixels(const TileTable& table, const Hdu& hdu, std::size_t t) {
  std::size_t pixels = 1;
  for (std::size_t a = 0; a < hdu.axes.size(); ++a) {
    const std::size_t first = t % table.tiles[a] * table.tile[a];
    t /= table.tiles[a];
    pixels *= std::min(table.tile[a], hdu.axes[a] - first);
  }
  return pixels;
}

/// The stream says its own size, and cfitsio believes it: it must be the tile's.
void check_stream(const TileTable& table, std::size_t t, std::span<const std::uint8_t> bytes,
                  std::size_t pixels) {
  if (bytes.size() < 25 || bytes[0] != 0xdd || bytes[1] != 0x99) {
    table.corrupt_tile(t, "no HCOMPRESS data");
  }
  const auto nx = load_be<std::int32_t>(bytes.data() + 2);
  const auto ny = load_be<std::int32_t>(bytes.data() + 6);
  if (nx < 1 || ny < 1 ||
      static_cast<std::uint64_t>(nx) * static_cast<std::uint64_t>(ny) != pixels) {
    table.corrupt_tile(t, "HCOMPRESS data of another size");
  }
  for (std::size_t plane = 22; plane < 25; ++plane) {
    if (bytes[plane] > 62) table.corrupt_tile(t, "HCOMPRESS data with impossible bit planes");
  }
}

/// A stream of zeros: what stands in the place of a tile that is stored in another way.
std::vector<std::uint8_t> empty_stream(std::size_t pixels) {
  std::vector<std::uint8_t> out(32);
  out[0] = 0xdd;
  out[1] = 0x99;
  store_be(out.data() + 2, static_cast<std::int32_t>(1));
  store_be(out.data() + 6, static_cast<std::int32_t>(pixels));
  store_be(out.data() + 10, std::int32_t{1});
  return out;
}

/// A table written anew: descriptors, and the streams as the heap. cfitsio's decoder reads on where
/// a stream ends early, so each is followed by more zeros than it can ask for.
struct CleanTable {
  std::vector<std::uint8_t> rows, heap;
};
constexpr std::size_t kRowBytes = 16;
constexpr std::size_t kPadPerPixel = 16, kPad = 4096;

CleanTable clean_table(const TileTable& table, const Hdu& hdu) {
  CleanTable out;
  std::vector<std::uint8_t> packed;
  for (std::size_t t = 0; t < table.count; ++t) {
    const std::size_t pixels = tile_pixels(table, hdu, t);
    const auto cell = table.cell(TileTable::Cell::kCompressed, t, packed);
    if (!cell.empty()) check_stream(table, t, cell, pixels);
    const std::vector<std::uint8_t> bytes =
        cell.empty() ? empty_stream(pixels) : std::vector<std::uint8_t>(cell.begin(), cell.end());
    std::array<std::uint8_t, kRowBytes> row{};
    const std::size_t length = bytes.size() + kPadPerPixel * pixels + kPad;
    store_be(row.data(), static_cast<std::uint64_t>(length));
    store_be(row.data() + 8, static_cast<std::uint64_t>(out.heap.size()));
    out.rows.insert(out.rows.end(), row.begin(), row.end());
    out.heap.insert(out.heap.end(), bytes.begin(), bytes.end());
    out.heap.resize(out.heap.size() + length - bytes.size());
  }
  return out;
}

HeaderCards clean_header(const Hdu& hdu, const TileTable& table, const CleanTable& clean) {
  HeaderCards h;
  h.set("XTENSION", "BINTABLE");
  h.set("BITPIX", 8);
  h.set("NAXIS", 2);
  h.set("NAXIS1", static_cast<std::int64_t>(kRowBytes));
  h.set("NAXIS2", static_cast<std::int64_t>(table.count));
  h.set("PCOUNT", static_cast<std::int64_t>(clean.heap.size()));
  h.set("GCOUNT", 1);
  h.set("TFIELDS", 1);
  h.set("TTYPE1", "COMPRESSED_DATA");
  h.set("TFORM1", "1QB");
  h.set_logical("ZIMAGE", true);
  h.set("ZCMPTYPE", "HCOMPRESS_1");
  h.set("ZBITPIX", 32);
  h.set("ZNAXIS", static_cast<std::int64_t>(hdu.axes.size()));
  for (std::size_t i = 0; i < hdu.axes.size(); ++i) {
    const std::string index = std::to_string(i + 1);
    h.set("ZNAXIS" + index, static_cast<std::int64_t>(hdu.axes[i]));
    h.set("ZTILE" + index, static_cast<std::int64_t>(table.tile[i]));
  }
  h.set("ZNAME1", "SCALE");  // each stream holds its own
  h.set("ZVAL1", 0);
  h.set("ZNAME2", "SMOOTH");
  h.set("ZVAL2", table.hcompress_smooth == 1 ? 1 : 0);
  return h;
}

}  // namespace

std::vector<std::int32_t> unpack_hcompress(const TileTable& table, const Hdu& hdu) {
  const CleanTable clean = clean_table(table, hdu);
  HeaderCards primary;
  primary.set_logical("SIMPLE", true);
  primary.set("BITPIX", 8);
  primary.set("NAXIS", 0);
  primary.set_logical("EXTEND", true);
  std::vector<std::uint8_t> bytes;
  append_header(bytes, primary);
  append_header(bytes, clean_header(hdu, table, clean));
  bytes.insert(bytes.end(), clean.rows.begin(), clean.rows.end());
  bytes.insert(bytes.end(), clean.heap.begin(), clean.heap.end());
  bytes.resize((bytes.size() + kBlock - 1) / kBlock * kBlock);

  std::vector<std::int32_t> out(hdu.pixels());
  MemoryFile file(std::move(bytes));
  if (const int status = file.read_image(out); status != 0) {
    std::array<char, FLEN_STATUS> text{};
    fits_get_errstatus(status, text.data());
    table.corrupt("cannot unpack: cfitsio " + std::to_string(status) + " (" + text.data() + ")");
  }
  return out;
}

}  // namespace loom::fits
