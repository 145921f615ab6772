// SPDX-License-Identifier: BSD-3-Clause
// From a path of the user to template files.
#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "fiberloom/status.hpp"
#include "fiberloom/templates/built_in.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/listed_names.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_name.hpp"

namespace fiberloom::templates {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestList = std::size_t{1} << 20;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// PREFIX*.fits of a folder, in order of their names.
std::vector<std::string> glob(const std::string& folder, const std::string& prefix) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with(prefix) && loom::fits::is_fits_name(name)) {
      out.push_back(it->path().string());
    }
  }
  if (error) throw Error(Status::kNotFound, folder + ": " + error.message(), error.value());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> read_list(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  std::vector<std::string> out;
  for (const std::string& name : loom::listed_names(read_text(path, kLongestList), path)) {
    const fs::path file = fs::path(name).is_absolute() ? fs::path(name) : folder / name;
    if (!is_there(file)) {
      throw Error(Status::kNotFound, path + ": names " + name + ", which is not there");
    }
    out.push_back(file.string());
  }
  if (out.empty()) throw Error(kBadTemplate, path + ": names no template file");
  return out;
}

std::vector<std::string> in_folder(const std::string& folder) {
  const fs::path list = fs::path(folder) / "templates-default.txt";
  if (is_there(list)) return read_list(list.string());
  std::vector<std::string> out = glob(folder, "rrtemplate-");
  if (out.empty()) {
    throw Error(Status::kNotFound,
                folder + ": neither templates-default.txt nor any rrtemplate-*.fits in it");
  }
  return out;
}

std::vector<std::string> from_path(const std::string& path) {
  if (is_folder(path)) return in_folder(path);
  if (loom::has_ending(path, ".txt")) return read_list(path);
  return {resolve_path(path)};
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::vector<std::string> find_templates(std::span<const std::string> paths,
                                        std::span<const std::string> folders) {
  if (paths.size() == 1) return from_path(paths.front());
  if (!paths.empty()) {
    std::vector<std::string> out;
    for (const std::string& path : paths) out.push_back(resolve_path(path));
    return out;
  }
  if (const char* folder = variable("RR_TEMPLATE_DIR")) return from_path(folder);
  for (const std::string& folder : folders) {
    if (is_folder(folder)) return in_folder(folder);
  }
  throw Error(Status::kNotFound,
              "no templates: neither given nor in RR_TEMPLATE_DIR, which is not set");
}

bool falls_back(std::span<const std::string> paths, std::span<const std::string> folders) {
  return paths.empty() && folders.empty() && variable("RR_TEMPLATE_DIR") == nullptr;
}

std::string fallback_note() {
  return "no templates named and RR_TEMPLATE_DIR not set: using the small built-in set " +
         std::string(kBuiltInVersion) + ", made from textbook physics, which is no survey's";
}

ChosenTemplates choose_templates(std::span<const std::string> paths,
                                 std::span<const std::string> folders, const GridRules& rules) {
  if (falls_back(paths, folders)) return {built_in_set(rules), fallback_note()};
  return {load_templates(find_templates(paths, folders), rules), ""};
}

std::vector<std::string> find_archetypes(const std::string& path) {
  const char* folder = variable("RR_ARCHETYPE_DIR");
  if (path.empty() && folder == nullptr) {
    throw Error(Status::kNotFound,
                "no archetypes: neither given nor in RR_ARCHETYPE_DIR, which is not set");
  }
  const std::string where = path.empty() ? folder : path;
  if (!is_folder(where)) return {resolve_path(where)};
  std::vector<std::string> out = glob(where, "rrarchetype-");
  if (out.empty()) throw Error(Status::kNotFound, where + ": no rrarchetype-*.fits in it");
  return out;
}

}  // namespace fiberloom::templates
