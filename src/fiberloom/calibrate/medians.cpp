// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/medians.hpp"

#include <algorithm>

#include "loom/base/median.hpp"

namespace fiberloom::calibrate {

void column_medians(const Array2D<double>& value, const Array2D<double>& weight,
                    std::span<double> out, Executor& executor) {
  constexpr std::size_t kColumns = 64;  // as many are gathered in one walk over the rows
  const std::size_t n = value.cols(), blocks = (n + kColumns - 1) / kColumns;
  executor.run(blocks, [&](std::size_t block) {
    const std::size_t first = block * kColumns, last = std::min(n, first + kColumns);
    Array2D<double> good(last - first, value.rows());
    std::vector<std::size_t> count(last - first, 0);
    for (std::size_t s = 0; s < value.rows(); ++s) {
      for (std::size_t i = first; i < last; ++i) {
        double* row = good.row(i - first);  // what is not to count is written over
        row[count[i - first]] = value(s, i);
        count[i - first] += weight(s, i) > 0 ? 1 : 0;
      }
    }
    std::vector<double> column;
    for (std::size_t i = first; i < last; ++i) {
      if (count[i - first] == 0) continue;
      column.assign(good.row(i - first), good.row(i - first) + count[i - first]);
      out[i] = median_of(column);
    }
  });
}

double interpolate(std::span<const double> x, std::span<const double> y, double at) {
  const auto above = std::upper_bound(x.begin(), x.end(), at);
  if (above == x.begin()) return y.front();
  if (above == x.end()) return y.back();
  const auto k = static_cast<std::size_t>(above - x.begin());
  const double t = (at - x[k - 1]) / (x[k] - x[k - 1]);
  return y[k - 1] + t * (y[k] - y[k - 1]);
}

}  // namespace fiberloom::calibrate
