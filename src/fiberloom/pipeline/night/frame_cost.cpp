// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/frame_cost.hpp"

#include <algorithm>
#include <array>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/byte_source.hpp"
#include "fiberloom/fits/input_file.hpp"
#include "fiberloom/pipeline/night/receipt.hpp"

namespace fiberloom::night {
namespace {

// Core-seconds, from docs/performance.md (one core with AVX-512): only order and forecast depend on
// them.
constexpr double kSecondsPerBin = 1.9e-6;
constexpr double kSecondsPerByte = 0.5e-9;        // reading, masking, writing
constexpr double kSecondsPerPackedByte = 3.5e-9;  // inflating, by unpacked byte

// Resident bytes. A bin has five doubles, eleven diagonals in float, a mask; packed output is built
// in memory. An image that is read is at most half as big again in memory (compressed masks).
constexpr std::uint64_t kStagedPerBin = 5 * 8 + 11 * 4, kBytesPerBin = kStagedPerBin + 4;
constexpr std::uint64_t kPackedBytesPerBin = 2 * (4 * 4 + 11 * 4);
constexpr double kHeap = 1.3;  // what the heap takes for a frame, by what the frame asks for
constexpr std::uint64_t kTilesUnpack = 5;  // .fz: typical ratio
// As float32 with a mask of 16 bits, which is the least.
constexpr std::uint64_t kFileBytesPerPixel = 4 + 4 + 2, kStagedPerPixel = 2 * 8;

bool packs(const std::string& path) { return path.ends_with(".gz"); }

}  // namespace

void measure_image(const std::string& path, FrameSize& size) {
  size.file_bytes = size.unpacked_bytes = 0;
  std::string found;
  try {
    found = fits::resolve_path(path);
  } catch (const Error&) {
    return;
  }
  const auto stamp = stamp_file(found);
  if (!stamp) return;
  size.file_bytes = size.unpacked_bytes = stamp->size;
  if (found.ends_with(".fz")) size.unpacked_bytes *= kTilesUnpack;
  if (!packs(found) || stamp->size < 4) return;
  std::array<std::uint8_t, 4> b{};
  try {
    if (fits::InputFile(found).read(stamp->size - 4, b) < b.size()) return;
  } catch (const Error&) {
    return;
  }
  const std::uint64_t isize = b[0] | b[1] << 8 | b[2] << 16 | std::uint64_t{b[3]} << 24;
  size.unpacked_bytes = std::max(isize, stamp->size);  // damaged files may say anything
  size.unpacked_bytes = std::min(size.unpacked_bytes, 1032 * stamp->size);
}

void estimate_cost(const FrameSize& size, FrameTask& task) {
  const bool packed = size.unpacked_bytes > size.file_bytes;
  const std::uint64_t raw = std::max(size.unpacked_bytes, size.file_bytes);
  const auto bins = static_cast<std::uint64_t>(size.nspec) * size.nwave;
  const std::uint64_t reading = raw * 3 / 2 + (packed ? raw + size.file_bytes : 0);
  const std::uint64_t holding =
      raw + bins * (kBytesPerBin + (packs(task.job.output) ? kPackedBytesPerBin : 0));
  task.image_bytes = size.file_bytes;
  task.memory_bytes =
      static_cast<std::uint64_t>(kHeap * static_cast<double>(std::max(reading, holding)));
  task.staging_bytes = raw / kFileBytesPerPixel * kStagedPerPixel + bins * kStagedPerBin;
  task.cost_s = kSecondsPerBin * static_cast<double>(bins) +
                kSecondsPerByte * static_cast<double>(raw) +
                (packed ? kSecondsPerPackedByte * static_cast<double>(raw) : 0.0);
}

}  // namespace fiberloom::night
