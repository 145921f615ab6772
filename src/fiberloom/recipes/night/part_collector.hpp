// SPDX-License-Identifier: BSD-3-Clause
// A frame that several ranks extract. Every rank that has a part reads the file itself (from the
// page cache, or from a parallel file system, which is built for that); only results travel, to the
// rank that began the frame, its owner. Pixels would be more bytes, and their sender a bottleneck.
// The owner joins the rows and makes the mask over all of them (join_parts), since bit 7 takes a
// median over the fibres of the file: the bytes of one rank's extraction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "fiberloom/recipes/night/frame_task.hpp"

namespace fiberloom::night {

/// What one rank found for some bundles of a frame.
struct PartialFrame {
  WorkUnit unit;
  std::uint32_t round = 0;  ///< of its Assignment
  FrameOutcome outcome;     ///< of this part: a state that ends_frame() is the frame's
  ExtractResult result;     ///< its fibres; the mask is made when the parts are joined
};

/// A part in this state is the end of the whole frame. Of a frame that is up to date all parts are
/// waited for: one of them may be making its page.
[[nodiscard]] inline bool ends_frame(FrameState state) {
  return state != FrameState::kDone && state != FrameState::kUpToDate;
}

/// May a frame be cut? Not when a model or residual image is wanted, whose bundles overlap.
[[nodiscard]] inline bool divisible(const ExtractJob& job) {
  return job.model.empty() && job.residual.empty();
}

/// Collects the parts of the frames that this process owns. Safe from any thread.
class PartCollector {
 public:
  /// Takes a part; all of them when this was the last one or the first that ends the frame. Parts
  /// of a frame that is complete, or of an older round, are dropped.
  [[nodiscard]] std::optional<std::vector<PartialFrame>> add(PartialFrame part);
  /// Frames begun and not complete.
  [[nodiscard]] std::vector<std::size_t> open() const;

 private:
  struct Frame {
    std::uint32_t round = 0;
    std::vector<PartialFrame> parts;
  };
  mutable std::mutex mutex_;
  std::map<std::size_t, Frame> frames_;
  std::set<std::pair<std::size_t, std::uint32_t>> closed_;
};

}  // namespace fiberloom::night
