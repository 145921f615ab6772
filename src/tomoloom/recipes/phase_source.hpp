// SPDX-License-Identifier: BSD-3-Clause
// A scan whose projections are transmissions with their phase retrieved: what is asked for is made
// of whole projections, a few at a time. It stands where the scan stood, flats and darks used up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/runtime/usage.hpp"
#include "tomoloom/exchange/frame_source.hpp"
#include "tomoloom/prepare/gpu/device_phase.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/phase.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom {

/// What is left to do of a job after its phase is retrieved.
[[nodiscard]] ReconJob after_phase(ReconJob job);

class PhaseSource final : public FrameSource {
 public:
  /// For rows [first, first + rows) of `scan`, which outlives this; so do the others. Throws
  /// kUnsupported where the scan's numbers are integrals.
  PhaseSource(const FrameSource& scan, const ReconJob& job, std::size_t first, std::size_t rows,
              Executor& executor, const Observer& observer);

  /// What it takes is given back after the last projection. Throws kInterrupted too.
  void frames(const std::string& name, std::size_t frame, std::size_t frames, std::size_t first,
              std::size_t rows, FrameBlock& out) const override;
  /// As if some whole projections were a box: so that a spool is filled with each of them once.
  [[nodiscard]] std::vector<std::size_t> chunk(const std::string& name) const override;
  [[nodiscard]] bool made_when_asked() const noexcept override { return true; }
  [[nodiscard]] std::string identity() const override { return scan_.identity(); }

  /// A card of the job's backend, or kCpu. Opens it. Throws kDevice where one was insisted on that
  /// is not there.
  [[nodiscard]] Backend made_on() const;

  /// Most that is taken, all threads together.
  [[nodiscard]] std::uint64_t bytes() const;
  /// Of the pixels that were looked at; known once something was asked for.
  [[nodiscard]] const PixelFlaws& flaws() const noexcept { return flaws_; }
  [[nodiscard]] std::size_t pixels() const noexcept { return seen_rows_ * layout_.columns; }
  [[nodiscard]] const StageTime& spent() const noexcept { return spent_; }

 private:
  void open_card() const;
  void find_gain() const;
  /// Of `count` projections that were looked at, from the one at `from` on: rows to `to`.
  void retrieve(const float* from, std::size_t count, std::size_t first, std::size_t rows,
                float* to) const;
  [[nodiscard]] std::size_t halo() const noexcept;
  /// Transmissions of some projections, zingers removed; all rows that count.
  void look(std::size_t frame, std::size_t frames) const;

  const FrameSource& scan_;
  const ReconJob& job_;
  Executor& executor_;
  const Observer& observer_;
  std::size_t seen_first_, seen_rows_;  ///< rows that the filter reaches from those wanted
  std::size_t box_;                     ///< projections at a time
  bool for_card_;                       ///< as far as is known before one is opened
  // what a call leaves for the next: a card or none, the same pages, the gains
  mutable bool opened_ = false;
  mutable std::unique_ptr<DevicePhase> card_;  ///< null: filter_ does it
  mutable std::optional<PhaseFilter> filter_;
  mutable std::vector<Gain> gains_;  ///< of each set of flats
  mutable PixelFlaws flaws_;
  mutable StageTime spent_;
  mutable FrameBlock raw_;
  mutable std::vector<float> seen_;  ///< [frame][row][column]
  mutable std::size_t begin_ = 0;    ///< frame that seen_ begins with
};

}  // namespace tomoloom
