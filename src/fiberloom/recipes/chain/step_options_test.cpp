// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/step_options.hpp"

#include <gtest/gtest.h>

#include "loom/base/error.hpp"

namespace fiberloom::chain {
namespace {

std::string text_of(const AllStepOptions& all, Step step, const std::string& key) {
  for (const auto& [name, text] : settings_of(options_of(all, step), step)) {
    if (name == key) return text;
  }
  return "none";
}

TEST(StepOptions, AreThoseOfEachStepsTableAndTheLastOneHolds) {
  AllStepOptions all;
  set_step_option(all, "sky", "method", "desispec");
  set_step_option(all, "fluxcalib", "nsig_flux_scale", "4");
  set_step_option(all, "fluxcalib", "nsig_flux_scale", "2.5");
  set_step_option(all, "coadd", "nsig", "6");
  set_step_option(all, "redshift", "skymask", "false");
  check(all);
  EXPECT_EQ(text_of(all, Step::kSky, "method"), "desispec");
  EXPECT_EQ(text_of(all, Step::kFiberFlat, "method"), "fiberloom") << "another step's";
  EXPECT_EQ(text_of(all, Step::kFluxCalib, "nsig_flux_scale"), "2.5");
  EXPECT_EQ(options_of(all, Step::kFluxCalib).size(), 1U);
  CoaddJob coadd;
  apply(options_of(all, Step::kCoadd), coadd);
  EXPECT_EQ(coadd.cosmic_nsig, 6);
  RedshiftJob redshift;
  apply(options_of(all, Step::kRedshift), redshift);
  EXPECT_FALSE(redshift.options.mask_sky);
  CalibrationJob stars;
  stars.step = CalibrationStep::kStdStars;
  apply(options_of(all, Step::kStdStars), stars);
  EXPECT_EQ(stars.stars.most_stars, CalibrationJob().stars.most_stars);
}

std::string fault(const std::string& step, const std::string& key, const std::string& text) {
  AllStepOptions all;
  try {
    set_step_option(all, step, key, text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_TRUE(all.empty());
    return error.what();
  }
  return "none";
}

TEST(StepOptions, ThatAreNoneAreRefusedWithThoseThatThereAre) {
  EXPECT_NE(fault("moon", "method", "x").find("expected one of fiberflat, sky"), std::string::npos);
  EXPECT_NE(fault("extract", "method", "exact").find("no step with options"), std::string::npos);
  EXPECT_NE(fault("sky", "infile", "x").find("sky: infile: no such option"), std::string::npos);
  EXPECT_NE(fault("sky", "nsig", "3").find("expected one of adjust_wavelength"), std::string::npos);
  EXPECT_NE(fault("qa", "method", "x").find("which has none"), std::string::npos);
  EXPECT_NE(fault("coadd", "nsig", "-1").find("expected a number"), std::string::npos);
  EXPECT_NE(fault("stdstars", "color", "B-V").find("expected one of"), std::string::npos);
}

TEST(StepOptions, OfOneStepMustGoTogether) {
  AllStepOptions all;
  set_step_option(all, "coadd", "lin_step", "1");
  set_step_option(all, "coadd", "log10_step", "1e-4");
  EXPECT_THROW(check(all), Error);
  AllStepOptions joined;
  set_step_option(joined, "coadd", "lin_step", "1");
  set_step_option(joined, "coadd", "coadd_cameras", "true");
  EXPECT_THROW(check(joined), Error) << "one of them would do nothing";
}

TEST(StepOptions, AreTakenApart) {
  const StepSetting s = parse_step_setting("redshift.targetids=1,2");
  EXPECT_EQ(s.step + "|" + s.key + "|" + s.text, "redshift|targetids|1,2");
  for (const char* bad : {"", "sky", "sky.method", "=x", ".method=x", "sky.=x", "method=a.b"}) {
    EXPECT_THROW(static_cast<void>(parse_step_setting(bad)), Error) << bad;
  }
}

}  // namespace
}  // namespace fiberloom::chain
