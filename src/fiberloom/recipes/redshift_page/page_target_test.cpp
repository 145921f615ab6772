// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/page_target.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "loom/json/json.hpp"

namespace fiberloom::redshift_page {
namespace {

ShownFit fit(const char* type, double z, double chi2) {
  ShownFit out;
  out.fit.spectype = type;
  out.fit.z = z;
  out.fit.chi2 = chi2;
  return out;
}

TEST(FitOfRow, TakesWhatIsThereAndLeavesWhatIsNot) {
  Table table;
  const std::vector<double> z{0.5, NAN};
  const std::vector<std::string> types{"QSO", "STAR"};
  table.add("Z", z).add("SPECTYPE", types, 6);
  EXPECT_EQ(fit_of_row(table, 0).fit.z, 0.5);
  EXPECT_EQ(fit_of_row(table, 0).fit.spectype, "QSO");
  EXPECT_EQ(fit_of_row(table, 1).fit.z, 0);
  EXPECT_EQ(fit_of_row(table, 1).fit.zwarn, 0U);
  EXPECT_FALSE(fit_of_row(table, 0).probability);
  EXPECT_TRUE(fit_of_row(table, 0).fit.coefficients.empty());
}

TEST(OrderedFits, TheRowOfTheTableComesFirstAndOnce) {
  const auto all = ordered_fits(fit("GALAXY", 0.50001, 10),
                                {fit("QSO", 0.5, 9), fit("GALAXY", 0.5, 10), fit("GALAXY", 1, 20)});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].fit.z, 0.50001);
  EXPECT_EQ(all[1].fit.spectype, "QSO");
  EXPECT_EQ(all[2].fit.z, 1);
}

TEST(JoinedCurves, SubtypesOfOneGridBecomeTheirLeast) {
  const auto out = joined_curves({{"STAR:::A", 1, {3, 5, NAN}},
                                  {"QSO:::HIZ", 2, {7}},
                                  {"STAR:::B", 1, {4, 2, 6}},
                                  {"QSO:::LOZ", 3, {8, 9}}});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].name, "STAR");
  EXPECT_EQ(out[0].chi2, (std::vector<double>{3, 2, 6}));
  EXPECT_EQ(out[1].name, "QSO:::HIZ");  // of a grid of its own: as it was
}

TEST(TargetBytes, BeginWithJsonThatNamesEveryArray) {
  PageTarget target;
  target.cameras.push_back({0, {1, 2, 3}, {1, 0, 1}, {{1, 2, 3}, {}}});
  target.fits = {fit("GALAXY", 0.5, 10), fit("QSO", 1, INFINITY)};
  target.curves.push_back({"GALAXY", 0, {12, 10, 11, 30}});
  const auto bytes = target_bytes(target, "[[\"A\",1]]");
  const std::size_t size = bytes[0] | (bytes[1] << 8U);
  const auto head = Json::parse(
      std::string(bytes.begin() + 4, bytes.begin() + 4 + static_cast<std::ptrdiff_t>(size)));
  ASSERT_TRUE(head);
  EXPECT_EQ(head->at("least").get<double>(), 10);
  EXPECT_TRUE(head->at("fits").elements()[1].at("chi2").is_null());
  EXPECT_TRUE(head->at("cameras").elements()[0].at("models").elements()[1].is_null());
  EXPECT_EQ(head->at("facts").size(), 1U);
  // sigma, flux, one model, one curve
  EXPECT_EQ(bytes.size(), 4 + size + 3 + 6 + 6 + 8);
}

}  // namespace
}  // namespace fiberloom::redshift_page
