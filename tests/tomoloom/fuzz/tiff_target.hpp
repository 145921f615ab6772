// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzer and the replay test feed with bytes: the reader of images. An Error is an answer;
// anything else that comes out (another exception, a signal, a sanitizer) is a defect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tomoloom::fuzz {

/// Opens the bytes as a file and reads every page that is not very large.
void fuzz_tiff(std::span<const std::uint8_t> bytes);

/// Small valid files of each kind to start from.
struct TiffSeed {
  std::string name;
  std::vector<std::uint8_t> bytes;
};
[[nodiscard]] std::vector<TiffSeed> tiff_seeds();

}  // namespace tomoloom::fuzz
