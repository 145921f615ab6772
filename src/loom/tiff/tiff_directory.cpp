// SPDX-License-Identifier: BSD-3-Clause
#include "loom/tiff/tiff_directory.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/byte_order.hpp"

namespace loom::tiff {
namespace {

constexpr std::size_t kMostPages = std::size_t{1} << 20, kMostOfAnAxis = std::size_t{1} << 20;
constexpr std::uint64_t kMostEntries = 4096, kMostText = std::uint64_t{1} << 20;
/// No packing of TIFF's makes more of a byte.
constexpr std::uint64_t kMostGain = 4096;

// tags
constexpr std::uint16_t kWidth = 256, kHeight = 257, kBits = 258, kCompression = 259,
                        kPhotometric = 262, kFillOrder = 266, kDescription = 270,
                        kStripOffsets = 273, kSamples = 277, kStripRows = 278, kStripBytes = 279,
                        kPredictor = 317, kTileWidth = 322, kSampleFormat = 339;

struct Entry {
  std::uint16_t type = 0;
  std::uint64_t count = 0, place = 0;  ///< of its values in the file
};

/// Bytes of a value of a type that counts something; 0 of others.
std::size_t type_bytes(std::uint16_t type) {
  switch (type) {
    case 1:  // BYTE
    case 2:  // ASCII
      return 1;
    case 3:  // SHORT
      return 2;
    case 4:  // LONG
      return 4;
    case 16:  // LONG8
      return 8;
    default:
      return 0;
  }
}

class DirectoryParser {
 public:
  explicit DirectoryParser(const InputFile& file) : file_(file) {}

  Directory run() {
    const auto first = bytes(0, 4);
    const bool little = first[0] == 'I' && first[1] == 'I';
    if (!little && !(first[0] == 'M' && first[1] == 'M')) fail("is no TIFF file");
    directory_.swapped = !little;
    const std::uint64_t version = number(2, 2);
    if (version != 42 && version != 43) fail("is no TIFF file");
    big_ = version == 43;
    std::uint64_t at = big_ ? number(8, 8) : number(4, 4);
    std::set<std::uint64_t> seen;
    while (at != 0) {
      if (!seen.insert(at).second) fail("its pages go round in a circle");
      if (seen.size() > kMostPages) fail("has too many pages");
      at = read_page(at);
    }
    if (directory_.pages.empty()) fail("has no page");
    find_contiguous();
    return std::move(directory_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, Status status = Status::kCorrupt) const {
    throw Error(status, file_.path() + ": " + what);
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::uint64_t at, std::size_t count) const {
    if (at > file_.size() || count > file_.size() - at) fail("ends too early for a TIFF file");
    std::vector<std::uint8_t> out(count);
    if (file_.read(at, out) != count) fail("ends too early for a TIFF file");
    return out;
  }
  [[nodiscard]] std::uint64_t number_in(const std::uint8_t* at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | at[directory_.swapped ? i : size - 1 - i];
    }
    return value;
  }
  [[nodiscard]] std::uint64_t number(std::uint64_t at, std::size_t size) const {
    return number_in(bytes(at, size).data(), size);
  }

  /// All values of a tag; empty where it is not there or does not count anything.
  [[nodiscard]] std::vector<std::uint64_t> values(std::uint16_t tag, std::uint64_t most) const {
    const auto found = entries_.find(tag);
    if (found == entries_.end()) return {};
    const Entry& entry = found->second;
    const std::size_t size = type_bytes(entry.type);
    if (size == 0 || entry.count > most) fail(print("tag %u is not as it should be", tag));
    const auto raw = bytes(entry.place, entry.count * size);
    std::vector<std::uint64_t> out(entry.count);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = number_in(raw.data() + i * size, size);
    return out;
  }
  [[nodiscard]] std::uint64_t value(std::uint16_t tag, std::uint64_t otherwise) const {
    const auto all = values(tag, 16);
    return all.empty() ? otherwise : all[0];
  }

  /// Where the next page is.
  std::uint64_t read_page(std::uint64_t at) {
    const std::size_t count_bytes = big_ ? 8 : 2, entry_bytes = big_ ? 20 : 12;
    const std::size_t word = big_ ? 8 : 4;
    const std::uint64_t count = number(at, count_bytes);
    if (count > kMostEntries) fail(print("a page has %zu tags", static_cast<std::size_t>(count)));
    const auto raw = bytes(at + count_bytes, count * entry_bytes + word);
    entries_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t* const entry = raw.data() + i * entry_bytes;
      Entry parsed{.type = static_cast<std::uint16_t>(number_in(entry + 2, 2)),
                   .count = number_in(entry + 4, word)};
      const std::uint64_t inside = at + count_bytes + i * entry_bytes + 4 + word;
      const bool fits = parsed.count <= word / std::max<std::size_t>(type_bytes(parsed.type), 1);
      parsed.place = fits ? inside : number_in(entry + 4 + word, word);
      entries_[static_cast<std::uint16_t>(number_in(entry, 2))] = parsed;
    }
    directory_.pages.push_back(page());
    return number_in(raw.data() + count * entry_bytes, word);
  }

  Page page() const {
    Page page;
    const std::uint64_t width = value(kWidth, 0), height = value(kHeight, 0);
    if (width == 0 || height == 0 || width > kMostOfAnAxis || height > kMostOfAnAxis) {
      fail(print("found %zu x %zu pixels, expected 1 x 1 to %zu x %zu",
                 static_cast<std::size_t>(height), static_cast<std::size_t>(width), kMostOfAnAxis,
                 kMostOfAnAxis));
    }
    page.width = width;
    page.height = height;
    page.number = number_kind();
    if (entries_.count(kTileWidth) > 0)
      fail("is made of tiles, expected strips", Status::kUnsupported);
    const std::uint64_t samples = value(kSamples, 1), photometric = value(kPhotometric, 1);
    if (samples != 1 || photometric != 1) {
      fail("is no grey image in which 0 is black (one sample a pixel, photometric 1)",
           Status::kUnsupported);
    }
    if (value(kFillOrder, 1) != 1) {
      fail("has the bits of its bytes in the other order (FillOrder)", Status::kUnsupported);
    }
    page.packing = packing();
    const std::uint64_t predictor = value(kPredictor, 1);
    const bool whole = page.number != Number::kFloat32 && page.number != Number::kFloat64;
    if (predictor != 1 && !(predictor == 2 && whole)) {
      fail(
          print("predictor %zu, expected 1, or 2 of integers", static_cast<std::size_t>(predictor)),
          Status::kUnsupported);
    }
    page.differences = predictor == 2 && page.packing != Packing::kNone;
    find_strips(page);
    const auto text = entries_.find(kDescription);
    if (text != entries_.end() && text->second.type == 2 && text->second.count <= kMostText) {
      const auto raw = bytes(text->second.place, text->second.count);
      page.description.assign(raw.begin(), std::find(raw.begin(), raw.end(), 0));
    }
    return page;
  }

  [[nodiscard]] Number number_kind() const {
    const std::uint64_t bits = value(kBits, 1), format = value(kSampleFormat, 1);
    if (format == 1 && bits == 8) return Number::kUint8;
    if (format == 1 && bits == 16) return Number::kUint16;
    if (format == 1 && bits == 32) return Number::kUint32;
    if (format == 2 && bits == 8) return Number::kInt8;
    if (format == 2 && bits == 16) return Number::kInt16;
    if (format == 2 && bits == 32) return Number::kInt32;
    if (format == 3 && bits == 32) return Number::kFloat32;
    if (format == 3 && bits == 64) return Number::kFloat64;
    fail(print("numbers of %zu bits, format %zu: expected integers of 8, 16, 32 bits or floats of "
               "32, 64",
               static_cast<std::size_t>(bits), static_cast<std::size_t>(format)),
         Status::kUnsupported);
  }
  [[nodiscard]] Packing packing() const {
    switch (const std::uint64_t found = value(kCompression, 1)) {
      case 1:
        return Packing::kNone;
      case 5:
        return Packing::kLzw;
      case 8:
      case 32946:
        return Packing::kDeflate;
      default:
        fail(print("compression %zu, expected none (1), LZW (5) or deflate (8)",
                   static_cast<std::size_t>(found)),
             Status::kUnsupported);
    }
  }

  void find_strips(Page& page) const {
    const std::uint64_t rows = value(kStripRows, page.height);
    page.strip_rows = std::clamp<std::uint64_t>(rows, 1, page.height);
    const std::size_t count = (page.height + page.strip_rows - 1) / page.strip_rows;
    const auto offsets = values(kStripOffsets, count), sizes = values(kStripBytes, count);
    const bool sizeless = sizes.empty() && page.packing == Packing::kNone;
    if (offsets.size() != count || (sizes.size() != count && !sizeless)) {
      fail(print("found %zu strips, expected %zu", offsets.size(), count));
    }
    page.strips.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t full = std::uint64_t{page.rows_of(i)} * page.row_bytes();
      const Strip strip{offsets[i], sizeless ? full : sizes[i]};
      const bool plain = page.packing == Packing::kNone;
      const std::uint64_t needed = plain ? full : strip.bytes;
      if (strip.offset > file_.size() || needed > file_.size() - strip.offset) {
        fail("ends too early for its pixels");
      }
      if (plain ? strip.bytes < full : strip.bytes < full / kMostGain) {
        fail(print("strip %zu has %zu bytes, too few for its %zu rows", i,
                   static_cast<std::size_t>(strip.bytes), page.rows_of(i)));
      }
      page.strips[i] = strip;
    }
  }

  /// The number that stands there in a text.
  static std::uint64_t count_at(const std::string& text, std::size_t at) {
    std::uint64_t count = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && count <= kMostPages; ++at) {
      count = 10 * count + static_cast<std::uint64_t>(text[at] - '0');
    }
    return count;
  }

  /// Images that a description names; 1 where it says nothing of others. ImageJ's: "images=720";
  /// tifffile's, of files that it has truncated: {"shape": [720, 64, 128], "truncated": true}.
  static std::uint64_t images_said(const std::string& text) {
    const std::string mark = "\nimages=", shape = R"({"shape": [)";
    const std::size_t at = text.find(mark);
    if (text.starts_with("ImageJ=") && at != std::string::npos) {
      return count_at(text, at + mark.size());
    }
    if (!text.starts_with(shape) || text.find(R"("truncated": true)") == std::string::npos) {
      return 1;
    }
    std::vector<std::uint64_t> sizes;
    const std::size_t end = std::min(text.find(']'), text.size());
    for (std::size_t from = shape.size(); from < end;) {
      sizes.push_back(count_at(text, from));
      from = std::min(text.find_first_of(", ", from), end);
      from = std::min(text.find_first_not_of(", ", from), end);
    }
    std::uint64_t count = 1;
    for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
      count = std::min(count * sizes[i], std::uint64_t{kMostPages} + 1);
    }
    return count;
  }

  /// Some write a stack as one page, the others behind it without a word but in the description:
  /// ImageJ beyond 4 GB, tifffile where it was asked to.
  void find_contiguous() {
    if (directory_.pages.size() != 1) return;
    const Page first = directory_.pages[0];
    const std::uint64_t count = images_said(first.description);
    if (count <= 1 || first.packing != Packing::kNone || first.strips.size() != 1) return;
    const std::uint64_t size = std::uint64_t{first.height} * first.row_bytes();
    if (count > kMostPages) fail("has too many pages");
    if (count > (file_.size() - first.strips[0].offset) / size)
      fail("ends too early for its pages");
    for (std::uint64_t i = 1; i < count; ++i) {
      Page page = first;
      page.strips[0].offset += i * size;
      directory_.pages.push_back(std::move(page));
    }
  }

  const InputFile& file_;
  Directory directory_;
  bool big_ = false;
  std::map<std::uint16_t, Entry> entries_;  ///< of the page that is read
};

}  // namespace

std::size_t bytes_of(Number number) noexcept {
  switch (number) {
    case Number::kUint8:
    case Number::kInt8:
      return 1;
    case Number::kUint16:
    case Number::kInt16:
      return 2;
    case Number::kFloat64:
      return 8;
    default:
      return 4;
  }
}

std::size_t Page::rows_of(std::size_t strip) const noexcept {
  return std::min(strip_rows, height - strip * strip_rows);
}

Directory read_directory(const InputFile& file) { return DirectoryParser(file).run(); }

}  // namespace loom::tiff
