// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/claims.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/json/json.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;
double mtime(const struct stat& info) {
  return static_cast<double>(info.st_mtim.tv_sec) +
         1e-9 * static_cast<double>(info.st_mtim.tv_nsec);
}

/// Both times to the server's "now"; false when the file is gone.
bool touch(const std::string& path) {
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0 || errno != ENOENT;
}

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(error == ENOSPC || error == EDQUOT ? Status::kDiskFull : Status::kUnwritable,
              path + ": cannot be claimed (" + std::strerror(error) + ")", error);
}

/// What the file of a run, or a link to it, says of its process; nothing where it is damaged.
struct Written {
  ProcessIdentity process;
  std::string run;
};

std::optional<Written> parse_claim(const std::string& text) {
  const Json json = Json::parse(text).value_or(Json());
  if (!json.is_object() || !json.contains("run") || !json.contains("pid")) return std::nullopt;
  try {
    return Written{{json.value<std::string>("host", ""), json.value<std::string>("machine", ""),
                    json.value("pid", 0L), json.value("start", std::uint64_t{0})},
                   json.at("run").get<std::string>()};
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

std::string label_of(const ProcessIdentity& process) {
  return process.host + ", process " + std::to_string(process.pid);
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
  try {
    heart_ = std::thread([this] { beat(); });
  } catch (...) {
    ::unlink(run_file_.c_str());
    throw;
  }
}

Claims::~Claims() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  heart_.join();
  try {
    const auto held = held_;
    for (const auto& [name, generation] : held) release(name);
  } catch (const std::exception&) {  // they go when this process is seen to be dead
  }
  ::unlink(run_file_.c_str());
}

void Claims::beat() {
  const auto interval =
      std::chrono::duration<double>(std::clamp(options_.timeout_s / 8, 0.1, 10.0));
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopping_; })) {
    try {
      if (!touch(run_file_)) restore();
      for (const std::string& copy : copies_) touch(copy);
    } catch (const std::exception&) {  // a full disk, no memory: once more at the next beat
    }
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
  struct stat info {};
  if (!text && ::lstat(path.c_str(), &info) != 0) return {};
  // One that is there but cannot be read (another user's, a bad disk) is somebody's all the same.
  const auto written = parse_claim(text.value_or(""));
  const auto by_age = [&] {
    return age_s(path) > options_.timeout_s ? Holder::kDead : Holder::kAlive;
  };
  if (!written) return {by_age(), "an unknown process", 0};
  const ProcessIdentity& process = written->process;
  const std::string label = label_of(process);
  if (written->run == options_.run_id) return {Holder::kMine, label, process.pid};
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

/// Puts the run's file back, which others have removed: they took this process for dead, as one
/// that was suspended for long looks from another machine.
void Claims::restore() {
  write_text_file(run_file_, text_);
  for (const auto& [name, generation] : held_) copies_.push_back(path(name, generation));
}

bool Claims::make(const std::string& path) {
  int error = ::link(run_file_.c_str(), path.c_str()) == 0 ? 0 : errno;
  if (error == ENOENT) {
    restore();
    error = ::link(run_file_.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  if (error == 0) return true;
  if (error == EEXIST || error == EIO) {  // an NFS reply may get lost after the link was made
    struct stat mine {
    }, made{};
    const bool same = ::stat(run_file_.c_str(), &mine) == 0 && ::stat(path.c_str(), &made) == 0 &&
                      mine.st_ino == made.st_ino && mine.st_dev == made.st_dev;
    if (same || error == EEXIST) return same;
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

void Claims::drop(const std::string& path) {
  ::unlink(path.c_str());
  std::erase(copies_, path);
}

ClaimResult Claims::acquire(const std::string& name) {
  const std::lock_guard lock(mutex_);
  while (true) {
    if (auto result = climb(name)) return std::move(*result);
  }
}

/// From the first generation to the one above the dead. Nothing when the chain changed meanwhile.
std::optional<ClaimResult> Claims::climb(const std::string& name) {
  ClaimResult result;
  int generation = 1;
  for (;; ++generation) {
    const Found found = look(path(name, generation));
    if (found.holder == Holder::kNobody) break;
    if (found.holder != Holder::kDead) {
      result.mine = found.holder == Holder::kMine;
      result.holder = found.label;
      return result;
    }
    if (found.pid != 0) result.dead_pids.push_back(found.pid);
  }
  if (!make(path(name, generation))) return std::nullopt;  // somebody was faster: look who
  // A holder that was above the dead may have released them all, and others begun a new chain.
  for (int below = generation - 1; below >= 1; --below) {
    if (look(path(name, below)).holder == Holder::kDead) continue;
    drop(path(name, generation));
    return std::nullopt;
  }
  // One that looked dead may have come back and released its claim, below a newer holder.
  const Found above = look(path(name, generation + 1));
  if (above.holder == Holder::kAlive) {
    drop(path(name, generation));
    result.holder = above.label;
    return result;
  }
  held_[name] = generation;
  result.mine = true;
  return result;
}

void Claims::release(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(name);
  if (held == held_.end()) return;
  // Its own last: whoever gets in between finds a chain without a beginning, and starts again.
  for (int generation = 1; generation < held->second; ++generation) {
    if (look(path(name, generation)).holder == Holder::kDead) drop(path(name, generation));
  }
  drop(path(name, held->second));
  held_.erase(held);
}

std::map<std::string, std::vector<long>> Claims::tidy() {
  std::map<std::string, std::vector<long>> dead;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder_.claims(), ignored)) {
    const Found found = look(entry.path().string());
    if (found.holder != Holder::kDead) continue;
    const std::string name = entry.path().stem().string();  // without the generation
    const ClaimResult result = acquire(name);
    if (!result.mine) continue;
    // What is left of a chain whose holder died while it released it lies beside the new one.
    if (look(entry.path().string()).holder == Holder::kDead) ::unlink(entry.path().c_str());
    release(name);
    std::vector<long>& pids = dead[name];
    pids.insert(pids.end(), result.dead_pids.begin(), result.dead_pids.end());
    if (found.pid != 0) pids.push_back(found.pid);
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

std::optional<std::string> seen_holder(const RunFolder& folder, const std::string& name) {
  const double silent_s = ClaimOptions{}.timeout_s;
  for (int generation = 1;; ++generation) {
    const std::string path = folder.claims() + "/" + name + "." + std::to_string(generation);
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
    const auto written = parse_claim(read_text_file(path).value_or(""));
    const Liveness alive = written ? liveness(written->process) : Liveness::kElsewhere;
    const double age_s =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count() -
        mtime(info);
    if (alive == Liveness::kAlive || (alive == Liveness::kElsewhere && age_s < silent_s)) {
      return written ? label_of(written->process) : "an unknown process";
    }
  }
}

}  // namespace loom::batch
