// SPDX-License-Identifier: BSD-3-Clause
// Known answers: those of the Random123 library's users (TOAST's own test), MD5's of RFC 1321, uids
// and Gaussian numbers as TOAST 3.0.6 gives them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "skyloom/random/gaussian.hpp"
#include "skyloom/random/name_uid.hpp"

namespace skyloom {
namespace {

constexpr Words kKey{3405692589U, 3131965165U}, kCounter{1357111317U, 888118218888U};

TEST(Threefry, GivesTheKnownAnswers) {
  const std::uint64_t expected[] = {9675248043493244317U, 1033143684219887964U,
                                    14839328367301273822U, 7917682351778602270U};
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(threefry(kKey, {kCounter.first, kCounter.second + i}).first, expected[i]);
  }
  EXPECT_EQ(threefry({0, 0}, {0, 0}).first, 14030652003081164901U);
  EXPECT_EQ(threefry({0, 0}, {0, 1}).first, 11951131804325250240U);
}

TEST(Uniform, IsThePeersToTheLastBit) {
  const double expected[] = {0x1.0c8ac5aaf46a8p-1, 0x1.caced69f7bac3p-5, 0x1.9bdfc50e4cbd5p-1,
                             0x1.b7850898d8927p-2};
  for (std::uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(unit_interval(threefry(kKey, {kCounter.first, kCounter.second + i}).first),
              expected[i]);
  }
  EXPECT_GT(unit_interval(0), 0.0);
}

TEST(InverseErf, UndoesErfInAllThreeParts) {
  for (const double x : {1e-300, 1e-9, 0.3, 0.9, 0.999, 0.99904, 1 - 1e-5, 1 - 1e-8}) {
    EXPECT_NEAR(std::erf(inverse_erf(x)), x, 4e-16) << x;
    EXPECT_EQ(inverse_erf(-x), -inverse_erf(x));
  }
  // near 1 the complement tells more
  EXPECT_NEAR(std::erfc(inverse_erf(1 - 0x1p-52)), 0x1p-52, 1e-13 * 0x1p-52);
  EXPECT_EQ(inverse_erf(0), 0);
  EXPECT_TRUE(std::isinf(inverse_erf(1)));
}

TEST(Gaussian, IsThePeersOnEveryLevel) {
  // to some ulp: logarithms differ in the last bit from machine to machine
  const double expected[] = {0.06144162, -1.58920702, 0.85759381, -0.17836436};
  for (const Isa isa : available_isas()) {
    std::vector<double> all(1000);
    fill_gaussian(kKey, kCounter, all, isa);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(all[i], expected[i], 1e-8);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double u = unit_interval(threefry(kKey, {kCounter.first, kCounter.second + i}).first);
      const double scalar = std::sqrt(2.0) * inverse_erf(2 * u - 1);
      EXPECT_NEAR(all[i], scalar, 4e-15 * std::fabs(scalar)) << isa_name(isa) << " " << i;
    }
  }
}

TEST(Gaussian, IsAFunctionOfThePlaceAlone) {
  std::vector<double> all(1000), part(301);
  fill_gaussian(kKey, kCounter, all);
  fill_gaussian(kKey, {kCounter.first, kCounter.second + 77}, part);
  for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(part[i], all[i + 77]);
}

TEST(Gaussian, HasTheMomentsOfItsName) {
  std::vector<double> all(400000);
  fill_gaussian(StreamName{.realization = 1, .detector = 5}.key(), {0, 0}, all);
  double sum = 0, square = 0, fourth = 0;
  std::size_t beyond = 0;
  for (const double x : all) {
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    if (std::fabs(x) > 3.2905) ++beyond;  // one in a thousand: the outer polynomials
  }
  const auto n = static_cast<double>(all.size());
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(fourth / n, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(static_cast<double>(beyond), n / 1000, 5 * std::sqrt(n / 1000));
}

TEST(NameUid, IsThePeers) {
  std::string hex;
  for (const std::uint8_t byte : md5("message digest")) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    hex += two;
  }
  EXPECT_EQ(hex, "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(name_uid("D0A-150"), 965203544U);
  EXPECT_EQ(name_uid("D0B-150"), 279791289U);
  EXPECT_EQ(name_uid("satellite"), 7977811U);
  EXPECT_EQ(name_uid("000000_2026-11-23T00:00+00:00"), 46568609U);
  EXPECT_EQ(name_uid(std::string(200, 'x')), name_uid(std::string(200, 'x')));
}

}  // namespace
}  // namespace skyloom
