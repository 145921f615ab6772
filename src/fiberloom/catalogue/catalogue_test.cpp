// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "fiberloom/catalogue/errors.hpp"
#include "fiberloom/catalogue/selection.hpp"
#include "fiberloom/catalogue/test_groups.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/testing/postgres_server.hpp"
#include "loom/testing/scratch_folder.hpp"

namespace fiberloom::catalogue {
namespace {

using Rows = std::vector<std::vector<db::Value>>;

test::PostgresServer& server() {
  static test::PostgresServer one;
  return one;
}

class CatalogueTest : public ScratchFolder, public testing::WithParamInterface<db::Kind> {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "fiberloom_catalogue_" + std::to_string(::getpid());
    std::filesystem::create_directories(root_);
    if (!db::available(GetParam())) GTEST_SKIP() << "not in this build";
    url_ = path("catalogue.sqlite");
    if (GetParam() == db::Kind::kPostgres) {
      if (test::PostgresServer::programs().empty()) GTEST_SKIP() << "no PostgreSQL server here";
      ASSERT_TRUE(server().works());
      std::string name =
          loom::in_small_letters(testing::UnitTest::GetInstance()->current_test_info()->name());
      std::ranges::replace(name, '/', '_');
      url_ = server().make(name);
    }
    catalogue_ = std::make_unique<Catalogue>(url_, db::OpenOptions{db::Access::kWrite, 5});
  }
  void TearDown() override {
    catalogue_.reset();
    ScratchFolder::TearDown();
  }
  Rows rows(db::Query query) {
    Rows out;
    const auto reader = db::open(url_, {db::Access::kRead, 5});
    reader->read(query, {.columns = {}, .row = [&](std::span<const db::Value> row) {
                           out.emplace_back(row.begin(), row.end());
                           return true;
                         }});
    return out;
  }
  Rows rows(const std::string& sql) { return rows(db::Query{.sql = sql, .values = {}}); }
  std::int64_t count(const std::string& table) {
    return std::get<std::int64_t>(rows("SELECT count(*) FROM " + table).at(0).at(0));
  }

  std::string url_;
  std::unique_ptr<Catalogue> catalogue_;
};

TEST_P(CatalogueTest, AGroupThatComesAgainTakesThePlaceOfItself) {
  RedshiftGroup group = test_group(80613, 20210324, {{1, 0.5, 10, 20}, {2, 0.7, 11, 21, 4}});
  EXPECT_FALSE(catalogue_->has(group.labels, group.path, group.stamp));
  EXPECT_EQ(catalogue_->put(group), 2U);
  EXPECT_TRUE(catalogue_->has(group.labels, group.path, group.stamp));
  EXPECT_FALSE(catalogue_->has(group.labels, "moved/" + group.path, group.stamp));
  group = test_group(80613, 20210324, {{2, 0.8, 11, 21}, {3, 0.9, 12, 22}});
  group.stamp = "2";
  catalogue_->put(group);
  EXPECT_FALSE(catalogue_->has(group.labels, group.path, "1"));
  EXPECT_EQ(rows("SELECT targetid, z, zwarn, tileid, spgrp FROM ztile ORDER BY targetid"),
            (Rows{{std::int64_t{2}, 0.8, std::int64_t{0}, std::int64_t{80613}, "cumulative"},
                  {std::int64_t{3}, 0.9, std::int64_t{0}, std::int64_t{80613}, "cumulative"}}));
  EXPECT_EQ(count("spgroup"), 1);
  EXPECT_EQ(count("fiberassign"), 3) << "what was assigned stays assigned";
  EXPECT_EQ(rows("SELECT ra, dec FROM photometry WHERE targetid = 3"), (Rows{{12.0, 22.0}}));
}

TEST_P(CatalogueTest, WhatNoLongerLiesBesideRedshiftsIsForgotten) {
  RedshiftGroup group = test_group(1, 20210101, {{7, 0.1, 10, 20}});
  group.locations = {{"redshifts", "/a/rr"}, {"details", "/a/details"}, {"models", "/a/models"}};
  catalogue_->put(group);
  catalogue_->put(SpectraGroup{group.labels, {}, {}, {"coadd", "/c/coadd"}});
  group.locations = {{"redshifts", "/b/rr"}, {"models", "/b/models"}};
  catalogue_->put(group);
  EXPECT_EQ(rows("SELECT kind, path FROM location ORDER BY kind"),
            (Rows{{"coadd", "/c/coadd"}, {"models", "/b/models"}, {"redshifts", "/b/rr"}}));
}

TEST_P(CatalogueTest, TheBestOfSeveralFitsHasNoWarningAndTheDeepestExposure) {
  catalogue_->put(test_group(1, 20210101, {{7, 0.1, 10, 20, 4, "GALAXY", 99}}));
  catalogue_->put(test_group(2, 20210102, {{7, 0.2, 10, 20, 0, "GALAXY", 5}}));
  catalogue_->put(test_group(3, 20210103, {{7, 0.3, 10, 20, 0, "QSO", 8}}));
  EXPECT_EQ(rows("SELECT z FROM zbest"), (Rows{{0.3}}));
  EXPECT_EQ(rows("SELECT z, zcat_nspec, zcat_primary FROM ztile ORDER BY z"),
            (Rows{{0.1, std::int64_t{3}, std::int64_t{0}},
                  {0.2, std::int64_t{3}, std::int64_t{0}},
                  {0.3, std::int64_t{3}, std::int64_t{1}}}));
  EXPECT_EQ(count("zpix"), 0);
}

TEST_P(CatalogueTest, AFileWithTwoRowsOfATargetLeavesTheCatalogueAsItWas) {
  catalogue_->put(test_group(1, 20210101, {{7, 0.1, 10, 20}}));
  try {
    catalogue_->put(test_group(1, 20210101, {{8, 0.1, 10, 20}, {8, 0.2, 10, 20}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kCorrupt);
  }
  EXPECT_EQ(rows("SELECT targetid FROM zbest"), (Rows{{std::int64_t{7}}}));
}

TEST_P(CatalogueTest, OfManyAtOnceOneThatIsWrongLeavesNothingAndTheOthersStay) {
  catalogue_->begin_many();
  catalogue_->put(test_group(1, 20210101, {{7, 0.1, 10, 20}}));
  EXPECT_THROW(catalogue_->put(test_group(2, 20210101, {{8, 0.1, 10, 20}, {8, 0.2, 10, 20}})),
               Error);
  catalogue_->put(test_group(3, 20210101, {{9, 0.3, 10, 20}}));
  EXPECT_EQ(count("redshift"), 0) << "nobody sees it before the end";
  catalogue_->end_many();
  EXPECT_EQ(rows("SELECT targetid FROM zbest ORDER BY targetid"),
            (Rows{{std::int64_t{7}}, {std::int64_t{9}}}));
  EXPECT_EQ(count("spgroup"), 2);
}

TEST_P(CatalogueTest, RowsOfTheFibermapBelongToTheirTargetsNotToTheirPlaces) {
  RedshiftGroup group = test_group(1, 20210101, {{1, 0.1, 10, 20}, {2, 0.2, 30, 40}});
  const std::vector<std::size_t> turned{1, 0};
  group.fibermap = group.fibermap->take(turned);
  catalogue_->put(group);
  EXPECT_EQ(rows("SELECT z, target_ra FROM zbest ORDER BY targetid"),
            (Rows{{0.1, 10.0}, {0.2, 30.0}}));
}

TEST_P(CatalogueTest, FramesExposuresAndTilesComeFromHeaders) {
  FrameRecord frame{.kind = "cframe",
                    .path = "/n/cframe-r1-00000042.fits",
                    .stamp = "s",
                    .camera = "r1",
                    .nspec = 500,
                    .header = {},
                    .fibermap = {},
                    .scores = {}};
  const std::vector<std::int64_t> expid{42}, night{20210324}, tile{80613};
  const std::vector<double> exptime{900}, mjd{59297.5};
  frame.header.add("EXPID", std::span<const std::int64_t>(expid))
      .add("NIGHT", std::span<const std::int64_t>(night))
      .add("TILEID", std::span<const std::int64_t>(tile))
      .add("EXPTIME", std::span<const double>(exptime))
      .add("MJD-OBS", std::span<const double>(mjd));
  catalogue_->put(frame);
  catalogue_->put(frame);
  EXPECT_TRUE(catalogue_->has_frame(4211, "cframe", frame.path, "s"));
  EXPECT_FALSE(catalogue_->has_frame(4211, "cframe", "moved/" + frame.path, "s"));
  EXPECT_EQ(rows("SELECT frameid, camera, petal, nspec FROM frame"),
            (Rows{{std::int64_t{4211}, "r1", std::int64_t{1}, std::int64_t{500}}}));
  EXPECT_EQ(rows("SELECT expid, night, mjd FROM exposure"),
            (Rows{{std::int64_t{42}, std::int64_t{20210324}, 59297.5}}));
  EXPECT_EQ(rows("SELECT nexp, exptime, lastnight FROM tile"),
            (Rows{{std::int64_t{1}, 900.0, std::int64_t{20210324}}}));
  catalogue_->put(QualityRecord{42, "cframe", "r1", 1, {{"MEDIAN_SNR", 2.5}}});
  catalogue_->put(QualityRecord{42, "cframe", "r1", 1, {{"MEDIAN_SNR", 3.5}}});
  EXPECT_EQ(rows("SELECT name, value FROM quality"), (Rows{{"MEDIAN_SNR", 3.5}}));
  catalogue_->put_effective_time(42, 870.5);
  catalogue_->put(frame);  // which does not know it
  EXPECT_EQ(rows("SELECT expid, night, efftime_spec FROM exposure"),
            (Rows{{std::int64_t{42}, std::int64_t{20210324}, 870.5}}));
}

TEST_P(CatalogueTest, AConeFindsWhatADistanceDoesNearestFirst) {
  std::vector<TestRow> stars;
  for (std::int64_t i = 0; i < 2000; ++i) {
    const double t = static_cast<double>(i);
    stars.push_back({i, 0.001 * t, 359.9 + 0.2 * std::fmod(t * 0.618034, 1.0),
                     89.0 + 0.9 * std::fmod(t * 0.754878, 1.0)});
  }
  catalogue_->put(test_group(1, 20210101, stars));
  for (const auto& [ra, dec, arcsec] : {std::tuple{359.99, 89.5, 400.0},
                                        {0.05, 89.9, 30.0},
                                        {180.0, 89.99, 1200.0},
                                        {10.0, -30.0, 3600.0}}) {
    Selection selection;
    selection.cone = Cone{ra, dec, arcsec};
    selection.columns = {"targetid"};
    std::vector<std::pair<double, std::int64_t>> expected;
    const auto radian = [](double deg) { return deg * M_PI / 180; };
    for (const TestRow& s : stars) {
      const double a = std::pow(std::sin(radian(s.dec - dec) / 2), 2) +
                       std::cos(radian(s.dec)) * std::cos(radian(dec)) *
                           std::pow(std::sin(radian(s.ra - ra) / 2), 2);
      const double angle = 2 * std::asin(std::sqrt(a));
      if (angle <= radian(arcsec / 3600)) expected.emplace_back(angle, s.id);
    }
    std::sort(expected.begin(), expected.end());
    std::vector<std::int64_t> want, got;
    for (const auto& pair : expected) want.push_back(pair.second);
    for (const auto& row : rows(query_of(selection))) {
      got.push_back(std::get<std::int64_t>(row.at(0)));
    }
    EXPECT_EQ(got, want) << ra << " " << dec;
  }
}

TEST_P(CatalogueTest, ClassesRedshiftsAndTargetsAreSelectedTogether) {
  catalogue_->put(test_group(5, 20210101,
                             {{1, 0.5, 10, 20, 0, "GALAXY"},
                              {2, 2.5, 10, 20, 0, "QSO"},
                              {3, 2.6, 10, 20, 4, "QSO"},
                              {4, 3.5, 10, 20, 0, "QSO"}}));
  Selection s;
  s.columns = {"targetid", "z"};
  s.classes = {"QSO"};
  s.z_min = 2;
  s.z_max = 3;
  EXPECT_EQ(rows(query_of(s)).size(), 2U);
  s.good = true;
  EXPECT_EQ(rows(query_of(s)), (Rows{{std::int64_t{2}, 2.5}}));
  s.targetids = {1, 3};
  EXPECT_TRUE(rows(query_of(s)).empty());
  for (const std::string& from : selectable()) {
    Selection all;
    all.from = from;
    (void)rows(query_of(all));
    all.columns = {"*"};
    (void)rows(query_of(all));
  }
}

TEST_P(CatalogueTest, HasAnIdentityThatStaysAndIsNobodyElses) {
  const std::string identity = catalogue_->identity();
  EXPECT_EQ(identity.size(), 32U);
  EXPECT_EQ(catalogue_->identity(), identity);
  EXPECT_EQ(Catalogue(url_, {db::Access::kRead, 5}).identity(), identity);
  EXPECT_EQ(Catalogue(url_, {db::Access::kWrite, 5}).identity(), identity);
  catalogue_->connection().execute("DELETE FROM catalogue_info WHERE key = 'identity'");
  EXPECT_EQ(Catalogue(url_, {db::Access::kRead, 5}).identity(), "") << "of a program before this";
  EXPECT_NE(catalogue_->identity(), identity);
}

TEST_P(CatalogueTest, ANewerCatalogueIsNotTouched) {
  catalogue_->connection().execute(
      "UPDATE catalogue_info SET value = '99' WHERE key = 'schema_version'");
  try {
    Catalogue again(url_, {db::Access::kWrite, 1});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), kNewerSchema);
    EXPECT_NE(std::string(error.what()).find("version 99"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, CatalogueTest,
                         testing::Values(db::Kind::kSqlite, db::Kind::kPostgres),
                         [](const auto& which) {
                           return which.param == db::Kind::kSqlite ? "Sqlite" : "Postgres";
                         });

TEST(GroupKey, NamesWhatAGroupIsOf) {
  GroupLabels labels;
  labels.file = "/a/redrock-x.fits";
  EXPECT_EQ(labels.key(), "file /a/redrock-x.fits");
  labels.spgrp = "cumulative";
  labels.spgrpval = 20210324;
  labels.tileid = 80613;
  labels.petal = 4;
  EXPECT_EQ(labels.key(), "cumulative 20210324 tile 80613 petal 4");
  labels.petal.reset();  // ten petals would be one
  EXPECT_EQ(labels.key(), "cumulative 20210324 tile 80613 file /a/redrock-x.fits");
  labels = {};
  labels.spgrp = "healpix";
  labels.survey = "main";
  labels.program = "dark";
  labels.healpix = 1234;
  EXPECT_EQ(labels.key(), "healpix main dark 1234");
  labels.nside = 64;
  EXPECT_EQ(labels.key(), "healpix main dark 1234");
  labels.nside = 32;
  EXPECT_EQ(labels.key(), "healpix main dark 1234 nside 32");
  labels.file = "/a/redrock-x.fits";
  labels.survey = labels.program = "";
  EXPECT_EQ(labels.key(), "healpix - - 1234 nside 32 file /a/redrock-x.fits");
}

TEST(FrameId, IsTheFields) {
  EXPECT_EQ(frame_id(42, "b0"), 4200);
  EXPECT_EQ(frame_id(42, "z9"), 4229);
  EXPECT_FALSE(frame_id(42, "x1"));
  EXPECT_FALSE(frame_id(42, "r10"));
}

}  // namespace
}  // namespace fiberloom::catalogue
