// SPDX-License-Identifier: BSD-3-Clause
// The fuzzers' poor relation, for every compiler and every test run: mutates valid files in a fixed
// sequence for a few seconds. FIBERLOOM_REPLAY_ROUNDS asks for more.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "fiberloom/foundation.hpp"
#include "loom/testing/dice.hpp"
#include "tests/fiberloom/fuzz/targets.hpp"

namespace fiberloom::fuzz {
namespace {

using loom::test::Dice;
using loom::test::replay_rounds;

constexpr std::array kValues{"0",  "-1",  "nan",   "1E308", "2147483647", "9223372036854775807",
                             "99", "'x'", "65536", "T",     "1000000",    "3"};
constexpr std::array kCards{"ZCMPTYPE= 'GZIP_1  '",
                            "ZCMPTYPE= 'GZIP_2  '",
                            "ZCMPTYPE= 'PLIO_1  '",
                            "ZCMPTYPE= 'NOCOMPRESS'",
                            "ZCMPTYPE= 'HCOMPRESS_1'",
                            "ZIMAGE  =                    T",
                            "ZBITPIX =                  -32",
                            "ZSCALE  =                  0.5",
                            "TFORM1  = '1QD(7)  '",
                            "THEAP   =                   64",
                            "BLANK   =                    0",
                            "GROUPS  = T",
                            "BZERO   =          2147483648.0",
                            "TDIM2   = '(99999999999999999999,2)'",
                            "CONTINUE  'and so on&'",
                            "ZQUANTIZ= 'SUBTRACTIVE_DITHER_2'"};

/// Offset of a random header card, or of anything in a file without any.
std::size_t pick_card(const Bytes& bytes, Dice& dice) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    const std::size_t at = dice.below(bytes.size() / 80 + 1) * 80;
    if (at + 80 <= bytes.size() && (bytes[at + 8] == '=' || bytes[at] == 'E')) return at;
  }
  return 0;
}

void put(Bytes& bytes, std::size_t at, const std::string& text) {
  for (std::size_t i = 0; i < text.size() && at + i < bytes.size(); ++i) {
    bytes[at + i] = static_cast<std::uint8_t>(text[i]);
  }
}

void mutate(Bytes& bytes, Dice& dice) {
  if (bytes.empty()) return;
  const std::size_t card = pick_card(bytes, dice);
  switch (dice.below(8)) {
    case 0:
      bytes[dice.below(bytes.size())] = static_cast<std::uint8_t>(dice.below(256));
      break;
    case 1:
      bytes[dice.below(bytes.size())] ^= static_cast<std::uint8_t>(1U << dice.below(8));
      break;
    case 2: {
      std::string value = kValues[dice.below(kValues.size())];
      value.insert(0, 20 - std::min<std::size_t>(20, value.size()), ' ');
      put(bytes, card + 10, value);
      break;
    }
    case 3: {
      std::string text = kCards[dice.below(kCards.size())];
      text.resize(80, ' ');
      put(bytes, card, text);
      break;
    }
    case 4:
      put(bytes, card, std::string(80, ' '));
      break;
    case 5:
      bytes.resize(dice.below(bytes.size()));
      break;
    case 6: {  // a block again, or one away
      const auto at = static_cast<std::ptrdiff_t>(dice.below(bytes.size() / 2880 + 1) * 2880);
      const auto end = std::min(at + 2880, static_cast<std::ptrdiff_t>(bytes.size()));
      const Bytes block(bytes.begin() + std::min(at, end), bytes.begin() + end);
      if (dice.below(2) == 0) {
        bytes.insert(bytes.begin() + std::min(at, end), block.begin(), block.end());
      } else {
        bytes.erase(bytes.begin() + std::min(at, end), bytes.begin() + end);
      }
      break;
    }
    default:
      put(bytes, dice.below(bytes.size()), std::string(dice.below(9), '\xff'));
  }
}

TEST(Replay, SeedsAreValidFiles) {
  for (const Seed& seed : seeds()) {
    EXPECT_GT(seed.bytes.size(), 500U) << seed.name;
    seed.target(seed.bytes);
  }
}

TEST(Replay, EveryParserAnswersMutatedFilesWithAResultOrAnError) {
  for (const Seed& seed : seeds()) {
    SCOPED_TRACE(seed.name);
    for (std::size_t i = 0; i < replay_rounds(8000); ++i) {
      Dice dice(i);
      Bytes bytes = seed.bytes;
      for (std::size_t n = 1 + dice.below(4); n > 0; --n) mutate(bytes, dice);
      EXPECT_NO_THROW(seed.target(bytes)) << "round " << i;
    }
  }
}

TEST(Replay, EveryParserAnswersNoise) {
  for (const Seed& seed : seeds()) {
    for (std::size_t i = 0; i < 200; ++i) {
      Dice dice(i);
      Bytes bytes(dice.below(6000));
      for (auto& b : bytes) b = static_cast<std::uint8_t>(dice.below(256));
      EXPECT_NO_THROW(seed.target(bytes)) << seed.name << " round " << i;
    }
  }
}

}  // namespace
}  // namespace fiberloom::fuzz
