// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fiberloom/redshift/candidate.hpp"

namespace fiberloom {
namespace {

using Rows = std::vector<std::vector<std::size_t>>;

constexpr std::int32_t kBroken = 1 << 2, kPoorPosition = 1 << 10, kBadPosition = 1 << 9,
                       kBadAmpR = 1 << 23, kUnassigned = 1;

Table exposures(const std::vector<std::int32_t>& status) {
  const std::size_t n = status.size();
  std::vector<std::int64_t> ids, bits;
  std::vector<double> mjd, x, ra, dec;
  std::vector<std::int32_t> night, tile;
  for (std::size_t i = 0; i < n; ++i) {
    ids.push_back(i < 2 ? 5 : 6);
    bits.push_back(std::int64_t{1} << (40 + i));
    mjd.push_back(100 + static_cast<double>(i));
    x.push_back(static_cast<double>(i) - 1);
    ra.push_back(i == 0 ? 359.9999 : 0.0001);
    dec.push_back(60);
    night.push_back(static_cast<std::int32_t>(i));
    tile.push_back(80);
  }
  Table t;
  t.add("TARGETID", std::span<const std::int64_t>(ids));
  t.add("FIBERSTATUS", std::span<const std::int32_t>(status));
  t.add("DESI_TARGET", std::span<const std::int64_t>(bits));
  t.add("MJD", std::span<const double>(mjd)).add("DELTA_X", std::span<const double>(x));
  t.add("FIBER_RA", std::span<const double>(ra)).add("FIBER_DEC", std::span<const double>(dec));
  t.add("NIGHT", std::span<const std::int32_t>(night));
  t.add("TILEID", std::span<const std::int32_t>(tile));
  return t;
}

TEST(TablesOfTargets, FibermapsBecomeOneRowATarget) {
  const Table in = exposures({kPoorPosition, kPoorPosition, 0});
  const CoaddedFibermap out = coadd_fibermap(in, Rows{{0, 1}, {2}});
  const Table& t = out.targets;
  EXPECT_EQ(t.integers("TARGETID", 0), (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(t.integers("COADD_FIBERSTATUS", -1), (std::vector<std::int64_t>{kPoorPosition, 0}));
  EXPECT_EQ(t.column("COADD_NUMEXP"), (std::vector<double>{2, 1}));
  EXPECT_EQ(t.column("COADD_NUMNIGHT"), (std::vector<double>{2, 1}));
  EXPECT_EQ(t.column("COADD_EXPTIME"), (std::vector<double>{-1, -1}));  // no column EXPTIME
  EXPECT_EQ(t.column("MEAN_DELTA_X"), (std::vector<double>{-0.5, 1}));
  EXPECT_NEAR(t.column("RMS_DELTA_X")->at(0), std::sqrt(0.5), 1e-7);
  EXPECT_EQ(t.column("MEAN_MJD"), (std::vector<double>{100.5, 102}));
  EXPECT_NEAR(t.column("MEAN_FIBER_RA")->at(0), 0, 1e-9);  // across 0 degrees
  EXPECT_NEAR(t.column("STD_FIBER_RA")->at(0), 0.0001 * 3600 / 2, 1e-6);
  EXPECT_EQ(t.integers("DESI_TARGET", 0)->at(0), (std::int64_t{3} << 40));
  for (const char* gone : {"MJD", "NIGHT", "DELTA_X", "FIBER_RA", "FIBERSTATUS"}) {
    EXPECT_EQ(t.find(gone), nullptr) << gone;
  }
  EXPECT_NE(t.find("TILEID"), nullptr);  // one tile
  EXPECT_EQ(out.exposures.rows, 3U);
  EXPECT_NE(out.exposures.find("MJD"), nullptr);
  EXPECT_EQ(out.exposures.find("DESI_TARGET"), nullptr);
  EXPECT_EQ(out.exposures.column("IN_COADD_R"), (std::vector<double>{1, 1, 1}));
}

TEST(TablesOfTargets, BadExposuresAreLeftOutUnlessAllAre) {
  const CoaddedFibermap out =
      coadd_fibermap(exposures({kBroken, kBadAmpR, kBroken}), Rows{{0, 1}, {2}});
  EXPECT_EQ(out.targets.column("COADD_NUMEXP"), (std::vector<double>{1, 0}));
  EXPECT_EQ(out.targets.column("MEAN_MJD"), (std::vector<double>{101, 102}));
  EXPECT_EQ(out.targets.integers("COADD_FIBERSTATUS", -1),
            (std::vector<std::int64_t>{kBadAmpR, kBroken}));
  EXPECT_EQ(out.exposures.column("IN_COADD_B"), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(out.exposures.column("IN_COADD_R"), (std::vector<double>{0, 0, 0}));
}

TEST(TablesOfTargets, AFibermapHasBitsOfZwarn) {
  namespace zw = redshift::zwarn;
  Table t;
  const std::vector<std::int32_t> status{0,        kPoorPosition, kBroken, kBadPosition,
                                         kBadAmpR, kUnassigned,   0,       0};
  const std::vector<std::string> type{"TGT", "TGT", "TGT", "TGT", "TGT", "TGT", "SKY", "BAD"};
  t.add("COADD_FIBERSTATUS", std::span<const std::int32_t>(status));
  t.add("OBJTYPE", std::span<const std::string>(type), 3);
  EXPECT_EQ(zwarn_of(t), (std::vector<std::uint32_t>{0, zw::kPoorData, zw::kNoData | zw::kUnplugged,
                                                     zw::kNoData, zw::kLittleCoverage, zw::kNoData,
                                                     zw::kSky, zw::kNoData | zw::kBadTarget}));
  Table nothing;
  const std::vector<double> z{1, 2};
  nothing.add("Z", std::span<const double>(z));
  EXPECT_EQ(zwarn_of(nothing), (std::vector<std::uint32_t>{0, 0}));
}

TEST(TablesOfTargets, StackedTablesHaveTheColumnsOfAll) {
  Table a, b;
  const std::vector<double> one{1, 2}, two{3};
  const std::vector<std::string> text{"ab", "c"}, longer{"defg"};
  a.add("X", std::span<const double>(one)).add("ONLY", std::span<const double>(one));
  a.add("T", std::span<const std::string>(text), 2);
  b.add("T", std::span<const std::string>(longer), 4).add("X", std::span<const double>(two));
  const std::vector<Table> both{a, b};
  const Table out = stack(both);
  EXPECT_EQ(out.rows, 3U);
  EXPECT_EQ(out.columns.size(), 2U);
  EXPECT_EQ(out.column("X"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(out.text_column("T"), (std::vector<std::string>{"ab", "c", "defg"}));
}

TEST(TablesOfTargets, StackedNumbersStayWhateverTheyAreStoredAs) {
  constexpr std::int64_t id = 39627788403084375;  // no double has it
  Table a, b, c;
  const std::vector<std::int64_t> one{id};
  const std::vector<std::int32_t> small{7}, status{kBadAmpR};
  const std::vector<float> single{0.5F};
  const std::vector<double> twice{1e-9};
  a.add("TARGETID", std::span(one)).add("X", std::span(single));
  b.add("X", std::span(twice)).add("TARGETID", std::span(small));
  b.columns.back().undefined = 7;
  b.add("FIBERSTATUS", std::span(status));
  c.add("TARGETID", std::span(one)).add("X", std::span(single)).add("FIBERSTATUS", std::span(one));
  const std::vector<Table> all{a, b, c};
  const Table out = stack(all);
  EXPECT_EQ(out.integers("TARGETID", -1), (std::vector<std::int64_t>{id, -1, id}));
  EXPECT_EQ(out.column("X"), (std::vector<double>{0.5, 1e-9, 0.5}));
  EXPECT_EQ(out.integers("FIBERSTATUS", -1), (std::vector<std::int64_t>{0, kBadAmpR, id}));
}

TEST(TablesOfTargets, StatusOfOtherCamerasIsAdded) {
  Table in = exposures({kPoorPosition, 0, 0}), bare;
  in.descriptions = {"of the file"};
  const std::vector<std::int64_t> nothing{0, 0, 0}, bits{kBadAmpR, 0, kBroken};
  join_status(nothing, in);
  EXPECT_EQ(in.descriptions.size(), 1U) << "as it was";
  join_status(bits, in);
  EXPECT_EQ(in.integers("FIBERSTATUS", -1),
            (std::vector<std::int64_t>{kPoorPosition | kBadAmpR, 0, kBroken}));
  EXPECT_EQ(in.columns[1].name, "FIBERSTATUS") << "in its place";
  EXPECT_TRUE(in.descriptions.empty());
  bare.add("TARGETID", std::span(bits));
  join_status(bits, bare);
  EXPECT_EQ(bare.integers("FIBERSTATUS", -1), bits);
}

TEST(TablesOfTargets, UnsignedStatusKeepsItsBits) {
  Table in = exposures({kBadAmpR, kBadAmpR, 0});
  for (Column& column : in.columns) {  // as an unsigned column is stored
    if (column.name != "FIBERSTATUS") continue;
    column.zero = 0x1p31;
    for (std::size_t r = 0; r < in.rows; ++r) column.data[4 * r + 3] ^= 0x80U;
  }
  ASSERT_EQ(in.integers("FIBERSTATUS", -1), (std::vector<std::int64_t>{kBadAmpR, kBadAmpR, 0}));
  const Table out = coadd_fibermap(in, Rows{{0, 1}, {2}}).targets;
  EXPECT_EQ(out.integers("COADD_FIBERSTATUS", -1), (std::vector<std::int64_t>{kBadAmpR, 0}));
}

TEST(TablesOfTargets, ScoresAreSummedOverExposuresAndCameras) {
  Table b, r;
  const std::vector<float> blue{1, 2}, red{10, 20};
  b.add("TSNR2_LRG_B", std::span<const float>(blue)).add("OTHER", std::span<const float>(red));
  r.add("TSNR2_LRG_R", std::span<const float>(red));
  const std::vector<const Table*> tables{&b, &r, nullptr};
  const std::vector<std::int64_t> ids{5, 6};
  const std::vector<std::vector<ScoreRow>> rows{{{0, 0}, {1, 0}, {1, 1}}, {{0, 1}, {2, 0}}};
  const auto out = sum_tsnr2(tables, ids, rows);
  ASSERT_TRUE(out);
  EXPECT_EQ(out->columns.size(), 4U);
  EXPECT_EQ(out->column("TSNR2_LRG_B"), (std::vector<double>{1, 2}));
  EXPECT_EQ(out->column("TSNR2_LRG_R"), (std::vector<double>{30, 0}));
  EXPECT_EQ(out->column("TSNR2_LRG"), (std::vector<double>{31, 2}));
  const std::vector<const Table*> none{nullptr};
  EXPECT_FALSE(sum_tsnr2(none, ids, rows));
}

}  // namespace
}  // namespace fiberloom
