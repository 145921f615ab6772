// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/templates/built_in.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "fiberloom/templates/template_file.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::templates {
namespace {

/// Coefficient row `i` of the training as a spectrum.
std::vector<double> spectrum(const Template& t, std::size_t i) {
  std::vector<double> out(t.wave.size(), 0.0);
  for (std::size_t a = 0; a < t.nbasis(); ++a) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] += t.training(i, a) * t.flux(a, k);
  }
  return out;
}

TEST(BuiltInSet, HasGalaxiesQuasarsAndStarsThatLookLikeThem) {
  const redshift::TemplateSet set = built_in_set();
  ASSERT_EQ(set.size(), 5U);
  for (const Template& t : set) {
    EXPECT_EQ(t.version, kBuiltInVersion);
    EXPECT_GT(t.redshifts.size(), 50U) << t.full_type();
    EXPECT_GE(t.training.rows(), 40U) << t.full_type();
    // cameras from 3600 to 9824 Angstrom are covered wherever it is scanned
    EXPECT_LE(t.wave.front(), 3600 / (1 + t.redshifts.back())) << t.full_type();
    EXPECT_GE(t.wave.back(), 9825 / (1 + t.redshifts.front())) << t.full_type();
    double negative = 0, total = 0;
    for (std::size_t i = 0; i < t.training.rows(); ++i) {
      for (const double f : spectrum(t, i)) {
        negative += f < 0 ? -f : 0;
        total += std::abs(f);
      }
    }
    EXPECT_LT(negative, 0.01 * total) << t.full_type() << ": the vectors leave little out";
  }
}

TEST(BuiltInSet, ComesBackFromAFile) {
  const loom::test::TempFolder folder;
  for (const Template& t : built_in_set()) {
    const std::string path = folder.file("rrtemplate-" + t.spectype + t.subtype + ".fits");
    write_template(path, t, loom::Overwrite::kNo);
    const Template back = read_template(path);
    EXPECT_EQ(back.full_type(), t.full_type());
    EXPECT_EQ(back.igm, t.igm);
    EXPECT_EQ(back.redshifts, t.redshifts);
    ASSERT_EQ(back.flux.size(), t.flux.size());
    EXPECT_TRUE(std::equal(back.flux.data(), back.flux.data() + back.flux.size(), t.flux.data()));
    EXPECT_TRUE(std::equal(back.training.data(), back.training.data() + back.training.size(),
                           t.training.data()));
    for (std::size_t k = 0; k < t.wave.size(); ++k) {
      ASSERT_NEAR(back.wave[k], t.wave[k], 1e-9 * t.wave[k]);
    }
  }
}

TEST(BuiltInSet, IsUsedWhereNothingWasNamedAndSaysSo) {
  ::unsetenv("RR_TEMPLATE_DIR");
  const ChosenTemplates chosen = choose_templates({});
  EXPECT_EQ(chosen.set.size(), 5U);
  EXPECT_NE(chosen.note.find("built-in set physics-1"), std::string::npos) << chosen.note;
  const std::vector<std::string> missing{"/nowhere/rrtemplate.fits"};
  EXPECT_THROW((void)choose_templates(missing), loom::Error);
  ::setenv("RR_TEMPLATE_DIR", "/nowhere", 1);
  EXPECT_THROW((void)choose_templates({}), loom::Error);
  ::unsetenv("RR_TEMPLATE_DIR");
}

}  // namespace
}  // namespace fiberloom::templates
