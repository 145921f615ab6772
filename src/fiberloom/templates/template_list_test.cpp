// SPDX-License-Identifier: BSD-3-Clause
// What a path of the user stands for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fiberloom/status.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/testing/scratch_folder.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::templates {
namespace {

using loom::test::thrown_by;
using Files = std::vector<std::string>;

class TemplateList : public ScratchFolder {
 protected:
  void SetUp() override {
    ScratchFolder::SetUp();
    ::unsetenv("RR_TEMPLATE_DIR");
    ::unsetenv("RR_ARCHETYPE_DIR");
    for (const char* name : {"rrtemplate-b.fits", "rrtemplate-a.fits", "other.fits",
                             "rrtemplate-c.txt", "rrarchetype-y.fits", "rrarchetype-x.fits.gz"}) {
      (void)put(name);
    }
  }
  void TearDown() override {
    ::unsetenv("RR_TEMPLATE_DIR");
    ::unsetenv("RR_ARCHETYPE_DIR");
    ScratchFolder::TearDown();
  }
};

TEST_F(TemplateList, OneFileOrSeveralAreThemselves) {
  EXPECT_EQ(find_templates(Files{path("other.fits")}), Files{path("other.fits")});
  const Files two{path("other.fits"), path("rrtemplate-b.fits")};
  EXPECT_EQ(find_templates(two), two);
  EXPECT_EQ(thrown_by([&] { (void)find_templates(Files{path("none.fits")}); }).status,
            Status::kNotFound);
}

TEST_F(TemplateList, AFolderHasAListOrItsFilesInOrder) {
  const Files all{path("rrtemplate-a.fits"), path("rrtemplate-b.fits")};
  EXPECT_EQ(find_templates(Files{root_}), all);
  std::filesystem::rename(path("rrtemplate-b.fits"), path("rrtemplate-b.FITS"));
  EXPECT_EQ(find_templates(Files{root_}), (Files{all[0], path("rrtemplate-b.FITS")}));
  std::filesystem::rename(path("rrtemplate-b.FITS"), path("rrtemplate-b.fits"));
  (void)put("templates-default.txt",
            "# the best ones\n\n  rrtemplate-b.fits  and a remark\n" + path("other.fits") + "\n");
  EXPECT_EQ(find_templates(Files{root_}), (Files{path("rrtemplate-b.fits"), path("other.fits")}));
  (void)put("sub/x.txt", "../other.fits\n");
  EXPECT_EQ(find_templates(Files{path("sub/x.txt")}), Files{path("sub/../other.fits")});
}

TEST_F(TemplateList, AListIsInTheFolderWhereItLies) {
  (void)put("mine.txt", "rrtemplate-a.fits\n");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root_);
  const Files found = find_templates(Files{"mine.txt"});
  std::filesystem::current_path(before);
  EXPECT_EQ(found, Files{"rrtemplate-a.fits"});
}

TEST_F(TemplateList, FaultsOfAListNameTheLine) {
  (void)put("bad.txt", "rrtemplate-a.fits\nmissing.fits\n");
  const auto missing = thrown_by([&] { (void)find_templates(Files{path("bad.txt")}); });
  EXPECT_EQ(missing.status, Status::kNotFound);
  EXPECT_TRUE(missing.says("names missing.fits")) << missing.message;
  (void)put("empty.txt", "# nothing\n");
  EXPECT_EQ(thrown_by([&] { (void)find_templates(Files{path("empty.txt")}); }).status,
            kBadTemplate);
  std::filesystem::create_directory(path("none"));
  EXPECT_EQ(thrown_by([&] { (void)find_templates(Files{path("none")}); }).status,
            Status::kNotFound);
}

TEST_F(TemplateList, WithoutAPathTheEnvironmentThenTheInstallationIsAsked) {
  const Files all{path("rrtemplate-a.fits"), path("rrtemplate-b.fits")};
  EXPECT_EQ(thrown_by([&] { (void)find_templates({}); }).status, Status::kNotFound);
  EXPECT_EQ(find_templates({}, Files{path("nowhere"), root_}), all);
  ::setenv("RR_TEMPLATE_DIR", path("other.fits").c_str(), 1);
  EXPECT_EQ(find_templates({}, Files{root_}), Files{path("other.fits")});
}

TEST_F(TemplateList, ArchetypesAreFoundLikewise) {
  const Files both{path("rrarchetype-x.fits.gz"), path("rrarchetype-y.fits")};
  EXPECT_EQ(find_archetypes(root_), both);
  EXPECT_EQ(find_archetypes(path("other.fits")), Files{path("other.fits")});
  EXPECT_EQ(thrown_by([&] { (void)find_archetypes(""); }).status, Status::kNotFound);
  ::setenv("RR_ARCHETYPE_DIR", root_.c_str(), 1);
  EXPECT_EQ(find_archetypes(""), both);
  std::filesystem::create_directory(path("none"));
  EXPECT_EQ(thrown_by([&] { (void)find_archetypes(path("none")); }).status, Status::kNotFound);
}

}  // namespace
}  // namespace fiberloom::templates
