// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/run_folder.hpp"

#include <unistd.h>

#include <filesystem>

#include "loom/batch/normal_path.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/files/input_file.hpp"

namespace loom::batch {

RunFolder::RunFolder(std::string output, ProgramId program)
    : output_(std::move(output)), program_(std::move(program)) {
  while (output_.size() > 1 && output_.back() == '/') output_.pop_back();
  if (!output_.empty()) root_ = normal_path(output_);
}

std::string path_below(const RunFolder& folder, const std::string& path) {
  const std::string whole = normal_path(path);
  const std::string& out = folder.root();
  if (whole.size() > out.size() && whole.starts_with(out) && whole[out.size()] == '/') {
    return whole.substr(out.size() + 1);
  }
  const std::filesystem::path relative = std::filesystem::path(whole).lexically_relative(out);
  if (relative.empty() || *relative.begin() == "..") return path;
  return relative.string();
}

std::string path_of(const RunFolder& folder, const std::string& below) {
  return below.starts_with('/') ? below : folder.root() + "/" + below;
}

void RunFolder::create() const {
  for (const std::string& folder : {claims(), runs(), receipts(), failures(), options()}) {
    make_folders(folder);
  }
}

std::string RunFolder::receipt(const std::string& name) const {
  return receipts() + "/" + name + ".json";
}

std::string RunFolder::failure(const std::string& name) const {
  return failures() + "/" + name + ".json";
}

void write_text_file(const std::string& path, const std::string& text, Overwrite overwrite) {
  write_whole(path, text, overwrite, Durable::kNo);
}

std::optional<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
  // most tasks of a fresh tree have no record: no exception for each of them
  if (::access(path.c_str(), F_OK) != 0) return std::nullopt;
  try {
    return read_text(path, kMaxBytes);
  } catch (const Error&) {  // not there, EIO, ESTALE, a folder or pipe of that name
    return std::nullopt;
  }
}

}  // namespace loom::batch
