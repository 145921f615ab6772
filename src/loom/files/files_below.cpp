// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/files_below.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

namespace loom {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  explicit Walk(const EntersFolder& enters) : enters_(enters) {}

  FilesBelow run(const fs::path& folder, int depth) {
    look_at(folder, depth);
    // Links last: what they lead to has its own name, if it lies below.
    for (; !links_.empty(); links_.pop_front())
      look_at(links_.front().first, links_.front().second);
    std::sort(out_.files.begin(), out_.files.end());
    return std::move(out_);
  }

 private:
  void look_at(const fs::path& folder, int depth) {
    struct stat info {};
    if (::stat(folder.c_str(), &info) == 0 && !seen_.emplace(info.st_dev, info.st_ino).second) {
      return;
    }
    std::error_code error;
    std::vector<fs::path> folders, links;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      std::error_code gone;  // it may be, by now; a link may lead nowhere
      if (!at->is_directory(gone)) {
        out_.files.push_back(at->path().string());
        continue;
      }
      if (depth <= 1) continue;
      if (enters_ && !enters_(at->path().filename().string())) continue;
      (at->is_symlink(gone) ? links : folders).push_back(at->path());
    }
    if (error) out_.unreadable.push_back(folder.string() + ": " + error.message());
    std::sort(folders.begin(), folders.end());
    std::sort(links.begin(), links.end());
    for (const fs::path& link : links) links_.emplace_back(link, depth - 1);
    for (const fs::path& below : folders) look_at(below, depth - 1);
  }

  const EntersFolder& enters_;
  FilesBelow out_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::deque<std::pair<fs::path, int>> links_;
};

}  // namespace

FilesBelow files_below(const std::string& folder, int depth, const EntersFolder& enters) {
  return Walk(enters).run(folder, depth);
}

bool is_file_or_lost(const std::string& path) noexcept {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) ||
         (fs::is_symlink(path, ignored) && !fs::exists(path, ignored));
}

}  // namespace loom
