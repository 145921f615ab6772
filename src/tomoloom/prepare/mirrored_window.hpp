// SPDX-License-Identifier: BSD-3-Clause
// A window that moves along a line and is mirrored about its own middle where the line ends: what
// comes into it and what leaves it with each step, once for all lines of that length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

struct WindowExchange {
  std::uint32_t gone, come;  ///< places of the line
};

/// For kernels, which see plain memory alone.
struct WindowWalk {
  std::size_t n = 0, size = 0;
  const std::uint32_t* first = nullptr;  ///< [size] places around place 0
  const WindowExchange* exchanges = nullptr;
  const std::uint32_t* ends = nullptr;  ///< [n]: exchanges before ends[i] lead to place i
};

/// Windows of 2 reach + 1 places around each of `n`: place + offset, or place - offset where that
/// is beyond an end, or the middle itself where both are. O(n reach) to make.
class MirroredWindow {
 public:
  MirroredWindow(std::size_t n, std::size_t reach);

  [[nodiscard]] static std::size_t place(std::size_t middle, std::ptrdiff_t offset,
                                         std::size_t n) noexcept {
    const auto at = static_cast<std::ptrdiff_t>(middle), end = static_cast<std::ptrdiff_t>(n);
    if (at + offset >= 0 && at + offset < end) return static_cast<std::size_t>(at + offset);
    if (at - offset >= 0 && at - offset < end) return static_cast<std::size_t>(at - offset);
    return middle;
  }
  [[nodiscard]] WindowWalk walk() const noexcept {
    return {ends_.size(), first_.size(), first_.data(), exchanges_.data(), ends_.data()};
  }
  [[nodiscard]] std::span<const std::uint32_t> first() const noexcept { return first_; }
  /// From the window around place i - 1 to that around i.
  [[nodiscard]] std::span<const WindowExchange> to(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return {exchanges_.data() + begin, ends_[i] - begin};
  }

 private:
  std::vector<std::uint32_t> first_, ends_;
  std::vector<WindowExchange> exchanges_;
};

}  // namespace tomoloom
