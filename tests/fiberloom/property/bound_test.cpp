// SPDX-License-Identifier: BSD-3-Clause
// The bound on a bin's numerical error holds, whatever is missing of a frame and however far a grid
// runs past the CCD: results against those with wide bands from end to end and a tolerance a
// thousand times less. BOUND_TEST_CASES=N: so many cases instead of a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fiberloom/extract/exact/engine.hpp"
#include "tests/fiberloom/property/random_case.hpp"

namespace fiberloom {
namespace {

ExtractResult extract(const SmallCase& c, const exact::Tuning& tuning) {
  SerialExecutor serial;
  return exact::extract(c.ccd, c.psf, c.options, tuning, active_isa(), serial, {}, nullptr);
}

double bound_of(const ExtractResult& r) {
  double bound = 0;
  for (const BundleReport& b : r.bundles) bound = std::max(bound, b.bound_sigma);
  return bound;
}

TEST(Bound, HoldsWhateverIsMissing) {
  const char* asked = std::getenv("BOUND_TEST_CASES");
  const unsigned cases = asked != nullptr ? static_cast<unsigned>(std::stoul(asked)) : 12;
  for (unsigned seed = 1; seed <= cases; ++seed) {
    const SmallCase c = random_case(seed, Crosstalk::kSometimes);
    exact::Tuning tight;
    tight.wide_bands = exact::WideBands::kEverywhere;
    tight.tolerance_sigma = 1e-7;
    const ExtractResult known = extract(c, tight), result = extract(c, {});
    const double bound = bound_of(result) + bound_of(known);
    double worst = 0;
    for (std::size_t i = 0; i < result.flux.size(); ++i) {
      const double ivar = result.ivar.data()[i], there = known.ivar.data()[i];
      ASSERT_EQ(ivar > 0, there > 0) << seed << " " << i;
      if (!(ivar > 0)) continue;
      const double flux = result.flux.data()[i] - known.flux.data()[i];
      worst =
          std::max({worst, std::abs(flux) * std::sqrt(there), 0.5 * std::abs(ivar / there - 1)});
    }
    EXPECT_LE(worst, bound) << seed;
    if (asked != nullptr)
      std::printf("%u: %zu fibres of %zu bins, %g of %g\n", seed, result.flux.rows(),
                  result.flux.cols(), worst, bound);
  }
}

}  // namespace
}  // namespace fiberloom
