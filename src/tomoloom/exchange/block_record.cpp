// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/block_record.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

#include "loom/base/error.hpp"
#include "loom/files/output_files.hpp"

namespace tomoloom {

BlockRecord::BlockRecord(std::string path, std::string making)
    : path_(std::move(path)), making_(std::move(making)) {
  std::ifstream in(path_, std::ios::binary);
  std::stringstream all;
  all << in.rdbuf();
  std::string line;
  bool first = true;
  while (std::getline(all, line) && !all.eof()) {  // a last line without an end is left out
    if (first) {
      if (line != making_) return;
      continues_ = true;
    } else {
      std::istringstream words(line);
      std::size_t from = 0, count = 0;
      if (words >> from >> count && words.eof()) done_.emplace_back(from, count);
    }
    whole_ += line.size() + 1;
    first = false;
  }
  torn_ = continues_ && !line.empty();
}

bool BlockRecord::done(std::size_t first, std::size_t count) const {
  return std::find(done_.begin(), done_.end(), std::pair(first, count)) != done_.end();
}

std::size_t BlockRecord::slices_done() const {
  std::size_t sum = 0;
  for (const auto& block : done_) sum += block.second;
  return sum;
}

void BlockRecord::append(const std::string& line, int flags) const {
  const int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  const ssize_t written = fd < 0 ? -1 : ::write(fd, line.data(), line.size());
  const bool whole = written == static_cast<ssize_t>(line.size());
  const bool good = whole && ::fdatasync(fd) == 0;
  const int error = written >= 0 && !whole ? ENOSPC : errno;  // a part of it had room
  if (fd >= 0) ::close(fd);
  if (!good) throw Error(write_status(error), path_ + ": cannot be written", error);
}

void BlockRecord::start() {
  done_.clear();
  whole_ = making_.size() + 1;
  torn_ = false;
  try {
    append(making_ + "\n", O_TRUNC);
  } catch (const Error&) {  // it says nothing that one could go on from
    remove();
    throw;
  }
}

void BlockRecord::add(std::size_t first, std::size_t count) {
  const std::string line = std::to_string(first) + " " + std::to_string(count) + "\n";
  if (torn_ && ::truncate(path_.c_str(), static_cast<off_t>(whole_)) != 0) {
    throw Error(write_status(errno), path_ + ": cannot be written", errno);
  }
  torn_ = true;  // what follows may fail on its way
  append(line, O_APPEND);
  torn_ = false;
  whole_ += line.size();
  done_.emplace_back(first, count);
}

void BlockRecord::remove() const { ::unlink(path_.c_str()); }

}  // namespace tomoloom
