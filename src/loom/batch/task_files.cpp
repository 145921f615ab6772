// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/task_files.hpp"

#include <cctype>
#include <filesystem>
#include <set>

#include "loom/batch/shared_ledger.hpp"

namespace loom::batch {

namespace fs = std::filesystem;

bool is_folder_name(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

std::string absolute_path(const std::string& path) {
  return path.empty() ? path : fs::absolute(path).lexically_normal().string();
}

std::string task_name_of(const std::string& place) {
  std::string name;
  for (const char c : fs::path(place).lexically_normal().string()) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    name += good ? c : '-';
  }
  return name;
}

void TaskNames::take(const std::string& name, const std::string& file, const char* outputs) {
  const auto [other, is_new] = file_of_.emplace(name, file);
  if (is_new) return;
  throw Error(Status::kUsage,
              file + " and " + other->second + ": their " + outputs + " would have the same name");
}

std::vector<NamedFile> own_files(const RunFolder& folder) {
  return {{"ledger", folder.ledger()},
          {"status page", folder.output() + "/status.html"},
          {"status", folder.output() + "/status.json"}};
}

void check_task_files(const RunFolder& folder, std::span<const Task> tasks,
                      std::span<const NamedFile> texts, std::span<const NamedFile> sources) {
  std::vector<NamedFile> outputs = own_files(folder);
  std::vector<NamedFile> inputs(sources.begin(), sources.end());
  for (const Task& task : tasks) {
    for (const std::string& path : task.outputs) {
      outputs.push_back({"a result of " + task.name, path});
    }
  }
  std::set<std::string> seen;
  for (const Task& task : tasks) {
    for (const std::string& path : task.inputs) {
      if (seen.insert(path).second) inputs.push_back({"an input of " + task.name, path});
    }
  }
  outputs.insert(outputs.end(), texts.begin(), texts.end());
  for (const NamedFile& text : texts) spare_state(folder, "", text);
  check_distinct(outputs, inputs);
}

}  // namespace loom::batch
