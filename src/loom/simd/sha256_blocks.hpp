// SPDX-License-Identifier: BSD-3-Clause
// The inner part of SHA-256, with the processor's own instructions where it has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace loom::simd {

inline constexpr std::size_t kSha256Block = 64;
using Sha256State = std::array<std::uint32_t, 8>;
/// Takes `blocks` times kSha256Block bytes into the state.
using Sha256Compress = void (*)(Sha256State& state, const std::uint8_t* bytes, std::size_t blocks);

/// The quickest one here.
[[nodiscard]] Sha256Compress sha256_compress();
/// In plain C++.
void sha256_compress_anywhere(Sha256State& state, const std::uint8_t* bytes, std::size_t blocks);

}  // namespace loom::simd
