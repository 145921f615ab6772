// SPDX-License-Identifier: BSD-3-Clause
// The exact median of each bundle's diagonal, a launch a digit, and the prior that it scales.
#include <algorithm>

#include "fiberloom/extract/exact/gpu/frame.hpp"

namespace fiberloom::exact::gpu {

MedianArgs DeviceFrame::median_arrays(Arena& scratch) const {
  int most = 0;
  for (int b = 0; b < p_.nbundle(); ++b) most = std::max(most, p_.fibers_of(b));
  const int chunks = MedianKernel::chunks(static_cast<long>(most) * p_.nbin);
  const auto bundles = static_cast<std::size_t>(p_.nbundle()), all = 2 * bundles;
  MedianArgs args{shape_, n_, median_, chunks, nullptr, nullptr, 0};
  args.state = scratch.take<MedianState>(all);
  args.count =
      scratch.take<unsigned>(all * static_cast<std::size_t>(chunks) * MedianKernel::kCounters);
  return args;
}

void DeviceFrame::add_prior() {
  Arena scratch = kept_.scale != nullptr ? after_spots_ : scratch_;
  MedianArgs median = median_arrays(scratch);
  for (median.digit = 0; median.digit <= MedianKernel::kDigits; ++median.digit) {
    k_->median(*stream_, static_cast<long>(p_.nbundle()) * median.chunks, median);
  }
  const PriorArgs prior{shape_, n_, median_, p_.options.regularize * p_.options.regularize,
                        p_.weak_prior};
  k_->prior(*stream_, shape_.rows() * padded(p_.nfiber()), prior);
}

}  // namespace fiberloom::exact::gpu
