// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/exit_codes.hpp"

#include <gtest/gtest.h>

namespace fiberloom::cli {
namespace {

TEST(ExitCodes, OfACommandAreFewLinesOfItsOwn) {
  const std::string text = exit_codes_of({.reads = true, .more = {Status::kDifferent}});
  EXPECT_EQ(text,
            "Exit codes: 0 success, 1 compare: beyond the limits, 2 wrong command line,\n"
            "  10-16 input missing or not good, 70 internal error;\n"
            "  each of them: fiberloom manual\n");
  EXPECT_NE(exit_code_table().find("  31  no space left for the output\n"), std::string::npos);
}

/// As docs/fiberloom/formats.md has them: scripts depend on the numbers.
TEST(ExitCodes, OfFiberloomsOwnHaveTheirNumbersAndNames) {
  const std::string table = exit_code_table();
  for (const char* line : {"   1  compare: beyond the limits\n",
                           "   3  many frames or files: some failed or are missing\n",
                           "  20  PSF does not cover the wavelength grid\n",
                           "  21  sizes of IMAGE, IVAR, MASK or PSF disagree\n",
                           "  22  fibre range outside the PSF\n"}) {
    EXPECT_NE(table.find(line), std::string::npos) << line << table;
  }
  EXPECT_EQ(table.find("unknown"), std::string::npos) << table;
}

}  // namespace
}  // namespace fiberloom::cli
