// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fiberloom/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fiberloom::fuzz::fuzz_wave({data, size});
  return 0;
}
