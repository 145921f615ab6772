// SPDX-License-Identifier: BSD-3-Clause
// FIBERMAP as the page needs it.
#include "fiberloom/recipes/report/targets.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fiberloom::report {
namespace {

using Ids = std::vector<std::int64_t>;
using Ints = std::vector<std::int32_t>;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

constexpr std::int64_t kLongId = 39627634548773063;  // more than a double holds

TEST(ReadTargets, KeepsEveryDigitOfATargetid) {
  Table table;
  table.add("TARGETID", Ids{kLongId, -1})
      .add("OBJTYPE", Names{"TGT", "SKY"}, 3)
      .add("FIBERSTATUS", Ints{0, 8});

  const Targets t = read_targets(table, 2);

  EXPECT_EQ(t.ids, (Names{"39627634548773063", "-1"}));
  EXPECT_TRUE(t.is_sky(1));
  EXPECT_FALSE(t.is_sky(0));
  EXPECT_TRUE(t.is_known_bad(1));
  EXPECT_TRUE(t.x.empty());
}

TEST(ReadTargets, PrefersTheFocalPlaneAndSkipsColumnsThatTellNothing) {
  Table table;
  table.add("FIBER_X", Numbers{0, 0})
      .add("FIBER_Y", Numbers{0, 0})
      .add("FIBERASSIGN_X", Numbers{10.5, NAN})
      .add("FIBERASSIGN_Y", Numbers{-3, 4})
      .add("TARGET_RA", Numbers{1, 2})
      .add("TARGET_DEC", Numbers{1, 2});
  EXPECT_EQ(read_targets(table, 2).place_unit, "deg");

  Table full;
  full.add("FIBERASSIGN_X", Numbers{10.5, 11}).add("FIBERASSIGN_Y", Numbers{-3, 4});
  const Targets t = read_targets(full, 2);
  EXPECT_EQ(t.place_unit, "mm");
  EXPECT_EQ(t.x, (Numbers{10.5, 11}));
}

TEST(ReadTargets, OfAnotherNumberOfRowsAreNone) {
  Table table;
  table.add("TARGETID", Ids{1, 2});
  EXPECT_TRUE(read_targets(table, 3).ids.empty());
  EXPECT_TRUE(read_targets(std::nullopt, 3).ids.empty());
}

TEST(AddTruth, FindsClassAndRedshiftByFibre) {
  Targets t;
  t.types = {"TGT", "SKY"};
  Table truth;
  truth.add("FIBER", Ints{7, 8, 5})
      .add("CLASS", Names{"QSO", "ELG", "SKY"}, 4)
      .add("REDSHIFT", Numbers{2.1, 0.9, 0});

  add_truth(t, {7, 5}, truth);

  EXPECT_EQ(t.types, (Names{"TGT QSO", "SKY"}));
  EXPECT_EQ(t.redshifts.front(), 2.1);
}

}  // namespace
}  // namespace fiberloom::report
