// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/byte_order.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace loom {
namespace {

template <class Word>
std::vector<std::uint8_t> counted(std::size_t n) {
  std::vector<std::uint8_t> bytes(n * sizeof(Word));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(7 * i + 1);
  return bytes;
}

/// Every length around a vector's, from every place in a word, against the single load.
template <class T>
void expect_arrays_as_single_values() {
  for (std::size_t n = 0; n < 70; ++n) {
    const auto bytes = counted<T>(n + 1);
    for (std::size_t shift = 0; shift < sizeof(T); ++shift) {
      std::vector<T> out(n);
      from_big_endian<T>(bytes.data() + shift, out.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        const T one = load_be<T>(bytes.data() + shift + i * sizeof(T));
        EXPECT_EQ(std::memcmp(&out[i], &one, sizeof one), 0) << n << ' ' << shift << ' ' << i;
      }
      std::vector<std::uint8_t> back(n * sizeof(T));
      to_big_endian<T>(out.data(), back.data(), n);
      EXPECT_TRUE(std::equal(back.begin(), back.end(), bytes.data() + shift)) << n << ' ' << shift;
    }
  }
}

TEST(ByteOrder, ArraysAreTurnedAsSingleValues) {
  expect_arrays_as_single_values<float>();
  expect_arrays_as_single_values<double>();
  expect_arrays_as_single_values<std::int16_t>();
  expect_arrays_as_single_values<std::uint32_t>();
  expect_arrays_as_single_values<std::int64_t>();
}

TEST(ByteOrder, InPlaceAndKnown) {
  std::vector<std::uint32_t> words{0x01020304U, 0xfffefdfcU, 5U};
  from_big_endian(reinterpret_cast<const std::uint8_t*>(words.data()), words.data(), words.size());
  EXPECT_EQ(words, (std::vector<std::uint32_t>{0x04030201U, 0xfcfdfeffU, 0x05000000U}));
}

TEST(ByteOrder, ConvertsOnTheWay) {
  const std::vector<double> values{1.5, -2, 1e300};
  std::vector<std::uint8_t> bytes(12);
  to_big_endian<float>(values.data(), bytes.data(), 2);
  EXPECT_EQ(load_be<float>(bytes.data()), 1.5F);
  EXPECT_EQ(load_be<float>(bytes.data() + 4), -2.0F);
}

}  // namespace
}  // namespace loom
