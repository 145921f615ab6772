// SPDX-License-Identifier: BSD-3-Clause
// The text files that pages are made of, as they were when the program was built
// (cmake/LoomEmbed.cmake): common.css is common_css().
#pragma once

#include <string_view>

namespace loom::page {

[[nodiscard]] std::string_view common_css() noexcept;
[[nodiscard]] std::string_view common_js() noexcept;

}  // namespace loom::page
