// SPDX-License-Identifier: BSD-3-Clause
// Scans whose numbers lie in other files than the one that is named.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "loom/hdf5/test_links.hpp"
#include "tomoloom/recipes/scans/scan_kind.hpp"
#include "tomoloom/recipes/test_recon.hpp"

namespace tomoloom::scans {
namespace {

class LinkedScan : public test::ReconCase {
 protected:
  /// A scan, and a job that reads it by way of a file of links.
  ReconJob linked() {
    SimulateJob scan = small();
    scan.rows = 70;  // three blocks
    simulate(scan);
    numbers = scan.output;
    ReconJob job = recon(scan);
    job.scan = folder.file("master.h5");
    hdf5::test::write_link(job.scan, "exchange", "scan.h5", "exchange");
    return job;
  }
  void change_numbers() const {
    const auto before = std::filesystem::last_write_time(numbers);
    std::filesystem::last_write_time(numbers, before + std::chrono::hours(1));
  }
  std::string numbers;  ///< the file that they lie in
};

TEST_F(LinkedScan, IsNotGoneOnWithWhereItsNumbersHaveChanged) {
  ReconJob job = linked();
  job.resume = true;
  const auto interrupt = [&] {
    std::size_t done = 0;
    Observer observer;
    observer.progress = [&](const char*, std::size_t n, std::size_t) { done = n; };
    observer.stop_requested = [&] { return done >= 32; };
    EXPECT_EQ(loom::test::thrown_by([&] { (void)reconstruct_scan(job, serial, observer); }).status,
              Status::kInterrupted);
  };
  interrupt();
  EXPECT_EQ(run(job).resumed, 32U);
  interrupt();
  change_numbers();
  EXPECT_EQ(run(job).resumed, 0U);
}

TEST_F(LinkedScan, AmongManyHasTheFilesOfItsNumbersAsInputs) {
  const ReconJob job = linked();
  const Task task = to_task("linked", job, 1);
  for (const std::string& file : {job.scan, numbers}) {
    EXPECT_EQ(std::ranges::count(task.inputs, file), 1) << file;
  }
}

}  // namespace
}  // namespace tomoloom::scans
