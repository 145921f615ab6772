// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/sky_fibers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace fiberloom {
namespace {

TEST(SkyFibers, AreThoseOfWhichObjtypeSaysSky) {
  Table fibermap;
  fibermap.add("ObjType", std::array<std::string, 6>{"SKY", "TGT", "sky", "BAD", "SKYX", ""}, 6);

  EXPECT_EQ(sky_fibers(fibermap), (std::vector<bool>{true, false, false, false, false, false}))
      << "blanks at the end are none, letters are as they are";
}

TEST(SkyFibers, AreNotKnownWithoutAColumnOfTexts) {
  Table fibermap;
  fibermap.add("FIBER", std::array<std::int32_t, 2>{7, 8});
  EXPECT_FALSE(sky_fibers(fibermap));
  fibermap.add("OBJTYPE", std::array<std::int32_t, 2>{0, 1});
  EXPECT_FALSE(sky_fibers(fibermap));
  EXPECT_FALSE(sky_fibers(std::optional<Table>()));
}

}  // namespace
}  // namespace fiberloom
