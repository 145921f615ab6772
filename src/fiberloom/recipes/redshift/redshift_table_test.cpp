// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_table.hpp"

#include <gtest/gtest.h>

namespace fiberloom {
namespace {

using redshift::Candidate;

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const Column& column : table.columns) names.push_back(column.name);
  return names;
}

RedshiftModels one_template() {
  RedshiftModels models;
  models.templates.resize(1);
  models.templates.front().flux = Array2D<double>(2, 3, 0.0);
  return models;
}

RedshiftRow a_row() {
  Candidate best;
  best.coefficients = {1, 2};
  best.spectype = "QSO";
  best.z = 1;
  best.probability = 0.75;
  best.delta_chi2 = 50;
  best.lines.resize(redshift::line_names().size());
  best.lines.front() = {"OII", 3, 4, 80};
  return {7, best, 2, 2, {best}};
}

TEST(RedshiftTable, RedrocksMethodHasRedrocksColumnsAlone) {
  const RedshiftModels models = one_template();
  RedshiftOptions options;
  options.method = RedshiftMethod::kRedrock;
  const std::vector<RedshiftRow> rows{a_row()};
  const auto peers = names_of(redshift_table(rows, widest_shape(models, options, 1)));
  EXPECT_EQ(peers.size(), 12U);
  EXPECT_EQ(peers.back(), "DELTACHI2");
  const auto ours = names_of(redshift_table(rows, widest_shape(models, {}, 1)));
  EXPECT_TRUE(std::equal(peers.begin(), peers.end(), ours.begin()));
  EXPECT_EQ(ours.size(), 12U + 4 + 4 + 3 * redshift::line_names().size());
}

TEST(RedshiftTable, EveryLineHasItsColumns) {
  const std::vector<RedshiftRow> rows{a_row()};
  const Table table = redshift_table(rows, widest_shape(one_template(), {}, 1));
  for (const std::string& line : redshift::line_names()) {
    for (const char* what : {"_FLUX", "_FLUX_IVAR", "_SIGMA"}) {
      EXPECT_TRUE(table.column(line + what)) << line << what;
    }
  }
  EXPECT_EQ(table.column("OII_FLUX")->front(), 3);
  EXPECT_EQ(table.column("OII_FLUX_IVAR")->front(), 4);
  EXPECT_EQ(table.column("OII_SIGMA")->front(), 80);
  EXPECT_EQ(table.column("MGII_FLUX")->front(), 0);
}

TEST(RedshiftTable, CandidatesAreNumberedAndHaveNoLines) {
  const std::vector<RedshiftRow> rows{a_row(), a_row()};
  const Table table = candidate_table(rows, widest_shape(one_template(), {}, 1));
  EXPECT_EQ(*table.column("ZNUM"), (std::vector<double>{0, 1, 0, 1}));
  EXPECT_EQ(table.column("PROBABILITY")->front(), 0.75);
  EXPECT_FALSE(table.column("OII_FLUX"));
  EXPECT_FALSE(table.find("GOOD_Z_BGS"));
}

TEST(RedshiftTable, AFibresFaultTakesTheCutsAway) {
  Candidate c = a_row().best;
  apply_verdict(0, c);
  EXPECT_EQ(c.quality & redshift::quality::kBgs, redshift::quality::kBgs);
  EXPECT_EQ(c.quality & redshift::quality::kQso, redshift::quality::kQso);
  apply_verdict(redshift::zwarn::kPoorData, c);
  EXPECT_EQ(c.quality & (redshift::quality::kBgs | redshift::quality::kQso), 0U);
  apply_verdict(redshift::zwarn::kNoData, c);
  EXPECT_EQ(c.probability, 0);
  EXPECT_TRUE(c.lines.empty());
}

}  // namespace
}  // namespace fiberloom
