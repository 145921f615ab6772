// SPDX-License-Identifier: BSD-3-Clause
// The loops of stripe removal of one ISA level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "tomoloom/prepare/stripe_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {

extern const StripeKernels kStripe;
const StripeKernels kStripe = lane::StripeTable<FloatPack, Pack>::table();

}  // namespace tomoloom::FIBERLOOM_ISA_NS
