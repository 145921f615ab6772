// SPDX-License-Identifier: BSD-3-Clause
// The loops of the pair A, A^T of one ISA level (compiled once for each).
#include "loom/simd/pack.hpp"
#include "tomoloom/reconstruct/ray_lane.hpp"

namespace tomoloom::FIBERLOOM_ISA_NS {

extern const RayKernels<float> kRayFloat;
extern const RayKernels<double> kRayDouble;
const RayKernels<float> kRayFloat = lane::RayTable<FloatPack, float>::table();
const RayKernels<double> kRayDouble = lane::RayTable<Pack, double>::table();

}  // namespace tomoloom::FIBERLOOM_ISA_NS
