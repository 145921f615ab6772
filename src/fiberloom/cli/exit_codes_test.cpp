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

}  // namespace
}  // namespace fiberloom::cli
