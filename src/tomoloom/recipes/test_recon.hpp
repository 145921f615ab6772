// SPDX-License-Identifier: BSD-3-Clause
// Small scans that are simulated and reconstructed, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "loom/hdf5/hdf5.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/testing/test_files.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/simulate_scan.hpp"

namespace tomoloom::test {

class ReconCase : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5::available()) GTEST_SKIP() << "built without HDF5";
  }
  SimulateJob small(const char* name = "scan.h5") const {
    SimulateJob job{.output = folder.file(name), .truth = folder.file("truth.h5")};
    job.columns = 64;
    job.rows = 40;
    job.angles = 100;
    job.detector.photons = 0;
    return job;
  }
  ReconJob recon(const SimulateJob& scan, const char* output = "volume.h5") const {
    ReconJob job{.scan = scan.output, .output = folder.file(output)};
    job.centre = scan.centre;
    return job;
  }
  void simulate(const SimulateJob& job) { simulate_scan(job, serial); }
  ReconSummary run(const ReconJob& job) {
    told.clear();
    Observer observer;
    observer.message = [this](LogLevel, const std::string& line) { told += line + "\n"; };
    return reconstruct_scan(job, serial, observer);
  }
  static std::vector<double> volume(const std::string& path) {
    return hdf5::Reader(path).read("exchange/data");
  }
  /// Root of the mean square difference within a circle, in units of the largest truth.
  static double error(const std::vector<double>& got, const std::vector<double>& want,
                      double radius) {
    const std::size_t n = 64;
    double sum = 0, count = 0, most = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double u = static_cast<double>(i % n) - 31.5;
      const double v = static_cast<double>(i / n % n) - 31.5;
      most = std::max(most, want[i]);
      if (u * u + v * v > radius * radius) continue;
      sum += (got[i] - want[i]) * (got[i] - want[i]);
      ++count;
    }
    return std::sqrt(sum / count) / most;
  }

  const loom::test::TempFolder folder;
  SerialExecutor serial;
  std::string told;  ///< lines of the last run
};

}  // namespace tomoloom::test
