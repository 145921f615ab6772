// SPDX-License-Identifier: BSD-3-Clause
// /proc/self/cgroup and the folders that it names.
#include "loom/runtime/cgroup.hpp"

#include <algorithm>
#include <fstream>

namespace loom {
namespace {

std::optional<double> smallest_upward(const std::string& mount, std::string group,
                                      const CgroupLimit& limit) {
  std::optional<double> smallest;
  while (true) {
    if (const auto q = limit(mount + group)) smallest = std::min(*q, smallest.value_or(*q));
    if (group.empty() || group == "/") return smallest;
    group.erase(group.rfind('/'));
  }
}

}  // namespace

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> smallest_cgroup_limit(const std::string& root, const std::string& controller,
                                            const CgroupLimit& v2, const CgroupLimit& v1) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::optional<double> smallest;
  for (std::string line; std::getline(file, line);) {  // number:controllers:path
    const auto colon = line.find(':');
    const auto last = colon == std::string::npos ? colon : line.find(':', colon + 1);
    if (last == std::string::npos) continue;
    const std::string controllers = line.substr(colon + 1, last - colon - 1);
    const std::string group = line.substr(last + 1);
    if (!group.starts_with('/')) continue;
    std::optional<double> limit;
    if (controllers.empty()) {
      limit = smallest_upward(root + "/sys/fs/cgroup", group, v2);
    } else if (("," + controllers + ",").find("," + controller + ",") != std::string::npos) {
      limit = smallest_upward(root + "/sys/fs/cgroup/" + controller, group, v1);
    }
    if (limit) smallest = std::min(*limit, smallest.value_or(*limit));
  }
  return smallest;
}

}  // namespace loom
