// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/phase.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/testing/test_files.hpp"

namespace tomoloom {
namespace {

struct Size {
  std::size_t rows, columns;
};

/// Fringes a few pixels wide, little padding.
PhaseChoice small(Phase method) {
  return {.method = method,
          .energy_kev = 25,
          .distance_cm = 30,
          .pixel_cm = 2e-4,
          .alpha = method == Phase::kPaganin ? 0.3 : 2e-3};
}

std::vector<float> noise(Size size, std::uint64_t seed) {
  std::vector<float> out(size.rows * size.columns);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(CounterRng(5, seed).uniform(i) + 0.5);
  }
  return out;
}

std::vector<float> filtered(const PhaseChoice& choice, Size size, std::vector<float> image) {
  PhaseFilter filter(choice, size.rows, size.columns);
  SerialExecutor serial;
  filter.run({.first_in = image, .second_in = {}, .first_out = image, .second_out = {}}, 0,
             size.rows, serial);
  return image;
}

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return worst;
}

TEST(Phase, TheFilterIsThePlainSums) {
  for (const Phase method : {Phase::kPaganin, Phase::kTomopy}) {
    for (const Size size : {Size{12, 20}, {9, 23}, {1, 31}, {18, 1}, {33, 17}}) {
      for (const bool unpadded : {false, true}) {
        PhaseChoice choice = small(method);
        choice.unpadded = unpadded;
        const auto image = noise(size, 1);
        auto plain = image;
        retrieve_phase_plainly(choice, size.rows, size.columns, plain);
        EXPECT_LT(largest_difference(filtered(choice, size, image), plain), 2e-6)
            << size.rows << " " << size.columns << " " << unpadded;
        EXPECT_GT(largest_difference(image, plain), 0.01);
      }
    }
  }
}

/// What TomoPy 1.15's retrieve_phase makes of ((37 r + 11 c) mod 17) / 17 + 0.5.
TEST(Phase, ThePeersNumbersAreGiven) {
  const auto made = [](Size size) {
    std::vector<float> image(size.rows * size.columns);
    for (std::size_t i = 0; i < image.size(); ++i) {
      const std::size_t r = i / size.columns, c = i % size.columns;
      image[i] = static_cast<float>((37 * r + 11 * c) % 17) / 17 + 0.5F;
    }
    return filtered(small(Phase::kTomopy), size, image);
  };
  const std::vector<float> even{0.779537F, 0.889034F, 0.937997F, 0.992143F, 0.975718F, 0.917845F,
                                0.829945F, 0.913570F, 0.945559F, 0.962107F, 0.996682F, 0.971156F,
                                0.879022F, 0.904383F, 0.961058F, 0.975352F, 1.018418F, 1.026702F,
                                0.928755F, 0.931066F, 0.989186F, 0.990369F, 0.997086F, 1.061758F};
  EXPECT_LT(largest_difference(made({4, 6}), even), 1e-6);
  // of odd sizes its frequencies are a whole step off, and values come out too small
  const std::vector<float> odd{0.406292F, 0.488788F, 0.523784F, 0.570816F, 0.572456F, 0.563741F,
                               0.600073F, 0.436624F, 0.496299F, 0.514815F, 0.526690F, 0.559038F,
                               0.538949F, 0.507589F, 0.449467F, 0.460836F, 0.502398F, 0.519089F,
                               0.557801F, 0.527399F, 0.467240F};
  EXPECT_LT(largest_difference(made({3, 7}), odd), 1e-6);
}

/// A soft body, and what it looks like after the way to the detector: I = t - z delta / mu times
/// the Laplacian of t, where the fringes are small.
TEST(Phase, FringesOfABodyOfOneMaterialGo) {
  constexpr Size kSize{61, 80};
  constexpr double kDeltaBeta = 300, kWide = 4;  // pixels
  const PhaseChoice choice{.method = Phase::kPaganin,
                           .energy_kev = 20,
                           .distance_cm = 20,
                           .pixel_cm = 1e-4,
                           .delta_beta = kDeltaBeta};
  const double wavelength = 12.3984198e-8 / 20;
  const double area = wavelength * 20 * kDeltaBeta / (4 * std::numbers::pi) / 1e-8;  // pixels
  std::vector<float> body, seen;
  for (std::size_t i = 0; i < kSize.rows * kSize.columns; ++i) {
    const double y = (static_cast<double>(i / kSize.columns) - 25) / kWide;
    const double x = (static_cast<double>(i % kSize.columns) - 47) / kWide;
    const double bump = 0.4 * std::exp(-(x * x + y * y) / 2);
    body.push_back(static_cast<float>(1 - bump));
    seen.push_back(
        static_cast<float>(1 - bump + area * bump * (x * x + y * y - 2) / kWide / kWide));
  }
  EXPECT_GT(largest_difference(seen, body), 0.3);
  EXPECT_LT(largest_difference(filtered(choice, kSize, seen), body), 3e-6);
}

TEST(Phase, TwoProjectionsKnowNothingOfEachOtherNorRowsOfWhichAreAskedFor) {
  constexpr Size kSize{37, 50};
  for (const Phase method : {Phase::kPaganin, Phase::kTomopy}) {
    const auto first = noise(kSize, 1), second = noise(kSize, 2);
    PhaseFilter filter(small(method), kSize.rows, kSize.columns);
    const auto threads = make_executor(3);
    std::vector<float> one(first.size()), two(first.size());
    filter.run({first, second, one, two}, 0, kSize.rows, *threads);
    EXPECT_LT(largest_difference(one, filtered(small(method), kSize, first)), 1e-6);
    EXPECT_LT(largest_difference(two, filtered(small(method), kSize, second)), 1e-6);
    std::vector<float> part(5 * kSize.columns), other(part.size());
    SerialExecutor serial;
    filter.run({first, second, part, other}, 20, 5, serial);
    const auto rows_20_to_25 = [&](const std::vector<float>& image) {
      return std::vector<float>(image.begin() + 20 * kSize.columns,
                                image.begin() + 25 * kSize.columns);
    };
    EXPECT_EQ(part, rows_20_to_25(one));
    EXPECT_EQ(other, rows_20_to_25(two));
  }
}

TEST(Phase, NumbersThatAskForMoreThanAnyDetectorHasAreRefused) {
  PhaseChoice choice = small(Phase::kTomopy);
  choice.distance_cm = 1e9;
  const auto thrown = loom::test::thrown_by([&] { PhaseFilter(choice, 4, 4); });
  EXPECT_EQ(thrown.status, Status::kUsage);
  EXPECT_TRUE(thrown.says("2^24")) << thrown.message;
  choice.method = Phase::kPaganin;  // reaches no further than the projection does
  EXPECT_EQ(phase_reach(choice, 77), 77U);
}

}  // namespace
}  // namespace tomoloom
