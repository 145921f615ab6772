// SPDX-License-Identifier: BSD-3-Clause
// Options of a call as those of the command line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "skyloom/recipes/map_option_table.hpp"

namespace skyloom::python {

template <class Job>
Job job_of(std::span<const OptionRow<Job>> rows, const py::dict& options) {
  Job job;
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    for (const std::string& text : py::cast<std::vector<std::string>>(value)) {
      set_option(rows, job, name, text);
    }
  }
  return job;
}

template <class Job>
py::list keys_of(std::span<const OptionRow<Job>> rows) {
  py::list keys;
  for (const auto& row : rows) keys.append(std::string(row.key));
  return keys;
}

}  // namespace skyloom::python
