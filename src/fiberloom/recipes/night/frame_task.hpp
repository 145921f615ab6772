// SPDX-License-Identifier: BSD-3-Clause
// The nouns of an exposure or a night: a frame to extract, a unit of work, what became of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "fiberloom/recipes/extract_frame.hpp"
#include "fiberloom/recipes/night/frame_quality.hpp"

namespace fiberloom::night {

/// One camera's frame of one exposure: everything that extract_frame() needs, and what it may cost.
struct FrameTask {
  std::string name;    ///< "r0-00000012": unique within a run; names claims, receipts, rows
  std::string night;   ///< "20261121", or empty
  std::string camera;  ///< "r0"
  long expid = 0;
  ExtractJob job;                     ///< paths and options, absolute where they must be
  std::string report;                 ///< page of the frame, made with it; empty: none
  std::uint64_t image_bytes = 0;      ///< as on disk
  std::uint64_t memory_bytes = 0;     ///< resident while in flight, estimated before it is read
  std::uint64_t workspace_bytes = 0;  ///< of each thread of a CPU that computes it, beside that
  /// page-locked, for each place of a device once: pixels in, results out
  std::uint64_t staging_bytes = 0;
  double cost_s = 1;  ///< expected core-seconds; only the order depends on it
  /// what ranks can cut it into, by its own PSF; counted where it is to be shared out. 0: not
  /// counted
  int bundles = 0;
};

/// A frame, or some of its bundles (when there are more workers than frames).
struct WorkUnit {
  std::size_t frame = 0;  ///< index in the list of tasks
  int first_bundle = 0;
  int last_bundle = -1;  ///< one past the last; -1: all of the frame
  int bundles = 0;       ///< of the whole frame, where it is cut
};

enum class FrameState {
  kWaiting,
  kClaimed,  ///< in work in another run
  kReading,
  kComputing,
  kWriting,
  kDone,       ///< written in this run
  kUpToDate,   ///< was there, valid, from the same inputs, options and version
  kFailed,     ///< in quarantine: tried again only with --retry
  kMissing,    ///< an input is not there
  kAbandoned,  ///< stopped before it was finished; nothing is lost but time
};

/// What became of a frame, and what it took.
struct FrameOutcome {
  std::size_t frame = 0;
  int first_bundle = 0;  ///< of its unit
  FrameState state = FrameState::kWaiting;
  int exit_code = 0;     ///< of Error, where it failed
  int system_error = 0;  ///< of Error, where it failed
  std::string message;   ///< one line, where it failed, or what a frame that is done lacks
  int attempts = 1;
  int rank = 0;
  double start_s = 0, end_s = 0;  ///< since the start of the run
  StageTime read, compute, write;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  int bundles = 0;  ///< of the frame, where it is done
  std::uint32_t output_checksum = 0;
  TakenOver by_cpu;
  std::optional<FrameQuality> quality;  ///< of a frame that is there, made since there are such
  std::string report;  ///< its page, path as in receipts; empty where there is none
};

/// Where a process gets its work: a list, a watched folder, or a queue over MPI.
class WorkSource {
 public:
  virtual ~WorkSource() = default;
  /// The next unit; waits a while if there may be more. nullopt: none, ask more_later(). Called
  /// from one thread at a time, one that does I/O.
  virtual std::optional<WorkUnit> next() = 0;
  /// Did next() say that there is none only for now? It must not wait for ever: who asked has other
  /// things to look after, a frame to try again or a fault that ends the run.
  [[nodiscard]] virtual bool more_later() const { return false; }
  /// Takes what became of a unit of next(). Called from any thread.
  virtual void finished(const FrameOutcome& outcome) = 0;
};

}  // namespace fiberloom::night
