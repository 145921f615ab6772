// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/mirrored_window.hpp"

#include <algorithm>

namespace tomoloom {

MirroredWindow::MirroredWindow(std::size_t n, std::size_t reach) {
  const auto half = static_cast<std::ptrdiff_t>(reach);
  for (std::ptrdiff_t d = -half; d <= half; ++d) {
    first_.push_back(static_cast<std::uint32_t>(place(0, d, n)));
  }
  std::vector<std::ptrdiff_t> more(n, 0);  // how often the next window has a place more than this
  std::vector<std::uint32_t> gone, come;
  ends_.push_back(0);
  for (std::size_t i = 1; i < n; ++i) {
    for (std::ptrdiff_t d = -half; d <= half; ++d) {
      --more[place(i - 1, d, n)];
      ++more[place(i, d, n)];
    }
    gone.clear();
    come.clear();
    const std::size_t low = i - std::min(i, reach + 1), high = std::min(n, i + reach + 1);
    for (std::size_t p = low; p < high; ++p) {
      for (; more[p] < 0; ++more[p]) gone.push_back(static_cast<std::uint32_t>(p));
      for (; more[p] > 0; --more[p]) come.push_back(static_cast<std::uint32_t>(p));
    }
    for (std::size_t k = 0; k < gone.size(); ++k) exchanges_.push_back({gone[k], come[k]});
    ends_.push_back(static_cast<std::uint32_t>(exchanges_.size()));
  }
}

}  // namespace tomoloom
