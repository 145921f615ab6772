// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/options.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace loom {
namespace {

using Words = std::vector<std::string>;

/// A variable of each kind, and the row of an option for it.
class Rows : public testing::Test {
 protected:
  const Option& row(OptionSlot slot, OptionTraits traits = {}) {
    return options_.add("-x,--example", std::move(slot), "an example", std::move(traits));
  }
  Options options_;
  int count_ = 3;
  unsigned bits_ = 8;
  double share_ = 0.25;
  std::optional<double> limit_;
  std::string name_ = "r0";
  Words names_{"b0", "r0"};
  std::vector<long> numbers_;
};

TEST_F(Rows, SayWhatKindOfValueTheyTake) {
  EXPECT_EQ(row(&count_).value_text(), "INT");
  EXPECT_EQ(row(&bits_).value_text(), "UINT");
  EXPECT_EQ(row(&share_).value_text(), "FLOAT");
  EXPECT_EQ(row(&limit_).value_text(), "FLOAT");
  EXPECT_EQ(row(&name_).value_text(), "TEXT");
  EXPECT_EQ(row(&names_).value_text(), "TEXT");
  EXPECT_EQ(row(&numbers_).value_text(), "INT");
  EXPECT_EQ(row(&count_, {.interval = between(1, 9)}).value_text(), "INT:1 to 9");
  EXPECT_EQ(row(&count_, {.interval = above(0)}).value_text(), "INT");
  EXPECT_EQ(row(&count_, {.value = "N", .interval = between(1, 9)}).value_text(), "N");
  EXPECT_EQ(row({}).value_text(), "");
  EXPECT_EQ(options_.flag("--flag", {}, "").value_text(), "");
}

TEST_F(Rows, OfferWordsOnlyWhereTheyAreAList) {
  EXPECT_EQ(row(&name_, {.words = {"on", "off"}}).offered_words(), (Words{"on", "off"}));
  EXPECT_TRUE(row(&name_, {.value = "[on|off]", .words = {"on", "off"}}).offered_words().empty());
  EXPECT_TRUE(row(&name_, {.words = {"on"}}).offered_words().empty());
  EXPECT_TRUE(row(&count_).offered_words().empty());
  EXPECT_TRUE(row(&name_).takes_path());
  EXPECT_FALSE(row(&count_).takes_path());
}

TEST_F(Rows, ShowADefaultWhenAskedTo) {
  EXPECT_EQ(row(&count_).initial(), "");
  EXPECT_EQ(row(&count_, {.shows_default = true}).initial(), "3");
  EXPECT_EQ(row(&share_, {.shows_default = true}).initial(), "0.25");
  EXPECT_EQ(row(&name_, {.shows_default = true}).initial(), "r0");
  EXPECT_EQ(row(&names_, {.shows_default = true}).initial(), "[b0,r0]");
}

TEST_F(Rows, HaveTheirShortNamesFirstAndGoByTheFirstLongOne) {
  const Option& option = options_.flag("--dry-run,-n,--dryrun", {}, "");
  EXPECT_EQ(option.names, (Words{"-n", "--dry-run", "--dryrun"}));
  EXPECT_EQ(option.full_name(), "--dry-run");
  EXPECT_EQ(options_.flag("-q", {}, "").full_name(), "-q");
  EXPECT_TRUE(options_.add("FILE", &names_, "").positional());
}

TEST_F(Rows, StandUnderTheHeadingThatWasLast) {
  EXPECT_EQ(row(&count_).group, "Options");
  options_.group("Files");
  EXPECT_EQ(row(&count_).group, "Files");
  EXPECT_EQ(options_.rows().front().names, (Words{"-h", "--help"}));
}

TEST(Choice, StartsAsItsFirstWord) {
  int value = 0;
  Options options;
  const Option& option = options.choice<int>("--of", &value, {{"one", 1}, {"two", 2}}, "");
  EXPECT_EQ(value, 1);
  EXPECT_EQ(option.value_text(), "one|two");
  EXPECT_EQ(option.initial(), "one");
  std::get<std::function<void(const std::string&)>>(option.slot)("two");
  EXPECT_EQ(value, 2);
}

TEST(Interval, HasItsEndsAndTheWordsForThem) {
  EXPECT_TRUE(between(1, 2).contains(1) && between(1, 2).contains(2));
  EXPECT_FALSE(between(1, 2).contains(2.5) || between(1, 2).contains(0.5));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(at_least(0).contains(std::nan("")));
  EXPECT_EQ(between(0.05, 86400).words(), "from 0.05 to 86400");
  EXPECT_EQ(above(0).words(), "above 0");
  EXPECT_EQ(at_least(0).words(), "of at least 0");
}

}  // namespace
}  // namespace loom
