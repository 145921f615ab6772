// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/truth/survey.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "fiberloom/redshift/prepare.hpp"
#include "fiberloom/redshift/refine.hpp"
#include "fiberloom/spectrum/banded.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::truth {
namespace {

/// A continuum and two emission lines, or a continuum alone.
redshift::Template simple_template(const char* type) {
  redshift::Template t;
  t.spectype = type;
  t.version = "test";
  const bool galaxy = t.spectype == "GALAXY";
  for (double w = 1200; w < 11000; w += 1) t.wave.push_back(w);
  t.flux = Array2D<double>(2, t.wave.size(), 0.0);
  for (std::size_t k = 0; k < t.wave.size(); ++k) {
    t.flux(0, k) = galaxy ? 1 : std::exp(-t.wave[k] / 4000);
    for (const double line : {3728.0, 5008.0}) {
      t.flux(1, k) += (galaxy ? 5 : -0.3) * std::exp(-0.5 * std::pow((t.wave[k] - line) / 3, 2));
    }
  }
  t.training = Array2D<double>(4, 2, 1.0);
  for (std::size_t i = 0; i < 4; ++i) t.training(i, 1) = 0.5 + 0.5 * static_cast<double>(i);
  for (double z = galaxy ? 0.0 : -0.002; z < (galaxy ? 1.2 : 0.002); z += galaxy ? 0.0008 : 4e-4) {
    t.redshifts.push_back(z);
  }
  return t;
}

struct Fixture {
  redshift::TemplateSet templates{simple_template("GALAXY"), simple_template("STAR")};
  Spectrograph spectrograph{1800};
  SerialExecutor serial;
  [[nodiscard]] Survey survey(const SurveyOptions& o, std::size_t first, std::size_t count) {
    return simulate_survey(spectrograph, {&templates, {}, 0.2}, o, first, count, serial);
  }
};

TEST(Survey, HasNoiseOfItsOwnVarianceAboutTheModel) {
  Fixture f;
  SurveyOptions o;
  o.mix = {.galaxy = 0, .qso = 0, .star = 0, .sky = 1};
  const Survey sky = f.survey(without_defects(o), 0, 4);
  double sum = 0, sum2 = 0, count = 0;
  for (const Spectra& s : sky.cameras) {
    for (std::size_t i = 0; i < s.flux.size(); ++i) {
      const double pull = s.flux.data()[i] * std::sqrt(s.ivar.data()[i]);
      sum += pull;
      sum2 += pull * pull;
      count += 1;
    }
  }
  EXPECT_NEAR(sum / count, 0, 0.03);
  EXPECT_NEAR(std::sqrt(sum2 / count), 1, 0.02);
  for (const TrueTarget& t : sky.targets) EXPECT_EQ(t.spectype, "SKY");
}

TEST(Survey, TheSkysContinuumHasItsOwnShareOfWhatSubtractionLeaves) {
  Fixture f;
  SurveyOptions o = without_defects({});
  o.mix = {.galaxy = 0, .qso = 0, .star = 0, .sky = 1};
  const Survey none = f.survey(o, 0, 1);
  o.sky_residual = 0.05;
  const Survey all = f.survey(o, 0, 1);
  o.sky_continuum = 0;
  const Survey lines = f.survey(o, 0, 1);
  for (std::size_t c = 0; c < none.cameras.size(); ++c) {
    const CameraModel& camera = f.spectrograph.cameras()[c];
    const auto left = [&](const Survey& s, std::size_t i) {
      return (s.cameras[c].flux(0, i) - none.cameras[c].flux(0, i)) * camera.counts[i];
    };
    const double level = left(all, 0) / camera.sky[0];
    for (std::size_t i = 0; i < camera.wave.size(); ++i) {
      EXPECT_NEAR(left(all, i), level * camera.sky[i], 1e-6);
      EXPECT_NEAR(left(lines, i), level * (camera.sky[i] - camera.sky_continuum[i]), 1e-6);
    }
  }
}

TEST(Survey, HasTheMixAndTheSignalToNoiseAskedFor) {
  Fixture f;
  SurveyOptions o = without_defects({});
  o.mix = {.galaxy = 40, .qso = 20, .star = 30, .sky = 30};  // no quasar to draw from
  o.least_snr = 2;
  o.most_snr = 8;
  const Survey survey = f.survey(o, 0, 200);
  std::map<std::string, int> count;
  for (std::size_t t = 0; t < 200; ++t) {
    const TrueTarget& truth = survey.targets[t];
    ++count[truth.spectype];
    EXPECT_EQ(truth.id, static_cast<std::int64_t>(t) + 1);
    if (truth.spectype == "SKY") continue;
    EXPECT_GE(truth.snr, 2);
    EXPECT_LE(truth.snr, 8);
    EXPECT_GT(truth.mag_r, 15);
    EXPECT_LT(truth.mag_r, 26);
    std::vector<double> snr;
    for (const Spectra& s : survey.cameras) {
      for (std::size_t i = 0; i < s.nwave(); ++i) {
        snr.push_back(s.flux(t, i) * std::sqrt(s.ivar(t, i)));
      }
    }
    std::nth_element(snr.begin(), snr.begin() + 4000, snr.end());
    EXPECT_NEAR(snr[4000] / truth.snr, 1, 0.1) << t;
  }
  EXPECT_EQ(count["QSO"], 0);
  EXPECT_NEAR(count["GALAXY"], 80, 20);
  EXPECT_NEAR(count["STAR"], 60, 20);
}

TEST(Survey, DoesNotDependOnNeighboursOrThreads) {
  Fixture f;
  const Survey all = f.survey({}, 0, 12), part = f.survey({}, 5, 3);
  const auto threads = make_executor(3);
  const Survey again =
      simulate_survey(f.spectrograph, {&f.templates, {}, 0.2}, {}, 0, 12, *threads);
  for (std::size_t c = 0; c < 3; ++c) {
    const Spectra &a = all.cameras[c], &b = part.cameras[c], &d = again.cameras[c];
    EXPECT_TRUE(std::equal(a.flux.data(), a.flux.data() + a.flux.size(), d.flux.data()));
    for (std::size_t t = 0; t < 3; ++t) {
      EXPECT_TRUE(std::equal(b.flux.row(t), b.flux.row(t) + b.nwave(), a.flux.row(5 + t)));
      EXPECT_TRUE(std::equal(b.ivar.row(t), b.ivar.row(t) + b.nwave(), a.ivar.row(5 + t)));
      EXPECT_EQ(b.resolution(t, 3, 100), a.resolution(5 + t, 3, 100));
    }
  }
  EXPECT_EQ(part.targets[1].z, all.targets[6].z);
}

TEST(Survey, DefectsAreThereWhenAskedFor) {
  Fixture f;
  SurveyOptions o;
  o.missing_camera = 1;
  o.bad_pixels = 0.1;
  const Survey survey = f.survey(o, 0, 3);
  for (std::size_t t = 0; t < 3; ++t) {
    int empty = 0;
    for (const Spectra& s : survey.cameras) {
      double bad = 0;
      for (std::size_t i = 0; i < s.nwave(); ++i) bad += s.ivar(t, i) == 0 ? 1 : 0;
      if (bad == static_cast<double>(s.nwave())) {
        ++empty;
      } else {
        EXPECT_NEAR(bad / static_cast<double>(s.nwave()), 0.1, 0.03);
      }
    }
    EXPECT_EQ(empty, 1);
    EXPECT_EQ(survey.targets[t].missing.size(), 1U);
  }
}

TEST(Survey, ItsRedshiftsAreFoundAgain) {
  Fixture f;
  SurveyOptions o;
  o.least_snr = o.most_snr = 6;
  o.mix = {.galaxy = 1, .qso = 0, .star = 0, .sky = 0};
  o.galaxy_z_high = 0.9;
  const Survey survey = f.survey(without_defects(o), 0, 6);
  std::vector<redshift::TargetView> views(6);
  for (std::size_t t = 0; t < 6; ++t) {
    for (const Spectra& s : survey.cameras) {
      views[t].spectra.push_back({s.wave,
                                  std::span<const double>(s.flux.row(t), s.nwave()),
                                  std::span<const double>(s.ivar.row(t), s.nwave()),
                                  {},
                                  std::span<const float>(&s.resolution(t, 0, 0), 11 * s.nwave()),
                                  11});
    }
  }
  const redshift::TargetSet set = redshift::prepare(views, {}, f.serial);
  const auto curves = redshift::scan(set, f.templates, {}, f.serial);
  const auto found = redshift::refine(set, curves, {}, {}, f.serial);
  for (std::size_t t = 0; t < 6; ++t) {
    const double pull = (found[t].front().z - survey.targets[t].z) / found[t].front().zerr;
    EXPECT_LT(std::abs(pull), 4) << t << ": " << found[t].front().z;
  }
}

TEST(Survey, RefusesWhatHasNoSense) {
  Fixture f;
  SurveyOptions o;
  o.least_snr = 0;
  EXPECT_THROW((void)f.survey(o, 0, 1), Error);
  redshift::TemplateSet none;
  o = {};
  o.mix.sky = 0;
  EXPECT_THROW((void)simulate_survey(f.spectrograph, {&none, {}, 0.2}, o, 0, 1, f.serial), Error);
}

}  // namespace
}  // namespace fiberloom::truth
