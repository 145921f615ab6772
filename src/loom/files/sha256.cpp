// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 as FIPS 180-4 has it.
#include "loom/files/sha256.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "loom/files/input_file.hpp"
#include "loom/simd/sha256_blocks.hpp"

namespace loom {
namespace {

using simd::Sha256State;
constexpr std::size_t kBlock = simd::kSha256Block;

class Hash {
 public:
  explicit Hash(simd::Sha256Compress compress = simd::sha256_compress()) : compress_(compress) {}

  void add(std::span<const std::uint8_t> bytes) {
    total_ += bytes.size();
    while (!bytes.empty()) {
      if (used_ == 0 && bytes.size() >= kBlock) {
        const std::size_t blocks = bytes.size() / kBlock;
        compress_(state_, bytes.data(), blocks);
        bytes = bytes.subspan(blocks * kBlock);
        continue;
      }
      const std::size_t n = std::min(bytes.size(), kBlock - used_);
      std::copy_n(bytes.begin(), n, block_.begin() + static_cast<std::ptrdiff_t>(used_));
      used_ += n;
      bytes = bytes.subspan(n);
      if (used_ == kBlock) {
        compress_(state_, block_.data(), 1);
        used_ = 0;
      }
    }
  }
  [[nodiscard]] std::string finish() {
    const std::uint64_t bits = total_ * 8;
    const std::uint8_t one = 0x80, zero = 0;
    add({&one, 1});
    while (used_ != 56) add({&zero, 1});
    std::array<std::uint8_t, 8> length{};
    for (std::size_t i = 0; i < 8; ++i) {
      length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i) & 0xff);
    }
    add(length);
    std::string text;
    for (const std::uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
    }
    return text;
  }

 private:
  simd::Sha256Compress compress_;
  Sha256State state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> block_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::string sha256(std::span<const std::uint8_t> bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.finish();
}

std::string sha256_anywhere(std::span<const std::uint8_t> bytes) {
  Hash hash(simd::sha256_compress_anywhere);
  hash.add(bytes);
  return hash.finish();
}

std::string sha256_file(const std::string& path) {
  const InputFile file(path);
  std::vector<std::uint8_t> bytes(std::size_t{1} << 16);  // stays in cache, and needs no new pages
  Hash hash;
  std::uint64_t offset = 0;
  while (const std::size_t n = file.read(offset, bytes)) {
    hash.add({bytes.data(), n});
    offset += n;
  }
  return hash.finish();
}

}  // namespace loom
