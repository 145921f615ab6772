// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/exchange/image_names.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace tomoloom {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name with # for each of its numbers: "flat_#.tif".
std::string kind_of(const std::string& name) {
  std::string kind;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) {
      kind += name[i];
    } else if (i == 0 || !is_digit(name[i - 1])) {
      kind += '#';
    }
  }
  return kind;
}

/// Its numbers; those of too many digits, as times have, as the largest.
std::vector<std::uint64_t> numbers_of(const std::string& name) {
  constexpr std::uint64_t kMost = 1'000'000'000'000;
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_digit(name[i])) continue;
    if (i == 0 || !is_digit(name[i - 1])) numbers.push_back(0);
    numbers.back() =
        std::min(10 * numbers.back() + static_cast<std::uint64_t>(name[i] - '0'), kMost);
  }
  return numbers;
}

/// The number that grows from name to name while the others stay; empty where there is none.
std::vector<std::uint64_t> growing_number(std::span<const std::string> names) {
  std::vector<std::uint64_t> grows;
  const std::vector<std::uint64_t> first = numbers_of(names.front()),
                                   last = numbers_of(names.back());
  if (first.size() != last.size()) return grows;
  const auto place = static_cast<std::size_t>(
      std::mismatch(first.begin(), first.end(), last.begin()).first - first.begin());
  for (const std::string& name : names) {
    std::vector<std::uint64_t> numbers = numbers_of(name);
    if (place >= numbers.size()) return {};
    grows.push_back(numbers[place]);
    numbers[place] = first[place];
    if (numbers != first) return {};
  }
  return grows;
}

}  // namespace

bool in_order(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto digits = [](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t from = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(from, at - from);
    };
    const std::string left = digits(a, i), right = digits(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

std::string kinds_of_names(std::span<const std::string> names) {
  std::map<std::string, std::size_t> kinds;
  for (const std::string& name : names) ++kinds[kind_of(name)];
  if (kinds.size() < 2 || kinds.size() == names.size()) return {};
  constexpr std::size_t kMostShown = 3;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [kind, count] : kinds) {
    if (shown++ == kMostShown) return text + " ...";
    text += print("%s%zu %s", text.empty() ? "" : ", ", count, kind.c_str());
  }
  return text;
}

std::string numbers_left_out(std::span<const std::string> names) {
  if (names.size() < 3) return {};
  const std::vector<std::uint64_t> numbers = growing_number(names);
  if (numbers.empty()) return {};
  if (!std::ranges::is_sorted(numbers, std::less_equal<>())) return {};
  std::vector<std::uint64_t> steps;
  for (std::size_t i = 1; i < numbers.size(); ++i) steps.push_back(numbers[i] - numbers[i - 1]);
  const std::uint64_t step = upper_median(steps);
  std::uint64_t left_out = 0, first = 0;
  std::size_t gaps = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const std::uint64_t here = numbers[i] - numbers[i - 1];
    if (here % step != 0) return {};
    if (here == step) continue;
    if (gaps++ == 0) first = numbers[i - 1] + step;
    left_out += here / step - 1;
  }
  constexpr std::size_t kFew = 4;  // one of so many steps: more are no even steps
  if (gaps == 0 || gaps > names.size() / kFew) return {};
  return print(
      "%llu of the numbers from %llu to %llu in names, the first of them %llu",
      static_cast<unsigned long long>(left_out), static_cast<unsigned long long>(numbers.front()),
      static_cast<unsigned long long>(numbers.back()), static_cast<unsigned long long>(first));
}

}  // namespace tomoloom
