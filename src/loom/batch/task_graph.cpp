// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/task_graph.hpp"

#include <algorithm>
#include <filesystem>

#include "loom/base/error.hpp"

namespace loom::batch {
namespace {

std::string normal(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

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
  std::map<std::string, std::size_t> by_name, maker;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    by_name.emplace(tasks[i].name, i);
    for (const std::string& output : tasks[i].outputs) {
      const auto [other, fresh] = maker.emplace(normal(output), i);
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
      const auto found = maker.find(normal(input));
      if (found != maker.end()) after[i].push_back(found->second);
    }
    std::sort(after[i].begin(), after[i].end());
    after[i].erase(std::unique(after[i].begin(), after[i].end()), after[i].end());
  }
  require_no_circle(tasks, after);
  return after;
}

std::vector<std::size_t> sorted_by_need(const std::vector<std::vector<std::size_t>>& after) {
  TaskGraph graph;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (graph.add(i, after[i])) order.push_back(i);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto ready = graph.settle(order[k], true).ready;
    order.insert(order.end(), ready.begin(), ready.end());
  }
  return order;
}

bool TaskGraph::add(std::size_t task, const std::vector<std::size_t>& after) {
  std::size_t missing = 0;
  for (const std::size_t need : after) {
    Node& node = nodes_[need];
    if (node.good == true) continue;
    if (node.good == false) throw Error(Status::kInternal, "a task that needs one that failed");
    node.needed_by.push_back(task);
    ++missing;
  }
  Node& node = nodes_[task];
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
    block(task, news);
    return news;
  }
  for (const std::size_t next : node.needed_by) {
    Node& other = nodes_.at(next);
    if (!other.waits || --other.missing > 0) continue;
    other.waits = false;
    --held_;
    news.ready.push_back(next);
  }
  return news;
}

/// Whatever needs it, by any number of steps.
void TaskGraph::block(std::size_t task, News& news) {
  const std::size_t known = news.blocked.size();
  for (std::size_t k = known; true; ++k) {
    for (const std::size_t next : nodes_.at(task).needed_by) {
      Node& other = nodes_.at(next);
      if (!other.waits) continue;
      other.waits = false;
      other.good = false;
      --held_;
      news.blocked.push_back(next);
    }
    if (k == news.blocked.size()) return;
    task = news.blocked[k];
  }
}

}  // namespace loom::batch
