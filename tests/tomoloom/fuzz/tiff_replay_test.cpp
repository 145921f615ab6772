// SPDX-License-Identifier: BSD-3-Clause
// The fuzzer's poor relation, for every compiler: images with bytes changed, cut and repeated in a
// fixed sequence. FIBERLOOM_REPLAY_ROUNDS asks for more.
#include <gtest/gtest.h>

#include <cstdlib>

#include "loom/base/rng.hpp"
#include "tests/tomoloom/fuzz/tiff_target.hpp"

namespace tomoloom::fuzz {
namespace {

std::size_t replay_rounds() {
  const char* text = std::getenv("FIBERLOOM_REPLAY_ROUNDS");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 5000;
}

TEST(TiffReplay, TheReaderAnswersMutatedFilesWithPixelsOrAnError) {
  for (const TiffSeed& seed : tiff_seeds()) {
    SCOPED_TRACE(seed.name);
    fuzz_tiff(seed.bytes);
    for (std::size_t round = 0; round < replay_rounds(); ++round) {
      const loom::CounterRng rng(round, 1);
      std::uint64_t drawn = 0;
      const auto below = [&](std::size_t n) { return n == 0 ? 0 : rng.block(drawn++)[0] % n; };
      std::vector<std::uint8_t> bytes = seed.bytes;
      for (std::size_t n = 1 + below(4); n > 0 && !bytes.empty(); --n) {
        const std::size_t at = below(bytes.size());
        switch (below(6)) {
          case 0:
            bytes[at] = static_cast<std::uint8_t>(below(256));
            break;
          case 1:
            bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ (1U << below(8)));
            break;
          case 2:
            bytes.resize(at);
            break;
          case 3:
            for (std::size_t i = at; i < bytes.size() && i < at + 4; ++i) bytes[i] = 0xff;
            break;
          case 4:  // one word in place of another: places and counts change roles
            for (std::size_t i = 0, to = below(bytes.size()); i < 4; ++i) {
              if (at + i < bytes.size() && to + i < bytes.size()) bytes[to + i] = bytes[at + i];
            }
            break;
          default:
            bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(12), 0);
        }
      }
      EXPECT_NO_THROW(fuzz_tiff(bytes)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace tomoloom::fuzz
