// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4) of a file or of bytes: what identifies an input in a receipt or a header.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace loom {

/// 64 lower-case hexadecimal digits, as `sha256sum` prints them.
[[nodiscard]] std::string sha256(std::span<const std::uint8_t> bytes);
/// The same without the processor's own instructions for it: for tests.
[[nodiscard]] std::string sha256_anywhere(std::span<const std::uint8_t> bytes);
/// The same of a file's bytes as they lie on disk. Throws kNotFound.
[[nodiscard]] std::string sha256_file(const std::string& path);

}  // namespace loom
