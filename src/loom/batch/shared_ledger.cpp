// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/shared_ledger.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/batch/state_tables.hpp"
#include "loom/page/page.hpp"
#include "loom/runtime/process_identity.hpp"

namespace loom::batch {
namespace {

/// Calls `act` from another thread when it has lived for so long.
class Deadline {
 public:
  Deadline(double seconds, std::function<void()> act)
      : thread_([this, seconds, act = std::move(act)] {
          std::unique_lock lock(mutex_);
          const std::chrono::duration<double> wait(seconds);
          if (!ended_.wait_for(lock, wait, [this] { return over_; })) act();
        }) {}
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

void check_state_url(const std::string& url) {
  for (const char* scheme : {"postgresql://", "postgres://", "sqlite:///"}) {
    if (url.starts_with(scheme) && url != scheme) return;
  }
  throw Error(Status::kUsage, "--state " + db::without_password(url) +
                                  ": expected postgresql://USER@HOST/NAME or sqlite:///PATH");
}

void spare_state(const RunFolder& folder, const std::string& state_url, const NamedFile& asked) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // a circle of links: whoever opens it will say so
  const fs::path state = fs::weakly_canonical(folder.state(), ignored);
  const fs::path place = fs::weakly_canonical(follow_links(asked.path), ignored);
  if (std::mismatch(state.begin(), state.end(), place.begin(), place.end()).first == state.end()) {
    throw Error(Status::kUsage,
                asked.path + " (" + asked.what + "): lies among the run's own files");
  }
  if (state_url.empty() || db::kind_of(state_url) != db::Kind::kSqlite) return;
  const NamedFile database{"database of --state", db::sqlite_path(state_url)};
  check_distinct({&asked, 1}, {&database, 1});
}

std::string run_id_of(const RunFolder& folder) {
  const std::string path = folder.state() + "/run-id";
  const auto known = [&] {
    std::string id = read_text_file(path).value_or("");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  };
  if (std::string id = known(); !id.empty()) return id;
  folder.create();
  try {
    write_text_file(path, unique_id() + "\n", Overwrite::kNo);
  } catch (const Error& error) {
    if (error.status() != Status::kOutputExists) throw;  // somebody else's, just now
  }
  if (std::string id = known(); !id.empty()) return id;
  write_text_file(path, unique_id() + "\n");  // it was there, and empty: a loss of power
  return known();
}

SharedLedger::SharedLedger(std::string url, const RunFolder& folder, SharedLedgerOptions options)
    : url_(std::move(url)),
      prefix_(table_prefix(folder.program().name)),
      run_(run_id_of(folder)),
      folder_(folder),
      options_(options) {
  try {
    with_connection([](db::Connection&) {});
  } catch (const db::Fault& fault) {
    const bool may_come_back =
        fault.trouble() == db::Trouble::kGone || fault.trouble() == db::Trouble::kBusy;
    if (!may_come_back) throw;
  }
}

SharedLedger::~SharedLedger() = default;

db::Connection& SharedLedger::open() {
  if (!connection_) {
    auto fresh = db::open(url_, {.access = db::Access::kWrite, .wait_s = options_.wait_s});
    const Deadline deadline(options_.answer_s, [&] { fresh->cut(); });
    make_state_tables(*fresh, prefix_);
    connection_ = std::move(fresh);
  }
  return *connection_;
}

template <class Work>
void SharedLedger::with_connection(Work work) {
  try {
    db::Connection& connection = open();
    const Deadline deadline(options_.answer_s, [&] { connection.cut(); });
    work(connection);
  } catch (...) {
    connection_.reset();
    throw;
  }
}

void SharedLedger::write(db::Connection& connection, const std::vector<LedgerRow>& rows) const {
  const std::string folder =
      std::filesystem::absolute(folder_.output()).lexically_normal().string();
  connection.run("INSERT INTO " + prefix_ +
                     "run(run, folder, host, version, updated) VALUES($1, $2, $3, $4, $5) ON "
                     "CONFLICT(run) DO UPDATE SET folder = excluded.folder, host = excluded.host, "
                     "version = excluded.version, updated = excluded.updated",
                 std::vector<db::Value>{run_, page::to_utf8(folder), this_process().host,
                                        folder_.program().version,
                                        static_cast<std::int64_t>(std::time(nullptr))});
  put_state_rows(connection, prefix_, run_, rows);
}

void SharedLedger::put(const std::vector<LedgerRow>& rows) {
  with_connection([&](db::Connection& connection) {
    db::in_transaction(connection, [&] { write(connection, rows); });
  });
}

std::vector<LedgerRow> SharedLedger::rows() {
  std::vector<LedgerRow> out;
  with_connection([&](db::Connection& connection) {
    out = get_state_rows(connection, prefix_, run_, "", true);
  });
  return out;
}

void SharedLedger::replace(const std::vector<LedgerRow>& rows) {
  with_connection([&](db::Connection& connection) {
    db::in_transaction(connection, [&] {
      for (const char* table : {"task", "attempt", "input", "output"}) {
        connection.run("DELETE FROM " + prefix_ + table + " WHERE run = $1",
                       std::vector<db::Value>{run_});
      }
      write(connection, rows);
    });
  });
}

std::unique_ptr<Ledger> open_ledger(const RunFolder& folder, const LedgerShape& shape,
                                    const std::string& state) {
  if (state.empty()) return Ledger::open(folder.ledger(), shape);
  return std::make_unique<SharedLedger>(state, folder);
}

}  // namespace loom::batch
