// SPDX-License-Identifier: BSD-3-Clause
// The catalogue as pages for people at this machine: tables, cones, SQL, targets, and a target's
// spectrum with its fits. Pages are made here, without a script; no request can write.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "fiberloom/catalogue/catalogue.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/http/server.hpp"

namespace fiberloom {

struct SiteOptions {
  std::string database;
  double seconds = 10;  ///< that a query of a page may take
  std::size_t rows_a_page = 200;
  std::size_t most_rows = 10000;  ///< of an answer to SQL, and of one as CSV or JSON
  double wait_s = 5;
};

class CatalogueSite {
 public:
  /// Throws where there is no catalogue, as queries do: better now than at each visit.
  CatalogueSite(SiteOptions options, Executor& executor, Observer observer);
  ~CatalogueSite();

  /// From any thread. Faults of a query are a page with 400 that says them; a server that went away
  /// is 503, and is asked again by the next request.
  [[nodiscard]] http::Response answer(const http::Request& request);

 private:
  class Lent;
  [[nodiscard]] http::Response page_of(const http::Request& request, db::Connection& connection);
  [[nodiscard]] http::Response front(const http::Request& request, db::Connection& connection);
  [[nodiscard]] http::Response sql(const http::Request& request, db::Connection& connection);
  [[nodiscard]] http::Response text(const http::Request& request, db::Connection& connection);
  [[nodiscard]] http::Response target(std::int64_t id, db::Connection& connection);
  [[nodiscard]] http::Response spectrum(std::int64_t group, std::int64_t id,
                                        db::Connection& connection);

  SiteOptions options_;
  Executor& executor_;
  Observer observer_;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::unique_ptr<catalogue::Catalogue>> idle_;
  std::mutex spectra_;  ///< one page of a spectrum at a time: it reads whole files
};

}  // namespace fiberloom
