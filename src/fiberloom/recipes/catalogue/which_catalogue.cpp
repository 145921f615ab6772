// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/which_catalogue.hpp"

#include <filesystem>

#include "fiberloom/catalogue/catalogue.hpp"
#include "fiberloom/catalogue/errors.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/json/json.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kMostBytes = 1 << 16;

/// What the file says of a catalogue.
std::string note_of(const std::string& database, db::Access access) {
  const std::string identity = catalogue::with_exit_codes([&] {
    return catalogue::Catalogue(database, {access, kCatalogueWaitS}).identity();
  });
  const Json json{{"catalogue", shown_catalogue(database)},
                  {"identity", identity},
                  {"schema", catalogue::kSchemaVersion}};
  return json.dump(1, JsonText::kAscii) + "\n";
}

bool says(const std::string& file, const std::string& text) {
  std::error_code ignored;
  return std::filesystem::exists(file, ignored) && read_text(file, kMostBytes) == text;
}

}  // namespace

bool is_catalogue_file(const std::string& url) { return db::kind_of(url) == db::Kind::kSqlite; }

std::vector<std::string> files_of_catalogue(const std::string& url) {
  if (!is_catalogue_file(url)) return {};
  const std::string path = db::sqlite_path(url);
  return {path, path + "-wal", path + "-shm"};
}

std::string catalogue_at(const std::string& url, const std::string& folder) {
  if (!is_catalogue_file(url)) return url;
  return (std::filesystem::path(folder) / db::sqlite_path(url)).lexically_normal().string();
}

std::string shown_catalogue(const std::string& url) { return db::without_password(url); }

void note_catalogue(const std::string& database, const std::string& file) {
  const std::string text = note_of(database, db::Access::kWrite);
  if (says(file, text)) return;
  const FolderOf folder(file);
  write_whole(file, text, Overwrite::kYes);
}

bool is_noted(const std::string& database, const std::string& file) {
  try {
    return says(file, note_of(database, db::Access::kRead));
  } catch (const Error& error) {
    if (error.status() == Status::kNotFound) return false;  // to be made
    throw;
  }
}

}  // namespace fiberloom
