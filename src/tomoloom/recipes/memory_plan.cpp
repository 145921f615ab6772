// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/memory_plan.hpp"

#include <algorithm>

#include "tomoloom/reconstruct/shift_rows.hpp"

namespace tomoloom {
namespace {

/// The program, its libraries and the small change of its heap; a thread's stack and arena.
constexpr std::uint64_t kProgram = std::uint64_t{32} << 20;
constexpr std::uint64_t kThread = std::uint64_t{1} << 20;
/// Of the search for the axis, an angle and pixel: rows, transforms of eight of them in double.
constexpr std::uint64_t kCentreBytes = 288;

/// What is freed stays with the heap of the thread that took it, up to so much (glibc's largest
/// threshold for memory of its own): reading and writing have threads of their own.
constexpr std::uint64_t kHeapKeeps = std::uint64_t{32} << 20;

/// Of a thread that removes stripes or zingers, a value of a sinogram: copies, sorted ones, their
/// order, wavelets.
constexpr std::uint64_t kStripeBytes = 48;

/// Tables of the exact plan, a frequency of an angle; work of one of its threads, a column.
constexpr std::uint64_t kExactTables = 64, kExactThread = 4096;

std::uint64_t sinogram_bytes(const ReconJob& job, const ScanLayout& layout) {
  const bool copies =
      job.outlier > 0 || (job.stripe.method != Stripe::kNone && job.stripe.method != Stripe::kSf);
  return std::max({copies ? layout.angles * layout.columns * kStripeBytes : 0,
                   job.centre_last || !layout.shift.empty() || !layout.axis.empty() ||
                           job.search == AxisSearch::kLean || job.search == AxisSearch::kEntropy
                       ? shift_rows_bytes(layout.columns)
                       : 0,
                   std::uint64_t{remove_rings_bytes(layout.columns, job.rings)}});
}

/// Of the host, for what goes to a card and comes back.
std::uint64_t card_bytes(const ReconJob& job, const SlicePlan& plan) {
  return plan.grid && on_card(job.backend) ? DeviceSlices::host_bytes(*plan.grid) : 0;
}

std::uint64_t search_bytes(const ReconJob& job, const ScanLayout& layout, std::size_t threads) {
  if (job.search == AxisSearch::kNone) return 0;
  const std::uint64_t sinogram = std::uint64_t{layout.angles} * layout.columns;
  const std::uint64_t rows = kProgram + threads * kThread + sinogram * kCentreBytes;
  if (job.search != AxisSearch::kEntropy) return rows;
  // a group of slices by the exact plan, whose grid is finer by half, and their sinograms
  const std::uint64_t slice = std::uint64_t{layout.columns} * layout.columns;
  const std::uint64_t group = kSlicesPerGroup * sizeof(float) * (4 * sinogram + 4 * slice);
  return std::max(rows, kProgram + group + sinogram * kExactTables +
                            threads * (kThread + shift_rows_bytes(layout.columns) +
                                       kExactThread * layout.columns));
}

}  // namespace

MemoryPlan plan_memory(const ReconJob& job, const ScanLayout& layout, const SlicePlan& plan,
                       std::size_t block_rows, const ReadMemory& read, std::size_t threads,
                       std::uint64_t granted) {
  const std::uint64_t rows = block_rows + read.beside;
  const std::uint64_t frame = rows * layout.columns;
  const std::uint64_t value = layout.counts ? sizeof(std::uint16_t) : sizeof(float);
  const bool flats = job.input == InputKind::kCounts;
  const std::uint64_t frames = layout.angles + (flats ? layout.flats + layout.darks : 0);
  const std::uint64_t raw = frames * frame * value;
  const std::uint64_t averages =
      frame * (sizeof(double) + (4 + 2 * layout.flat_sets) * sizeof(float));
  // as wide as slices are: half acquisition widens them, and a vector that grows is copied
  const std::uint64_t wide = rows * plan.image();
  const std::uint64_t integrals =
      layout.angles * (wide > frame ? wide + frame : frame) * sizeof(float);
  const std::uint64_t slices =
      std::uint64_t{block_rows} * plan.image() * plan.image() * sizeof(float);
  const std::uint64_t always =
      kProgram + threads * (kThread + sinogram_bytes(job, layout) + plan.thread_bytes()) +
      plan.group_bytes() + card_bytes(job, plan) + read.buffers + averages + integrals +
      std::min(raw, kHeapKeeps) + std::min(slices, kHeapKeeps) +
      std::uint64_t{plan.image()} * plan.image() * sizeof(float);  // a slice on its way to the disk
  const std::uint64_t before =
      read.before > 0 ? kProgram + threads * kThread + read.buffers + read.before : 0;
  const std::uint64_t centre = search_bytes(job, layout, threads);
  MemoryPlan memory;
  memory.bytes = std::max({centre, before, always + 2 * raw + 2 * slices});
  memory.overlap = memory.bytes <= granted;
  if (!memory.overlap) memory.bytes = std::max({centre, before, always + raw + slices});
  return memory;
}

std::uint64_t least_memory(const ReconJob& job, const ScanLayout& layout, std::size_t block_rows) {
  const std::uint64_t rows = block_rows, value = sizeof(float);
  const std::uint64_t of_angle = value * (rows + 12);  // integrals; weights and places of samples
  const std::uint64_t flats = job.input == InputKind::kCounts ? layout.flats + layout.darks : 0;
  const std::uint64_t of_flat = rows * sizeof(std::uint16_t), of_slice_row = rows * value;
  return layout.columns *
         (layout.angles * of_angle + flats * of_flat + layout.columns * of_slice_row);
}

}  // namespace tomoloom
