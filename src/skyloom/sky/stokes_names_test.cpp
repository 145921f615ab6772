// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/stokes_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace skyloom {
namespace {

using Names = std::vector<std::string>;

TEST(StokesNames, AreFoundWhereverTheyStand) {
  const auto found = stokes_columns({"TMASK", "I_STOKES", "u_stokes", "Q-POLARISATION"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->i, 1U);
  EXPECT_EQ(found->q, 3U);
  EXPECT_EQ(found->u, 2U);
}

TEST(StokesNames, OfAnIntensityWithHitsBesideIsOfIAlone) {
  for (const Names& names :
       {Names{"I_STOKES", "HITS", "II_COV"}, Names{"TEMPERATURE", "N_OBS"}, Names{"I"}}) {
    const auto found = stokes_columns(names);
    ASSERT_TRUE(found) << names.back();
    EXPECT_EQ(found->i, 0U);
    EXPECT_FALSE(found->q || found->u) << names.back();
  }
}

TEST(StokesNames, ThatTellNothingAreTakenByPlace) {
  for (const Names& names : {Names{"a", "b", "c"}, Names{"", "", "", ""}, Names{"I", "Q", "x"}}) {
    const auto found = stokes_columns(names);
    ASSERT_TRUE(found) << names[0];
    EXPECT_EQ(found->q, 1U);
    EXPECT_EQ(found->u, 2U);
  }
}

TEST(StokesNames, ThatLackOneOfThemTellNothing) {
  for (const Names& names : {Names{"a", "b"}, Names{"Q", "U"}, Names{"I", "U", "x"}, Names{"Q"}}) {
    EXPECT_FALSE(stokes_columns(names)) << names[0];
  }
}

}  // namespace
}  // namespace skyloom
