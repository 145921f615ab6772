// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/spectrum/resolution_leak.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace fiberloom {
namespace {

LeakStatistics statistics(std::vector<float>& leaks) {
  LeakStatistics out;
  if (leaks.empty()) return out;
  const auto at = [&](std::size_t i) {
    std::nth_element(leaks.begin(), leaks.begin() + static_cast<std::ptrdiff_t>(i), leaks.end());
    return static_cast<double>(leaks[i]);
  };
  const std::size_t n = leaks.size();
  out.median = at(n / 2);
  const auto beyond = static_cast<std::size_t>(kLeakyShare * static_cast<double>(n));
  out.high = at(n - 1 - std::min(beyond, n - 1));
  out.most = at(n - 1);
  return out;
}

/// Calls use(|1 - row|, |1 - column|) for every bin that counts.
template <class Use>
void each_leak(const Spectra& spectra, std::size_t half, const Use& use) {
  const auto& r = spectra.resolution;
  const std::size_t stored = r.rows() / 2, n = r.cols();
  for (std::size_t s = 0; s < r.planes(); ++s) {
    for (std::size_t j = half; j + half < n; ++j) {
      if (!(spectra.ivar(s, j) > 0)) continue;
      double row = 0, column = 0;
      for (std::size_t k = stored - half; k <= stored + half; ++k) {
        column += static_cast<double>(r(s, k, j));
        row += static_cast<double>(r(s, k, j + stored - k));  // R[j, j + stored - k]
      }
      use(static_cast<float>(std::abs(1 - row)), static_cast<float>(std::abs(1 - column)));
    }
  }
}

}  // namespace

LeakReport leak_of(const Spectra& spectra, int ndiag) {
  LeakReport out;
  if (spectra.resolution.empty()) return out;
  const auto stored = static_cast<int>(spectra.resolution.rows());
  out.ndiag = ndiag > 0 ? std::min(ndiag, stored) : stored;
  std::vector<float> rows, columns;
  each_leak(spectra, static_cast<std::size_t>(out.ndiag / 2), [&](float row, float column) {
    rows.push_back(row);
    columns.push_back(column);
  });
  out.bins = rows.size();
  out.rows = statistics(rows);
  out.columns = statistics(columns);
  return out;
}

int diagonals_for(const Spectra& spectra, double bound) {
  const auto stored = static_cast<int>(spectra.resolution.rows());
  for (int ndiag = 3; ndiag < stored; ndiag += 2) {
    std::size_t bins = 0, beyond = 0;
    each_leak(spectra, static_cast<std::size_t>(ndiag / 2), [&](float row, float) {
      ++bins;
      beyond += static_cast<double>(row) > bound ? 1 : 0;
    });
    if (static_cast<double>(beyond) <= kLeakyShare * static_cast<double>(bins)) return ndiag;
  }
  return stored;
}

void keep_diagonals(Array3D<float>& all, int ndiag) {
  const auto n = static_cast<std::size_t>(ndiag);
  if (all.empty() || n >= all.rows()) return;
  Array3D<float> kept(all.planes(), n, all.cols());
  const std::size_t first = (all.rows() - n) / 2;
  for (std::size_t s = 0; s < all.planes(); ++s)
    std::copy_n(&all(s, first, 0), n * all.cols(), &kept(s, 0, 0));
  all = std::move(kept);
}

}  // namespace fiberloom
