// SPDX-License-Identifier: BSD-3-Clause
// Template files of every kind, each fault with one line; the real ones where they are at hand
// (FIBERLOOM_TEMPLATES_DIR).
#include "fiberloom/templates/template_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "fiberloom/status.hpp"
#include "fiberloom/templates/test_template_files.hpp"
#include "loom/files/gzip.hpp"

namespace fiberloom::templates {
namespace {

using loom::test::Thrown;
using loom::test::thrown_by;
using redshift::Igm;
using redshift::Method;
using test::Parts;

fits::FitsReader opened(const std::vector<std::uint8_t>& bytes) {
  return fits::FitsReader::from_memory(bytes, "t.fits");
}

Template parsed(const std::function<void(Parts&)>& change = {}) {
  return parse_template(opened(test::template_bytes(change)));
}

TEST(TemplateFile, IsReadWithAllThatIsInIt) {
  const Template t = parsed();
  EXPECT_EQ(t.full_type(), "QSO:::HIZ");
  EXPECT_EQ(t.version, "1.1");
  EXPECT_EQ(t.method, Method::kPca);
  EXPECT_EQ(t.igm, Igm::kKamble20);
  ASSERT_EQ(t.nbasis(), 3U);
  ASSERT_EQ(t.wave.size(), 40U);
  EXPECT_DOUBLE_EQ(t.wave[39], std::pow(10, 3.539));
  EXPECT_EQ(t.flux(1, 2), 0.25 * 42 - 3);
  EXPECT_EQ(t.redshifts, (std::vector<double>{1.4, 1.5, 1.625}));
  ASSERT_EQ(t.training.rows(), 2U);
  EXPECT_EQ(t.training(1, 2), 6);
}

TEST(TemplateFile, KeywordsHaveTheMeaningOfTheField) {
  const Template linear = parsed([](Parts& p) {
    p.header.remove("LOGLAM");
    p.header.set("CRVAL1", 3000);
    p.header.set("CDELT1", 0.1);
    p.header.set("RRTYPE", "star");
    p.header.set("RRSUBTYP", "");
    p.header.remove("VERSION");
    p.redshifts.clear();
    p.training.clear();
  });
  EXPECT_DOUBLE_EQ(linear.wave[1], 3000.1);
  EXPECT_EQ(linear.full_type(), "STAR");
  EXPECT_EQ(linear.version, "unknown");
  EXPECT_EQ(linear.igm, Igm::kNone);
  EXPECT_EQ(linear.redshifts.size(), 101U);
  EXPECT_TRUE(linear.training.empty());
  const auto igm = [](const char* type, const char* version, const char* igm_model) {
    return parsed([&](Parts& p) {
             p.header.set("RRTYPE", type);
             p.header.set("VERSION", version);
             if (igm_model != nullptr) p.header.set("RRIGM", igm_model);
           })
        .igm;
  };
  EXPECT_EQ(igm("QSO", "0.1", nullptr), Igm::kCalura12);
  EXPECT_EQ(igm("QSO", "1.0", nullptr), Igm::kCalura12);
  EXPECT_EQ(igm("GALAXY", "2.6", nullptr), Igm::kCalura12);
  EXPECT_EQ(igm("QSO", "1.1", "Inoue14"), Igm::kInoue14);
  EXPECT_EQ(igm("QSO", "1.1", "None"), Igm::kNone);
  EXPECT_EQ(parsed([](Parts& p) { p.header.set("RRMETHOD", "nmf"); }).method, Method::kNmf);
  EXPECT_LT(parsed([](Parts& p) { p.header.set("LOGLAM", 0); }).wave[1], 3.6);
  EXPECT_GT(parsed([](Parts& p) { p.header.set_logical("LOGLAM", true); }).wave[1], 3000);
}

TEST(TemplateFile, DefaultGridsFollowTheRulesGiven) {
  const auto bytes = test::template_bytes([](Parts& p) {
    p.redshifts.clear();
    p.header.set("RRTYPE", "GALAXY");
  });
  EXPECT_EQ(parse_template(opened(bytes)).redshifts.size(), 1446U);
  EXPECT_EQ(parse_template(opened(bytes), {.galaxy = {0, 1, 1e-3}, .qso = {}, .star = {}})
                .redshifts.size(),
            302U);
}

TEST(TemplateFile, EachFaultIsOneLineWithItsCode) {
  constexpr double kNan = NAN;
  const std::vector<std::pair<std::function<void(Parts&)>, const char*>> faults{
      {[](Parts& p) { p.basis_name = "SPECTRUM"; }, "no HDU BASIS_VECTORS, found: SPECTRUM"},
      {[](Parts& p) { p.header.remove("CRVAL1"); }, "CRVAL1: found none"},
      {[](Parts& p) { p.header.set("CDELT1", "x"); }, "CDELT1: found x"},
      {[](Parts& p) { p.header.set("CDELT1", -1e-3); }, "wavelength 1 is"},
      {[](Parts& p) { p.header.set("CRVAL1", 400); }, "wavelength 0 is inf"},
      {[](Parts& p) { p.header.set("LOGLAM", "maybe"); }, "LOGLAM: found maybe"},
      {[](Parts& p) { p.header.remove("RRTYPE"); }, "RRTYPE"},
      {[](Parts& p) { p.header.set("RRMETHOD", "ICA"); }, "RRMETHOD is ICA"},
      {[](Parts& p) { p.header.set("RRIGM", "Madau95"); }, "RRIGM is Madau95"},
      {[](Parts& p) { p.header.set("VERSION", "7"); }, "RRIGM, which QSO templates of version 7"},
      {[](Parts& p) { p.flux[50] = kNan; }, "vector 1, pixel 10 is"},
      {[](Parts& p) { std::fill_n(p.flux.begin() + 40, 40, 0.0); }, "vector 1 is 0 everywhere"},
      {[](Parts& p) {
         p.axes = {20, 3, 2};
       },
       "shape"},
      {[](Parts& p) {
         p.axes = {1, 120};
       },
       "one pixel"},
      {[](Parts& p) { p.redshifts[1] = 1.4; }, "redshift 1 is 1.4"},
      {[](Parts& p) { p.redshifts[0] = -1; }, "redshift 0 is -1"},
      {[](Parts& p) { p.redshifts[2] = kNan; }, "redshift 2 is"},
      {[](Parts& p) { p.training_columns = 2; }, "2 coefficients a row, expected 3"},
      {[](Parts& p) {
         p.redshifts.clear();
         p.header.set("RRTYPE", "PLANET");
       },
       "PLANET"}};
  for (const auto& [change, text] : faults) {
    const Thrown thrown = thrown_by([&] { (void)parsed(change); });
    EXPECT_EQ(thrown.status, kBadTemplate) << text;
    EXPECT_TRUE(thrown.says(text)) << thrown.message;
    EXPECT_TRUE(thrown.says("t.fits")) << thrown.message;
  }
}

TEST(ArchetypeFile, IsReadAndItsFaultsAreNamed) {
  const Archetypes a = parse_archetypes(opened(test::archetype_bytes()));
  EXPECT_EQ(a.spectype, "GALAXY");
  EXPECT_EQ(a.subtypes, (std::vector<std::string>{"ELG_0", "LRG_1"}));
  EXPECT_EQ(a.flux(1, 39), 79);
  EXPECT_DOUBLE_EQ(a.wave[3], 3001.5);
  EXPECT_EQ(a.igm, Igm::kInoue14);
  const auto status = [](const std::vector<std::uint8_t>& bytes) {
    return thrown_by([&] { (void)parse_archetypes(opened(bytes)); }).status;
  };
  EXPECT_EQ(status(test::template_bytes()), kBadTemplate);
  EXPECT_EQ(status(test::archetype_bytes([](RawTable& t) { t.header.remove("RRTYPE"); })),
            kBadTemplate);
  EXPECT_EQ(status(test::archetype_bytes([](RawTable& t) { t.header.set("CDELT1", 0); })),
            kBadTemplate);
  EXPECT_EQ(status(test::archetype_bytes([](RawTable& t) { t.rows = 0, t.data.clear(); })),
            kBadTemplate);
}

TEST(TemplateFile, HasTheNameAndHashOfTheFile) {
  const loom::test::TempFolder folder;
  const auto bytes = test::template_bytes();
  loom::test::write_bytes(folder.file("rrtemplate-a.fits"), bytes);
  loom::test::write_bytes(folder.file("b.fits.gz"), gzip(bytes));
  const Template a = read_template(folder.file("rrtemplate-a.fits"));
  EXPECT_EQ(a.file, "rrtemplate-a.fits");
  EXPECT_EQ(a.hash.size(), 64U);
  EXPECT_EQ(read_template(folder.file("b.fits")).redshifts, a.redshifts);
  const std::vector<std::string> twice{folder.file("rrtemplate-a.fits"), folder.file("b.fits.gz")};
  const Thrown thrown = thrown_by([&] { (void)load_templates(twice); });
  EXPECT_EQ(thrown.status, kBadTemplate);
  EXPECT_TRUE(thrown.says("a second template QSO:::HIZ")) << thrown.message;
  EXPECT_EQ(thrown_by([&] { (void)read_template(folder.file("none.fits")); }).status,
            Status::kNotFound);
  loom::test::write_bytes(folder.file("cut.fits"), std::span(bytes).first(3000));
  EXPECT_EQ(thrown_by([&] { (void)read_template(folder.file("cut.fits")); }).status,
            Status::kCorrupt);
}

TEST(TemplateFile, RealOnesAreRead) {
  const char* folder = std::getenv("FIBERLOOM_TEMPLATES_DIR");
  if (folder == nullptr) GTEST_SKIP() << "FIBERLOOM_TEMPLATES_DIR is not set";
  const auto read = [&](const std::string& name) {
    return read_template(std::string(folder) + "/rrtemplate-" + name + ".fits");
  };
  const Template hiz = read("QSO-HIZ-v1.1"), galaxy = read("galaxy-0.2"), wd = read("STAR-WD-v0.1");
  EXPECT_EQ(hiz.full_type(), "QSO:::HIZ");
  EXPECT_EQ(hiz.igm, Igm::kKamble20);
  EXPECT_EQ(hiz.redshifts.size(), 1046U);
  EXPECT_NEAR(hiz.redshifts.back(), 6.993, 5e-4);
  EXPECT_EQ(read("QSO-LOZ-v1.1").redshifts.size(), 788U);
  EXPECT_EQ(read("QSO-LOZ-v1.0").igm, Igm::kCalura12);
  EXPECT_EQ(galaxy.nbasis(), 5U);
  EXPECT_EQ(galaxy.redshifts.size(), 1446U);
  EXPECT_EQ(galaxy.training.rows(), 750U);
  EXPECT_EQ(wd.wave.size(), 80001U);
  EXPECT_EQ(wd.training.rows(), 20000U);
  EXPECT_EQ(read("STAR-CV-v0.1").nbasis(), 3U);
  const std::vector<std::string> all = find_templates(std::vector<std::string>{folder});
  EXPECT_EQ(all.size(), 12U);
  const Archetypes qso = read_archetypes(std::string(folder) + "/rrarchetype-qso.fits");
  EXPECT_EQ(qso.flux.rows(), 64U);
  EXPECT_EQ(qso.flux.cols(), 13637U);
  EXPECT_EQ(find_archetypes(folder).size(), 2U);
}

}  // namespace
}  // namespace fiberloom::templates
