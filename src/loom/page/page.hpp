// SPDX-License-Identifier: BSD-3-Clause
// Self-contained HTML pages: a template, text that must not become markup. Knows no frames, no
// nights.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::page {

/// Bytes that are no UTF-8 become U+FFFD: for readers that stop at them (JSON, SQLite's users).
[[nodiscard]] std::string to_utf8(std::string_view text);
[[nodiscard]] bool is_utf8(std::string_view text);

/// A relative or absolute path as a URL's path: every byte that might mean something else is
/// %-encoded, so that no name is a scheme, a query or no UTF-8.
[[nodiscard]] std::string url_of_path(std::string_view path);

/// Text for an element or a quoted attribute: & < > " ' as entities; other control characters than
/// tab and newline, and bytes that are no UTF-8, as U+FFFD.
[[nodiscard]] std::string escape_html(std::string_view text);

/// JSON made safe inside <script>: < > & become \u escapes, which only strings can hold.
/// Precondition: ASCII JSON.
[[nodiscard]] std::string escape_script(std::string_view json);

using Values = std::vector<std::pair<std::string_view, std::string_view>>;

/// Puts each {{name}} of the template in the place of its value, in one pass: a value that reads
/// like a placeholder stays text. Throws kInternal for a name without a value.
[[nodiscard]] std::string fill(std::string_view text, const Values& values);

}  // namespace loom::page
