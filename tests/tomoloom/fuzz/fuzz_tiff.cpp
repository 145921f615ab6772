// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tomoloom/fuzz/tiff_target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tomoloom::fuzz::fuzz_tiff({data, size});
  return 0;
}
