// SPDX-License-Identifier: BSD-3-Clause
// Entries of N do not depend on where the grid ends: not on the bins of its last block, nor on
// those that pad it to whole packs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fiberloom/extract/exact/bundle.hpp"
#include "tests/fiberloom/oracle/small_case.hpp"

namespace fiberloom::exact {
namespace {

struct Assembled {
  BundleGeometry geometry;
  BundleWorkspace work;
};

/// N of a bundle on `nbin` bins from 5000 Angstrom on, without guard bins.
void assemble_bins(const oracle::SmallCase& c, std::size_t nbin, double step, Assembled& out) {
  GuardedGrid grid;
  for (std::size_t j = 0; j < nbin; ++j)
    grid.wave.push_back(c.options.wave.front() + static_cast<double>(j) * step);
  const SpotPlan plan = make_spot_plan(c.psf, grid.wave);
  const Tuning tuning;
  const FrameContext frame{c.ccd, c.options, grid, plan, tuning, active_isa()};
  out.geometry = bundle_geometry(plan, {0, c.psf.nfiber()}, frame.spots.spots, 1e-12);
  load_strip(c.ccd, out.geometry, frame.pixel, out.work.strip);
  out.work.normal.resize(out.geometry, 0);
  assemble(plan, out.geometry, frame.spots.spots, frame.pixel, out.work.strip, out.work.spots,
           out.work.normal);
}

/// Largest difference of entries that both have, relative to the diagonal.
double difference(const NormalEquations& a, const NormalEquations& b) {
  double worst = 0;
  for (int f = 0; f < a.nfiber; ++f) {
    const double scale = b.own(f, 0)[a.nbin / 2];
    for (int j = 0; j < a.nbin; ++j) {
      const auto compare = [&](double x, double y) {
        worst = std::max(worst, std::abs(x - y) / scale);
      };
      for (int d = 0; d <= a.band && j + d < a.nbin; ++d) compare(a.own(f, d)[j], b.own(f, d)[j]);
      for (int d = -a.cross_band; f + 1 < a.nfiber && d <= a.cross_band; ++d) {
        if (j + d >= 0 && j + d < a.nbin) compare(a.cross(1, f, d)[j], b.cross(1, f, d)[j]);
      }
    }
  }
  return worst;
}

TEST(NormalEquations, EntriesDoNotDependOnWhereTheGridEnds) {
  oracle::SmallCaseKnobs knobs;
  knobs.rows = 400;
  for (const double step : {0.8, 0.3}) {
    knobs.step_aa = step;
    const oracle::SmallCase c = oracle::make_small_case(knobs);
    constexpr std::size_t kAll = 208;
    Assembled all;
    assemble_bins(c, kAll, step, all);
    for (std::size_t nbin = 120; nbin < 200; ++nbin) {
      Assembled part;
      assemble_bins(c, nbin, step, part);
      ASSERT_EQ(part.geometry.band, all.geometry.band) << nbin;
      // entries at the end are summed in other tiles, hence in another order
      EXPECT_LT(difference(part.work.normal, all.work.normal), 1e-14)
          << nbin << " bins by " << step;
    }
  }
}

}  // namespace
}  // namespace fiberloom::exact
