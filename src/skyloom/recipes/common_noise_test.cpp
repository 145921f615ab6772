// SPDX-License-Identifier: BSD-3-Clause
// Noise that detectors have in common: the peer's numbers, the spectra that were asked for, and
// files that say what it is.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/testing/test_executor.hpp"
#include "loom/testing/test_files.hpp"
#include "skyloom/recipes/make_maps.hpp"
#include "skyloom/recipes/test_golden_common.hpp"
#include "skyloom/recipes/test_maps.hpp"
#include "skyloom/recipes/write_observations.hpp"
#include "skyloom/status.hpp"
#include "skyloom/tod/focal_plane_file.hpp"
#include "skyloom/tod/noise_file.hpp"
#include "skyloom/tod/simulated_tod.hpp"
#include "skyloom/tod/stored_tod.hpp"

namespace skyloom {
namespace {

using loom::test::read_bytes;
using loom::test::TempFolder;
using loom::test::thrown_by;
using test::samples_of;
using test::small_maps;
using test::small_simulation;

SimulationOptions golden_simulation() {
  SimulationOptions options;
  options.plane.width_deg = 20;
  options.plane.rate_hz = 8;
  options.observations = 2;
  options.observation_minutes = 0.5;
  options.realization = 3;
  options.common.noise.net = 80e-6;
  options.common.coupling = 0.7;
  options.common.spread = 0.2;
  return options;
}

TEST(CommonNoise, IsThePeersForEqualNames) {
  const struct {
    const char* by;
    bool fixed;
    std::span<const GoldenCommon> golden;
  } cases[] = {
      {"", false, kGoldenOfAll}, {"pixel", false, kGoldenByPixel}, {"pixel", true, kGoldenFixed}};
  for (const auto& each : cases) {
    SimulationOptions options = golden_simulation();
    options.common.by = each.by;
    options.common.same_every = each.fixed;
    const SimulatedTod source(options, nullptr);
    for (const GoldenCommon& expected : each.golden) {
      const double coupling = source.observation(1).commons->parts[expected.detector][0].coupling;
      EXPECT_NEAR(coupling, expected.coupling, 1e-15);
      const std::vector<double> found = samples_of(source, 1, expected.detector);
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(found[60 * i], expected.noise[i], 1e-13 * 1e-3) << each.by << " " << i;
      }
    }
  }
}

/// A mode of all detectors, one of a stream for each pixel, one that a pixel has alone.
SimulationOptions golden_modes() {
  SimulationOptions options = golden_simulation();
  options.more_commons = {"net=30e-6,fknee=0.3,fmin=1e-4,slope=1.5,spread=0.1,fixed,by=pixel",
                          "net=20e-6,fknee=0.1,fmin=1e-3,slope=1,coupling=-0.5,spread=0.3,"
                          "in=pixel:D3,name=Half,component=0"};
  return options;
}

TEST(CommonNoise, OfSeveralModesIsThePeers) {
  const SimulatedTod source(golden_modes(), nullptr);
  const CommonModes& modes = *source.observation(1).commons;
  EXPECT_EQ(modes.streams.size(), 9U);
  for (const GoldenModes& expected : kGoldenModes) {
    const auto& parts = modes.parts[expected.detector];
    ASSERT_EQ(parts.size(), expected.parts);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      EXPECT_NEAR(parts[k].coupling, expected.couplings[k], 1e-15);
    }
    const std::vector<double> found = samples_of(source, 1, expected.detector);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(found[60 * i], expected.noise[i], 1e-13 * 1e-3) << expected.detector << " " << i;
    }
  }
}

// C diag(NET^2) C^T rate, C the mixing matrix as it is written down here.
TEST(CommonNoise, OfSeveralModesHasTheCovarianceOfItsMixingMatrix) {
  SimulationOptions options = golden_simulation();
  options.plane.noise.net = 1e-12;
  options.observations = 30;
  options.observation_minutes = 1;
  options.common = {.noise = {.net = 50e-6}, .coupling = 0.6};
  options.more_commons = {"net=30e-6,fknee=0,by=pixel,coupling=-1.5",
                          "net=90e-6,fknee=0,in=pixel:D1"};
  const SimulatedTod source(options, nullptr);
  const auto expected = [&](std::size_t a, std::size_t b) {
    const bool same = a / 2 == b / 2, both = a / 2 == 1 && b / 2 == 1;
    return 8 * (0.36 * 25e-10 + (same ? 2.25 * 9e-10 : 0) + (both ? 81e-10 : 0));
  };
  const double most = expected(2, 2);
  double sums[6][6] = {};
  for (std::size_t number = 0; number < options.observations; ++number) {
    std::vector<std::vector<double>> of;
    for (std::size_t d = 0; d < 6; ++d) of.push_back(samples_of(source, number, d));
    for (std::size_t a = 0; a < 6; ++a) {
      for (std::size_t b = 0; b < 6; ++b) {
        for (std::size_t i = 0; i < 480; ++i) sums[a][b] += of[a][i] * of[b][i];
      }
    }
  }
  for (std::size_t a = 0; a < 6; ++a) {
    for (std::size_t b = 0; b < 6; ++b) {
      EXPECT_NEAR(sums[a][b] / (480 * 30), expected(a, b), 0.04 * most) << a << " " << b;
    }
  }
}

TEST(CommonNoise, SaysWhatNoModeIs) {
  const auto says = [](const char* mode, const char* what) {
    SimulationOptions options = golden_simulation();
    options.more_commons = {mode};
    const auto thrown = thrown_by([&] { (void)SimulatedTod(options, nullptr); });
    EXPECT_TRUE(thrown.says(what)) << mode << ": " << thrown.message;
    return thrown.status;
  };
  for (const char* mode :
       {"", "net", "net=", "net=x", "net=0", "net=-1", "net=nan", "fknee=1", "net=1,net=2",
        "net=1,fixed=1", "net=1,by=", "net=1,in=pixel", "net=1,in=:D1",
        "net=1,in=pixel:", "net=1,by=pixel,in=pixel:D1", "net=1,spread=-1", "net=1,component=-1",
        "net=1,what=2", "net=1,,fixed"}) {
    EXPECT_EQ(says(mode, "--common-also '"), Status::kUsage) << mode;
  }
  EXPECT_EQ(says("net=1,by=wafer", "no such column"), Status::kUsage);
  EXPECT_EQ(says("net=1,in=pixel:D9", "no detector has D9"), Status::kUsage);
  EXPECT_EQ(says("net=1,component=0", "two streams called CommonModeNoise_0"), Status::kUsage);
  EXPECT_EQ(says("net=1,fknee=1e-3,fmin=1", "CommonModeNoise_1"), kNoiseModel);
  EXPECT_EQ(says("net=1,name=D0A-150,component=0", ""), Status::kOk);
}

/// sum of F_a conj(F_b) over some frequencies of a stream, in units of a spectrum.
std::complex<double> cross_power(const std::vector<double>& a, const std::vector<double>& b,
                                 std::size_t first, std::size_t end, double rate) {
  std::complex<double> sum = 0;
  const auto n = static_cast<double>(a.size());
  for (std::size_t k = first; k < end; ++k) {
    std::complex<double> fa = 0, fb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(k * i % a.size()) / n;
      const std::complex<double> wave(std::cos(angle), -std::sin(angle));
      // a window of Hann's: what is strong and slow does not leak
      const double taper = 1 - std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / n);
      fa += taper * a[i] * wave;
      fb += taper * b[i] * wave;
    }
    sum += fa * std::conj(fb);
  }
  return sum / (static_cast<double>(end - first) * n * rate * 1.5);
}

TEST(CommonNoise, HasTheCrossSpectrumThatWasAskedFor) {
  SimulationOptions options = golden_simulation();
  options.plane.pixels = 1;
  options.plane.noise = {.net = 50e-6, .fmin_hz = 1e-5, .fknee_hz = 0, .slope = 1};
  options.observations = 40;
  options.observation_minutes = 1;
  const SimulatedTod source(options, nullptr);
  const NoisePsd common = analytic_psd(options.common.noise, 8, "common");
  const auto at = [&](const NoisePsd& psd, double f) {
    std::size_t i = 1;
    while (psd.frequency_hz[i] < f) ++i;
    const double share = std::log(f / psd.frequency_hz[i - 1]) /
                         std::log(psd.frequency_hz[i] / psd.frequency_hz[i - 1]);
    return std::exp(std::log(psd.psd[i - 1]) + share * std::log(psd.psd[i] / psd.psd[i - 1]));
  };
  for (const std::size_t first : {15U, 60U, 180U}) {  // 0.25, 1, 3 Hz and on, of 480 samples
    const std::size_t end = first + 30;
    double cross = 0, own = 0, cross_asked = 0, own_asked = 0;
    for (std::size_t number = 0; number < 40; ++number) {
      const auto a = samples_of(source, number, 0), b = samples_of(source, number, 1);
      const auto& parts = source.observation(number).commons->parts;
      cross += cross_power(a, b, first, end, 8).real();
      own += cross_power(a, a, first, end, 8).real();
      const NoisePsd all = source.noise(number, 0);
      for (std::size_t k = first; k < end; ++k) {
        const double f = static_cast<double>(k) * 8 / 480;
        cross_asked += parts[0][0].coupling * parts[1][0].coupling * at(common, f) / 30;
        own_asked += at(all, f) / 30;
      }
    }
    EXPECT_NEAR(cross / cross_asked, 1, 0.08) << first;
    EXPECT_NEAR(own / own_asked, 1, 0.08) << first;
  }
}

TEST(CommonNoise, OfAGroupIsNoneOfAnother) {
  SimulationOptions options = golden_simulation();
  options.common.by = "pixel";
  options.common.spread = 0;
  options.plane.noise.net = 1e-12;
  const SimulatedTod source(options, nullptr);
  const auto a = samples_of(source, 0, 2), b = samples_of(source, 0, 3);
  const auto c = samples_of(source, 0, 4);
  double apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-9);
    apart += std::fabs(a[i] - c[i]);
  }
  EXPECT_GT(apart / static_cast<double>(a.size()), 1e-5);
}

TEST(CommonNoise, IsWhatFilesSayAndMapsWeighBy) {
  const TempFolder folder;
  SerialExecutor one;
  TestThreads three(3);
  const std::vector<std::string> more = golden_modes().more_commons;
  for (const char* by : {"", "pixel", "several"}) {
    SimulationOptions options = small_simulation();
    const bool several = std::string(by) == "several";
    options.common.noise = {.net = 60e-6, .fmin_hz = 1e-5, .fknee_hz = 0.3, .slope = 2};
    options.common.spread = 0.3;
    if (several) {
      options.more_commons = more;
    } else {
      options.common.by = by;
    }
    const SimulatedTod source(options, nullptr);
    const std::string name = std::string("data") + by;
    const auto paths = write_observations(source, folder.file(name), Overwrite::kYes, three);
    const StoredTod stored(paths, {});
    for (std::size_t d = 0; d < 14; ++d) {
      const Detector &made = source.observation(1).plane.detectors[d],
                     &read = stored.observation(1).plane.detectors[d];
      const double nets[] = {60e-6, 30e-6, 20e-6};
      const auto& parts = source.observation(1).commons->parts[d];
      ASSERT_EQ(parts.size(), !several ? 1U : d / 2 == 3 ? 3U : 2U);
      double white = 0;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        white += std::pow(parts[k].coupling * nets[k], 2);
      }
      EXPECT_DOUBLE_EQ(made.common_psd, white);
      EXPECT_EQ(read.common_psd, made.common_psd);
      EXPECT_EQ(stored.noise(1, d), source.noise(1, d));
    }
    MapJob job = small_maps(folder.file("direct"));
    job.prior = true;
    make_maps(source, job, one);
    job.folder = folder.file("stored");
    make_maps(stored, job, three);
    for (const char* map : {"/cov.fits", "/map.fits"}) {
      EXPECT_EQ(read_bytes(folder.file("stored") + map), read_bytes(folder.file("direct") + map));
    }
    // weights are not those of detectors by themselves
    options.common.noise.net = 0;
    options.more_commons = {};
    job.folder = folder.file("own");
    make_maps(SimulatedTod(options, nullptr), job, one);
    EXPECT_NE(read_bytes(folder.file("own/cov.fits")), read_bytes(folder.file("direct/cov.fits")));
  }
}

TEST(CommonNoise, IsPlannedForWhereItIsKept) {
  SimulationOptions options = small_simulation();
  const SimulatedTod none(options, nullptr);
  options.common.noise.net = 1e-6;
  const SimulatedTod all(options, nullptr);
  options.common.by = "pixel";
  const SimulatedTod pairs(options, nullptr);
  EXPECT_EQ(all.shared_bytes(), none.shared_bytes() + 8 * 3000);
  EXPECT_EQ(all.work_bytes(), none.work_bytes());
  EXPECT_EQ(pairs.shared_bytes(), none.shared_bytes());
  EXPECT_EQ(pairs.work_bytes(), none.work_bytes() + 8 * 3000);
  options.more_commons = {"net=1e-6", "net=1e-6"};
  const SimulatedTod more(options, nullptr);
  EXPECT_EQ(more.shared_bytes(), none.shared_bytes() + 2 * 8 * 3000);
  EXPECT_EQ(more.work_bytes(), pairs.work_bytes());
}

/// A noise model as the peer's CommonModeNoise leaves it: no analytic table, sets of spectra.
TEST(MixedSpectra, AreThoseOfThePeersSets) {
  const TempFolder folder;
  const std::string path = folder.file("noise.h5"), group = "metadata/noise_model";
  {
    hdf5::Writer to(path, Overwrite::kNo);
    to.group(group);
    to.describe(group, "class", "toast.noise.Noise", hdf5::TextKind::kVariable);
    to.describe(group, "psd_units", "K2 s", hdf5::TextKind::kVariable);
    struct Row {
      char detector[4], stream[4];
      float coupling;
    };
    const Row rows[] = {{"a", "a", 1}, {"a", "c", 0.5F}, {"b", "b", 1}};
    const std::vector<hdf5::Field> fields{
        {"f0", hdf5::Type::kText, 4}, {"f1", hdf5::Type::kText, 4}, {"f2", hdf5::Type::kFloat32}};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(rows);
    to.table(group + "/mixing_matrix", fields, 3, {bytes, sizeof rows});
    const double sets[] = {1, 2, 4, 10, 20, 40, 8, 12, 16};
    to.create(group + "/first", hdf5::Type::kFloat32, {3, 3});
    to.write(group + "/first", 0, std::span<const double>(sets));
    to.texts(group + "/first_keys", {"a", "c"});
    to.commit();
  }
  const hdf5::Reader file(path);
  EXPECT_TRUE(has_mixed_noise(file, "noise_model"));
  const MixedSpectra spectra(file, "noise_model", 8);
  const NoisePsd of = spectra.of("a");
  EXPECT_EQ(of.frequency_hz, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(of.psd, (std::vector<double>{12, 23, 44}));
  EXPECT_EQ(thrown_by([&] { (void)spectra.of("b"); }).status, kNoiseModel);
  EXPECT_TRUE(thrown_by([&] { (void)spectra.of("d"); }).says("no row of d"));
}

TEST(FocalPlaneFile, HasTheGroupsThatAreAskedFor) {
  const TempFolder folder;
  SerialExecutor one;
  const auto paths = write_observations(SimulatedTod(small_simulation(), nullptr),
                                        folder.file("data"), Overwrite::kNo, one);
  const FocalPlane plane = read_focal_plane(paths[0], {}, {"pixel"});
  EXPECT_EQ(plane.groups, std::vector<std::string>{"pixel"});
  EXPECT_EQ(plane.detectors[5].groups[0], "D2");
  EXPECT_EQ(read_focal_plane(paths[0], {}, {"uid"}).detectors[0].groups[0],
            std::to_string(plane.detectors[0].uid));
  EXPECT_TRUE(
      thrown_by([&] { (void)read_focal_plane(paths[0], {}, {"wafer"}); }).says("no column wafer"));
  EXPECT_EQ(thrown_by([&] { (void)read_focal_plane(paths[0], {}, {"psd_net"}); }).status,
            Status::kWrongShape);
  SimulationOptions options = small_simulation();
  options.common.noise.net = 1e-6;
  options.common.by = "wafer";
  EXPECT_EQ(thrown_by([&] { (void)SimulatedTod(options, nullptr); }).status, Status::kUsage);
  options.common.by = "";
  options.noise = false;
  EXPECT_TRUE(thrown_by([&] { (void)SimulatedTod(options, nullptr); }).says("--no-noise"));
}

}  // namespace
}  // namespace skyloom
