// SPDX-License-Identifier: BSD-3-Clause
// One page of floats: header, directory, what does not fit into it, pixels.
#include <algorithm>

#include "loom/tiff/tiff.hpp"

namespace loom::tiff {
namespace {

class HeaderWriter {
 public:
  explicit HeaderWriter(bool big) : big_(big) {}

  void number(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  void word(std::uint64_t value) { number(value, big_ ? 8 : 4); }
  /// A tag with one value: 3 is SHORT, 4 is LONG, 16 is LONG8.
  void tag(std::uint64_t name, std::uint64_t type, std::uint64_t value) {
    number(name, 2);
    number(type, 2);
    word(1);
    word(value);  // little-endian: the value's first bytes come first, whatever its size
  }
  void tag_text(std::uint64_t name, std::uint64_t length, std::uint64_t place) {
    number(name, 2);
    number(2, 2);
    word(length);
    word(place);
  }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  bool big_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<std::uint8_t> page_header(std::size_t width, std::size_t height,
                                      std::string_view description) {
  constexpr std::uint64_t kRoom = std::uint64_t{1} << 24;  // for all but pixels
  const std::uint64_t pixels = std::uint64_t{width} * height * sizeof(float);
  const bool big = pixels + kRoom > UINT32_MAX;
  constexpr std::size_t kTags = 11;
  std::string text(description.substr(0, kRoom / 2));
  // A text that would fit into the directory would have to be there.
  text.resize(std::max<std::size_t>(text.size() + 1, 16), '\0');
  HeaderWriter out(big);
  out.number('I' + ('I' << 8), 2);
  out.number(big ? 43 : 42, 2);
  if (big) out.number(8, 4);
  const std::size_t start = big ? 16 : 8;
  out.word(start);
  const std::size_t directory = (big ? 8 : 2) + kTags * (big ? 20 : 12) + (big ? 8 : 4);
  const std::uint64_t text_at = start + directory;
  const std::uint64_t data = (text_at + text.size() + 15) / 16 * 16;
  out.number(kTags, big ? 8 : 2);
  const std::uint64_t address = big ? 16 : 4;
  out.tag(256, 4, width);
  out.tag(257, 4, height);
  out.tag(258, 3, 32);
  out.tag(259, 3, 1);
  out.tag(262, 3, 1);
  out.tag_text(270, text.size(), text_at);
  out.tag(273, address, data);
  out.tag(277, 3, 1);
  out.tag(278, 4, height);
  out.tag(279, address, pixels);
  out.tag(339, 3, 3);
  out.word(0);
  for (const char c : text) out.number(static_cast<unsigned char>(c), 1);
  while (out.size() < data) out.number(0, 1);
  return out.take();
}

}  // namespace loom::tiff
