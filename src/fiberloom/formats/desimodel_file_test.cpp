// SPDX-License-Identifier: BSD-3-Clause
// The texts of desimodel's folder. (Its FITS files: tests/fiberloom/cli/test_depth.py.)
#include "fiberloom/formats/desimodel_file.hpp"

#include <gtest/gtest.h>

#include "loom/base/test_status.hpp"

namespace fiberloom {
namespace {

FocalPlane scale_of(const std::string& text) {
  FocalPlane out;
  formats::parse_plate_scale(text, "platescale.txt", out);
  return out;
}
FocalPlane size_of(const std::string& text) {
  FocalPlane out;
  formats::parse_fiber_size(text, "desi.yaml", out);
  return out;
}

TEST(PlateScaleFile, HasTheScalesInColumnsSevenAndEight) {
  const FocalPlane plane =
      scale_of("# radius theta\n0 1 2 3 4 5 67.5 68.5 9 # middle\n\n  100.5 1 2 3 4 5 70 71\r\n");
  EXPECT_EQ(plane.radius, (std::vector<double>{0, 100.5}));
  EXPECT_EQ(plane.radial, (std::vector<double>{67.5, 70}));
  EXPECT_EQ(plane.azimuth, (std::vector<double>{68.5, 71}));
}

TEST(PlateScaleFile, RefusesLinesThatAreNone) {
  for (const char* text :
       {"", "# nothing\n", "0 1 2 3 4 5 67\n", "0 1 2 3 4 5 0 68\n", "radius\n", "0 1 2 x\n",
        "5 1 2 3 4 5 6 7\n5 1 2 3 4 5 6 7\n", "-1 1 2 3 4 5 6 7\n", "nan 1 2 3 4 5 6 7\n"}) {
    EXPECT_EQ(loom::test::status_of([&] { (void)scale_of(text); }), Status::kCorrupt) << text;
  }
}

TEST(FiberSize, IsThatOfTheFibres) {
  const FocalPlane plane = size_of(
      "positioners:\n    diameter_um: 5\nfibers:\n    diameter_um: 107.0\n# of all\n"
      "    diameter_arcsec: 1.52  # mean\nnext:\n    diameter_um: 7\n");
  EXPECT_EQ(plane.fiber_um, 107);
  EXPECT_EQ(plane.fiber_as, 1.52);
  for (const char* text : {"", "fibers:\n diameter_um: 107\n", "diameter_um: 107\n",
                           "fibers:\n diameter_um: -1\n diameter_arcsec: 1.5\n"}) {
    EXPECT_EQ(loom::test::status_of([&] { (void)size_of(text); }), Status::kMissingKeyword) << text;
  }
}

}  // namespace
}  // namespace fiberloom
