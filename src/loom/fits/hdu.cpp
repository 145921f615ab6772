// SPDX-License-Identifier: BSD-3-Clause
// Headers to Hdu structs (FITS standard 4.0, sections 3, 4, 7 and 10).
#include "loom/fits/hdu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/fits/checksum.hpp"

namespace loom::fits {
namespace {

constexpr std::size_t kMaxCards = 100000;
constexpr std::int64_t kMaxAxis = std::int64_t{1} << 40;

[[noreturn]] void corrupt(const ByteSource& source, const std::string& where,
                          const std::string& what) {
  throw Error(Status::kCorrupt, source.label() + ": " + where + ": " + what);
}

/// Mandatory keywords of one header, with messages that name the HDU.
class Keywords {
 public:
  Keywords(const ByteSource& source, const Hdu& hdu) : source_(source), hdu_(hdu) {}
  [[nodiscard]] std::int64_t count(const std::string& key, std::int64_t max) const {
    const auto value = hdu_.header.integer(key);
    if (!value || *value < 0 || *value > max) {
      corrupt(source_, hdu_.label(),
              key + " is " + hdu_.header.text(key).value_or("missing") + ", expected 0 to " +
                  std::to_string(max));
    }
    return *value;
  }
  [[nodiscard]] std::int64_t count_or(const std::string& key, std::int64_t max,
                                      std::int64_t fallback) const {
    return hdu_.header.has(key) ? count(key, max) : fallback;
  }
  [[nodiscard]] int bitpix(const std::string& key) const {
    const auto value = hdu_.header.integer(key);
    static constexpr std::array<std::int64_t, 6> kValid{8, 16, 32, 64, -32, -64};
    if (!value || std::find(kValid.begin(), kValid.end(), *value) == kValid.end()) {
      corrupt(source_, hdu_.label(),
              key + " is " + hdu_.header.text(key).value_or("missing") +
                  ", expected 8, 16, 32, 64, -32 or -64");
    }
    return static_cast<int>(*value);
  }
  [[nodiscard]] std::vector<std::size_t> axes(const std::string& key) const {
    std::vector<std::size_t> out;
    const std::int64_t n = count(key, 9);
    for (std::int64_t i = 1; i <= n; ++i) {
      out.push_back(static_cast<std::size_t>(count(key + std::to_string(i), kMaxAxis)));
    }
    return out;
  }

 private:
  const ByteSource& source_;
  const Hdu& hdu_;
};

/// a * b, or an error where it cannot be a size.
std::uint64_t product(const ByteSource& source, const Hdu& hdu, std::uint64_t a, std::uint64_t b) {
  std::uint64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || out > (std::uint64_t{1} << 62)) {
    corrupt(source, hdu.label(), "impossible dimensions");
  }
  return out;
}

/// How a header begins.
std::string_view first_card(const Hdu& hdu) { return hdu.number == 0 ? "SIMPLE  =" : "XTENSION="; }

/// Less than a block is left of the file: the beginning of a header that was cut off? What does not
/// look like one (zeros that some writers leave behind) belongs to nobody.
bool header_begins(const ByteSource& source, std::uint64_t offset, const Hdu& hdu) {
  std::array<std::uint8_t, 9> bytes{};
  const std::size_t n = std::min<std::size_t>(bytes.size(), source.size() - offset);
  source.read(offset, std::span(bytes).first(n));
  return first_card(hdu).starts_with({reinterpret_cast<const char*>(bytes.data()), n});
}

/// Cards up to END; returns the offset of the data. nullopt: nothing that looks like a header.
std::optional<std::uint64_t> read_cards(const ByteSource& source, std::uint64_t offset, Hdu& hdu) {
  std::array<std::uint8_t, kBlock> block{};
  Checksum sum;
  for (bool first = true;; first = false) {
    if (source.size() < offset + kBlock) {
      if (first && !header_begins(source, offset, hdu)) return std::nullopt;
      corrupt(source, hdu.label(), "truncated header, no END card");
    }
    source.read(offset, block);
    offset += kBlock;
    sum.add(block);
    hdu.header_sum = sum.value();
    const std::string_view text(reinterpret_cast<const char*>(block.data()), block.size());
    if (first && !text.starts_with(first_card(hdu))) return std::nullopt;
    for (std::size_t at = 0; at < kBlock; at += 80) {
      const std::string_view card = text.substr(at, 80);
      if (card_keyword(card) == "END") return offset;
      hdu.header.cards.emplace_back(card);
    }
    if (hdu.header.cards.size() > kMaxCards)
      corrupt(source, hdu.label(), "header without END card");
  }
}

void describe_compressed(const ByteSource& source, Hdu& hdu) {
  const Keywords keys(source, hdu);
  hdu.kind = HduKind::kCompressedImage;
  hdu.bitpix = keys.bitpix("ZBITPIX");
  hdu.axes = keys.axes("ZNAXIS");
  std::uint64_t bytes = static_cast<std::uint64_t>(std::abs(hdu.bitpix) / 8);
  for (const std::size_t n : hdu.axes) bytes = product(source, hdu, bytes, n);
  // gzip packs 1032 to 1 at best; a small file must not make us allocate the moon.
  if (bytes > (std::uint64_t{1} << 20) + product(source, hdu, 2048, hdu.data_bytes)) {
    corrupt(
        source, hdu.label(),
        "compressed image of " + hdu.shape() + " in " + std::to_string(hdu.data_bytes) + " bytes");
  }
}

/// Fills the struct from its cards and returns the size of the data unit.
void describe(const ByteSource& source, Hdu& hdu) {
  const Keywords keys(source, hdu);
  const std::string extension =
      hdu.number == 0 ? "IMAGE" : hdu.header.text("XTENSION").value_or("");
  hdu.name = normal_name(hdu.header.text("EXTNAME").value_or(""));
  hdu.bitpix = keys.bitpix("BITPIX");
  hdu.axes = keys.axes("NAXIS");
  const std::int64_t gcount = keys.count_or("GCOUNT", kMaxAxis, 1);
  const std::int64_t pcount = keys.count_or("PCOUNT", kMaxAxis, 0);
  const bool groups =
      hdu.header.logical("GROUPS").value_or(false) && !hdu.axes.empty() && hdu.axes.front() == 0;
  std::uint64_t elements = hdu.axes.empty() ? 0 : 1;
  for (std::size_t i = groups ? 1 : 0; i < hdu.axes.size(); ++i) {
    elements = product(source, hdu, elements, hdu.axes[i]);
  }
  if (!hdu.axes.empty()) elements += static_cast<std::uint64_t>(pcount);
  elements = product(source, hdu, elements, static_cast<std::uint64_t>(gcount));
  hdu.data_bytes =
      product(source, hdu, elements, static_cast<std::uint64_t>(std::abs(hdu.bitpix) / 8));
  const auto number_or = [&](const char* key, double fallback) {
    return hdu.header.has(key) ? hdu.header.number(key).value_or(std::nan("")) : fallback;
  };
  hdu.bscale = number_or("BSCALE", 1.0);
  hdu.bzero = number_or("BZERO", 0.0);
  hdu.blank = hdu.header.integer("BLANK");

  if (extension == "IMAGE" || extension == "IUEIMAGE") {
    hdu.kind = groups ? HduKind::kOther : HduKind::kImage;
    return;
  }
  const bool table = extension == "BINTABLE" || extension == "A3DTABLE";
  if (!table && extension != "TABLE") return;
  if (hdu.axes.size() != 2 || hdu.bitpix != 8 || gcount != 1) {
    corrupt(source, hdu.label(), "a table needs BITPIX 8, NAXIS 2, GCOUNT 1");
  }
  hdu.kind = table ? HduKind::kTable : HduKind::kAsciiTable;
  hdu.row_bytes = hdu.axes[0];
  hdu.rows = hdu.axes[1];
  const std::size_t main_bytes = hdu.row_bytes * hdu.rows;  // fits: part of data_bytes
  const std::int64_t heap = keys.count_or("THEAP", kMaxAxis, static_cast<std::int64_t>(main_bytes));
  hdu.heap_offset = static_cast<std::size_t>(heap);
  if (hdu.heap_offset < main_bytes || hdu.heap_offset > hdu.data_bytes) {
    corrupt(source, hdu.label(),
            "THEAP is " + std::to_string(heap) + ", expected " + std::to_string(main_bytes) +
                " to " + std::to_string(hdu.data_bytes));
  }
}

}  // namespace

std::size_t Hdu::pixels() const noexcept {
  if (axes.empty()) return 0;
  std::size_t n = 1;
  for (const std::size_t a : axes) n *= a;
  return n;
}

std::uint64_t Hdu::end() const noexcept {
  return data_offset + (data_bytes + kBlock - 1) / kBlock * kBlock;
}

std::string Hdu::label() const {
  return "HDU " + std::to_string(number) + (name.empty() ? "" : " '" + name + "'");
}

std::string Hdu::shape() const {
  std::string out;
  for (auto it = axes.rbegin(); it != axes.rend(); ++it) {
    if (!out.empty()) out += " x ";
    out += std::to_string(*it);
  }
  return out.empty() ? "empty" : out;
}

HeaderCards Hdu::user_header() const {
  const bool table = kind == HduKind::kTable || kind == HduKind::kCompressedImage;
  HeaderCards out;
  bool kept = true;
  for (const std::string& card : header.cards) {
    const std::string key = card_keyword(card);
    if (key != "CONTINUE") {
      // The two comments that cfitsio puts into every primary header say nothing of the data.
      kept = !is_structural(key) && !(table && is_column_keyword(key)) &&
             !card.starts_with("COMMENT   FITS (Flexible Image Transport System)") &&
             !card.starts_with("COMMENT   and Astrophysics', volume 376");
    }
    if (kept) out.cards.push_back(card);
  }
  while (!out.cards.empty() && out.cards.back().find_first_not_of(' ') == std::string::npos) {
    out.cards.pop_back();
  }
  return out;
}

std::vector<Hdu> scan_hdus(const ByteSource& source) {
  std::vector<Hdu> out;
  std::uint64_t offset = 0;
  while (offset < source.size()) {
    Hdu hdu;
    hdu.number = out.size();
    const auto data = read_cards(source, offset, hdu);
    if (!data) break;
    hdu.data_offset = *data;
    describe(source, hdu);
    // Padding is no data, but a file that ends inside it was cut: what came behind it, tables that
    // a reader may do without among it, would be lost in silence.
    if (hdu.end() > source.size()) {
      const bool in_data = hdu.data_bytes > source.size() - hdu.data_offset;
      corrupt(source, hdu.label(),
              std::string(in_data ? "truncated: data to byte " : "truncated: padding to byte ") +
                  std::to_string(in_data ? hdu.data_offset + hdu.data_bytes : hdu.end()) +
                  " expected, the file has " + std::to_string(source.size()));
    }
    if (hdu.kind == HduKind::kTable && hdu.header.logical("ZIMAGE").value_or(false)) {
      describe_compressed(source, hdu);
    }
    offset = hdu.end();
    out.push_back(std::move(hdu));
  }
  if (out.empty()) {
    throw Error(Status::kCorrupt, source.label() + ": not a FITS file (" +
                                      std::to_string(source.size()) +
                                      " bytes; expected SIMPLE = T at the start)");
  }
  return out;
}

}  // namespace loom::fits
