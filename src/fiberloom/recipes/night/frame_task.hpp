// SPDX-License-Identifier: BSD-3-Clause
// One frame of an exposure or a night, and the task of the batch engine that it becomes.
#pragma once

#include <cstdint>
#include <string>

#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/batch/task.hpp"

namespace loom::batch {}

namespace fiberloom::night {

using namespace batch;  // NOLINT(google-build-using-namespace): a night is a batch of frames

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
  /// Another image of the same frame, found beside it: neither is taken, the frame fails; empty:
  /// none.
  std::string twin;
};

/// The frame as the engine knows it: a task of the kind ExtractKind.
[[nodiscard]] Task to_task(FrameTask frame);
/// The frame that a task of ours carries.
[[nodiscard]] const FrameTask& frame_of(const Task& task);

}  // namespace fiberloom::night
