// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <stdexcept>

#include "loom/base/error.hpp"
#include "loom/program/command.hpp"

namespace loom {
namespace {

using Words = std::vector<std::string>;

/// "loom weave" with a slot of each kind, and "loom bench big", a command in a command.
class Parsing : public testing::Test {
 protected:
  Parsing() {
    program_.options.version("--version", "loom 1.2");
    Command weave{.name = "weave", .text = "make cloth", .footer = "Example: loom weave\n"};
    Options& o = weave.options;
    o.add("-o,--output", &output_, "cloth", {.required = true});
    o.add("--threads", &threads_, "how many", {.value = "N", .interval = between(1, 8)});
    o.add("--width", &width_, "metres", {.interval = above(0), .shows_default = true});
    o.add("--seed", &seed_, "of chance");
    o.add("--limit", &limit_, "at most");
    o.add("--colours", &colours_, "of yarn", {.delimiter = ','});
    o.add("--each", &each_, "one each time", {.one_a_time = true});
    o.add("--numbers", &numbers_, "some", {.delimiter = ','});
    o.choice<int>("--knot", &knot_, {{"plain", 1}, {"double", 2}}, "which");
    o.add("--mpi", &mpi_, "ranks", {.words = {"on", "off"}, .if_alone = "on"});
    o.add("--level", &level_, "", {.words = {"low", "high"}, .word_case = WordCase::kLowered});
    o.flag("-q,--quiet", &quiet_, "say less");
    o.flag(
        "--no-dye", [this] { ++undyed_; }, "leave it grey");
    o.add("--old", {}, "ignored");
    o.add("--motto", &motto_, "on the seam", {.may_be_empty = true});
    o.add("FILE", &files_, "yarn");
    weave.run = [](const Invocation&) { return 0; };
    Command bench{.name = "bench", .text = "measure"};
    bench.parts = {{.name = "big", .text = "much"}};
    program_.parts = {weave, bench};
  }

  Chosen chosen(Words words) { return std::get<Chosen>(parse(program_, words)); }
  std::string answer(Words words) { return std::get<std::string>(parse(program_, words)); }
  Given weave(Words words) {
    words.insert(words.begin(), {"weave", "-o", "cloth"});
    return chosen(words).given;
  }
  /// The message of a usage error.
  std::string refusal(Words words) {
    try {
      (void)parse(program_, words);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      return error.what();
    }
    return "";
  }
  std::string weave_refusal(Words words) {
    words.insert(words.begin(), {"weave", "-o", "cloth"});
    return refusal(words);
  }

  Command program_{.name = "loom", .text = "Cloth.", .footer = "More: loom COMMAND --help\n"};
  std::string output_, mpi_, level_, motto_ = "none";
  std::size_t threads_ = 0;
  double width_ = 1.5;
  std::uint64_t seed_ = 1;
  std::optional<double> limit_;
  Words colours_, each_, files_;
  std::vector<long> numbers_;
  int knot_ = 0, undyed_ = 0;
  bool quiet_ = false;
};

TEST_F(Parsing, FillsTheSlots) {
  const Given given =
      weave({"--threads", "3",       "--width=0.5", "--seed", "7",         "--limit", "1e-3",
             "--colours", "a,b",     "--each",      "x",      "--numbers", "1,-2",    "--knot",
             "DOUBLE",    "--level", "High",        "-q",     "--no-dye",  "--old",   "thing",
             "f",         "g",       "--each",      "y"});
  EXPECT_EQ(output_, "cloth");
  EXPECT_EQ(threads_, 3U);
  EXPECT_EQ(width_, 0.5);
  EXPECT_EQ(seed_, 7U);
  EXPECT_EQ(limit_, 1e-3);
  EXPECT_EQ(colours_, (Words{"a", "b"}));
  EXPECT_EQ(each_, (Words{"x", "y"}));
  EXPECT_EQ(numbers_, (std::vector<long>{1, -2}));
  EXPECT_EQ(knot_, 2);
  EXPECT_EQ(level_, "high");
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(undyed_, 1);
  EXPECT_EQ(files_, (Words{"f", "g"}));
  EXPECT_EQ(given.texts().at("--colours"), "a b");
  EXPECT_EQ(given.texts().at("--knot"), "double");
  EXPECT_EQ(given.texts().at("--quiet"), "true");
  EXPECT_EQ(given.texts().at("--old"), "thing");
  EXPECT_EQ(given.texts().at("FILE"), "f g");
}

TEST_F(Parsing, TellsWhatWasGivenUnderAnyName) {
  const Given given = weave({"-q"});
  EXPECT_TRUE(given.has("-q") && given.has("--quiet") && given.has("-o"));
  EXPECT_FALSE(given.has("--threads") || given.has("FILE"));
  EXPECT_EQ(given.texts(),
            (std::map<std::string, std::string>{{"--output", "cloth"}, {"--quiet", "true"}}));
  EXPECT_THROW((void)given.has("--nothing-like-it"), std::logic_error);
}

TEST_F(Parsing, LeavesTheDefaultsOfWhatIsNotGiven) {
  (void)weave({});
  EXPECT_EQ(width_, 1.5);
  EXPECT_EQ(knot_, 1);
  EXPECT_FALSE(limit_);
}

TEST_F(Parsing, TheLastOfSeveralCounts) {
  (void)weave({"--threads", "3", "--threads", "4"});
  EXPECT_EQ(threads_, 4U);
}

TEST_F(Parsing, AValueThatIsLeftOutHasAWordInItsPlace) {
  (void)weave({"--mpi"});
  EXPECT_EQ(mpi_, "on");
  (void)weave({"--mpi=off"});
  EXPECT_EQ(mpi_, "off");
}

TEST_F(Parsing, RefusesInOneLineThatSaysWhereToLook) {
  const std::string hint = " (see: loom weave --help)";
  EXPECT_EQ(refusal({"weave"}), "--output is required" + hint);
  EXPECT_EQ(weave_refusal({"--threads", "9"}),
            "--threads: expected a number from 1 to 8, got 9" + hint);
  EXPECT_EQ(weave_refusal({"--width", "0"}), "--width: expected a number above 0, got 0" + hint);
  EXPECT_EQ(weave_refusal({"--width", "x"}), "--width: expected a number above 0, got x" + hint);
  EXPECT_EQ(weave_refusal({"--seed", "x"}),
            "--seed: expected a whole number from 0 to 18446744073709551615, got x" + hint);
  EXPECT_EQ(weave_refusal({"--knot", "loose"}), "--knot: loose not in {plain,double}" + hint);
  EXPECT_EQ(weave_refusal({"--mpi=x"}), "--mpi: x not in {on,off}" + hint);
  EXPECT_EQ(refusal({"bench", "big", "x"}),
            "The following argument was not expected: x (see: loom bench big --help)");
}

TEST_F(Parsing, AnEmptyTextIsNoValueButWhereItIsOne) {
  const std::string wrong = ": expected a value, got an empty text (see: loom weave --help)";
  EXPECT_EQ(refusal({"weave", "-o", ""}), "--output" + wrong);
  EXPECT_EQ(refusal({"weave", "--output="}), "--output" + wrong);
  EXPECT_EQ(weave_refusal({"--colours", ""}), "--colours" + wrong);
  EXPECT_EQ(weave_refusal({"--each", "x", "--each", ""}), "--each" + wrong);
  (void)weave({"--motto", "", ""});
  EXPECT_EQ(motto_, "");
  EXPECT_EQ(files_, (Words{""}));  // whoever opens it says so
}

TEST_F(Parsing, WholeNumbersAreDecimalWhateverTheyBeginWith) {
  const Given given =
      weave({"--threads", "08", "--seed", "0xFf", "--numbers", "00000010, -010 ,+3"});
  EXPECT_EQ(threads_, 8U);
  EXPECT_EQ(seed_, 255U);
  EXPECT_EQ(numbers_, (std::vector<long>{10, -10, 3}));
  EXPECT_EQ(given.texts().at("--numbers"), "10 -10 3");
}

TEST_F(Parsing, AWholeNumberThatItsTypeCannotHoldIsNoOther) {
  for (const char* wrong :
       {"-1", "18446744073709551616", "1.5", "1e3", "", "0x", "--1", "+-1", "7 8"}) {
    EXPECT_EQ(weave_refusal({std::string("--seed=") + wrong}).substr(0, 31),
              "--seed: expected a whole number")
        << wrong;
  }
  EXPECT_EQ(weave_refusal({"--threads", "1.5"}).substr(0, 49),
            "--threads: expected a whole number from 1 to 8, g");
  const std::string hint = " (see: loom weave --help)";
  EXPECT_EQ(weave_refusal({"--numbers", "1,x"}),
            "--numbers: expected a whole number, got x" + hint);
  EXPECT_EQ(weave_refusal({"--numbers", "1,9223372036854775808"}),
            "--numbers: expected a whole number from -9223372036854775808 to 9223372036854775807, "
            "got 9223372036854775808" +
                hint);
}

TEST_F(Parsing, NamesTheCommandsWhereOneIsMissing) {
  EXPECT_EQ(refusal({}), "expected a command: weave, bench (see: loom --help)");
  EXPECT_EQ(refusal({"bench"}), "expected a command: big (see: loom bench --help)");
}

TEST_F(Parsing, FindsACommandInACommand) {
  EXPECT_EQ(chosen({"bench", "big"}).command, &program_.parts[1].parts[0]);
}

TEST_F(Parsing, AnswersHelpAndVersionWithText) {
  EXPECT_EQ(answer({"--version"}), "loom 1.2\n");
  EXPECT_NE(answer({"-h"}).find("Usage: loom [OPTIONS] SUBCOMMAND"), std::string::npos);
  const std::string help = answer({"weave", "--help"});
  for (const char* words :
       {"-o,--output TEXT REQUIRED       cloth", "--threads N ", "--width FLOAT=1.5 ",
        "--knot plain|double=plain ", "--mpi on|off ", "Example: loom weave"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words << "\n" << help;
  }
}

TEST_F(Parsing, AValueWithoutASlotForItIsADefectOfTheProgram) {
  program_.parts[0].options.add("--bad", std::function<void()>([] {}), "");
  EXPECT_THROW((void)parse(program_, Words{"weave", "--help"}), std::logic_error);
}

}  // namespace
}  // namespace loom
