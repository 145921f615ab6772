// SPDX-License-Identifier: BSD-3-Clause
// The status of a run whose tasks are files: numbers for programs, a plain page for people.
#pragma once

#include <string>
#include <vector>

#include "loom/batch/run_status.hpp"

namespace loom::batch {

struct PlainStatus {
  struct Column {
    const char* title;
    const char* measure;
    int digits;
  };
  const char* schema;           ///< of the file for programs
  const char* things;           ///< what tasks are called there and in the rate: "scans"
  const char* input;            ///< label that names a task's file, and its key
  const char* title;            ///< of the column of names
  std::vector<Column> columns;  ///< measures that the page shows, at most two
};

[[nodiscard]] std::string plain_json(const RunStatus& status, const PlainStatus& what);
[[nodiscard]] std::string plain_html(const RunStatus& status, const PlainStatus& what);

}  // namespace loom::batch
