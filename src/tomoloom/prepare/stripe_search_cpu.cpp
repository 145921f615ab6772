// SPDX-License-Identifier: BSD-3-Clause
// The search for stripes of one ISA level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "tomoloom/prepare/stripe_search_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {

extern const StripeSearchKernels kStripeSearch;
const StripeSearchKernels kStripeSearch = lane::StripeSearchTable<FloatPack, Pack>::table();

}  // namespace tomoloom::FIBERLOOM_ISA_NS
