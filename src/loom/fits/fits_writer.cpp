// SPDX-License-Identifier: BSD-3-Clause
// HDUs to bytes. The header is written first without sums and again when they are known.
#include "loom/fits/fits_writer.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "loom/base/error.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/files/gzip.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/checksum.hpp"
#include "loom/fits/hdu.hpp"
#include "loom/fits/tile_codec.hpp"

namespace loom::fits {
namespace {

/// Bytes converted at once: they stay in the second-level cache for the sum and the write.
constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::size_t kRiceBlock = 32;

int bitpix_of(PixelType type) {
  switch (type) {
    case PixelType::kInt16:
      return 16;
    case PixelType::kInt32:
    case PixelType::kUInt32:
      return 32;
    case PixelType::kFloat32:
      return -32;
    case PixelType::kFloat64:
      return -64;
  }
  return 0;
}

/// Mandatory cards, in the order of the standard.
class CardList {
 public:
  explicit CardList(bool primary, const char* extension) {
    if (primary) {
      h_.set_logical("SIMPLE", true, "conforms to FITS standard");
    } else {
      h_.set("XTENSION", extension, "extension type");
    }
  }
  CardList& add(const std::string& key, std::int64_t value, const std::string& comment = "") {
    h_.set(key, value, comment);
    return *this;
  }
  CardList& name(const std::string& extname) {
    if (!extname.empty()) h_.set("EXTNAME", extname, "extension name");
    return *this;
  }
  CardList& append(const std::vector<std::string>& cards) {
    h_.cards.insert(h_.cards.end(), cards.begin(), cards.end());
    return *this;
  }
  [[nodiscard]] const std::vector<std::string>& cards() const { return h_.cards; }
  HeaderCards& header() { return h_; }

 private:
  HeaderCards h_;
};

CardList image_cards(bool primary, PixelType type, const std::vector<std::size_t>& axes) {
  CardList list(primary, "IMAGE");
  list.add("BITPIX", bitpix_of(type), "array data type");
  list.add("NAXIS", static_cast<std::int64_t>(axes.size()), "number of array dimensions");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    list.add("NAXIS" + std::to_string(i + 1), static_cast<std::int64_t>(axes[i]));
  }
  if (primary) {
    list.header().set_logical("EXTEND", true);
  } else {
    list.add("PCOUNT", 0, "number of parameters").add("GCOUNT", 1, "number of groups");
  }
  if (type == PixelType::kUInt32) {
    list.add("BSCALE", 1).add("BZERO", 2147483648LL, "unsigned 32-bit integers");
  }
  return list;
}

CardList table_cards(std::size_t row_bytes, std::size_t rows, std::size_t heap,
                     std::size_t fields) {
  CardList list(false, "BINTABLE");
  list.add("BITPIX", 8, "array data type").add("NAXIS", 2, "number of array dimensions");
  list.add("NAXIS1", static_cast<std::int64_t>(row_bytes), "length of dimension 1");
  list.add("NAXIS2", static_cast<std::int64_t>(rows), "length of dimension 2");
  list.add("PCOUNT", static_cast<std::int64_t>(heap), "number of group parameters");
  list.add("GCOUNT", 1, "number of groups");
  list.add("TFIELDS", static_cast<std::int64_t>(fields), "number of table fields");
  return list;
}

/// The cards with sums, END and blanks to a whole number of blocks.
std::vector<std::uint8_t> header_bytes(const std::vector<std::string>& cards,
                                       const std::string& checksum, std::uint32_t datasum) {
  HeaderCards sums;
  sums.set("CHECKSUM", checksum, "HDU checksum");
  sums.set("DATASUM", std::to_string(datasum), "data unit checksum");
  std::vector<std::uint8_t> out;
  const auto put = [&out](const std::string& card) {
    out.insert(out.end(), card.begin(), card.end());
  };
  for (const std::string& card : cards) put(card);
  for (const std::string& card : sums.cards) put(card);
  put("END");
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock, std::uint8_t{' '});
  return out;
}

template <class T>
void convert(PixelType type, const T* in, std::uint8_t* out, std::size_t n) {
  switch (type) {
    case PixelType::kInt16:
      return to_big_endian<std::int16_t>(in, out, n);
    case PixelType::kInt32:
      return to_big_endian<std::int32_t>(in, out, n);
    case PixelType::kFloat32:
      return to_big_endian<float>(in, out, n);
    case PixelType::kFloat64:
      return to_big_endian<double>(in, out, n);
    case PixelType::kUInt32:
      for (std::size_t i = 0; i < n; ++i) {
        store_be(out + 4 * i, static_cast<std::uint32_t>(in[i]) ^ 0x80000000U);
      }
  }
}

/// ZHECKSUM and ZDATASUM: the sums that the image has once it is unpacked. Its cards are those of
/// the list that speak of the image, under its own names; their order does not matter to a sum.
void sign_unpacked(CardList& list, int byte_pix, std::span<const std::uint32_t> pixels) {
  std::vector<std::string> image;
  for (const std::string& card : list.cards()) {
    const std::string key = card_keyword(card);
    const std::string own = key == "ZTENSION" ? "XTENSION" : key.substr(1);
    if (key.starts_with('Z') && is_structural(own) && own != "IMAGE") {
      std::string name = own;
      name.resize(8, ' ');
      image.push_back(name + card.substr(8));
    } else if (key == "EXTNAME" || (!is_structural(key) && !is_column_keyword(key))) {
      image.push_back(card);
    }
  }
  Checksum data;
  std::vector<std::uint8_t> chunk;
  for (std::size_t first = 0; first < pixels.size(); first += kChunkBytes) {
    const auto part = pixels.subspan(first, std::min(kChunkBytes, pixels.size() - first));
    const std::size_t width = static_cast<std::size_t>(byte_pix);
    chunk.assign((part.size() * width + 3) / 4 * 4, std::uint8_t{0});
    convert(byte_pix == 2 ? PixelType::kInt16 : PixelType::kInt32, part.data(), chunk.data(),
            part.size());
    data.add(chunk);
  }
  Checksum all;
  all.add(header_bytes(image, std::string(16, '0'), data.value()));
  all.add(data.value());
  list.header().set("ZHECKSUM", encode_checksum(all.value()), "HDU checksum");
  list.header().set("ZDATASUM", std::to_string(data.value()), "data unit checksum");
}

}  // namespace

void FitsWriter::hdu(const std::vector<std::string>& cards, std::size_t elements, std::size_t width,
                     const Fill& fill) {
  const std::uint64_t start = sink_.size();
  sink_.append(header_bytes(cards, std::string(16, '0'), 0));
  Checksum data;
  const std::size_t per_chunk = std::max<std::size_t>(1, kChunkBytes / width / 4 * 4);
  std::vector<std::uint8_t> chunk;
  for (std::size_t first = 0; first < elements; first += per_chunk) {
    const std::size_t n = std::min(per_chunk, elements - first);
    chunk.resize(n * width);
    fill(first, n, chunk.data());
    const bool last = first + n == elements;
    if (last) chunk.resize((elements * width + kBlock - 1) / kBlock * kBlock - first * width);
    data.add(chunk);
    sink_.append(chunk);
  }
  auto header = header_bytes(cards, std::string(16, '0'), data.value());
  Checksum all;
  all.add(header);
  all.add(data.value());
  header = header_bytes(cards, encode_checksum(all.value()), data.value());
  sink_.overwrite(start, header);
}

template <class T>
void FitsWriter::typed_image(const std::string& extname, std::span<const T> pixels,
                             const std::vector<std::size_t>& axes, PixelType type,
                             const HeaderCards& header) {
  std::size_t expected = axes.empty() ? 0 : 1;
  for (const std::size_t n : axes) expected *= n;
  if (expected != pixels.size()) {
    throw Error(Status::kInternal, "image " + extname + ": size and axes disagree");
  }
  CardList list = image_cards(sink_.size() == 0, type, axes);
  list.name(extname).append(safe_cards(header));
  hdu(list.cards(), pixels.size(), static_cast<std::size_t>(std::abs(bitpix_of(type)) / 8),
      [&](std::size_t first, std::size_t n, std::uint8_t* out) {
        convert(type, pixels.data() + first, out, n);
      });
}

void FitsWriter::image(const std::string& extname, std::span<const float> pixels,
                       const std::vector<std::size_t>& axes, PixelType type,
                       const HeaderCards& header) {
  typed_image(extname, pixels, axes, type, header);
}
void FitsWriter::image(const std::string& extname, std::span<const double> pixels,
                       const std::vector<std::size_t>& axes, PixelType type,
                       const HeaderCards& header) {
  typed_image(extname, pixels, axes, type, header);
}
void FitsWriter::image(const std::string& extname, std::span<const std::uint32_t> pixels,
                       const std::vector<std::size_t>& axes, PixelType type,
                       const HeaderCards& header) {
  typed_image(extname, pixels, axes, type, header);
}

void FitsWriter::primary(const HeaderCards& header) {
  if (sink_.size() > 0) throw Error(Status::kInternal, "primary HDU: another one comes before it");
  hdu(image_cards(true, PixelType::kInt16, {}).append(safe_cards(header)).cards(), 0, 1, {});
}

void FitsWriter::empty_primary() {
  if (sink_.size() == 0) primary({});
}

void FitsWriter::compressed_mask(const std::string& extname, std::span<const std::uint32_t> pixels,
                                 std::size_t nx, std::size_t ny, const HeaderCards& header) {
  const std::uint32_t all = std::accumulate(pixels.begin(), pixels.end(), 0U, std::bit_or<>());
  if (pixels.size() != nx * ny || nx == 0 || (all >> 31) != 0) {
    throw Error(Status::kInternal, "mask " + extname + ": wrong size, or values beyond 31 bits");
  }
  empty_primary();
  const int byte_pix = all >> 15 == 0 ? 2 : 4;
  std::vector<std::uint8_t> rows(ny * 8), heap;
  std::vector<std::int32_t> line(nx);
  std::size_t longest = 0;
  for (std::size_t y = 0; y < ny; ++y) {
    for (std::size_t x = 0; x < nx; ++x) line[x] = static_cast<std::int32_t>(pixels[y * nx + x]);
    const auto packed = rice_encode(line, byte_pix, kRiceBlock);
    store_be(rows.data() + 8 * y, static_cast<std::uint32_t>(packed.size()));
    store_be(rows.data() + 8 * y + 4, static_cast<std::uint32_t>(heap.size()));
    heap.insert(heap.end(), packed.begin(), packed.end());
    longest = std::max(longest, packed.size());
  }
  CardList list = table_cards(8, ny, heap.size(), 1);
  HeaderCards& h = list.header();
  h.set("TTYPE1", "COMPRESSED_DATA", "label for field 1");
  h.set("TFORM1", "1PB(" + std::to_string(longest) + ")", "variable length array");
  h.set_logical("ZIMAGE", true, "extension contains compressed image");
  h.set("ZTENSION", "IMAGE", "Image extension");
  h.set("ZBITPIX", 8 * byte_pix, "data type of original image");
  h.set("ZNAXIS", 2, "dimension of original image");
  h.set("ZNAXIS1", static_cast<std::int64_t>(nx));
  h.set("ZNAXIS2", static_cast<std::int64_t>(ny));
  h.set("ZPCOUNT", 0, "number of parameters");
  h.set("ZGCOUNT", 1, "number of groups");
  h.set("ZTILE1", static_cast<std::int64_t>(nx), "size of tiles to be compressed");
  h.set("ZTILE2", 1, "size of tiles to be compressed");
  h.set("ZCMPTYPE", "RICE_1", "compression algorithm");
  h.set("ZNAME1", "BLOCKSIZE", "compression block size");
  h.set("ZVAL1", static_cast<std::int64_t>(kRiceBlock), "pixels per block");
  h.set("ZNAME2", "BYTEPIX", "bytes per pixel (1, 2, 4, or 8)");
  h.set("ZVAL2", byte_pix, "bytes per pixel (1, 2, 4, or 8)");
  list.name(extname).append(safe_cards(header));
  sign_unpacked(list, byte_pix, pixels);
  rows.insert(rows.end(), heap.begin(), heap.end());
  hdu(list.cards(), rows.size(), 1, [&](std::size_t first, std::size_t n, std::uint8_t* out) {
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(first), n, out);
  });
}

namespace {

std::vector<std::string> table_header(const std::string& extname, const RawTable& table,
                                      std::size_t heap) {
  CardList list = table_cards(table.row_bytes, table.rows, heap, table_columns(table).size());
  std::vector<std::string> columns;
  for (const std::string& card : table.column_cards) columns.push_back(ascii_card(card));
  list.append(columns).name(extname).append(safe_cards(table.header));
  return list.cards();
}

}  // namespace

void FitsWriter::table(const std::string& extname, const RawTable& table) {
  empty_primary();
  const std::size_t main_bytes = table.rows * table.row_bytes;
  if (table.data.size() != main_bytes) {
    throw Error(Status::kInternal, "table " + extname + ": rows and bytes disagree");
  }
  hdu(table_header(extname, table, table.heap.size()), main_bytes + table.heap.size(), 1,
      [&](std::size_t first, std::size_t n, std::uint8_t* out) {
        for (std::size_t i = first; i < first + n; ++i) {
          *out++ = i < main_bytes ? table.data[i] : table.heap[i - main_bytes];
        }
      });
}

void FitsWriter::table(const std::string& extname, const RawTable& layout, const Fill& fill) {
  empty_primary();
  hdu(table_header(extname, layout, 0), layout.rows, layout.row_bytes, fill);
}

void write_fits(const std::string& path, Overwrite overwrite,
                const std::function<void(FitsWriter&)>& build, int gzip_level,
                FilesTogether* together) {
  AtomicFile file(path, overwrite);
  if (has_ending(path, ".gz")) {
    MemorySink memory;
    FitsWriter writer(memory);
    build(writer);
    file.write_at(0, gzip(memory.bytes(), gzip_level > 0 ? gzip_level : kGzipLevel));
  } else {
    FileSink sink(file);
    FitsWriter writer(sink);
    build(writer);
  }
  file.commit(together);
}

}  // namespace loom::fits
