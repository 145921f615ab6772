// SPDX-License-Identifier: BSD-3-Clause
// The text files that skyloom's page is made of, as they were when the program was built
// (cmake/LoomEmbed.cmake): view.css is view_css().
#pragma once

#include <string_view>

namespace skyloom::texts {

[[nodiscard]] std::string_view view_html() noexcept;
[[nodiscard]] std::string_view view_css() noexcept;
[[nodiscard]] std::string_view view_js() noexcept;

}  // namespace skyloom::texts
