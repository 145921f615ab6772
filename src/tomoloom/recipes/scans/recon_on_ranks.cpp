// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/recon_on_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/recipes/block_run.hpp"
#include "tomoloom/recipes/recon_files.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/scans/rank_desk.hpp"
#include "tomoloom/recipes/scans/rank_shares.hpp"
#include "tomoloom/recipes/scans/rank_volume.hpp"
#include "tomoloom/recipes/scans/team_block.hpp"

namespace tomoloom::scans {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

Bytes work_bytes(const RankWork& work) {
  WireWriter writer;
  writer(work.isa, work.axis.first, work.axis.last, work.blocks, work.team_first, work.team_size);
  return writer.take();
}

/// One process of the job. run() is the thread that speaks MPI.
class RankScan {
 public:
  RankScan(Ranks& ranks, const ReconJob& job, Executor& executor, const Observer& observer,
           double silence_s)
      : ranks_(ranks),
        job_(job),
        executor_(executor),
        observer_(observer),
        silence_s_(silence_s),
        post_(desk_),
        arrivals_(desk_),
        mail_(desk_, ranks.size()),
        heard_(static_cast<std::size_t>(ranks.size()), Clock::now()),
        isa_(static_cast<int>(active_isa())) {}

  std::optional<RanksRecon> run() {
    if (first()) {
      hear_hello(RankHello{isa_});
    } else {
      desk_.post({0, kTagHello, to_bytes(RankHello{isa_})});
    }
    std::thread worker([this] { work(); });
    try {
      while (!over()) turn();
    } catch (...) {
      desk_.fail(to_error());
      worker.join();
      throw;
    }
    worker.join();
    if (!first()) return std::nullopt;
    if (const auto failure = desk_.failure()) throw Error(*failure);
    for (int r = 1; r < ranks_.size(); ++r) ranks_.send(r, kTagEnd, {});
    return result_;
  }

 private:
  [[nodiscard]] bool first() const { return ranks_.rank() == 0; }
  /// Rank 0 ends when its work does, the others when they are told.
  [[nodiscard]] bool over() const {
    return desk_.look([&] { return first() ? finished_ : ended_; });
  }
  static Error to_error() {
    try {
      throw;
    } catch (const Error& error) {
      return error;
    } catch (const std::bad_alloc&) {
      return {Status::kMemory, "out of memory"};
    } catch (const std::exception& error) {
      return {Status::kInternal, std::string("internal: ") + error.what()};
    }
  }

  // --- the main thread
  void turn() {
    bool moved = false;
    while (auto letter = desk_.next_letter()) {
      ranks_.send(letter->to, letter->tag, std::move(letter->bytes));
      moved = true;
    }
    while (auto message = ranks_.receive()) {
      hear(*message);
      moved = true;
    }
    if (first()) {
      arrivals_.hand_over();
      if (const auto sender = arrivals_.next_sender()) ranks_.send(*sender, kTagRoom, {});
    } else if (ranks_.unsent() < 2) {
      if (auto piece = post_.next_piece()) {
        ranks_.send(0, kTagSlices, std::move(*piece));
        moved = true;
      }
    }
    tell_of_life();
    if (!moved && ranks_.unsent() == 0) std::this_thread::sleep_for(1ms);
  }

  void hear(RankMessage& message) {
    heard_[static_cast<std::size_t>(message.from)] = Clock::now();
    switch (message.tag) {
      case kTagHello:
        return hear_hello(from_bytes<RankHello>(message.bytes));
      case kTagWork:
        return hear_work(message.bytes);
      case kTagOffer: {
        const auto [start, size] = from_bytes<BlockOffer>(message.bytes);
        return arrivals_.offered(message.from, start, size);
      }
      case kTagRoom:
        return post_.grant();
      case kTagSlices:
        return arrivals_.piece(message.bytes);
      case kTagDone:
        return hear_done(from_bytes<RankDone>(message.bytes));
      case kTagFailed:
        return hear_failed(message);
      case kTagTeam:
        return mail_.arrive(message.from, std::move(message.bytes));
      case kTagEnd:
        return desk_.change([&] { ended_ = true; });
      default:
        return;
    }
  }
  void hear_hello(const RankHello& hello) {
    desk_.change([&] {
      isa_ = std::min(isa_, hello.isa);
      ++met_;
    });
  }
  void hear_work(std::span<const std::byte> bytes) {
    RankWork work;
    WireReader reader(bytes);
    reader(work.isa, work.axis.first, work.axis.last, work.blocks, work.team_first, work.team_size);
    reader.finish();
    desk_.change([&] { work_ = std::move(work); });
  }
  void hear_done(const RankDone& done) {
    desk_.change([&] { done_.push_back(done); });
  }
  void hear_failed(const RankMessage& message) {
    int status = 0, system_error = 0;
    std::string text;
    WireReader reader(message.bytes);
    reader(status, system_error, text);
    desk_.fail(Error(Status{status}, print("rank %d: ", message.from) + text, system_error));
  }

  /// Says that this rank is there, and looks whether those are that it waits for.
  void tell_of_life() {
    const auto now = Clock::now();
    const std::chrono::duration<double> silence(silence_s_);
    if (now - told_ > silence / 4) {
      for (int r = first() ? 1 : 0; r < (first() ? ranks_.size() : 1); ++r) {
        ranks_.send(r, kTagAlive, {});
      }
      if (now - told_ > silence / 2) std::fill(heard_.begin(), heard_.end(), now);  // was stopped
      told_ = now;
    }
    for (int r = first() ? 1 : 0; r < (first() ? ranks_.size() : 1); ++r) {
      if (now - heard_[static_cast<std::size_t>(r)] < silence) continue;
      throw Error(Status::kInternal,
                  print("nothing heard of rank %d for %.0f s: taken for dead", r, silence_s_));
    }
  }

  // --- the thread that works
  void work() {
    try {
      first() ? lead() : follow();
    } catch (...) {
      const Error error = to_error();
      if (!first()) {
        WireWriter writer;
        writer(error.exit_code(), error.system_error(), std::string(error.what()));
        desk_.post({0, kTagFailed, writer.take()});
      }
      desk_.fail(error);
    }
    desk_.change([&] { finished_ = true; });
  }
  /// Stops when another rank has failed, too.
  [[nodiscard]] Observer own_observer() {
    Observer own;
    if (first()) own.message = observer_.message;  // the others would say the same
    own.stop_requested = [this] {
      return desk_.failure() || (observer_.stop_requested && observer_.stop_requested());
    };
    return own;
  }

  void follow() {
    const RankWork work = desk_.wait([&] { return work_.has_value(); }, [&] { return *work_; });
    lower_isa(static_cast<Isa>(work.isa));
    RankDone done;
    done.threads = executor_.concurrency();
    if (!work.blocks.empty()) {
      const Observer own = own_observer();
      ReconSetup setup(job_, executor_, own);
      RankLink link(mail_, {work.team_first, work.team_size}, ranks_.rank());
      const bool alone = link.members() == 1;
      alone ? setup.open_rows(work.blocks) : open_lines(setup, work.blocks.front(), link);
      setup.set_axis(work.axis);
      setup.make_plan(executor_.concurrency(), 2 * kPieceBytes, link.members());
      if (alone) {
        BlockRun(setup, own).run(work.blocks, post_, executor_);
      } else {
        make_block_together(setup, work.blocks.front(), link, post_, executor_, own);
      }
      const ReconSummary& s = setup.summary();
      done = {s.flaws, s.read, s.compute, s.write, done.threads, s.memory, s.overlap, s.spooled};
    }
    desk_.post({0, kTagDone, to_bytes(done)});
  }

  void lead() {
    check_recon_output(job_);
    const auto others = static_cast<std::size_t>(ranks_.size()) - 1;
    desk_.wait([&] { return met_ == others + 1; });
    lower_isa(static_cast<Isa>(desk_.look([&] { return isa_; })));
    const Observer own = own_observer();
    ReconSetup setup(job_, executor_, own);
    setup.open_rows(setup.blocks());
    const FolderOf folder(job_.output);
    setup.find_axis();
    setup.make_plan(executor_.concurrency(), others > 0 ? arrival_bytes(setup) : 0,
                    largest_team(job_, setup.blocks().size(), others + 1));
    SharedVolume volume(
        open_volume(job_, setup.scan(), setup.shape(), setup.notes(), setup.made_on()));
    try {
      const auto shares = share_out(blocks_left(setup, volume, own), others + 1, takes_teams(job_));
      if (job_.search == AxisSearch::kNone && !shares[0].blocks.empty()) {
        setup.open_rows(shares[0].blocks);
      }
      hand_out(shares, setup.axis());
      make_volume(setup, shares, volume, own);
    } catch (const Error& error) {
      const Error why = desk_.failure().value_or(error);
      leave_volume(job_, why, volume, own);
      throw Error(why);
    }
  }
  /// Two blocks of other ranks, and pieces of them.
  [[nodiscard]] static std::uint64_t arrival_bytes(ReconSetup& setup) {
    const std::uint64_t width = setup.summary().layout.columns;
    const std::size_t wide = setup.job().acquisition == Acquisition::kHalf ? 2 : 1;
    return 2 * setup.blocks().front().count * width * width * wide * wide * sizeof(float) +
           2 * kPieceBytes;
  }
  void hand_out(const std::vector<Share>& shares, const Axis& axis) {
    int most = 1;
    for (std::size_t r = 0; r < shares.size(); ++r) {
      const Share& share = shares[r];
      result_.idle += share.blocks.empty() ? 1 : 0;
      most = std::max(most, share.team.size);
      if (r == 0) continue;
      const RankWork work{.isa = static_cast<int>(active_isa()),
                          .axis = axis,
                          .blocks = share.blocks,
                          .team_first = share.team.first,
                          .team_size = share.team.size};
      desk_.post({static_cast<int>(r), kTagWork, work_bytes(work)});
    }
    if (most > 1) {
      observer_.info(
          print("a block of %zu slices is made by up to %d ranks together", kSlicesPerGroup, most));
    }
    if (result_.idle > 0) {
      observer_.info(
          print("%d of %zu ranks have nothing to do: a block of %zu slices is made by "
                "one rank",
                result_.idle, shares.size(), kSlicesPerGroup));
    }
  }
  void make_volume(ReconSetup& setup, const std::vector<Share>& shares, SharedVolume& volume,
                   const Observer& own) {
    ReconSummary& summary = setup.summary();
    const std::size_t slice = summary.width * summary.width;
    std::atomic<std::size_t> slices = summary.resumed;
    const auto wrote = [&](std::size_t count) {
      slices += count;
      if (observer_.progress) observer_.progress("slices", slices, summary.slices);
    };
    std::thread keeper([&] {
      try {
        while (arrivals_.write_one(volume, [&](std::size_t n) { wrote(n / slice); })) {
        }
      } catch (...) {
        desk_.fail(to_error());
      }
    });
    Observer counting = own;
    std::size_t before = summary.resumed;
    counting.progress = [&](const char* stage, std::size_t done, std::size_t total) {
      if (std::string_view(stage) != "slices") {
        if (observer_.progress) observer_.progress(stage, done, total);
        return;
      }
      wrote(done - std::exchange(before, done));
    };
    std::size_t pixels = 0;
    for (int r = 0; r < ranks_.size(); ++r) {
      const Share& share = shares[static_cast<std::size_t>(r)];
      if (!share.heads(r)) continue;
      for (const SliceBlock& block : share.blocks) {
        pixels += setup.rows_of(block).count * summary.layout.columns;
      }
    }
    try {
      run_own(setup, shares[0], volume, counting);
      desk_.wait([&] { return done_.size() + 1 == shares.size(); });
      arrivals_.close();
    } catch (...) {
      desk_.fail(to_error());
      keeper.join();
      throw;
    }
    keeper.join();
    if (const auto failure = desk_.failure()) throw Error(*failure);
    if (slices != summary.slices) {
      throw Error(Status::kInternal,
                  print("%zu of %zu slices were written", slices.load(), summary.slices));
    }
    add_up(summary);
    check_flaws(job_, summary, setup.settle_flaws(pixels), own);
    volume.commit();
    result_.recon = summary;
  }
  /// Rank 0's part, which it writes itself.
  void run_own(ReconSetup& setup, const Share& share, SliceSink& volume, const Observer& own) {
    if (share.team.size == 1) {
      BlockRun(setup, own).run(share.blocks, volume, executor_);
      return;
    }
    RankLink link(mail_, share.team, 0);
    open_lines(setup, share.blocks.front(), link);
    make_block_together(setup, share.blocks.front(), link, volume, executor_, own);
  }
  void add_up(ReconSummary& summary) {
    result_.threads = executor_.concurrency();
    for (const RankDone& done : done_) {
      result_.threads += done.threads;
      summary.flaws += done.flaws;
      summary.read += done.read;
      summary.compute += done.compute;
      summary.write += done.write;
      summary.memory = std::max(summary.memory, done.memory);
      summary.overlap = summary.overlap && done.overlap;
      summary.spooled = summary.spooled || done.spooled;
    }
  }

  Ranks& ranks_;
  const ReconJob& job_;
  Executor& executor_;
  const Observer& observer_;
  const double silence_s_;
  RankDesk desk_;
  BlockPost post_;
  Arrivals arrivals_;
  TeamMail mail_;
  std::vector<Clock::time_point> heard_;
  Clock::time_point told_ = Clock::now();
  RanksRecon result_;
  // under the desk's lock
  int isa_ = 0;
  std::size_t met_ = 0;
  std::optional<RankWork> work_;
  std::vector<RankDone> done_;
  bool finished_ = false, ended_ = false;
};

}  // namespace

std::optional<RanksRecon> reconstruct_on_ranks(Ranks& ranks, const ReconJob& job,
                                               Executor& executor, const Observer& observer,
                                               double silence_s) {
  return RankScan(ranks, job, executor, observer, silence_s).run();
}

}  // namespace tomoloom::scans
