// SPDX-License-Identifier: BSD-3-Clause
// Limits of the control group that this process is in, of both versions. Knows paths, not units.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace loom {

/// The limit that one group's folder states, or nullopt.
using CgroupLimit = std::function<std::optional<double>(const std::string& folder)>;

/// The smallest limit from this process's group up to the root of the hierarchy (a parent's holds
/// too). `controller` is v1's: "cpu", "memory". `root` is put before /proc and /sys.
[[nodiscard]] std::optional<double> smallest_cgroup_limit(const std::string& root,
                                                          const std::string& controller,
                                                          const CgroupLimit& v2,
                                                          const CgroupLimit& v1);

/// The first line of a file, or nullopt.
[[nodiscard]] std::optional<std::string> first_line(const std::string& path);

}  // namespace loom
