// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/redshift/smooth_reference.hpp"

#include <algorithm>

namespace fiberloom::redshift {
namespace {

constexpr std::size_t kHalfWindow = 50;  ///< pixels: 40 Angstrom of DESI's, wider than most lines

std::vector<double> smooth_gain(const Block& block) {
  const std::size_t n = block.pixels;
  std::vector<double> weight(n + 1), light(n + 1), gain(n + 1);
  for (std::size_t i = 0; i < n; ++i) {
    weight[i + 1] = weight[i] + block.weight[i];
    light[i + 1] = light[i] + block.weight[i] * block.flux[i];
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double w = block.weight[i];
    const std::size_t low = i - std::min(i, kHalfWindow), high = std::min(n, i + kHalfWindow + 1);
    const double all = weight[high] - weight[low], others = all - w;
    double reference = 1;  // what a pixel alone adds to chi2 of its truth
    if (w > 0 && others > 1e-6 * w) {
      const double residual = block.flux[i] - (light[high] - light[low]) / all;
      reference = w * residual * residual * all / others;  // the pixel is in its own mean
    }
    gain[i + 1] = gain[i] + (w > 0 ? w * block.flux[i] * block.flux[i] - reference : 0);
  }
  return gain;
}

}  // namespace

void add_smooth_reference(TargetSet& set) {
  for (PreparedTarget& target : set.targets) {
    for (Block& block : target.blocks) block.smooth_gain = smooth_gain(block);
  }
}

}  // namespace fiberloom::redshift
