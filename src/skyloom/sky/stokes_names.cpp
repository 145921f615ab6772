// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/stokes_names.hpp"

#include <algorithm>
#include <cctype>

#include "loom/base/letter_case.hpp"

namespace skyloom {
namespace {

bool is_intensity(const std::string& name) {
  const std::string capitals = loom::in_capitals(name);
  return is_stokes(name, 'I') || is_stokes(name, 'T') || capitals.starts_with("TEMPERATURE") ||
         capitals.starts_with("INTENSITY");
}

}  // namespace

std::string names_in_words(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

bool is_stokes(const std::string& name, char letter) {
  const std::string capitals = loom::in_capitals(name);
  return capitals.starts_with(letter) &&
         (capitals.size() == 1 || std::isalpha(static_cast<unsigned char>(capitals[1])) == 0);
}

std::optional<StokesColumns> stokes_columns(const std::vector<std::string>& names) {
  const auto find = [&](const auto& is_it) -> std::optional<std::size_t> {
    const auto found = std::ranges::find_if(names, is_it);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::size_t>(found - names.begin());
  };
  const auto q = find([](const std::string& name) { return is_stokes(name, 'Q'); });
  const auto u = find([](const std::string& name) { return is_stokes(name, 'U'); });
  const bool named = q && u;
  if (named) {
    const auto i = find(is_intensity);
    if (!i && (*q == 0 || *u == 0)) return std::nullopt;  // of Q and U alone
    return StokesColumns{.i = i.value_or(0), .q = q, .u = u};
  }
  if (names.size() == 1 && !q && !u) return StokesColumns{};
  if (!q && !u && !names.empty() && is_intensity(names[0]) && !names[1].empty()) {
    return StokesColumns{};
  }
  const bool in_place = q.value_or(1) == 1 && u.value_or(2) == 2;
  if (names.size() >= 3 && in_place) return StokesColumns{.i = 0, .q = 1, .u = 2};
  return std::nullopt;
}

}  // namespace skyloom
