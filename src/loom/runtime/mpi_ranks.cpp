// SPDX-License-Identifier: BSD-3-Clause
// Ranks over MPI. Compiled into a module of its own, once for each MPI library: the only file that
// includes mpi.h. Main thread only (MPI_THREAD_FUNNELED).
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <deque>
#include <iterator>
#include <list>
#include <string>

#include "loom/base/error.hpp"
#include "loom/runtime/ranks_module.hpp"

namespace loom {
namespace {

std::string mpi_message(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw Error(Status::kInternal, std::string(call) + ": " + mpi_message(code));
}

/// Adds the time of its scope.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

class MpiRanks final : public Ranks {
 public:
  MpiRanks() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED) {
      throw Error(Status::kUnsupported, "this MPI does not allow a program with threads");
    }
    check(MPI_Comm_dup(MPI_COMM_WORLD, &world_), "MPI_Comm_dup");
    check(MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(world_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(world_, &size_), "MPI_Comm_size");
    MPI_Comm node = MPI_COMM_NULL;
    check(MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node),
          "MPI_Comm_split_type");
    check(MPI_Comm_rank(node, &local_rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(node, &local_size_), "MPI_Comm_size");
    check(MPI_Comm_free(&node), "MPI_Comm_free");
    int first = local_rank_ == 0 ? 1 : 0;
    check(MPI_Allreduce(&first, &nodes_, 1, MPI_INT, MPI_SUM, world_), "MPI_Allreduce");
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;
  ~MpiRanks() override {
    if (!finished_) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(Status::kInternal));
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] int local_rank() const override { return local_rank_; }
  [[nodiscard]] int local_size() const override { return local_size_; }
  [[nodiscard]] int nodes() const override { return nodes_; }
  [[nodiscard]] std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(text, &length);
    std::string name(text, static_cast<std::size_t>(length));
    name.erase(std::min(name.find_first_of(",\n"), name.size()));  // build details follow
    for (char& c : name) c = c == '\t' ? ' ' : c;
    return name;
  }

  void send(int to, int tag, std::vector<std::byte> bytes) override {
    if (to == rank_) {
      own_.push_back({rank_, tag, std::move(bytes)});
      return;
    }
    if (bytes.size() > static_cast<std::size_t>(INT_MAX)) {
      throw Error(Status::kInternal, "a message of " + std::to_string(bytes.size()) +
                                         " bytes is more than MPI takes at once");
    }
    const Stopwatch watch(inside_s_);
    outgoing_.emplace_back();
    Outgoing& out = outgoing_.back();
    out.bytes = std::move(bytes);
    check(MPI_Isend(out.bytes.data(), static_cast<int>(out.bytes.size()), MPI_BYTE, to, tag, world_,
                    &out.request),
          "MPI_Isend");
  }

  [[nodiscard]] std::optional<RankMessage> receive() override {
    if (!own_.empty()) {
      RankMessage message = std::move(own_.front());
      own_.pop_front();
      return message;
    }
    const Stopwatch watch(inside_s_);
    progress();
    int there = 0;
    MPI_Message handle = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world_, &there, &handle, &status),
          "MPI_Improbe");
    if (there == 0) return std::nullopt;
    int count = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
    RankMessage message{status.MPI_SOURCE, status.MPI_TAG, {}};
    message.bytes.resize(static_cast<std::size_t>(count));
    check(MPI_Mrecv(message.bytes.data(), count, MPI_BYTE, &handle, MPI_STATUS_IGNORE),
          "MPI_Mrecv");
    return message;
  }

  [[nodiscard]] std::size_t unsent() const override { return outgoing_.size(); }
  [[nodiscard]] double seconds_inside() const override { return inside_s_; }

  void finish() override {
    if (finished_) return;
    while (!outgoing_.empty()) {
      check(MPI_Wait(&outgoing_.front().request, MPI_STATUS_IGNORE), "MPI_Wait");
      outgoing_.pop_front();
    }
    check(MPI_Comm_free(&world_), "MPI_Comm_free");
    check(MPI_Finalize(), "MPI_Finalize");
    finished_ = true;
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  struct Outgoing {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  /// Lets go of what has been sent.
  void progress() {
    for (auto it = outgoing_.begin(); it != outgoing_.end();) {
      int done = 0;
      check(MPI_Test(&it->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      it = done != 0 ? outgoing_.erase(it) : std::next(it);
    }
  }

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1, nodes_ = 1;
  std::list<Outgoing> outgoing_;
  std::deque<RankMessage> own_;
  double inside_s_ = 0;
  bool finished_ = false;
};

}  // namespace
}  // namespace loom

extern "C" __attribute__((visibility("default"))) loom::Ranks* FIBERLOOM_RANKS_ENTRY();

extern "C" loom::Ranks* FIBERLOOM_RANKS_ENTRY() { return new loom::MpiRanks; }
