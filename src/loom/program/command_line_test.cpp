// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/command_line.hpp"

#include <gtest/gtest.h>

#include "loom/base/error.hpp"

namespace loom {
namespace {

using Words = std::vector<std::string>;

/// A program with two commands, one of them with options of each kind.
class Spelling : public testing::Test {
 protected:
  Spelling() {
    Command one{.name = "extract"};
    one.options.add("-w,--wavelength", &wave_, "");
    one.options.add("--wavepad", &wave_, "");
    one.options.add("--wavepad-frac", &wave_, "");
    one.options.add("-o,--output", &wave_, "");
    one.options.add("--mpi", &wave_, "", {.words = {"on", "off"}, .if_alone = "on"});
    one.options.flag("-q,--quiet", {}, "");
    one.options.flag("-v,--verbose", {}, "");
    one.options.flag("--dry-run,--dryrun", {}, "");
    one.options.add("FILE", &files_, "");
    program_.parts = {one, {.name = "night"}};
  }
  [[nodiscard]] Words spell(const Words& words) const { return spell_out(program_, words); }
  [[nodiscard]] std::string refusal(const Words& words) const {
    try {
      (void)spell(words);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      return error.what();
    }
    return "";
  }
  Command program_{.name = "loom"};
  std::string wave_;
  Words files_;
};

TEST_F(Spelling, TakesAValueApartHoweverItIsAttached) {
  const Words expected{"extract", "--wavelength", "1,2,3"};
  for (const char* word : {"--wavelength=1,2,3", "--wavel=1,2,3"}) {
    EXPECT_EQ(spell({"extract", word}), expected) << word;
  }
  EXPECT_EQ(spell({"extract", "-w=1,2,3"}), (Words{"extract", "-w", "1,2,3"}));
  EXPECT_EQ(spell({"extract", "-w1,2,3"}), (Words{"extract", "-w", "1,2,3"}));
  EXPECT_EQ(spell({"extract", "-qvw", "1"}), (Words{"extract", "-q", "-v", "-w", "1"}));
  EXPECT_EQ(spell({"extract", "--output="}), (Words{"extract", "--output", ""}));
}

TEST_F(Spelling, AWholeNameIsItselfThoughOthersBeginWithIt) {
  EXPECT_EQ(spell({"extract", "--wavepad", "3"}), (Words{"extract", "--wavepad", "3"}));
  EXPECT_EQ(spell({"extract", "--dry"}), (Words{"extract", "--dry-run"}));  // two names of one
}

TEST_F(Spelling, RefusesABeginningOfSeveral) {
  EXPECT_NE(refusal({"extract", "--wave", "1"}).find("--wave may be --wavelength or --wavepad"),
            std::string::npos);
}

TEST_F(Spelling, ValuesAreLeftAloneNumbersAndDashesToo) {
  const Words words{"extract", "-w", "-5", "-o", "-", "-3.5e2", "--", "--none", "-w"};
  EXPECT_EQ(spell(words), words);
  EXPECT_NE(refusal({"extract", "-o", "--quiet"}).find("expected a value, got the option"),
            std::string::npos);
  EXPECT_NE(refusal({"extract", "-o"}).find("expected a value"), std::string::npos);
}

TEST_F(Spelling, AValueThatMayBeLeftOutDoesNotTakeTheNextOption) {
  EXPECT_EQ(spell({"extract", "--mpi", "-q"}), (Words{"extract", "--mpi", "-q"}));
  EXPECT_EQ(spell({"extract", "--mpi=off"}), (Words{"extract", "--mpi=off"}));
}

TEST_F(Spelling, GuessesWhatWasMeant) {
  EXPECT_NE(refusal({"extract", "--wavelenght=1"}).find("did you mean --wavelength?"),
            std::string::npos);
  EXPECT_NE(refusal({"exrtact"}).find("did you mean extract?"), std::string::npos);
  EXPECT_NE(refusal({"zzz"}).find("expected extract, night"), std::string::npos);
  EXPECT_NE(refusal({"extract", "-x"}).find("no such option: -x (see: loom extract --help)"),
            std::string::npos);
}

TEST(SimilarNames, AreTheNearestAndNeverFar) {
  const Words names{"--json", "--trace", "--threads", "--no-scores", "--no-gpu", "-i"};
  EXPECT_EQ(similar_names("--theads", names), (Words{"--threads"}));
  EXPECT_EQ(similar_names("--jsno", names), (Words{"--json"}));
  EXPECT_TRUE(similar_names("--entirely", names).empty());
}

}  // namespace
}  // namespace loom
