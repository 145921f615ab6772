// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/flux_unit.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

TEST(FluxUnit, IsOneScaleHoweverItIsWritten) {
  for (const char* unit :
       {"10**-17 erg/(s cm2 Angstrom)", "1E-17 erg/cm^2/s/Ang", "1e-17 erg / (Angstrom cm2 s)",
        "10^-17 erg/s/cm2/A", "10^(-17) erg/s/cm2/A", " 1.0e-17 erg/s/cm2/A"}) {
    EXPECT_TRUE(is_flux_unit(unit)) << unit;
    EXPECT_TRUE(same_scale(unit, "10**-17 erg/(s cm2 Angstrom)")) << unit;
    EXPECT_FALSE(same_scale(unit, "10**-16 erg/(s cm2 Angstrom)")) << unit;
    EXPECT_FALSE(same_scale(unit, "erg/s/cm2/Angstrom")) << unit;
  }
  EXPECT_EQ(scale_of_unit("10**+17 cm2 count s / erg"), 1e17);
}

TEST(FluxUnit, OfCountsIsNone) {
  EXPECT_TRUE(is_count_unit("electron/Angstrom"));
  EXPECT_FALSE(is_flux_unit("electron/Angstrom"));
  EXPECT_EQ(scale_of_unit("electron/Angstrom"), 1);
  EXPECT_EQ(scale_of_unit(""), 1);
}

}  // namespace
}  // namespace fiberloom
