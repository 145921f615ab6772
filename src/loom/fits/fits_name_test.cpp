// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fits/fits_name.hpp"

#include <gtest/gtest.h>

namespace loom::fits {
namespace {

TEST(FitsName, SaysWhatAFileIsInLettersOfEitherCase) {
  for (const char* name : {"a.fits", "a.FITS", "a.fits.gz", "a.FITS.GZ", "a.Fits.Fz"}) {
    EXPECT_TRUE(is_fits_name(name)) << name;
    EXPECT_EQ(without_fits_ending(name), "a") << name;
  }
  for (const char* name : {"", "fits", "a.fits2", "a.fits.zip", "a.h5"}) {
    EXPECT_FALSE(is_fits_name(name)) << name;
    EXPECT_EQ(without_fits_ending(name), name);
  }
}

}  // namespace
}  // namespace loom::fits
