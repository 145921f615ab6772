// SPDX-License-Identifier: BSD-3-Clause
// TIFF images for tests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "loom/testing/test_files.hpp"
#include "loom/tiff/tiff.hpp"
#include "tomoloom/foundation.hpp"

namespace tomoloom::test {

/// Numbers of 32 bits as a float image, of 16 bits as counts.
template <class Number>
void write_image(const std::string& path, std::size_t width, std::span<const Number> pixels) {
  std::vector<std::uint8_t> bytes = tiff::page_header(width, pixels.size() / width, "a test");
  if constexpr (sizeof(Number) == 2) {
    // tags are of 12 bytes from byte 10 on, values in their last 4: bits, size of the strip, format
    const auto set = [&](std::size_t tag, std::size_t value) {
      for (std::size_t i = 0; i < 4; ++i) {
        bytes[10 + tag * 12 + 8 + i] = static_cast<std::uint8_t>(value >> (8 * i));
      }
    };
    set(2, 16);
    set(9, pixels.size_bytes());
    set(10, 1);
  }
  const auto* const raw = reinterpret_cast<const std::uint8_t*>(pixels.data());
  bytes.insert(bytes.end(), raw, raw + pixels.size_bytes());
  write_bytes(path, bytes);
}

}  // namespace tomoloom::test
