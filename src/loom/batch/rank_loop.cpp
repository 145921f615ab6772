// SPDX-License-Identifier: BSD-3-Clause
// The main thread of a rank: letters out, messages in, and sleep in between. MPI cannot wake a
// thread that sleeps, so it looks again after 50 us, then ever more rarely, every 4 ms at last.
#include "loom/batch/rank_loop.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/batch/rank_server.hpp"
#include "loom/runtime/usage.hpp"

namespace loom::batch {
namespace {

using Microseconds = std::chrono::microseconds;
constexpr Microseconds kShortest{50}, kLongest{4000};
constexpr double kBeat = 1.0;           // seconds between signs of life
constexpr double kHousekeeping = 0.02;  // between looks at the stop flag
constexpr double kLongestLookS = 0.5;   // a longer pause means that this process was suspended
constexpr double kStoppingS = 4;        // of silence, once told to stop
constexpr double kPlanningS = 600;      // before the first word
constexpr double kMeetingS = 120;       // for all ranks to come
constexpr int kClockRounds = 5;

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <class... T>
Bytes packed(const T&... values) {
  WireWriter writer;
  writer(values...);
  return writer.take();
}

/// Until a message of this tag is there; throws when it does not come.
RankMessage await(Ranks& ranks, int tag, double deadline) {
  while (true) {
    if (auto message = ranks.receive()) {
      if (message->tag == tag) return std::move(*message);
      throw Error(Status::kInternal, "rank " + std::to_string(message->from) +
                                         " sent an unexpected message at the start");
    }
    if (steady_now() > deadline) {
      throw Error(Status::kInternal, "the ranks did not find each other in time");
    }
    std::this_thread::yield();
  }
}

void synchronise(Ranks& ranks, RankAgreement& agreement, double deadline) {
  double best = 1e9;
  for (int round = 0; round < kClockRounds; ++round) {
    const double sent = steady_now();
    ranks.send(0, kTagClock, packed(sent));
    const RankMessage answer = await(ranks, kTagClock, deadline);
    const double received = steady_now();
    double there = 0;
    WireReader(answer.bytes)(there);
    if (received - sent >= best) continue;
    best = received - sent;
    agreement.clock_offset_s = there - 0.5 * (sent + received);
    agreement.clock_error_s = 0.5 * best;
  }
}

/// Rank 0: hears every hello, answers clocks, then tells all what was agreed.
RankAgreement preside(Ranks& ranks, const RankHello& own, RankAgreement agreement,
                      double deadline) {
  agreement.ranks.resize(static_cast<std::size_t>(ranks.size()));
  agreement.ranks[0] = own;
  int unready = ranks.size() - 1;
  while (unready > 0) {
    const auto message = ranks.receive();
    if (!message) {
      if (steady_now() > deadline) {
        throw Error(Status::kInternal, "the ranks did not find each other in time");
      }
      std::this_thread::yield();
    } else if (message->tag == kTagHello) {
      from_bytes(message->bytes, agreement.ranks[static_cast<std::size_t>(message->from)]);
    } else if (message->tag == kTagClock) {
      ranks.send(message->from, kTagClock, packed(steady_now()));
    } else if (message->tag == kTagReady) {
      --unready;
    }
  }
  agreement.isa = own.isa;
  agreement.device = own.device;
  for (const RankHello& hello : agreement.ranks) {
    agreement.isa = std::min(agreement.isa, hello.isa);
    if (hello.device != own.device) agreement.device = 0;
  }
  share_processors(agreement.ranks);
  agreement.cores = agreement.ranks[0].cores;
  for (int to = 1; to < ranks.size(); ++to) {
    const double cores = agreement.ranks[static_cast<std::size_t>(to)].cores;
    ranks.send(
        to, kTagReady,
        packed(agreement.isa, agreement.device, cores, agreement.origin_s, agreement.run_id));
  }
  return agreement;
}

/// One rank's run. Lives on the main thread; the pipeline's threads see `mail` and `source` only.
class RankLoop {
 public:
  RankLoop(Ranks& ranks, const RankJob& job)
      : ranks_(ranks),
        job_(job),
        source_(mail_, *job.tasks, *job.kinds, ranks.rank()),
        cpu_start_(thread_cpu_seconds()),
        mpi_start_(ranks.seconds_inside()) {
    if (is_desk()) {
      desk_.emplace(
          job.agreement.ranks, job.dispatch, *job.kinds,
          [this](int to, int tag, Bytes bytes) { say(to, tag, std::move(bytes)); }, job.outcome,
          job.claim);
    }
    heard_.assign(static_cast<std::size_t>(ranks.size()), 0.0);
  }
  RankLoop(const RankLoop&) = delete;
  RankLoop& operator=(const RankLoop&) = delete;
  ~RankLoop() {
    source_.stop();
    stopping_ = true;
    if (work_.joinable()) work_.join();
    if (feed_.joinable()) feed_.join();
  }

  std::vector<RankReport> run() {
    start_threads();
    Microseconds pause = kShortest;
    while (!ended_) {
      bool active = send_letters();
      active = receive_messages() || active;
      const double now = own_time();
      if (now - last_look_ >= kHousekeeping) keep_house(now);
      if (error_ready_) rethrow();
      if (work_ended_ && !said_bye_) try_bye();
      if (is_desk() && desk_->over()) end_all();
      if (active) {
        pause = kShortest;
      } else {
        mail_.wait(pause);
        pause = std::min(pause * 2, ranks_.unsent() > 0 ? 4 * kShortest : kLongest);
      }
    }
    if (is_desk()) return desk_->take_reports();
    return {own_report_};
  }

 private:
  [[nodiscard]] bool is_desk() const { return ranks_.rank() == 0; }

  void start_threads() {
    const auto guarded = [this](auto body) {
      try {
        body();
      } catch (...) {
        const std::lock_guard lock(error_mutex_);
        if (!error_) error_ = std::current_exception();
        error_ready_ = true;
      }
    };
    work_ = std::thread([this, guarded] {
      guarded([&] { job_.work(source_); });
      work_ended_ = true;
    });
    if (!is_desk() || !job_.feed) return;
    feed_ = std::thread([this, guarded] {
      TaskFeed feed(mail_, *job_.kinds);
      guarded([&] { job_.feed(feed); });
      feed.close();
    });
  }

  void rethrow() {
    const std::lock_guard lock(error_mutex_);
    std::rethrow_exception(error_);
  }

  /// To itself without MPI.
  void say(int to, int tag, Bytes bytes) {
    if (to == ranks_.rank()) {
      handle({to, tag, std::move(bytes)});
      return;
    }
    bytes_sent_ += bytes.size();
    ranks_.send(to, tag, std::move(bytes));
  }

  bool send_letters() {
    bool any = false;
    while (auto letter = mail_.take()) {
      say(letter->to, letter->tag, std::move(letter->bytes));
      any = true;
    }
    return any;
  }

  bool receive_messages() {
    bool any = false;
    while (auto message = ranks_.receive()) {
      heard_[static_cast<std::size_t>(message->from)] = own_time();
      any = message->tag != kTagAlive || any;
      handle(*message);
    }
    return any;
  }

  void handle(const RankMessage& message) {
    if (message.tag == kTagAlive) return hear_load(message);
    if (is_desk() && desk_->handle(message.from, message.tag, message.bytes, own_time())) return;
    switch (message.tag) {
      case kTagUnit: {
        Assignment assignment;
        Task task;
        from_bytes(message.bytes, assignment, task, *job_.kinds);
        if (first_unit_s_ == 0) first_unit_s_ = process_seconds();
        source_.deliver(assignment, std::move(task));
        break;
      }
      case kTagPart: {
        PartialTask part;
        from_bytes(message.bytes, part, *job_.tasks, *job_.kinds);
        source_.receive_part(std::move(part));
        break;
      }
      case kTagNoMore:
        source_.no_more();
        break;
      case kTagStop:
        source_.stop();
        break;
      case kTagEnd:
        ended_ = true;
        break;
      default:
        break;
    }
  }

  /// Seconds during which this process was running: a look that comes late counts little, so that
  /// a job that was suspended and goes on finds nobody dead.
  double own_time() {
    const double now = steady_now();
    own_time_ += std::min(now - last_steady_, kLongestLookS);
    last_steady_ = now;
    return own_time_;
  }

  void keep_house(double now) {
    last_look_ = now;
    if (!stopping_ && job_.stop && job_.stop()) {
      stopping_ = true;
      source_.stop();
      if (is_desk()) desk_->stop();
    }
    if (is_desk()) desk_->serve(now);  // room grows with time
    if (now - last_beat_ < kBeat) return;
    last_beat_ = now;
    if (is_desk()) {
      for (int rank = 1; rank < ranks_.size(); ++rank) {
        say(rank, kTagAlive, {});  // to those that have left too: they wait for the end
        if (desk_->present().contains(rank)) check_alive(rank, now);
      }
    } else {
      if (!said_bye_) tell_load();
      check_alive(0, now);
    }
  }

  /// A sign of life.
  void tell_load() { say(0, kTagAlive, job_.load ? packed(job_.load()) : Bytes{}); }

  void hear_load(const RankMessage& message) const {
    if (message.bytes.empty() || !job_.heard_load) return;
    StageLoad load;
    WireReader reader(message.bytes);
    reader(load);
    reader.finish();
    job_.heard_load(message.from, load);
  }

  void check_alive(int rank, double now) const {
    const double last = heard_[static_cast<std::size_t>(rank)];
    const double silent = now - last;
    if (rank == 0 && last == 0 && silent < kPlanningS) return;  // it looks for tasks first
    // Who is told to stop has no time to wait for the dead: the batch system kills in 30 s.
    if (silent < (stopping_ ? std::min(job_.silence_s, kStoppingS) : job_.silence_s)) return;
    throw Error(Status::kInternal, "rank " + std::to_string(rank) + " has been silent for " +
                                       std::to_string(static_cast<int>(silent)) +
                                       " s: taken for dead; start the same command again, it does "
                                       "what is left");
  }

  /// After the last letter of the pipeline, and when nobody still waits for bytes from here.
  void try_bye() {
    send_letters();
    if (ranks_.unsent() > 0) return;
    said_bye_ = true;
    work_.join();
    const RankSource::Counters counters = source_.counters();
    RankReport& r = own_report_;
    r.rank = ranks_.rank();
    r.host = job_.hello.host;
    r.cores = job_.agreement.cores;
    r.launch_s = job_.launch_s;
    r.open_s = job_.open_s;
    r.first_unit_s = first_unit_s_;
    r.wait_s = counters.wait_s;
    r.mpi_s = ranks_.seconds_inside() - mpi_start_;
    r.loop_cpu_s = thread_cpu_seconds() - cpu_start_;
    r.cpu_s = cpu_seconds();
    r.peak_memory_bytes = peak_memory_bytes();
    r.bytes_sent = bytes_sent_;
    r.tasks = counters.tasks;
    r.parts = counters.parts;
    if (job_.trace) r.trace = job_.trace();
    if (!is_desk()) tell_load();
    say(0, kTagBye, to_bytes(r));
  }

  /// Rank 0, when all have gone: nothing is under way any more.
  void end_all() {
    for (int to = 1; to < ranks_.size(); ++to) ranks_.send(to, kTagEnd, {});
    while (ranks_.unsent() > 0) static_cast<void>(ranks_.receive());
    ended_ = true;
  }

  Ranks& ranks_;
  const RankJob& job_;
  RankMail mail_;
  RankSource source_;
  std::optional<RankServer> desk_;
  std::thread work_, feed_;
  std::atomic<bool> work_ended_{false}, error_ready_{false}, stopping_{false};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::vector<double> heard_;
  RankReport own_report_;
  double cpu_start_ = 0, mpi_start_ = 0;
  double last_steady_ = steady_now(), own_time_ = 0, last_look_ = 0, last_beat_ = -kBeat;
  double first_unit_s_ = 0;
  std::uint64_t bytes_sent_ = 0;
  bool said_bye_ = false, ended_ = false;
};

}  // namespace

void share_processors(std::vector<RankHello>& ranks) {
  std::map<std::pair<std::string, int>, int> holders;
  for (const RankHello& r : ranks) {
    for (const int cpu : r.processors) ++holders[{r.host, cpu}];
  }
  for (RankHello& r : ranks) {
    if (r.cores > 0) continue;
    for (const int cpu : r.processors) r.cores += 1.0 / holders[{r.host, cpu}];
    r.cores = std::max(1.0, std::floor(r.cores + 1e-6));
  }
}

RankAgreement meet_ranks(Ranks& ranks, const RankHello& hello, const std::string& run_id,
                         double origin_s) {
  const double deadline = steady_now() + kMeetingS;
  RankAgreement agreement;
  agreement.run_id = run_id;
  agreement.origin_s = origin_s;
  if (ranks.rank() == 0) return preside(ranks, hello, std::move(agreement), deadline);
  ranks.send(0, kTagHello, to_bytes(hello));
  synchronise(ranks, agreement, deadline);
  ranks.send(0, kTagReady, {});
  const RankMessage agreed = await(ranks, kTagReady, deadline);
  WireReader(agreed.bytes)(agreement.isa, agreement.device, agreement.cores, agreement.origin_s,
                           agreement.run_id);
  return agreement;
}

std::vector<RankReport> run_ranks(Ranks& ranks, const RankJob& job) {
  RankLoop loop(ranks, job);
  try {
    return loop.run();
  } catch (...) {
    if (job.fatal) job.fatal(std::current_exception());
    throw;
  }
}

}  // namespace loom::batch
