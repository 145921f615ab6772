// SPDX-License-Identifier: BSD-3-Clause
// The parts that recon's option table is put together of. For recon_option_*.cpp alone.
#pragma once

#include <charconv>
#include <span>
#include <string_view>

#include "loom/base/error.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"

namespace tomoloom {

using ReconRow = OptionRow<ReconJob>;
using Field = OptionField;

[[nodiscard]] std::span<const ReconRow> scan_option_rows();
[[nodiscard]] std::span<const ReconRow> preparation_option_rows();
[[nodiscard]] std::span<const ReconRow> method_option_rows();

[[noreturn]] inline void expected(const char* what) { throw Error(Status::kUsage, what); }

/// The whole of a text as a number.
template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [rest, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  return bad == std::errc() && rest == text.data() + text.size();
}

}  // namespace tomoloom
