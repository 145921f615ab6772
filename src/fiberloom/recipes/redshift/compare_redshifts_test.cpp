// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/compare_redshifts.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

RedshiftAnswers answers() {
  return {"a.fits",
          false,
          {1, 2, 3, 4},
          {0, 0, 4, 0},
          {"GALAXY", "QSO", "GALAXY", "STAR"},
          {0.5, 2.0, 1.0, 0.0},
          {}};
}

TEST(CompareRedshifts, EqualTablesAgree) {
  const RedshiftComparison c = compare_redshifts(answers(), answers(), 10);
  EXPECT_EQ(c.both, 4U);
  EXPECT_EQ(c.same_type, 4U);
  EXPECT_EQ(c.nearer.front(), 4U);
  EXPECT_EQ(c.sure, 3U);
  EXPECT_EQ(c.sure_agree, 3U);
  EXPECT_EQ(c.difference(), 0.0);
  EXPECT_TRUE(c.list.empty());
}

TEST(CompareRedshifts, TellsATypeFromARedshiftAndKnowsWhoIsMissing) {
  RedshiftAnswers b = answers();
  b.id = {4, 3, 2, 9};
  b.spectype = {"GALAXY", "GALAXY", "QSO", "STAR"};
  b.z = {0.0, 1.1, 2.02, 0.0};  // of the quasar 2000 km/s, which its lines are broad
  b.zwarn = {0, 0, 0, 0};
  const RedshiftComparison c = compare_redshifts(answers(), b, 10);
  EXPECT_EQ(c.only_a, 1U);
  EXPECT_EQ(c.only_b, 1U);
  EXPECT_EQ(c.both, 3U);
  EXPECT_EQ(c.same_type, 2U);
  EXPECT_EQ(c.agree, 1U);
  EXPECT_EQ(c.sure, 2U);  // not the galaxy, of which one is not sure
  ASSERT_EQ(c.list.size(), 1U);
  EXPECT_EQ(c.list.front().id, 4);
  EXPECT_DOUBLE_EQ(c.difference(), 0.5);
}

TEST(CompareRedshifts, OfARepeatedTargetTheFirstRowCounts) {
  RedshiftAnswers a = answers();
  a.id[3] = 1;
  const RedshiftComparison c = compare_redshifts(a, answers(), 10);
  EXPECT_EQ(c.both, 3U);
  EXPECT_EQ(c.sure_agree, 2U);
  EXPECT_EQ(c.only_b, 1U);
}

}  // namespace
}  // namespace fiberloom
