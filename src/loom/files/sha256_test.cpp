// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 against the examples that NIST publishes, and files as bytes.
#include "loom/files/sha256.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "loom/testing/test_files.hpp"

namespace loom {
namespace {

std::string of(std::string_view text) {
  return sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Sha256, GivesThePublishedExamples) {
  EXPECT_EQ(of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileIsThatOfItsBytes) {
  const test::TempFolder folder;
  std::vector<std::uint8_t> bytes(3 << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  test::write_bytes(folder.file("a"), bytes);
  EXPECT_EQ(sha256_file(folder.file("a")), sha256(bytes));
  EXPECT_EQ(test::thrown_by([&] { (void)sha256_file(folder.file("b")); }).status,
            Status::kNotFound);
}

TEST(Sha256, IsTheSameWithAndWithoutInstructionsForIt) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t n = 0; n < 400; ++n) {
    EXPECT_EQ(sha256(bytes), sha256_anywhere(bytes)) << n;
    bytes.push_back(static_cast<std::uint8_t>(37 * n + n / 7));
  }
}

}  // namespace
}  // namespace loom
