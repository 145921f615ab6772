// SPDX-License-Identifier: BSD-3-Clause
// A scan that is about to be reconstructed: opened, its rows and axis settled, what it takes
// planned. Writes nothing but spools.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "tomoloom/exchange/block_source.hpp"
#include "tomoloom/exchange/slice_sink.hpp"
#include "tomoloom/recipes/axis_finder.hpp"
#include "tomoloom/recipes/phase_source.hpp"
#include "tomoloom/recipes/recon_job.hpp"
#include "tomoloom/recipes/slice_plan.hpp"

namespace tomoloom {

/// Slices [first, first + count) of a volume, made together.
struct SliceBlock {
  std::size_t first = 0, count = 0;
};

/// The job in rows and columns of its window, whose layout it gets.
[[nodiscard]] ReconJob in_window(ReconJob job, const ScanLayout& layout);

/// Throws kUnsupported where options do not go together, whatever the scan is.
void check_choices(const ReconJob& job);

/// Called in the order in which they stand here. Job, executor and observer outlive it.
class ReconSetup {
 public:
  /// Opens the scan. Throws kSliceRange, kCentreRange, kScanMismatch, kUnsupported, kMemory (a
  /// block does not fit in any case), and what open_scan() throws.
  ReconSetup(const ReconJob& job, Executor& executor, const Observer& observer);
  ReconSetup(const ReconSetup&) = delete;
  ReconSetup& operator=(const ReconSetup&) = delete;

  /// All blocks of the volume; every way to make it makes these.
  [[nodiscard]] std::vector<SliceBlock> blocks() const;
  /// What is read for a block: its rows, and those beside them that a tilted axis brings in.
  [[nodiscard]] SliceBlock rows_of(const SliceBlock& block) const;
  /// Gets ready to read these blocks, and what lies between them. Some, in order.
  void open_rows(const std::vector<SliceBlock>& wanted);
  /// Looks for the axis where the job says so, in rows spread over those that are open.
  void find_axis();
  /// Where it is, in the window; in place of find_axis(): who has looked found it here.
  [[nodiscard]] Axis axis() const noexcept;
  void set_axis(const Axis& axis);
  /// Tables, and the memory of a run on so many threads that takes `beside` bytes more; `team`:
  /// processes that share a block. Throws kMemory.
  void make_plan(std::size_t threads, std::uint64_t beside = 0, std::size_t team = 1);

  [[nodiscard]] const ReconJob& job() const noexcept { return job_; }
  /// The same in rows and columns of the window, and what is left to do after the phase is
  /// retrieved.
  [[nodiscard]] const ReconJob& rest() const noexcept { return rest_; }
  [[nodiscard]] const FrameSource& scan() const noexcept { return *scan_; }
  /// The scan, or that with its phase retrieved.
  [[nodiscard]] const FrameSource& frames() const noexcept;
  [[nodiscard]] BlockSource& source() noexcept { return *source_; }
  [[nodiscard]] const SlicePlan& plan() const noexcept { return plan_; }
  /// After the plan, on the card or the CPU: opened when it is first asked for, since who only
  /// estimates has no use for it. Throws what SliceEngine does.
  [[nodiscard]] SliceEngine& engine();
  /// What the volume's numbers were made on: a card as soon as any step of theirs was.
  [[nodiscard]] Backend made_on();
  [[nodiscard]] ReconSummary& summary() noexcept { return summary_; }
  /// What decided the numbers: the options, and what was found where they leave it open.
  [[nodiscard]] std::vector<VolumeNote> notes() const;
  [[nodiscard]] VolumeShape shape() const noexcept;

  /// After the blocks are made: takes over what phase retrieval has seen in place of them. The
  /// pixels that flaws were looked for in, `pixels` of blocks where there was none.
  [[nodiscard]] std::size_t settle_flaws(std::size_t pixels);

 private:
  const ReconJob& job_;
  Executor& executor_;
  const Observer& observer_;
  std::unique_ptr<FrameSource> scan_;
  ReconJob own_;  ///< in rows and columns of the window
  ReconSummary summary_;
  std::uint64_t granted_ = 0;
  std::optional<PhaseSource> phase_;
  ReconJob rest_;
  std::unique_ptr<BlockSource> source_;
  SlicePlan plan_;
  std::optional<SliceEngine> engine_;
};

/// Throws kScanMismatch where most flats are not above their darks; warns of the others.
void check_flaws(const ReconJob& job, const ReconSummary& summary, std::size_t pixels,
                 const Observer& observer);

}  // namespace tomoloom
