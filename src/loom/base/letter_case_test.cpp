// SPDX-License-Identifier: BSD-3-Clause
// Letters of ASCII change their case, and nothing else does, whatever the locale.
#include "loom/base/letter_case.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <string>

namespace loom {
namespace {

TEST(LetterCase, TurnsLettersOfAsciiAlone) {
  EXPECT_EQ(in_capitals("Targetid_2 \xc3\xa9"), "TARGETID_2 \xc3\xa9");
  EXPECT_EQ(in_small_letters("TSNR2_ELG \xc3\x89"), "tsnr2_elg \xc3\x89");
  EXPECT_EQ(capital('z'), 'Z');
  EXPECT_EQ(capital('{'), '{') << "the character behind 'z'";
  EXPECT_EQ(small_letter('@'), '@') << "the character before 'A'";
}

TEST(LetterCase, ComparesWithoutRegardToIt) {
  EXPECT_TRUE(same_but_for_case("FiberID", "FIBERID"));
  EXPECT_TRUE(same_but_for_case("", ""));
  EXPECT_FALSE(same_but_for_case("FIBER", "FIBERID"));
  EXPECT_FALSE(same_but_for_case("[", "{")) << "as far apart as 'A' and 'a'";
}

TEST(LetterCase, AsksNoLocale) {
  const std::string before = std::setlocale(LC_CTYPE, nullptr);
  for (const char* other : {"tr_TR.UTF-8", "tr_TR.ISO-8859-9", "de_DE.ISO-8859-1", "C.UTF-8"}) {
    if (std::setlocale(LC_CTYPE, other) == nullptr) continue;  // not on this machine
    for (int byte = 0; byte < 256; ++byte) {
      const std::string one(1, static_cast<char>(byte));
      const bool letter = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
      EXPECT_EQ(in_capitals(one) != in_small_letters(one), letter) << other << " " << byte;
    }
  }
  std::setlocale(LC_CTYPE, before.c_str());
}

}  // namespace
}  // namespace loom
