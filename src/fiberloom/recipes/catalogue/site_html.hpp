// SPDX-License-Identifier: BSD-3-Clause
// Pieces of the catalogue's pages. Every text goes through the escaping of loom/page. Internal to
// recipes/catalogue/.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "loom/db/db.hpp"
#include "loom/http/request.hpp"

namespace fiberloom::site {

struct Found {
  std::vector<std::string> names;
  std::vector<std::vector<db::Value>> rows;
  bool more = false;  ///< there were more than `most`
};
/// At most `most` rows of a query.
[[nodiscard]] Found find(db::Connection& connection, const db::Query& query, std::size_t most);

/// A value for people: numbers with up to 9 digits, NULL as nothing; not escaped.
[[nodiscard]] std::string shown(const db::Value& value);

/// A table; `links`: TARGETIDs lead to their targets, paths are what they are.
[[nodiscard]] std::string table_html(const Found& found);
/// One row as a list of names and values, without what is NULL.
[[nodiscard]] std::string row_html(const Found& found);

[[nodiscard]] std::string card_html(const std::string& title, const std::string& body);
[[nodiscard]] std::string alert_html(const std::string& message);

/// What the front page asks with, filled with what was asked.
[[nodiscard]] std::string form_html(const http::Request& request);
[[nodiscard]] std::string sql_form_html(const http::Request& request);

/// The same request with another `name`.
[[nodiscard]] std::string link_with(const http::Request& request, const std::string& path,
                                    const std::string& name, const std::string& value);

/// A whole page.
[[nodiscard]] std::string page_html(const std::string& title, const std::string& subtitle,
                                    const std::string& body);

}  // namespace fiberloom::site
