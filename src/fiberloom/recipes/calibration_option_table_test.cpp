// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibration_option_table.hpp"

#include <gtest/gtest.h>

#include <set>

#include "loom/base/error.hpp"
#include "loom/base/test_status.hpp"

namespace fiberloom {
namespace {

constexpr CalibrationStep kSteps[] = {CalibrationStep::kFiberFlat, CalibrationStep::kSky,
                                      CalibrationStep::kCalibrate, CalibrationStep::kFluxCalib,
                                      CalibrationStep::kStdStars,  CalibrationStep::kQuality};

/// Another value than the option's own.
std::string other_value(const std::string& key) {
  if (key == "method") return "desispec";
  if (key == "color") return "GAIA-G-RP";
  if (key == "adjust_wavelength" || key == "adjust_lsf") return "true";
  if (key == "extra_variance" || key == "tsnr") return "false";
  if (key == "z_max" || key == "z_res") return "0.00050000000000000001";
  return "7";
}

const CalibrationOptionRow& row(const std::string& key, CalibrationStep step) {
  for (const CalibrationOptionRow& r : calibration_option_rows()) {
    if (r.key == key && belongs_to(r, step)) return r;
  }
  throw std::logic_error(key);
}

TEST(CalibrationOptions, StandOnceForEachStep) {
  for (const CalibrationStep step : kSteps) {
    std::set<std::string> keys, names;
    for (const CalibrationOptionRow& r : calibration_option_rows()) {
      if (!belongs_to(r, step)) continue;
      EXPECT_TRUE(keys.insert(r.key).second) << r.key;
      EXPECT_TRUE(names.insert(loom::long_name(r.names)).second) << r.names;
    }
    EXPECT_TRUE(keys.count("infile") == 1 && keys.count("outfile") == 1);
  }
}

TEST(CalibrationOptions, EverySettingIsTold) {
  for (const CalibrationStep step : kSteps) {
    CalibrationJob job;
    job.step = step;
    const auto initial = calibration_settings(job);
    std::size_t at = 0;
    for (const CalibrationOptionRow& r : calibration_option_rows()) {
      if (!r.decides_numbers || !belongs_to(r, step)) continue;
      const std::string text = other_value(r.key);
      loom::set_option(r, job, text);
      EXPECT_EQ(initial.at(at).first, r.key);
      EXPECT_NE(initial.at(at).second, text);
      EXPECT_EQ(calibration_settings(job).at(at++).second, text);
    }
    EXPECT_EQ(initial.size(), at);
  }
}

TEST(CalibrationOptions, TextThatIsNoneIsRefused) {
  CalibrationJob job;
  const auto refused = [&](const char* key, const char* text) {
    return loom::test::status_of([&] {
             loom::set_option(row(key, CalibrationStep::kFiberFlat), job, text);
           }) == Status::kUsage;
  };
  EXPECT_TRUE(refused("nsig", "0"));
  EXPECT_TRUE(refused("nsig", "nan"));
  EXPECT_TRUE(refused("acc", "1e-4x"));
  EXPECT_TRUE(refused("method", "specter"));
  const auto star = [&](const char* key, const char* text) {
    return loom::test::status_of([&] {
             loom::set_option(row(key, CalibrationStep::kStdStars), job, text);
           }) == Status::kUsage;
  };
  EXPECT_TRUE(star("maxstdstars", "2.5"));
  EXPECT_TRUE(star("color", "B-V"));
  EXPECT_TRUE(star("std_targetids", "39627,x"));
  EXPECT_EQ(calibration_settings(job), calibration_settings({}));
}

}  // namespace
}  // namespace fiberloom
