// SPDX-License-Identifier: BSD-3-Clause
// PSF files of other kinds than GAUSS-HERMITE, good and bad. That their spots are specter's is
// shown by bench/fiberloom/psf/against_specter.py.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "fiberloom/formats/formats_test_support.hpp"
#include "fiberloom/formats/psf_shape_test_files.hpp"

namespace fiberloom {
namespace {

using fits::FitsWriter;
using Write = std::function<void(FitsWriter&)>;

PsfFile parse(const Write& write, const PsfReadOptions& options = {}) {
  return formats::parse_psf(test::in_memory(write), options);
}
test::Thrown refusal(const Write& write) {
  return test::thrown_by([&] { (void)parse(write); });
}

struct Kind {
  const char* name;
  Write write;
};
std::vector<Kind> kinds() {
  return {{"SPOTGRID", [](FitsWriter& w) { test::add_spot_grid(w); }},
          {"MONOSPOT", [](FitsWriter& w) { test::add_mono_spot(w); }},
          {"PCA-PIX", [](FitsWriter& w) { test::add_pca_pix(w); }},
          {"GAUSS-HERMITE2", [](FitsWriter& w) { test::add_two_cores(w); }}};
}

TEST(PsfKinds, GiveSpotsOfUnitLightWhereTheirTracesAre) {
  for (const Kind& kind : kinds()) {
    const PsfModel psf = parse(kind.write).model;
    ASSERT_TRUE(psf.shape) << kind.name;
    EXPECT_STREQ(psf.shape->kind(), kind.name);
    EXPECT_EQ(psf.nfiber(), 4);
    for (const double wave : {5010.0, 5030.3, 5047.7}) {
      const Spot spot = spot_reference(psf, 1, wave);
      double sum = 0, x = 0, y = 0;
      for (int r = 0; r < spot.ny; ++r) {
        for (int c = 0; c < spot.nx; ++c) {
          const double v = spot.value[static_cast<std::size_t>(r * spot.nx + c)];
          EXPECT_GE(v, 0);
          sum += v;
          x += v * (spot.x0 + c);
          y += v * (spot.y0 + r);
        }
      }
      EXPECT_NEAR(sum, 1, 1e-14) << kind.name;
      EXPECT_NEAR(x, psf.x(1, wave), 1) << kind.name;
      EXPECT_NEAR(y, psf.y(1, wave), 1) << kind.name;
    }
  }
}

TEST(PsfKinds, HaveBundlesAndStatusWhereTheFileHas) {
  const Write two = [](FitsWriter& w) { test::add_two_cores(w); };
  const PsfModel all = parse(two).model;
  EXPECT_EQ(all.bundle, (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(all.status, (std::vector<int>{0, 0, 4, 0}));
  EXPECT_GT(all.sigma_x(2, 5030), 1);
  const PsfModel fit = parse(two, {.status = true}).model;
  EXPECT_EQ(fit.sigma_x(2, 5030), 0) << "left out";
  EXPECT_GT(fit.sigma_x(1, 5030), 1);
}

TEST(PsfKinds, HaveNoNormalisationThatCouldBeReplaced) {
  for (const Kind& kind : kinds()) {
    EXPECT_EQ(test::thrown_by([&] { (void)parse(kind.write, {.gh00 = Gh00::kOne}); }).status,
              Status::kUnsupported)
        << kind.name;
  }
}

TEST(PsfKinds, RefuseWhatIsMissingOrMakesNoSense) {
  const auto status = [](const Write& write) { return refusal(write).status; };
  EXPECT_EQ(status([](FitsWriter& w) { test::add_base(w, "SPOTGRID"); }), Status::kMissingHdu);
  EXPECT_EQ(status([](FitsWriter& w) { test::add_base(w, "MONOSPOT"); }), Status::kMissingHdu);
  EXPECT_EQ(status([](FitsWriter& w) { test::add_base(w, "PCA-PIX"); }), Status::kMissingHdu);
  EXPECT_EQ(status([](FitsWriter& w) { test::add_base(w, "SPOTTY"); }), Status::kMissingHdu)
      << "taken for GAUSS-HERMITE, which has a table";
  EXPECT_EQ(status([](FitsWriter& w) { test::add_mono_spot(w, 4); }), Status::kCorrupt)
      << "27 pixels are not whole CCD pixels";
  EXPECT_EQ(status([](FitsWriter& w) { test::add_mono_spot(w, 0); }), Status::kCorrupt);
  EXPECT_EQ(status([](FitsWriter& w) { test::add_pca_pix(w, {0, 1, -1}); }), Status::kCorrupt);
  EXPECT_EQ(status([](FitsWriter& w) {
              test::add_pca_pix(w, {0, 1, 0}, {0, 0, 1, 2});
            }),
            Status::kCorrupt);
  EXPECT_EQ(status([](FitsWriter& w) { test::add_pca_pix(w, std::vector<double>(65, 1)); }),
            Status::kUnsupported);
  for (const char* row : {"X", "GHSIGY2", "GHNSIG", "GH2-1-0", "TAILINDE"})
    EXPECT_EQ(status([&](FitsWriter& w) { test::add_two_cores(w, row); }), Status::kMissingKeyword)
        << row;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(status([&](FitsWriter& w) { test::add_two_cores(w, "", nan); }), Status::kCorrupt);
  const auto grid = [&](const std::function<void(test::SpotGridFile&)>& change) {
    test::SpotGridFile f;
    change(f);
    return status([&](FitsWriter& w) { test::add_spot_grid(w, f); });
  };
  EXPECT_EQ(grid([](auto& f) { f.fiber_position[3] = 9; }), Status::kCorrupt) << "off the samples";
  EXPECT_EQ(grid([](auto& f) { f.wave = {5000, 5000, 5070}; }), Status::kCorrupt);
  EXPECT_EQ(grid([](auto& f) { f.position = {1}; }), Status::kCorrupt);
  EXPECT_EQ(grid([&](auto& f) { f.first_spot = nan; }), Status::kCorrupt);
  EXPECT_EQ(grid([](auto& f) { f.fiber_position.pop_back(); }), Status::kWrongShape);
  EXPECT_EQ(grid([](auto& f) { f.change = [](auto& h) { h.set("NSPEC", 5); }; }),
            Status::kWrongShape);
  EXPECT_EQ(grid([](auto& f) { f.change = [](auto& h) { h.set("PIXSIZE", 0.0); }; }),
            Status::kCorrupt);
  EXPECT_EQ(grid([](auto& f) { f.change = [](auto& h) { h.set("PIXSIZE", 0.02); }; }),
            Status::kCorrupt)
      << "spots coarser than the CCD";
}

TEST(PsfKinds, AreMovedHduByHdu) {
  const test::TempFolder folder;
  for (const Kind& kind : kinds()) {
    fits::write_fits(folder.file("in.fits"), Overwrite::kYes, kind.write);
    const PsfModel before = read_psf(folder.file("in.fits")).model;
    TraceChange change;
    change.coef[0] = {0.25};
    change.coef[1] = {-0.5};
    const auto move = [&] {
      write_moved_psf(folder.file("out.fits"), folder.file("in.fits"), Verify::kYes, change, {},
                      Overwrite::kYes);
    };
    move();
    const PsfModel after = read_psf(folder.file("out.fits")).model;
    EXPECT_NEAR(after.x(1, 5030) - before.x(1, 5030), 0.25, 1e-12) << kind.name;
    EXPECT_NEAR(after.y(1, 5030) - before.y(1, 5030), -0.5, 1e-12) << kind.name;
    EXPECT_STREQ(after.shape->kind(), kind.name);
    change.coef[2] = {0.1};
    EXPECT_EQ(test::thrown_by(move).status, Status::kUnsupported) << kind.name << " has no widths";
  }
}

TEST(PsfKinds, AreNotWritten) {
  const test::TempFolder folder;
  const PsfFile psf = parse([](FitsWriter& w) { test::add_mono_spot(w); });
  EXPECT_EQ(test::thrown_by([&] { write_psf(folder.file("p.fits"), psf, Overwrite::kYes); }).status,
            Status::kUnsupported);
}

}  // namespace
}  // namespace fiberloom
