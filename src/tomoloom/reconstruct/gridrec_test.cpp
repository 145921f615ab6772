// SPDX-License-Identifier: BSD-3-Clause
// gridrec is the peer's: its arrays as they came out of TomoPy.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "tomoloom/reconstruct/direct.hpp"
#include "tomoloom/reconstruct/test_gridrec_golden.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kColumns = 20, kAngles = 12;

/// Slice 1 of what the peer was given.
std::vector<float> golden_sinogram() {
  std::vector<float> out;
  for (std::size_t a = 0; a < kAngles; ++a) {
    for (std::size_t x = 0; x < kColumns; ++x) {
      const bool inside = x >= 2 && x < 18;
      out.push_back(inside ? static_cast<float>((7 * a + 13 * x + 5 * a * x + 3) % 32) / 32 : 0);
    }
  }
  return out;
}

/// The weights that the peer was given for filters of one's own, on its line of 32 points.
std::vector<double> golden_weights(Filter filter) {
  std::vector<double> out;
  for (std::size_t a = 0; a < (filter == Filter::kCustom2d ? kAngles : 1); ++a) {
    for (std::size_t j = 0; j < 16; ++j) {
      out.push_back(static_cast<double>((3 * a + 5 * j) % 16 + 1) / 16);
    }
  }
  return out;
}

TEST(Gridrec, GivesThePeersArraysWithEveryFilter) {
  Geometry geometry{.columns = kColumns, .theta = {}, .centre = 9.25};
  for (std::size_t a = 0; a < kAngles; ++a) {
    geometry.theta.push_back(static_cast<double>(static_cast<float>(std::numbers::pi) *
                                                 static_cast<float>(a) / kAngles));
  }
  const auto sinogram = golden_sinogram();
  for (const auto& [filter, name] : filter_names()) {
    FilterChoice choice{.filter = filter};
    if (takes_weights(filter)) choice.weights = golden_weights(filter);
    const GridPlan plan = plan_gridrec(geometry, choice);
    DirectEngine engine(plan);
    SerialExecutor serial;
    std::vector<float> slice(kColumns * kColumns);
    engine.reconstruct({.data = sinogram.data(), .slices = 1, .angle_stride = kColumns},
                       {.data = slice.data(), .row_stride = kColumns}, serial);
    bool found = false;
    for (const test::GoldenRows& golden : test::kGridrecGolden) {
      if (std::string(name) != golden.filter) continue;
      found = true;
      double difference = 0, norm = 0;
      for (std::size_t k = 0; k < 2 * kColumns; ++k) {
        const double want = static_cast<double>(golden.rows[k / kColumns][k % kColumns]);
        const double got =
            static_cast<double>(slice[(k < kColumns ? 6 : 13) * kColumns + k % kColumns]);
        difference += (got - want) * (got - want);
        norm += want * want;
      }
      EXPECT_LT(std::sqrt(difference / norm), 2e-6) << name;
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace tomoloom
