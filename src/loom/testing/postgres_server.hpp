// SPDX-License-Identifier: BSD-3-Clause
// For tests: a PostgreSQL server of their own in a folder that goes away, reached by a socket in it
// alone. Debian's package `postgresql` is enough; nothing of a server that runs is touched.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace loom::test {

class PostgresServer {
 public:
  /// Empty where no server is installed.
  static std::string programs() {
    std::string newest;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      const std::string folder = entry.path().string() + "/bin";
      if (std::filesystem::exists(folder + "/initdb")) newest = std::max(newest, folder);
    }
    return newest;
  }

  PostgresServer() {
    std::string name = "/tmp/loom_postgres_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    if (::geteuid() == 0) {  // the server does not run as root
      for (const char* candidate : {"postgres", "nobody"}) {
        const passwd* const user = ::getpwnam(candidate);
        if (user == nullptr || ::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) continue;
        as_ = std::string("runuser -u ") + candidate + " -- ";
        break;
      }
    }
    works_ = !programs().empty() &&
             call("initdb -D " + folder_ + "/data -A trust -U loom -E UTF8 --locale=C --no-sync") &&
             start();
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() {
    stop();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] bool works() const { return works_; }
  bool start() {
    return call("pg_ctl -D " + folder_ + "/data -w -t 60 -l " + folder_ + "/log -o \"-k " +
                folder_ + " -c listen_addresses='' -c fsync=off\" start");
  }
  void stop() { call("pg_ctl -D " + folder_ + "/data -m immediate -w stop"); }

  [[nodiscard]] std::string url(const std::string& database) const {
    return "postgresql://loom@/" + database + "?host=" + folder_;
  }
  /// A database of its own.
  std::string make(const std::string& database) {
    call("psql -h " + folder_ + " -U loom -d postgres -c 'DROP DATABASE IF EXISTS " + database +
         "' -c 'CREATE DATABASE " + database + "'");
    return url(database);
  }

 private:
  bool call(const std::string& command) const {
    const std::string text = "cd / && " + as_ + programs() + "/" + command + " >" + folder_ +
                             ".out 2>&1; e=$?; rm -f " + folder_ + ".out; exit $e";
    return std::system(text.c_str()) == 0;
  }

  std::string folder_, as_;
  bool works_ = false;
};

}  // namespace loom::test
