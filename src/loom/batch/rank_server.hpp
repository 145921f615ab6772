// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's desk: turns what the ranks say into units and keeps the dispatcher's books.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "loom/batch/rank_source.hpp"
#include "loom/batch/task_graph.hpp"

namespace loom::batch {

class RankServer {
 public:
  using Send = std::function<void(int to, int tag, Bytes bytes)>;
  using Hear = std::function<void(const Outcome&)>;
  /// Before a task is handed out in parts: claims it for this run; its outcome where that fails.
  using Claim = std::function<std::optional<Outcome>(std::size_t task)>;

  RankServer(const std::vector<RankHello>& ranks, const DispatchOptions& options,
             const WorkKinds& kinds, Send send, Hear hear, Claim claim);

  /// `now`: seconds of a steady clock. Messages of other tags are not for the desk: false.
  bool handle(int from, int tag, std::span<const std::byte> bytes, double now);
  /// Looks again at the asks that had to wait.
  void serve(double now);
  /// No further unit is handed out.
  void stop();

  /// Every rank has gone.
  [[nodiscard]] bool over() const { return present_.empty(); }
  [[nodiscard]] const std::set<int>& present() const { return present_; }
  [[nodiscard]] std::vector<RankReport> take_reports() { return std::move(reports_); }

 private:
  void look_again(double now);
  void hear_outcome(int from, double now, const Outcome& outcome);
  [[nodiscard]] bool give(int rank, double now);
  [[nodiscard]] bool ours(int rank, double now, const Assignment& assignment);
  void offer(std::size_t task);
  void settle(std::size_t task, bool good);
  void say_no_more();

  const WorkKinds& kinds_;
  Dispatcher dispatcher_;
  TaskGraph graph_;
  Send send_;
  Hear hear_;
  Claim claim_;
  std::map<std::size_t, Task> tasks_;
  bool closed_ = false;  ///< nobody will add a task
  std::set<std::size_t> claimed_;
  std::map<std::size_t, double> elsewhere_;  ///< in work in another run; when to look again
  std::map<int, int> waiting_;               ///< rank -> asks without an answer
  std::set<int> present_;
  std::vector<RankReport> reports_;
  bool told_ = false, stopped_ = false;
};

}  // namespace loom::batch
