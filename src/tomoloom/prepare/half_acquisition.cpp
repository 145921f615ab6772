// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/half_acquisition.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tomoloom {

HalfAcquisition half_acquisition(std::size_t columns, double centre) {
  const double last = static_cast<double>(columns) - 1;
  const double near = std::min(centre, last - centre), far = last - near;
  HalfAcquisition half{.columns = columns, .weight = {}};
  const auto added = static_cast<std::size_t>(std::ceil(far - near));
  half.width = columns + added;
  half.left = centre < last / 2 ? added : 0;
  half.centre = centre + static_cast<double>(half.left);
  const double side = centre < last / 2 ? 1 : -1;  // where there is more of the line
  for (std::size_t x = 0; x < columns; ++x) {
    const double t = side * (static_cast<double>(x) - centre);
    const double share = near > 0 ? std::clamp(t / near, -1.0, 1.0) : (t < 0 ? -1.0 : 1.0);
    half.weight.push_back(static_cast<float>(1 + std::sin(std::numbers::pi / 2 * share)));
  }
  return half;
}

void widen(const HalfAcquisition& half, LargeVector<float>& lines) {
  const std::size_t count = lines.size() / half.columns;
  lines.resize(count * half.width);
  std::vector<float> line(half.columns);
  for (std::size_t i = count; i-- > 0;) {  // from the end, so that nothing is lost
    std::copy_n(&lines[i * half.columns], half.columns, line.begin());
    float* const to = &lines[i * half.width];
    std::fill_n(to, half.width, 0.0F);
    for (std::size_t x = 0; x < half.columns; ++x) to[half.left + x] = half.weight[x] * line[x];
  }
}

}  // namespace tomoloom
