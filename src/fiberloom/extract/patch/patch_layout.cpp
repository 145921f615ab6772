// SPDX-License-Identifier: BSD-3-Clause
// Division of a bundle into patches with gpu_specter's rules.
#include "fiberloom/extract/patch/patch_layout.hpp"

#include <algorithm>

namespace fiberloom::patch {

PaddedGrid padded_grid(const ExtractOptions& options) {
  const auto& wave = options.wave;
  const auto& o = options.patch;
  const double lo = wave.size() > 1 ? wave[1] - wave[0] : 1.0;
  const double hi = wave.size() > 1 ? wave[wave.size() - 1] - wave[wave.size() - 2] : 1.0;
  const int pad = o.wavepad + static_cast<int>(o.wavepad * o.wavepad_frac);
  PaddedGrid grid;
  grid.pad = static_cast<std::size_t>(pad);
  grid.nwave = wave.size();
  for (int k = pad; k > 0; --k) grid.wave.push_back(wave.front() - k * lo);
  grid.wave.insert(grid.wave.end(), wave.begin(), wave.end());
  for (int k = 1; k <= pad + o.nwavestep; ++k) grid.wave.push_back(wave.back() + k * hi);
  return grid;
}

std::vector<PatchPlan> plan_bundle(const BundleRange& bundle, const PaddedGrid& grid,
                                   const PatchOptions& options, int first_wanted, int last_wanted) {
  const int fibers_a_patch = std::max(1, (bundle.last - bundle.first) / options.nsubbundles);
  const auto step = static_cast<std::size_t>(options.nwavestep);
  std::vector<PatchPlan> plans;
  for (int f = bundle.first; f < bundle.last; f += fibers_a_patch) {
    PatchPlan plan;
    plan.first = f;
    plan.last = std::min(f + fibers_a_patch, bundle.last);
    plan.pad_first = std::max(plan.first - 1, bundle.first);
    plan.pad_last = std::min(plan.last + 1, bundle.last);
    if (plan.last <= first_wanted || plan.first >= last_wanted) continue;
    for (std::size_t j = 0; j < grid.nwave; j += step) {
      plan.begin = grid.pad + j;
      plan.nwave = step;
      plan.nkeep = std::min(step, grid.nwave - j);
      plans.push_back(plan);
    }
  }
  return plans;
}

}  // namespace fiberloom::patch
