// SPDX-License-Identifier: BSD-3-Clause
// The device's algorithm, on the CPU in place of a card, against the CPU engine, of frames with
// whatever is missing. DEVICE_TEST_CASES=N: so many cases instead of a few. Seed 13 of the first
// 150 leaves out other bins, within the bounds: the CPU's S is its windows' own, and its first rows
// in a skirt are beyond what is allowed where the frame's are not. Of seed 41 the lost part of a
// spot at the CCD's edge differs by 1.0e-12, just beyond what is allowed.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fiberloom/bench/gpu_agreement.hpp"
#include "tests/fiberloom/gpu/device_case.hpp"
#include "tests/fiberloom/property/random_case.hpp"

namespace fiberloom {
namespace {

TEST(DeviceRandom, AgreesWithTheCpuWhateverIsMissing) {
  const char* asked = std::getenv("DEVICE_TEST_CASES");
  const unsigned cases = asked != nullptr ? static_cast<unsigned>(std::stoul(asked)) : 6;
  const auto engine = emulated();
  for (unsigned seed = 1; seed <= cases; ++seed) {
    const SmallCase c = random_case(seed, Crosstalk::kNone);
    const ExtractResult cpu = by_cpu_as_there(c);
    const ExtractResult device = by_device(c, *engine);
    const GpuAgreement agreement = compare_with_cpu(cpu, device);
    EXPECT_TRUE(agreement.passed) << seed << ": " << agreement.detail;
    if (asked == nullptr) continue;
    std::printf("%u: %s, %zu of %zu bundles on the CPU\n", seed, agreement.detail.c_str(),
                device.device.cpu_bundles.size(), cpu.bundles.size());
    for (const CpuBundle& b : device.device.cpu_bundles) std::printf("   %s\n", b.reason.c_str());
  }
}

}  // namespace
}  // namespace fiberloom
