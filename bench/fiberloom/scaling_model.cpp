// SPDX-License-Identifier: BSD-3-Clause
// Discrete events between which all rates are constant; those closer than a quantum are one. A unit
// reads (a flow through the file system), computes (a flow through its node's cores, at most one
// core a bundle) and writes.
#include "scaling_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>

#include "loom/batch/dispatcher.hpp"

namespace fiberloom::bench {
namespace {

using loom::batch::Assignment;
using loom::batch::Dispatcher;
using loom::batch::Offer;

constexpr double kQuantumS = 5e-4;

enum class Stage { kRead, kCompute, kWrite };

struct Unit {
  Assignment assignment;
  int node = 0;
  Stage stage = Stage::kRead;
  double left = 0;  ///< bytes, or core-seconds
  double rate = 0;
};

class Simulation {
 public:
  Simulation(const Cluster& cluster, const std::vector<FrameKind>& kinds,
             const std::vector<int>& frames)
      : cluster_(cluster),
        kinds_(kinds),
        frames_(frames),
        dispatcher_({cluster.part_overhead_s}),
        bundles_left_(frames.size()),
        held_(static_cast<std::size_t>(cluster.nodes), 0) {
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const FrameKind& k = kind(f);
      dispatcher_.add(f, {k.compute_core_s + k.io_core_s, k.bundles});
      bundles_left_[f] = k.bundles;
    }
    dispatcher_.close();
    for (int n = 0; n < cluster.nodes; ++n) dispatcher_.join(n, cluster.cores);
  }

  Forecast run() {
    now_ = cluster_.start_s;
    desk_free_ = now_;
    for (int n = 0; n < cluster_.nodes; ++n) {
      for (int k = 0; k < cluster_.frames_in_flight; ++k) wanting_.push_back(n);
    }
    serve();
    while (!units_.empty() || !coming_.empty()) {
      set_rates();
      advance(next_event());
      take_arrivals();
      end_stages();
      serve();
    }
    Forecast result;
    result.wall_s = now_;
    result.cores_busy = core_s_ / (cluster_.cores * cluster_.nodes * now_);
    result.storage_busy = bytes_ / (cluster_.shared_bytes_s * now_);
    result.desk_busy = desk_s_ / now_;
    result.units = unit_count_;
    result.frames = static_cast<long>(frames_.size());
    return result;
  }

 private:
  struct Coming {
    double when;
    long number;
    Assignment assignment;
    int node;
    bool operator<(const Coming& o) const {
      return when != o.when ? when > o.when : number > o.number;
    }
  };

  [[nodiscard]] const FrameKind& kind(std::size_t frame) const {
    return kinds_[static_cast<std::size_t>(frames_[frame])];
  }
  [[nodiscard]] double share(const Assignment& a) const {
    const int last = a.unit.last_part < 0 ? kind(a.unit.task).bundles : a.unit.last_part;
    return static_cast<double>(last - a.unit.first_part) / kind(a.unit.task).bundles;
  }

  /// Rank 0 answers one ask after the other; those without an answer keep their place.
  void serve() {
    for (std::size_t asked = wanting_.size(); asked > 0; --asked) {
      const int node = wanting_.front();
      wanting_.pop_front();
      Assignment a;
      if (dispatcher_.next(node, now_, a) != Offer::kUnit) {
        wanting_.push_back(node);
        continue;
      }
      desk_free_ = std::max(desk_free_, now_) + 2 * cluster_.message_s;  // the ask, the outcome
      desk_s_ += 2 * cluster_.message_s;
      coming_.push({desk_free_ + cluster_.latency_s, unit_count_++, a, node});
    }
  }

  void take_arrivals() {
    while (!coming_.empty() && coming_.top().when <= now_) {
      const Coming& c = coming_.top();
      units_.push_back(
          {c.assignment, c.node, Stage::kRead, kind(c.assignment.unit.task).bytes_in, 0});
      coming_.pop();
    }
  }

  /// Each flow gets an equal share of what its node may take and of the whole; the cores of a node
  /// go to its oldest units first, one core a bundle.
  void set_rates() {
    std::vector<int> flows(held_.size(), 0);
    std::vector<double> cores(held_.size(), cluster_.cores);
    int all = 0;
    for (const Unit& u : units_) {
      if (u.stage == Stage::kCompute) continue;
      ++flows[static_cast<std::size_t>(u.node)];
      ++all;
    }
    for (Unit& u : units_) {
      const auto n = static_cast<std::size_t>(u.node);
      if (u.stage == Stage::kCompute) {
        const double most = std::ceil(kind(u.assignment.unit.task).bundles * share(u.assignment));
        u.rate = std::min(most, cores[n]);
        cores[n] -= u.rate;
      } else {
        u.rate = std::min(cluster_.shared_bytes_s / all, cluster_.node_bytes_s / flows[n]);
      }
    }
  }

  [[nodiscard]] double next_event() const {
    double next = coming_.empty() ? std::numeric_limits<double>::infinity() : coming_.top().when;
    for (const Unit& u : units_) {
      if (u.rate > 0) next = std::min(next, now_ + u.left / u.rate);
    }
    return std::max(next, now_ + kQuantumS);
  }

  void advance(double to) {
    for (Unit& u : units_) {
      const double done = std::min(u.left, u.rate * (to - now_));
      u.left -= done;
      (u.stage == Stage::kCompute ? core_s_ : bytes_) += done;
      if (u.left <= 1e-9 * u.rate) u.left = 0;
    }
    now_ = to;
  }

  void end_stages() {
    for (std::size_t i = 0; i < units_.size();) {
      Unit& u = units_[i];
      if (u.left > 0) {
        ++i;
        continue;
      }
      const FrameKind& k = kind(u.assignment.unit.task);
      const double part = share(u.assignment);
      if (u.stage == Stage::kRead) {
        u.stage = Stage::kCompute;
        u.left = k.compute_core_s * part + k.io_core_s;  // every part reads all of the file
        ++i;
      } else if (u.stage == Stage::kCompute) {
        u.stage = Stage::kWrite;
        u.left = k.bytes_out * part;
        ++i;
      } else {
        finish(u);
        units_.erase(units_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  void finish(const Unit& u) {
    const std::size_t f = u.assignment.unit.task;
    bundles_left_[f] -= static_cast<int>(std::lround(share(u.assignment) * kind(f).bundles));
    if (bundles_left_[f] == 0) dispatcher_.settled(f);
    dispatcher_.finished(u.node, now_, u.assignment);
    wanting_.push_back(u.node);
  }

  Cluster cluster_;
  const std::vector<FrameKind>& kinds_;
  const std::vector<int>& frames_;
  Dispatcher dispatcher_;
  std::vector<int> bundles_left_;
  std::vector<int> held_;
  std::deque<int> wanting_;
  std::priority_queue<Coming> coming_;
  std::vector<Unit> units_;  ///< oldest first
  double now_ = 0, desk_free_ = 0, desk_s_ = 0, core_s_ = 0, bytes_ = 0;
  long unit_count_ = 0;
};

}  // namespace

Forecast forecast(const Cluster& cluster, const std::vector<FrameKind>& kinds,
                  const std::vector<int>& frames) {
  return Simulation(cluster, kinds, frames).run();
}

}  // namespace fiberloom::bench
