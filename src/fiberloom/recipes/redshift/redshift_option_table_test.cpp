// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "fiberloom/recipes/redshift/redshift_kind.hpp"
#include "fiberloom/recipes/redshift/redshift_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

Status thrown_by(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

const RedshiftOptionRow& row(const std::string& key) {
  for (const RedshiftOptionRow& r : redshift_option_rows()) {
    if (r.key == key) return r;
  }
  throw std::logic_error(key);
}

TEST(RedshiftOptions, KeysAndNamesAreUnique) {
  std::set<std::string> keys, names;
  for (const RedshiftOptionRow& r : redshift_option_rows()) {
    EXPECT_TRUE(keys.insert(r.key).second) << r.key;
    EXPECT_TRUE(names.insert(loom::long_name(r.names)).second) << r.names;
  }
}

TEST(RedshiftOptions, EveryNumberOfAReceiptChangesItsText) {
  const std::string initial = redshift_options_text({});
  const std::map<std::string, std::string> other{{"targetids", "5,-7"},
                                                 {"mintarget", "3"},
                                                 {"ntargets", "4"},
                                                 {"allspec", "true"},
                                                 {"cosmics_nsig", "3"},
                                                 {"negflux_nsig", "4"},
                                                 {"skymask", "false"},
                                                 {"subtract_sky", "false"},
                                                 {"sky_continuum", "false"},
                                                 {"use_andmask", "true"},
                                                 {"use_frames", "true"},
                                                 {"thing_id", "false"},
                                                 {"least_coverage", "0.5"},
                                                 {"archetypes_everywhere", "true"},
                                                 {"method", "exact"},
                                                 {"nminima", "5"},
                                                 {"evidence", "false"},
                                                 {"type_shares", "5,1,2"},
                                                 {"candidates", "2"},
                                                 {"resolution_sigma", "1.5"},
                                                 {"zminfit_npoints", "9"},
                                                 {"zscan_galaxy", "0,1,1e-3"},
                                                 {"zscan_qso", "0,1,1e-3"},
                                                 {"zscan_star", "-1e-3,1e-3,1e-5"},
                                                 {"archetype_legendre_degree", "3"},
                                                 {"archetype_legendre_percamera", "False"},
                                                 {"archetype_legendre_prior", "0.2"},
                                                 {"archetype_nnearest", "2"},
                                                 {"archetypes_no_legendre", "true"}};
  for (const RedshiftOptionRow& r : redshift_option_rows()) {
    if (!r.decides_numbers) continue;
    RedshiftJob job;
    loom::set_option(r, job, other.at(r.key));
    EXPECT_NE(redshift_options_text(job), initial) << r.key;
  }
}

TEST(RedshiftOptions, TextThatIsNoneIsRefused) {
  RedshiftJob job;
  for (const auto& [key, text] :
       std::vector<std::pair<std::string, std::string>>{{"nminima", "0"},
                                                        {"nminima", "1.5"},
                                                        {"targetids", "1,,2"},
                                                        {"targetids", "x"},
                                                        {"zscan_star", "1,2"},
                                                        {"zscan_star", "a,b,c"},
                                                        {"type_shares", "1,2"},
                                                        {"type_shares", "1,0,1"},
                                                        {"type_shares", "1,nan,1"},
                                                        {"negflux_nsig", "nan"},
                                                        {"method", "best"},
                                                        {"archetype_legendre_percamera", "true"},
                                                        {"mintarget", "-1"}}) {
    EXPECT_EQ(thrown_by([&] { loom::set_option(row(key), job, text); }), Status::kUsage)
        << key << " " << text;
  }
  loom::set_option(row("zscan_galaxy"), job, "-0.005, 1.7, +3e-4");
  EXPECT_EQ(job.options.grids.galaxy.step, 3e-4);
}

TEST(RedshiftOptions, ContradictionsAreRefused) {
  RedshiftJob job;
  EXPECT_EQ(thrown_by([&] { validate(job); }), Status::kUsage);
  job.inputs = {"coadd.fits"};
  job.model = "model.fits";
  EXPECT_EQ(thrown_by([&] { validate(job); }), Status::kUsage);
  job.output = "redrock.fits";
  EXPECT_EQ(thrown_by([&] { validate(job); }), Status::kOk);
  job.target_ids = {1};
  job.ntargets = 3;
  EXPECT_EQ(thrown_by([&] { validate(job); }), Status::kUsage);
}

TEST(RedshiftTable, HasNoNumberThatIsNone) {
  RedshiftRow row;
  row.id = 39627788403084375;
  row.best.z = std::nan("");
  row.best.chi2 = HUGE_VAL;
  row.best.coefficients = {1e300, -1e300};
  row.best.spectype = "GALAXY";
  row.best.subtype = "LONG_SUBTYPE";
  row.fewest = row.most = 2;
  const std::vector<RedshiftRow> rows{row};
  RedshiftShape widest;
  widest.coefficients = 10;
  const Table table = redshift_table(rows, shape_of(rows, widest));
  EXPECT_EQ(table.integers("TARGETID", 0), (std::vector<std::int64_t>{39627788403084375}));
  EXPECT_EQ(table.find("COEFF")->width, 2U);  // all have two
  EXPECT_EQ(table.find("SUBTYPE")->width, 12U);
  for (const Column& column : table.columns) {
    for (std::size_t i = 0; i < column.width && column.cell != Cell::kText; ++i) {
      EXPECT_TRUE(std::isfinite(number_of(column, 0, i))) << column.name;
    }
  }
}

TEST(RedshiftTable, AVerdictOfNoDataEmptiesTheRow) {
  redshift::Candidate c;
  c.z = 1;
  c.spectype = "STAR";
  c.subtype = "A";
  c.coefficients = {3};
  apply_verdict(redshift::zwarn::kPoorData, c);
  EXPECT_EQ(c.spectype, "STAR");
  apply_verdict(redshift::zwarn::kNoData, c);
  EXPECT_EQ(c.spectype + c.subtype + c.method, "GALAXYNONE");
  EXPECT_EQ(c.z, 0);
  EXPECT_EQ(c.coefficients, (std::vector<double>{0}));
  EXPECT_EQ(c.zwarn, redshift::zwarn::kPoorData | redshift::zwarn::kNoData);
}

}  // namespace
}  // namespace fiberloom
