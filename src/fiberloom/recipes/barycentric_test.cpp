// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/barycentric.hpp"

#include <gtest/gtest.h>

#include "fiberloom/astro/barycentric.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

FrameInputs inputs() {
  FrameInputs in;
  in.preproc.path = "image.fits";
  in.fibermap_path = "map.fits";
  in.preproc.header.set("MJD-OBS", 61000.0);
  in.preproc.header.set("EXPTIME", 864.0);
  return in;
}

void point(HeaderCards& header, const char* ra, double ra_deg, const char* dec, double dec_deg) {
  header.set(ra, ra_deg);
  header.set(dec, dec_deg);
}

std::string failure(const FrameInputs& in) {
  try {
    (void)find_pointing(in);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kMissingKeyword);
    return error.what();
  }
  return "nothing failed";
}

TEST(FindPointing, TakesTheMiddleOfTheExposure) {
  FrameInputs in = inputs();
  point(in.preproc.header, "RA", 10, "DEC", -20);
  EXPECT_DOUBLE_EQ(find_pointing(in).mjd, 61000.005);
  in.preproc.header.remove("EXPTIME");
  EXPECT_DOUBLE_EQ(find_pointing(in).mjd, 61000.0);
  EXPECT_FALSE(find_pointing(in).exptime_known);
}

TEST(FindPointing, PrefersTheTargetThenTheSkyThenTheTelescope) {
  FrameInputs in = inputs();
  const std::pair<const char*, const char*> pairs[] = {
      {"RA", "DEC"}, {"TELRA", "TELDEC"}, {"SKYRA", "SKYDEC"}, {"TARGTRA", "TARGTDEC"}};
  double ra = 10;
  for (const auto& [key, dec] : pairs) {
    point(in.preproc.header, key, ++ra, dec, 5);
    EXPECT_EQ(find_pointing(in).ra_deg, ra) << key;
  }
}

TEST(FindPointing, TakesTheFibermapWhereTheImageHasOnlyWhatDesispecPassesOver) {
  FrameInputs in = inputs();
  point(in.preproc.header, "SKYRA", 10, "SKYDEC", 5);
  in.fibermap.emplace();
  EXPECT_EQ(find_pointing(in).ra_deg, 10);
  point(in.fibermap->header, "TARGTRA", 20, "TARGTDEC", 5);
  EXPECT_EQ(find_pointing(in).ra_deg, 20);
  EXPECT_DOUBLE_EQ(find_pointing(in).mjd, 61000.005) << "the time of the image";
}

TEST(FindPointing, SaysWhatIsMissingOrWrong) {
  FrameInputs in = inputs();
  EXPECT_NE(failure(in).find("image.fits: IMAGE has no TARGTRA"), std::string::npos);
  in.preproc.header.set("RA", std::string("10:11:12"));
  in.preproc.header.set("DEC", 91.0);
  EXPECT_NE(failure(in).find("RA is '10:11:12', expected degrees"), std::string::npos);
  in.preproc.header.set("RA", 10.0);
  EXPECT_NE(failure(in).find("DEC is '91.0'"), std::string::npos) << failure(in);
  in.preproc.header.set("DEC", 9.0);
  in.preproc.header.set("MJD-OBS", 2461000.5);
  EXPECT_NE(failure(in).find("MJD-OBS is '2461000.5'"), std::string::npos) << failure(in);
  in.preproc.header.remove("MJD-OBS");
  EXPECT_NE(failure(in).find("no MJD-OBS"), std::string::npos);
}

TEST(FrameBarycentricFactor, IsThatOfTheFieldAtKittPeakAndWarnsWithoutExposureTime) {
  FrameInputs in = inputs();
  point(in.preproc.header, "TARGTRA", 155.5939, "TARGTDEC", -4.8391);
  int warnings = 0;
  Observer observer;
  observer.message = [&](LogLevel, const std::string&) { ++warnings; };
  EXPECT_EQ(frame_barycentric_factor(in, observer),
            astro::barycentric_factor(astro::kKittPeak, {155.5939, -4.8391}, 61000.005));
  EXPECT_EQ(warnings, 0);
  in.preproc.header.remove("EXPTIME");
  (void)frame_barycentric_factor(in, observer);
  EXPECT_EQ(warnings, 1);
}

}  // namespace
}  // namespace fiberloom
