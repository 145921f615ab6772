// SPDX-License-Identifier: BSD-3-Clause
// The owner's side of frames that are cut: keeps what the header needs of its own part, and once
// all parts are here joins and writes them on a thread of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fiberloom/recipes/night/frame_pipeline.hpp"
#include "fiberloom/recipes/night/rank_source.hpp"

namespace fiberloom::night {

class FrameJoiner {
 public:
  FrameJoiner(RankSource& source, const TaskList& tasks, const RunFolder& folder,
              const PipelineOptions& options, Tracer* tracer);
  FrameJoiner(const FrameJoiner&) = delete;
  FrameJoiner& operator=(const FrameJoiner&) = delete;
  ~FrameJoiner();

  /// PipelineContext::part_done.
  void part_done(FramePart part);
  /// After the pipeline: writes what is complete, gives up the rest. The fault that made going on
  /// useless, if there was one.
  [[nodiscard]] std::optional<Error> finish();

 private:
  struct Kept {
    PreparedFrame frame;
    InputStamps inputs;
  };
  using Joined = std::pair<std::size_t, std::vector<PartialFrame>>;

  void loop();
  void join(std::size_t frame, std::vector<PartialFrame> parts);
  void write(std::size_t frame, std::vector<PartialFrame> parts, FrameOutcome& outcome);

  RankSource& source_;
  const TaskList& tasks_;
  const RunFolder& folder_;
  const PipelineOptions options_;
  Tracer* tracer_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Joined> joined_;
  std::map<std::size_t, Kept> kept_;
  std::optional<Error> fatal_;
  const Error no_memory_{Status::kMemory, "out of memory"};  ///< made while there is some
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace fiberloom::night
