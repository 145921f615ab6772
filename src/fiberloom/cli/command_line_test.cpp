// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/command_line.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "fiberloom/cli/exit_codes.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

using Words = std::vector<std::string>;

/// A program with two commands, one of them with options of each kind.
class Spelling : public testing::Test {
 protected:
  Spelling() : program_("test", "loom") {
    CLI::App* one = program_.add_subcommand("extract", "");
    one->add_option("-w,--wavelength", wave_);
    one->add_option("--wavepad", wave_);
    one->add_option("--wavepad-frac", wave_);
    one->add_option("-o,--output", wave_);
    one->add_flag("-q,--quiet");
    one->add_flag("-v,--verbose");
    one->add_flag("--dry-run,--dryrun");
    one->add_option("FILE", files_);
    program_.add_subcommand("night", "");
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
  CLI::App program_;
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

TEST(ExitCodes, OfACommandAreFewLinesOfItsOwn) {
  const std::string text = exit_codes_of({.reads = true, .more = {Status::kDifferent}});
  EXPECT_EQ(text,
            "Exit codes: 0 success, 1 compare: beyond the limits, 2 wrong command line,\n"
            "  10-16 input missing or not good, 70 internal error;\n"
            "  each of them: fiberloom manual\n");
  EXPECT_NE(exit_code_table().find("  31  no space left for the output\n"), std::string::npos);
}

}  // namespace
}  // namespace fiberloom::cli
