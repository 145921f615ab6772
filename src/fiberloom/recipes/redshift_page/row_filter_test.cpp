// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/row_filter.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::redshift_page {
namespace {

using Rows = std::vector<std::size_t>;

class RowFilter : public testing::Test {
 protected:
  RowFilter() {
    const std::vector<double> z{0.1, 0.5, 2.0, NAN};
    const std::vector<std::int32_t> zwarn{0, 4, 0, 516};
    const std::vector<std::int64_t> ids{39627788403084375, 39627788403084376, 3, 4};
    const std::vector<std::string> types{"GALAXY", "GALAXY", "QSO", "STAR"},
        kinds{"TGT", "SKY", "TGT", "TGT"};
    redshifts.add("TARGETID", ids).add("Z", z).add("ZWARN", zwarn).add("SPECTYPE", types, 6);
    redshifts.columns.push_back(
        {.name = "GOOD_Z_LRG", .cell = Cell::kTruth, .data = {'T', 'F', 'T', 'F'}});
    fibermap.add("TARGETID", ids).add("OBJTYPE", kinds, 3);
  }
  [[nodiscard]] Rows rows(const std::string& text) const {
    return matching_rows(text, std::vector<const Table*>{&redshifts, &fibermap}, "--only");
  }
  Table redshifts, fibermap;
};

TEST_F(RowFilter, ComparesNumbersTextsTruthsAndBits) {
  EXPECT_EQ(rows(""), (Rows{0, 1, 2, 3}));
  EXPECT_EQ(rows("ZWARN!=0"), (Rows{1, 3}));
  EXPECT_EQ(rows("ZWARN & 4"), (Rows{1, 3}));
  EXPECT_EQ(rows("zwarn&512"), (Rows{3}));
  EXPECT_EQ(rows("Z >= 0.5"), (Rows{1, 2}));
  EXPECT_EQ(rows("Z != 0.5"), (Rows{0, 2, 3}));  // what is unknown is no 0.5
  EXPECT_EQ(rows("SPECTYPE == qso"), (Rows{2}));
  EXPECT_EQ(rows("OBJTYPE!=SKY and SPECTYPE=GALAXY"), (Rows{0}));
  EXPECT_EQ(rows("GOOD_Z_LRG==1, Z<1"), (Rows{0}));
  EXPECT_EQ(rows("GOOD_Z_LRG == false && ZWARN<100"), (Rows{1}));
}

TEST_F(RowFilter, AllBitsOfATargetidCount) {
  EXPECT_EQ(rows("TARGETID==39627788403084376"), (Rows{1}));
  EXPECT_EQ(rows("TARGETID > 39627788403084375"), (Rows{1}));
}

TEST_F(RowFilter, WhatMakesNoSenseIsNamed) {
  for (const char* text : {"ZWARN", "==3", "Z ==", "NOTHING == 1", "Z > many", "SPECTYPE & 4",
                           "Z & 1", "GOOD_Z_LRG == maybe", "Z>1,,Z<2", "and"}) {
    try {
      (void)rows(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage) << text;
      EXPECT_NE(std::string(error.what()).find("--only"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace fiberloom::redshift_page
