// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/read_option_table.hpp"
#include "skyloom/recipes/schedule_option_table.hpp"
#include "skyloom/recipes/simulate_option_table.hpp"

namespace skyloom {
namespace {

using loom::test::thrown_by;

/// What is said of a text that an option does not know: its name, the text, what was expected.
template <class Job>
void check_refusals(std::span<const OptionRow<Job>> rows) {
  for (const auto& row : rows) {
    Job job;
    const auto refused = thrown_by([&] { set_option(row, job, "x,y"); });
    if (refused.status == Status::kOk) continue;  // takes any text
    const std::string start = loom::long_name(row.names) + " x,y: expected ";
    EXPECT_TRUE(refused.message.starts_with(start)) << refused.message;
    EXPECT_EQ(refused.message.find("expected", start.size()), std::string::npos) << refused.message;
  }
}

TEST(OptionTables, SayOnceWhatWasExpected) {
  check_refusals(map_option_rows());
  check_refusals(read_option_rows());
  check_refusals(schedule_option_rows());
  check_refusals(simulate_option_rows());
}

}  // namespace
}  // namespace skyloom
