// SPDX-License-Identifier: BSD-3-Clause
#include "loom/program/text_output.hpp"

#include <string>
#include <vector>

#include "loom/files/atomic_file.hpp"
#include "loom/program/standard_output.hpp"

namespace loom {

void check_text_outputs(std::span<const NamedFile> files) {
  std::vector<std::string> paths;
  for (const NamedFile& file : files) {
    if (file.path.empty() || file.path == "-") continue;
    check_file_name(file.path);
    check_stream(file.path);
    check_place(file.path);
    paths.push_back(file.path);
  }
  remove_dead_temporaries(paths);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return put(text);
  const FolderOf folder(path);
  write_whole(path, text, Overwrite::kYes);
}

}  // namespace loom
