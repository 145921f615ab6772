// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/listed_names.hpp"

#include <gtest/gtest.h>

#include "loom/base/error.hpp"

namespace loom {
namespace {

using Names = std::vector<std::string>;

TEST(ListedNames, StandOneALineWithRemarksAndBlankLines) {
  EXPECT_EQ(
      listed_names("# all\n\n  a.fits \r\nb#c.fits and a remark\n\"#d.fits\"\ne.fits", "l.txt"),
      (Names{"a.fits", "b#c.fits", "#d.fits", "e.fits"}));
  EXPECT_EQ(listed_names("", "l.txt"), Names());
}

TEST(ListedNames, HaveBlanksBetweenQuotes) {
  EXPECT_EQ(listed_names("\"my data/a.fits\" # mine\n", "l.txt"), (Names{"my data/a.fits"}));
}

TEST(ListedNames, WithAnOpenQuoteAreAnError) {
  try {
    (void)listed_names("x.fits\n\"my data/a.fits\n", "l.txt");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_STREQ(error.what(), "l.txt: line 2: a double quote is not closed");
  }
}

}  // namespace
}  // namespace loom
