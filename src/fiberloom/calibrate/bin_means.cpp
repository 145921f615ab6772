// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/bin_means.hpp"

#include <algorithm>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {

using loom::Error;
using loom::print;
using loom::Status;

BinMeans::BinMeans(std::span<const double> at, std::span<const double> x) {
  const std::size_t m = at.size();
  std::vector<double> edges;
  edges.push_back(1.5 * at[0] - 0.5 * at[1]);
  for (std::size_t i = 1; i < m; ++i) edges.push_back(0.5 * (at[i - 1] + at[i]));
  edges.push_back(1.5 * at[m - 1] - 0.5 * at[m - 2]);
  if (x.size() < 2 || x.front() > edges.front() || x.back() < edges.back()) {
    throw Error(
        Status::kWrongShape,
        print("models from %.2f to %.2f Angstrom, expected to reach from %.2f to %.2f",
              x.empty() ? 0 : x.front(), x.empty() ? 0 : x.back(), edges.front(), edges.back()));
  }
  const auto before = [&](double edge) {
    const auto above = std::upper_bound(x.begin(), x.end() - 1, edge);
    return static_cast<std::size_t>(above - x.begin()) - 1;
  };
  first_ = before(edges.front());
  for (const double edge : edges) {
    const std::size_t k = before(edge);
    k_.push_back(k - first_);
    t_.push_back((edge - x[k]) / (x[k + 1] - x[k]));
  }
  for (std::size_t k = first_; k <= first_ + k_.back(); ++k) {
    half_.push_back(0.5 * (x[k + 1] - x[k]));
  }
  for (std::size_t i = 0; i < m; ++i) inverse_width_.push_back(1 / (edges[i + 1] - edges[i]));
}

void BinMeans::operator()(std::span<const float> y, std::span<double> out) const {
  const float* f = y.data() + first_;
  double whole = 0, before = 0;  // integrals from the first point: to point k, to the last edge
  std::size_t k = 0;
  for (std::size_t e = 0; e < k_.size(); ++e) {
    for (; k < k_[e]; ++k) {
      whole += half_[k] * (static_cast<double>(f[k]) + static_cast<double>(f[k + 1]));
    }
    const double low = f[k], t = t_[e];
    const double here =
        whole + half_[k] * t * (2 * low + t * (static_cast<double>(f[k + 1]) - low));
    if (e > 0) out[e - 1] = (here - before) * inverse_width_[e - 1];
    before = here;
  }
}

}  // namespace fiberloom::calibrate
