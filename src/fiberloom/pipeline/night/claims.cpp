// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/pipeline/night/claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "fiberloom/base/error.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double mtime(const struct stat& info) {
  return static_cast<double>(info.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

void touch(const std::string& path) {
  ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // both times to the server's "now"
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(error == ENOSPC || error == EDQUOT ? Status::kDiskFull : Status::kUnwritable,
              path + ": cannot be claimed (" + std::strerror(error) + ")");
}

}  // namespace

Claims::Claims(const RunFolder& folder, ClaimOptions options)
    : folder_(folder), options_(std::move(options)), me_(this_process()) {
  if (options_.run_id.empty()) options_.run_id = unique_id();
  run_file_ = folder_.runs() + "/" + options_.run_id + "." + std::to_string(options_.rank);
  const Json json = {{"run", options_.run_id}, {"rank", options_.rank}, {"host", me_.host},
                     {"machine", me_.machine}, {"pid", me_.pid},        {"start", me_.start}};
  text_ = json.dump() + "\n";
  write_text_file(run_file_, text_);
  heart_ = std::thread([this] { beat(); });
}

Claims::~Claims() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  heart_.join();
  const auto held = held_;
  for (const auto& [name, generation] : held) release(name);
  ::unlink(run_file_.c_str());
}

void Claims::beat() {
  const auto interval =
      std::chrono::duration<double>(std::clamp(options_.timeout_s / 8, 0.1, 10.0));
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopping_; })) {
    touch(run_file_);
    for (const std::string& copy : copies_) touch(copy);
  }
}

std::string Claims::path(const std::string& name, int generation) const {
  return folder_.claims() + "/" + name + "." + std::to_string(generation);
}

double Claims::age_s(const std::string& path) const {
  // Ages are differences of two time stamps of the same server, never of two clocks.
  touch(run_file_);
  struct stat now {
  }, then{};
  if (::stat(run_file_.c_str(), &now) != 0 || ::stat(path.c_str(), &then) != 0) return 0;
  return mtime(now) - mtime(then);
}

Claims::Found Claims::look(const std::string& path) const {
  const auto text = read_text_file(path);
  if (!text) return {};
  const Json json = Json::parse(*text, nullptr, false);
  const bool whole = json.is_object() && json.contains("run") && json.contains("pid");
  const auto by_age = [&] {
    return age_s(path) > options_.timeout_s ? Holder::kDead : Holder::kAlive;
  };
  if (!whole) return {by_age(), "an unknown process", 0};
  ProcessIdentity process;
  process.host = json.value("host", "");
  process.machine = json.value("machine", "");
  process.pid = json.value("pid", 0L);
  process.start = json.value("start", std::uint64_t{0});
  const std::string label = process.host + ", process " + std::to_string(process.pid);
  if (json.value("run", "") == options_.run_id) return {Holder::kMine, label, process.pid};
  switch (liveness(process)) {
    case Liveness::kAlive:  // even if it has not moved for long: stopped, swapped, debugged
      return {Holder::kAlive, label, process.pid};
    case Liveness::kGone:
      return {Holder::kDead, label, process.pid};
    case Liveness::kElsewhere:
      break;
  }
  return {by_age(), label, process.pid};
}

bool Claims::make(const std::string& path) {
  if (::link(run_file_.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  if (error == EEXIST || error == EIO) {  // an NFS reply may get lost after the link was made
    struct stat mine {
    }, made{};
    return ::stat(run_file_.c_str(), &mine) == 0 && ::stat(path.c_str(), &made) == 0 &&
           mine.st_ino == made.st_ino && mine.st_dev == made.st_dev;
  }
  if (error != EPERM && error != ENOSYS && error != EOPNOTSUPP && error != EMLINK) {
    fail(path, error);
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    if (errno == EEXIST) return false;
    fail(path, errno);
  }
  const ssize_t n = ::write(fd, text_.data(), text_.size());
  const int write_error = n < 0 ? errno : ENOSPC;
  ::close(fd);
  if (n != static_cast<ssize_t>(text_.size())) {
    ::unlink(path.c_str());
    fail(path, write_error);
  }
  copies_.push_back(path);
  return true;
}

ClaimResult Claims::acquire(const std::string& name) {
  const std::lock_guard lock(mutex_);
  ClaimResult result;
  for (int generation = 1;;) {
    const Found found = look(path(name, generation));
    if (found.holder == Holder::kMine || found.holder == Holder::kAlive) {
      result.mine = found.holder == Holder::kMine;
      result.holder = found.label;
      return result;
    }
    if (found.holder == Holder::kDead) {
      if (found.pid != 0) result.dead_pids.push_back(found.pid);
      ++generation;
      continue;
    }
    if (!make(path(name, generation))) continue;  // somebody was faster: look who
    // Older generations may have been tidied away under a newer holder.
    const Found next = look(path(name, generation + 1));
    if (next.holder == Holder::kAlive) {
      ::unlink(path(name, generation).c_str());
      result.holder = next.label;
      return result;
    }
    held_[name] = generation;
    result.mine = true;
    return result;
  }
}

void Claims::release(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(name);
  if (held == held_.end()) return;
  for (int generation = held->second; generation >= 1; --generation) {
    ::unlink(path(name, generation).c_str());
    std::erase(copies_, path(name, generation));
  }
  held_.erase(held);
}

std::map<std::string, std::vector<long>> Claims::tidy() {
  std::map<std::string, std::vector<long>> dead;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_.claims(), ignored)) {
    if (look(entry.path().string()).holder != Holder::kDead) continue;
    const std::string name = entry.path().stem().string();  // without the generation
    if (dead.count(name) > 0) continue;
    ClaimResult result = acquire(name);
    if (!result.mine) continue;
    release(name);
    dead[name] = std::move(result.dead_pids);
  }
  for (const auto& entry : fs::directory_iterator(folder_.runs(), ignored)) {
    if (look(entry.path().string()).holder == Holder::kDead) fs::remove(entry.path(), ignored);
  }
  return dead;
}

std::optional<std::string> Claims::holder(const std::string& name) const {
  for (int generation = 1;; ++generation) {
    const Found found = look(path(name, generation));
    if (found.holder == Holder::kAlive) return found.label;
    if (found.holder != Holder::kDead) return std::nullopt;
  }
}

}  // namespace fiberloom::night
