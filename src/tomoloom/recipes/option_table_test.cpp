// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <set>

#include "loom/testing/test_files.hpp"
#include "tomoloom/recipes/idle_options.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/simulate_option_table.hpp"

namespace tomoloom {
namespace {

using loom::test::thrown_by;

template <class Job>
void check_rows(std::span<const OptionRow<Job>> rows) {
  std::set<std::string> keys, names;
  for (const auto& row : rows) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_TRUE(names.insert(long_name(row.names)).second) << row.names;
    // what a row tells of a default job is what it takes
    Job job;
    const std::string text = field_text(row.field(job));
    set_option(row, job, text);
    EXPECT_EQ(field_text(row.field(job)), text) << row.key;
    if (row.interval) {
      EXPECT_EQ(thrown_by([&] { set_option(row, job, "-1e9"); }).status, Status::kUsage) << row.key;
    }
  }
}

TEST(OptionRows, TakeWhatTheyTell) {
  check_rows(recon_option_rows());
  check_rows(simulate_option_rows());
}

/// What is said of options, KEY=TEXT each.
std::vector<std::string> said_of(const std::vector<std::pair<const char*, const char*>>& options) {
  ReconJob job;
  for (const auto& [key, text] : options) set_option(recon_option_rows(), job, key, text);
  return idle_options(job);
}

TEST(IdleOptions, AreThoseWhoseMasterIsAway) {
  using Said = std::vector<std::string>;
  EXPECT_EQ(said_of({}), Said{});
  EXPECT_EQ(said_of({{"phase_energy", "30"}, {"phase", "paganin"}}), Said{});
  EXPECT_EQ(said_of({{"phase_energy", "30"}}),
            Said{"--phase-energy changes nothing without --phase"});
  EXPECT_EQ(said_of({{"stripe_size", "5"}}),
            Said{"--stripe-size changes nothing without --stripe"});
  EXPECT_EQ(said_of({{"ring_threshold", "1"}, {"ring_width", "3"}}), Said{});
  EXPECT_EQ(said_of({{"ring_threshold", "1"}}).size(), 1U);
  EXPECT_EQ(said_of({{"outlier_size", "5"}}).size(), 1U);
  EXPECT_EQ(said_of({{"method", "sirt"}, {"filter", "hann"}}).size(), 1U);
  EXPECT_EQ(said_of({{"method", "sirt"}, {"filter", "hann"}, {"filter_cutoff", "0.2"}}).size(), 2U);
  EXPECT_EQ(said_of({{"filter", "hann"}, {"filter_cutoff", "0.2"}}), Said{});
  EXPECT_EQ(said_of({{"filter_cutoff", "0.2"}}).size(), 1U);
  EXPECT_EQ(said_of({{"iterations", "5"}, {"blocks", "4"}}).size(), 2U);
  EXPECT_EQ(said_of({{"method", "osem"}, {"iterations", "5"}, {"blocks", "4"}}), Said{});
  EXPECT_EQ(said_of({{"method", "sirt"}, {"reg_par", "1"}, {"reg_edge", "2"}}).size(), 2U);
  EXPECT_EQ(said_of({{"zarr_level", "3"}}).size(), 1U);
  EXPECT_EQ(said_of({{"dark_zero", "true"}}), Said{});
  EXPECT_EQ(said_of({{"dark_zero", "true"}, {"input", "integrals"}}),
            Said{"--dark-zero changes nothing without --input counts"});
}

TEST(IdleOptions, AreThoseOfAnotherMethodToo) {
  using Said = std::vector<std::string>;
  EXPECT_EQ(said_of({{"stripe", "sf"}, {"stripe_size", "7"}}), Said{});
  EXPECT_EQ(said_of({{"stripe", "fw"}, {"stripe_size", "7"}}),
            Said{"--stripe-size changes nothing without a --stripe of columns"});
  EXPECT_EQ(said_of({{"stripe", "sf"}, {"stripe_sigma", "4"}, {"stripe_alpha", "2"}}),
            (Said{"--stripe-alpha changes nothing without --stripe ti",
                  "--stripe-sigma changes nothing without --stripe fw or filtering"}));
  EXPECT_EQ(said_of({{"stripe", "fitting"}, {"stripe_sigma_x", "4"}, {"stripe_order", "2"}}),
            Said{});
  EXPECT_EQ(said_of({{"phase", "paganin"}, {"phase_unpadded", "true"}}).size(), 1U);
  EXPECT_EQ(said_of({{"phase", "paganin"}, {"phase_alpha", "0.1"}}), Said{});
  EXPECT_EQ(said_of({{"phase", "paganin"}, {"phase_alpha", "0.1"}, {"phase_delta_beta", "20"}}),
            Said{"--phase-alpha changes nothing without --phase-delta-beta 0"});
}

TEST(IdleOptions, SayWhatTheyBelongTo) {
  ReconJob job;
  set_option(recon_option_rows(), job, "reg_par", "2");
  const auto found = find_idle_options(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "reg_par");
  EXPECT_EQ(found[0].of, "method");
  EXPECT_EQ(found[0].state, "exact");
}

TEST(OptionRows, SetTheMembersOfAJob) {
  ReconJob job;
  const auto set = [&](const char* key, const char* text) {
    set_option(recon_option_rows(), job, key, text);
  };
  set("rows", "3:9");
  EXPECT_EQ(job.first_row, 3U);
  EXPECT_EQ(job.end_row, 9U);
  set("rows", "all");
  EXPECT_FALSE(job.end_row);
  set("center", "31.25");
  EXPECT_EQ(job.centre, 31.25);
  set("center", "auto");
  EXPECT_EQ(job.search, AxisSearch::kTurn);
  EXPECT_FALSE(job.centre);
  set("center", "30:32.5");
  EXPECT_EQ(job.search, AxisSearch::kNone);
  EXPECT_EQ(job.centre, 30);
  EXPECT_EQ(job.centre_last, 32.5);
  set("center", "pairs");
  EXPECT_EQ(job.search, AxisSearch::kPairs);
  EXPECT_FALSE(job.centre_last);
  set("center", "middle");
  EXPECT_EQ(job.search, AxisSearch::kNone);
  for (const char* wrong : {"30:", ":30", "30:32:34", "1:inf", "left"}) {
    EXPECT_THROW(set("center", wrong), Error) << wrong;
  }
  set("filter", "hann");
  EXPECT_EQ(job.filter.filter, Filter::kHann);
  set("method", "gridrec");
  EXPECT_EQ(job.method, Method::kGridrec);
}

TEST(OptionRows, NameTheOptionThatIsWrong) {
  ReconJob job;
  const auto refusal = [&](const char* key, const char* text) {
    const auto thrown = thrown_by([&] { set_option(recon_option_rows(), job, key, text); });
    EXPECT_EQ(thrown.status, Status::kUsage);
    return thrown.message;
  };
  EXPECT_EQ(refusal("outlier_size", "1"), "--outlier-size 1: expected a number from 2 to 99");
  EXPECT_EQ(refusal("stripe_size", "5x"), "--stripe-size 5x: expected an integer, 0 or more");
  EXPECT_EQ(refusal("rows", "10"), "--rows 10: expected FIRST:END, such as 100:132");
  EXPECT_EQ(refusal("mask", "nan"), "--mask nan: expected a number");
  EXPECT_EQ(refusal("averaging", "mode"), "--averaging mode: expected one of mean, median");
  EXPECT_EQ(
      refusal("center", "inf"),
      "--center inf: expected a column, such as 515.4, those of the first and the last row, such "
      "as 515.4:517, or middle, auto, fit, entropy or pairs");
  EXPECT_EQ(refusal("nothing", "1"), "there is no option nothing");
}

}  // namespace
}  // namespace tomoloom
