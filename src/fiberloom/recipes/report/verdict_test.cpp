// SPDX-License-Identifier: BSD-3-Clause
// Frames that are good, and the same with one thing wrong each: the verdict must name it, with the
// place.
#include "fiberloom/recipes/report/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "fiberloom/recipes/report/gather.hpp"

namespace fiberloom::report {
namespace {

constexpr std::size_t kFibers = 50, kWave = 900, kBundle = 25;

/// The statistics that gather() makes of a frame.
void reduce(FrameReport& r) {
  r.flags = bin_flags(r.frame);
  r.stride = 30;
  r.sigma = resolution_sigma(r.frame, r.flags, r.stride);
  r.bundles = bundle_statistics(r.frame, r.flags, 0, kBundle);
  r.fiber_table = fiber_statistics(r.frame, r.flags, r.sigma);
  r.noise = noise_ratio(r.frame, r.flags, 3, 1);
  r.pulls.clear();
  r.pulls.push_back({PullKind::kNeighbours, "", "", neighbour_pulls(r.frame, r.flags)});
  std::vector<std::size_t> sky;
  for (std::size_t s = 0; s < kFibers; ++s) {
    if (r.targets.is_sky(s)) sky.push_back(s);
  }
  r.pulls.push_back({PullKind::kSky, "", "", sky_pulls(r.frame, r.flags, sky)});
  Histogram pixels = pull_histogram();
  std::mt19937_64 random(8);
  std::normal_distribution<double> gauss(0.0, 0.98);
  for (int i = 0; i < 20000; ++i) pixels.add(gauss(random));
  r.pulls.push_back({PullKind::kPixels, "", "", pixels});
}

/// A resolution matrix whose rows are Gaussians of `width` bins.
void set_width(FrameFile& frame, std::size_t fiber, double width) {
  for (std::size_t k = 0; k < 11; ++k) {
    const double u = (static_cast<double>(k) - 5) / width;
    for (std::size_t j = 0; j < kWave; ++j) {
      frame.resolution(fiber, k, j) = static_cast<float>(std::exp(-0.5 * u * u) / (width * 2.5066));
    }
  }
}

FrameReport good() {
  FrameReport r;
  std::mt19937_64 random(3);
  std::normal_distribution<double> gauss(0.0, 1.0);
  FrameFile& f = r.frame;
  f.flux = Array2D<double>(kFibers, kWave);
  f.ivar = Array2D<double>(kFibers, kWave);
  f.mask = Array2D<std::uint32_t>(kFibers, kWave, 0);
  f.chi2pix = Array2D<double>(kFibers, kWave, 1.0);
  f.resolution = Array3D<float>(kFibers, 11, kWave, 0.0F);
  for (std::size_t j = 0; j < kWave; ++j) f.wave.push_back(6000 + static_cast<double>(j));
  for (std::size_t s = 0; s < kFibers; ++s) {
    r.fibers.push_back(static_cast<std::int64_t>(s));
    r.targets.types.push_back(s % 5 == 0 ? "SKY" : "TGT");
    r.targets.status.push_back(0);
    set_width(f, s, 1.0 + 0.002 * static_cast<double>(s));
    for (std::size_t j = 0; j < kWave; ++j) {
      const double v = 30 + (j % 50 < 2 ? 600.0 : 0.0);
      f.ivar(s, j) = 1 / (v + 9);
      f.flux(s, j) = v + gauss(random) / std::sqrt(f.ivar(s, j));
    }
  }
  r.wild = WildPixels{100000, 0, 0, {}, {}};
  r.largest_bound = 1e-9;
  reduce(r);
  return r;
}

const Finding& finding(const Verdict& v, const std::string& check) {
  for (const Finding& f : v.findings) {
    if (f.check == check) return f;
  }
  throw std::runtime_error("no check " + check);
}

/// A good frame after `change`, judged.
Verdict after(const std::function<void(FrameReport&)>& change) {
  FrameReport r = good();
  change(r);
  reduce(r);
  return judge(r);
}

TEST(Verdict, OfAGoodFrameIsGoodAndSaysWhatItCouldNotCheck) {
  const Verdict v = judge(good());
  for (const Finding& f : v.findings) {
    EXPECT_LE(f.level, Level::kUnknown) << f.check << ": " << f.text;
    EXPECT_FALSE(f.text.empty()) << f.check;
  }
  EXPECT_EQ(v.level, Level::kGood) << v.words;
  EXPECT_NE(v.words.find("nothing odd in 14 checks, 1 could not be made"), std::string::npos)
      << v.words;
  EXPECT_EQ(finding(v, "truth pulls").level, Level::kUnknown);
  EXPECT_EQ(v.findings.back().level, Level::kUnknown) << "what was not checked comes last";
}

TEST(Verdict, OfAFrameWithoutAnyInformationIsOneWord) {
  const Verdict v = after([](FrameReport& r) {
    for (std::size_t i = 0; i < r.frame.ivar.size(); ++i) r.frame.ivar.data()[i] = 0;
  });
  EXPECT_EQ(v.level, Level::kBad);
  EXPECT_NE(v.words.find("Nothing here"), std::string::npos);
  EXPECT_EQ(v.findings.size(), 1u);
}

TEST(Verdict, NamesADeadAmplifierAndItsPlace) {
  const Verdict v = after([](FrameReport& r) {
    for (std::size_t s = 0; s < 25; ++s) {
      for (std::size_t j = 450; j < kWave; ++j) r.frame.mask(s, j) = kAllBadPix;
    }
  });
  const Finding& f = finding(v, "rejected bins");
  EXPECT_EQ(f.level, Level::kBad);
  EXPECT_EQ(v.findings.front().check, "rejected bins") << "the worst comes first";
  EXPECT_NE(f.text.find("25 %"), std::string::npos) << f.text;
  EXPECT_NE(f.text.find("fibres 0 to 24, 6450 to 6899"), std::string::npos) << f.text;
  ASSERT_TRUE(f.place);
  EXPECT_EQ(f.place->last_row, 24u);
  EXPECT_EQ(f.place->first, 450u);
}

TEST(Verdict, TellsAFibreThatDiedFromOneThatIsKnownToBeBroken) {
  const auto kill = [](FrameReport& r, std::size_t s) {
    for (std::size_t j = 0; j < kWave; ++j) {
      r.frame.flux(s, j) = 0.1 * static_cast<double>(j % 3);
      r.frame.ivar(s, j) = 1.0 / 9;
    }
  };
  Verdict v = after([&](FrameReport& r) { kill(r, 7); });
  EXPECT_EQ(finding(v, "dead fibres").level, Level::kOdd);
  EXPECT_NE(finding(v, "dead fibres").text.find("fibre 7"), std::string::npos);
  EXPECT_EQ(finding(v, "dead fibres").place->row, 7u);
  EXPECT_EQ(finding(v, "throughput").level, Level::kGood) << "said once";

  v = after([&](FrameReport& r) {
    kill(r, 7);
    r.targets.status[7] = 4;
  });
  EXPECT_EQ(finding(v, "dead fibres").level, Level::kGood);
  EXPECT_NE(finding(v, "dead fibres").text.find("1 of them dark"), std::string::npos);

  v = after([&](FrameReport& r) {
    for (std::size_t s = 10; s < 16; ++s) kill(r, s);
  });
  EXPECT_EQ(finding(v, "dead fibres").level, Level::kBad);
}

TEST(Verdict, NamesAFibreThatGetsTooLittleLight) {
  const Verdict v = after([](FrameReport& r) {
    for (std::size_t j = 0; j < kWave; ++j) r.frame.flux(11, j) *= 0.3;
  });
  EXPECT_EQ(v.level, Level::kOdd);
  EXPECT_EQ(finding(v, "throughput").level, Level::kOdd);
  EXPECT_NE(finding(v, "throughput").text.find("fibre 11"), std::string::npos);
}

TEST(Verdict, NamesChi2OfTheFrameAndOfABundle) {
  Verdict v = after([](FrameReport& r) { r.frame.chi2pix = Array2D<double>(kFibers, kWave, 2.6); });
  EXPECT_EQ(finding(v, "chi2").level, Level::kBad);
  EXPECT_NE(finding(v, "chi2").text.find("2.6 in the median"), std::string::npos);
  v = after([](FrameReport& r) {
    for (std::size_t s = 25; s < 50; ++s) {
      for (std::size_t j = 0; j < kWave; ++j) r.frame.chi2pix(s, j) = 0.5;
    }
    r.frame.chi2pix.data()[0] = NAN;
  });
  EXPECT_EQ(finding(v, "chi2").level, Level::kOdd);
  ASSERT_TRUE(finding(v, "chi2").place);
  EXPECT_EQ(finding(v, "chi2").place->row, 25u);
}

TEST(Verdict, NamesTheLargestClusterOfBadFits) {
  const Verdict v = after([](FrameReport& r) {
    for (std::size_t s = 30; s < 34; ++s) {
      for (std::size_t j = 100; j < 112; ++j) r.frame.mask(s, j) = kBad2dFit;
    }
    r.frame.mask(2, 5) = kBad2dFit;
  });
  const Finding& f = finding(v, "bad fits");
  EXPECT_EQ(f.level, Level::kOdd);
  EXPECT_NE(f.text.find("has 48: fibres 30 to 33, 6100 to 6111"), std::string::npos) << f.text;
  const Verdict few = after([](FrameReport& r) { r.frame.mask(2, 5) = kBad2dFit; });
  EXPECT_EQ(finding(few, "bad fits").level, Level::kGood);
}

TEST(Verdict, DoesNotBelieveAnIvarBetterThanPhotonsAllow) {
  const Verdict v = after([](FrameReport& r) {
    for (std::size_t i = 0; i < r.frame.ivar.size(); ++i) r.frame.ivar.data()[i] *= 6;
  });
  EXPECT_EQ(finding(v, "signal to noise").level, Level::kBad);
  EXPECT_NE(finding(v, "signal to noise").text.find("claims too much"), std::string::npos);
  EXPECT_EQ(finding(v, "neighbour pulls").level, Level::kBad) << "the noise itself says so too";
}

TEST(Verdict, NamesFibresWhoseResolutionIsOff) {
  Verdict v = after([](FrameReport& r) { set_width(r.frame, 33, 1.5); });
  EXPECT_EQ(finding(v, "resolution").level, Level::kOdd);
  EXPECT_NE(finding(v, "resolution").text.find("fibre 33"), std::string::npos);
  v = after([](FrameReport& r) {
    for (std::size_t s = 0; s < kFibers; ++s) {
      set_width(r.frame, s, 0.8 + 0.02 * static_cast<double>(s));
    }
  });
  EXPECT_EQ(finding(v, "resolution").level, Level::kOdd) << "out of focus at one end";
}

TEST(Verdict, NamesSkyThatDiffersAndFluxThatIsNegative) {
  Verdict v = after([](FrameReport& r) {
    for (std::size_t s = 0; s < 25; s += 5) {
      for (std::size_t j = 0; j < kWave; ++j) {
        r.frame.flux(s, j) += 0.1 * static_cast<double>(j);
      }
    }
  });
  EXPECT_GE(finding(v, "sky pulls").level, Level::kOdd);
  v = after([](FrameReport& r) {
    for (std::size_t s = 0; s < 3; ++s) {
      for (std::size_t j = 0; j < kWave; ++j) r.frame.flux(s, j) -= 60;
    }
  });
  EXPECT_EQ(finding(v, "negative flux").level, Level::kOdd);
  EXPECT_NE(finding(v, "negative flux").text.find("fibres 0, 1, 2"), std::string::npos);
}

TEST(Verdict, NamesAWildPixelAndTheBinItFallsIn) {
  const Verdict v = after([](FrameReport& r) {
    r.wild = WildPixels{100000, 1, 0, {{300, 21, 550.0}}, {}};
    Traces t{{6000, 6899}, Array2D<float>(kFibers, 2), Array2D<float>(kFibers, 2)};
    for (std::size_t s = 0; s < kFibers; ++s) {
      t.x(s, 0) = t.x(s, 1) = static_cast<float>(10 * s);
      t.y(s, 0) = 0, t.y(s, 1) = 899;
    }
    r.traces = t;
  });
  const Finding& f = finding(v, "wild pixels");
  EXPECT_EQ(f.level, Level::kOdd);
  EXPECT_NE(f.text.find("column 21, row 300"), std::string::npos) << f.text;
  ASSERT_TRUE(f.place);
  EXPECT_EQ(f.place->row, 2u);
  EXPECT_EQ(f.place->first, 300u);
  const Verdict faint = after([](FrameReport& r) {
    r.wild = WildPixels{100000, 1, 0, {{300, 21, 15.0}}, {}};
  });
  EXPECT_EQ(finding(faint, "wild pixels").level, Level::kGood) << "a single one, and a small one";
  const Verdict many = after([](FrameReport& r) {
    r.wild = WildPixels{100000, 9, 0, {{300, 21, 15.0}}, {}};
  });
  EXPECT_EQ(finding(many, "wild pixels").level, Level::kOdd);
  const Verdict heavy = after([](FrameReport& r) {
    r.wild = WildPixels{100000, 0, 1, {}, {{300, 21, 0}}};
  });
  EXPECT_EQ(finding(heavy, "wild pixels").level, Level::kBad);
}

TEST(Verdict, NamesPullsOfPixelsAndTruthAndABoundThatIsTooWide) {
  FrameReport r = good();
  r.largest_bound = 0.3;
  r.truth_core = 1.3;
  const Verdict v = judge(r);
  EXPECT_EQ(finding(v, "numerical error").level, Level::kBad);
  EXPECT_EQ(finding(v, "truth pulls").level, Level::kOdd);
  EXPECT_NE(finding(v, "truth pulls").text.find("width 1.3"), std::string::npos);
  EXPECT_NE(v.words.find("Do not trust before looking: numerical error; also odd: truth pulls"),
            std::string::npos)
      << v.words;
}

}  // namespace
}  // namespace fiberloom::report
