// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/task_graph.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "loom/base/error.hpp"
#include "loom/batch/normal_path.hpp"

namespace loom::batch {
namespace {

/// Throws kUsage where a task needs itself: what sorted_by_need() could not place holds a circle.
void require_no_circle(const std::vector<Task>& tasks,
                       const std::vector<std::vector<std::size_t>>& after) {
  const auto order = sorted_by_need(after);
  if (order.size() == tasks.size()) return;
  std::vector<bool> placed(tasks.size(), false);
  for (const std::size_t i : order) placed[i] = true;
  std::size_t at =
      static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  const auto next = [&](std::size_t i) {
    return *std::find_if(after[i].begin(), after[i].end(),
                         [&](std::size_t k) { return !placed[k]; });
  };
  for (std::size_t step = 0; step < tasks.size(); ++step) at = next(at);  // now on the circle
  std::string names = tasks[at].name;
  for (std::size_t i = next(at); i != at; i = next(i)) names += " needs " + tasks[i].name;
  throw Error(Status::kUsage, names + " needs " + tasks[at].name + ": none of them can be done");
}

}  // namespace

std::vector<std::vector<std::size_t>> link_tasks(const std::vector<Task>& tasks) {
  std::unordered_map<std::string, std::size_t> by_name, maker;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    by_name.emplace(tasks[i].name, i);
    for (const std::string& output : tasks[i].outputs) {
      const auto [other, fresh] = maker.emplace(normal_path(output), i);
      if (fresh) continue;
      throw Error(Status::kUsage,
                  output + ": made by both " + tasks[other->second].name + " and " + tasks[i].name);
    }
  }
  std::vector<std::vector<std::size_t>> after(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& name : tasks[i].after) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        throw Error(Status::kUsage, tasks[i].name + ": needs " + name + ", which is no task here");
      }
      after[i].push_back(found->second);
    }
    for (const std::string& input : tasks[i].inputs) {
      const auto found = maker.find(normal_path(input));
      if (found != maker.end()) after[i].push_back(found->second);
    }
    std::sort(after[i].begin(), after[i].end());
    after[i].erase(std::unique(after[i].begin(), after[i].end()), after[i].end());
  }
  require_no_circle(tasks, after);
  return after;
}

std::vector<std::vector<std::size_t>> link_any(const std::vector<Task>& tasks,
                                               const std::vector<std::vector<std::size_t>>& after) {
  std::unordered_map<std::string, std::size_t> maker;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& output : tasks[i].outputs) maker.emplace(normal_path(output), i);
  }
  std::vector<std::vector<std::size_t>> any(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    std::set<std::size_t> found;
    for (const std::string& input : tasks[i].any_inputs) {
      const auto made = maker.find(normal_path(input));
      if (made != maker.end()) found.insert(made->second);
    }
    for (const std::size_t need : after[i]) found.erase(need);
    any[i].assign(found.begin(), found.end());
  }
  std::vector<std::vector<std::size_t>> both = after;
  for (std::size_t i = 0; i < both.size(); ++i) {
    both[i].insert(both[i].end(), any[i].begin(), any[i].end());
  }
  require_no_circle(tasks, both);
  return any;
}

std::vector<std::size_t> sorted_by_need(const std::vector<std::vector<std::size_t>>& after,
                                        const std::vector<std::vector<std::size_t>>& any) {
  TaskGraph graph;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const AnyOf wanted = any.empty() ? AnyOf{} : AnyOf{any[i], false};
    if (graph.add(i, after[i], wanted)) order.push_back(i);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto ready = graph.settle(order[k], true).ready;
    order.insert(order.end(), ready.begin(), ready.end());
  }
  return order;
}

bool TaskGraph::add(std::size_t task, const std::vector<std::size_t>& after, const AnyOf& any) {
  std::size_t missing = 0;
  for (const std::size_t need : after) {
    Node& node = nodes_[need];
    if (node.good == true) continue;
    if (node.good == false) throw Error(Status::kInternal, "a task that needs one that failed");
    node.needed_by.push_back(task);
    ++missing;
  }
  bool enough = any.enough || any.tasks.empty();
  for (const std::size_t want : any.tasks) {
    Node& node = nodes_[want];
    enough = enough || node.good == true;
    if (node.good) continue;
    node.wanted_by.push_back(task);
    ++missing;
  }
  Node& node = nodes_[task];
  node.enough = enough;
  node.good.reset();
  node.missing = missing;
  node.waits = missing > 0;
  held_ += node.waits;
  return !node.waits;
}

TaskGraph::News TaskGraph::settle(std::size_t task, bool good) {
  News news;
  Node& node = nodes_[task];
  if (node.good) return news;
  node.good = good;
  if (!good) {
    block_after(task, news);
  } else {
    for (const std::size_t next : node.needed_by) settle_one(next, news);
    for (const std::size_t next : node.wanted_by) {
      nodes_.at(next).enough = true;
      settle_one(next, news);
    }
  }
  for (std::size_t k = 0; k < news.blocked.size(); ++k) block_after(news.blocked[k], news);
  return news;
}

/// One thing less to wait for: it may begin, or will never.
void TaskGraph::settle_one(std::size_t next, News& news) {
  Node& other = nodes_.at(next);
  if (!other.waits || --other.missing > 0) return;
  other.waits = false;
  --held_;
  if (!other.enough) other.good = false;
  (other.enough ? news.ready : news.blocked).push_back(next);
}

/// What needs the task will never begin; what merely wants it waits for one thing less.
void TaskGraph::block_after(std::size_t task, News& news) {
  for (const std::size_t next : nodes_.at(task).needed_by) {
    Node& other = nodes_.at(next);
    if (!other.waits) continue;
    other.waits = false;
    other.good = false;
    --held_;
    news.blocked.push_back(next);
  }
  for (const std::size_t next : nodes_.at(task).wanted_by) settle_one(next, news);
}

}  // namespace loom::batch
