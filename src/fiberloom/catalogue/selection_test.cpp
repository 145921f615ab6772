// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/selection.hpp"

#include <gtest/gtest.h>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::catalogue {
namespace {

template <class Work>
bool is_usage(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.status() == Status::kUsage;
  }
  return false;
}

TEST(Selection, ReadsConesAndRanges) {
  const Cone cone = parse_cone("150.1,-2.25,10");
  EXPECT_EQ(cone.ra_deg, 150.1);
  EXPECT_EQ(cone.dec_deg, -2.25);
  EXPECT_EQ(cone.radius_arcsec, 10);
  for (const char* text : {"", "1,2", "1,2,3,4", "a,2,3", "1,91,3", "1,2,0", "1,2,-3", "1,2,nan",
                           "1,2,inf", "400,0,1", "1;2;3", "1,2,3x"}) {
    EXPECT_TRUE(is_usage([&] { (void)parse_cone(text); })) << text;
  }
  Selection s;
  parse_z_range("0.5,", s);
  EXPECT_EQ(s.z_min, 0.5);
  EXPECT_FALSE(s.z_max);
  parse_z_range(",2", s);
  EXPECT_FALSE(s.z_min);
  EXPECT_EQ(s.z_max, 2);
  for (const char* text : {"", ",", "1", "a,b", "1,2,3", "nan,1", "2,1"}) {
    EXPECT_TRUE(is_usage([&] { parse_z_range(text, s); })) << text;
  }
  EXPECT_EQ(parse_numbers("--targetid", {"-5", "39627652591521181"}),
            (std::vector<std::int64_t>{-5, 39627652591521181}));
  for (const char* text : {"", "1.5", "x", "99999999999999999999"}) {
    EXPECT_TRUE(is_usage([&] { (void)parse_numbers("--targetid", {text}); })) << text;
  }
}

TEST(Selection, WordsOfAUserAreNeverTextOfTheQuery) {
  Selection s;
  s.classes = {"QSO'); DROP TABLE redshift; --"};
  const db::Query query = query_of(s);
  EXPECT_EQ(query.sql.find("DROP"), std::string::npos);
  EXPECT_EQ(std::get<std::string>(query.values.at(0)), s.classes[0]);
  s.columns = {"z, (SELECT 1)"};
  EXPECT_TRUE(is_usage([&] { (void)query_of(s); }));
  s = {};
  s.from = "sqlite_master";
  EXPECT_TRUE(is_usage([&] { (void)query_of(s); }));
  s = {};
  s.from = "exposure";
  s.cone = Cone{1, 2, 3};
  EXPECT_TRUE(is_usage([&] { (void)query_of(s); })) << "exposures have no place in the index";
}

}  // namespace
}  // namespace fiberloom::catalogue
