// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/places.hpp"

#include <gtest/gtest.h>

#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::chain {
namespace {

class PlacesTest : public loom::ScratchFolder {
 protected:
  std::string flat_of(const std::string& night) {
    task_.camera = "b0";
    task_.night = night;
    ChainRequest request;
    request.flats = path("flats");
    Places places(path("out"), night::Compress::kNo, request);
    Frame frame;
    frame.task = &task_;
    return places.flat(frame);
  }
  night::FrameTask task_;
};

TEST_F(PlacesTest, AFlatFromElsewhereIsThatOfTheNightOrTheNewest) {
  put("flats/fiberflat-b0-00000009.fits");
  EXPECT_EQ(flat_of("20260101"), path("flats/fiberflat-b0-00000009.fits"));
  for (const char* name : {"b0-20260101.fits", "b0-20260102.fits.gz", "b0-20260103.fits"}) {
    put(std::string("flats/fiberflatnight-") + name);
  }
  EXPECT_EQ(flat_of("20260101"), path("flats/fiberflatnight-b0-20260101.fits"));
  EXPECT_EQ(flat_of("20260102"), path("flats/fiberflatnight-b0-20260102.fits.gz"));
  EXPECT_EQ(flat_of("20260104"), path("flats/fiberflatnight-b0-20260103.fits"));
  EXPECT_EQ(flat_of(""), path("flats/fiberflatnight-b0-20260103.fits"));
}

}  // namespace
}  // namespace fiberloom::chain
