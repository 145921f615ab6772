// SPDX-License-Identifier: BSD-3-Clause
// The two inner loops of the forward model on one ISA level; packs run along the pixels of a row.
#include "fiberloom/psf/forward_kernels.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

void add(const double* spot, double electrons, int rows, int stride, double* image, long pitch) {
  const Pack e(electrons);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < stride; c += Pack::width) {
      fma(e, Pack::load(spot + c), Pack::load(image + c)).store(image + c);
    }
    spot += stride;
    image += pitch;
  }
}

double dot(const double* spot, const double* image, int rows, int stride, long pitch) {
  Pack sum(0.0);
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < stride; c += Pack::width) {
      sum = fma(Pack::load(spot + c), Pack::load(image + c), sum);
    }
    spot += stride;
    image += pitch;
  }
  double total = 0;
  for (int i = 0; i < Pack::width; ++i) total += lane_value(sum, i);
  return total;
}

}  // namespace

extern const ForwardKernels kForward;
const ForwardKernels kForward{add, dot};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
