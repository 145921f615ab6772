// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/gpu/device_transform.hpp"

#include "loom/device/send.hpp"
#include "loom/fft/gpu/pass_kernels.hpp"

namespace loom {

static_assert(gpu::kFftElement == static_cast<long>(fft::kElement<float>));

DeviceTransform::DeviceTransform(std::size_t n, fft::Sign sign, const DeviceInfo& info)
    : plan_(n, sign),
      kernels_(info.emulated ? gpu::emulated_pass_kernels() : gpu::cuda_pass_kernels()) {}

void DeviceTransform::send(Stream& stream, float* twiddles, HostMemory& staging) {
  loom::send(stream, twiddles, {plan_.view().twiddles, plan_.twiddle_count()}, staging);
  twiddles_ = twiddles;
}

float* DeviceTransform::run(Stream& stream, long lines, DeviceLines in, float* const (&work)[2],
                            float* out) const {
  const fft::PlanView<float> view = plan_.view();
  const long length = static_cast<long>(plan_.length());
  float* to = nullptr;
  for (std::size_t i = 0; i < view.pass_count; ++i) {
    const fft::Pass& pass = view.passes[i];
    const bool last = i + 1 == view.pass_count;
    to = last && out != nullptr ? out : work[i % 2];
    const gpu::PassArgs args{.groups = static_cast<long>(pass.groups),
                             .stride = static_cast<long>(pass.stride),
                             .twiddles = twiddles_ + pass.twiddles,
                             .in = in.data,
                             .in_line = in.line,
                             .step = in.step,
                             .count = in.count,
                             .out = to,
                             .out_line = length * gpu::kFftElement};
    const auto kind = static_cast<std::size_t>(gpu::radix_kind(pass.radix));
    const auto launch = view.sign > 0 ? kernels_.plus[kind] : kernels_.minus[kind];
    launch(stream, lines * args.groups * args.stride * gpu::kFftLanes, args);
    in = {.data = to, .line = args.out_line, .step = 1, .count = length};
  }
  return to;
}

}  // namespace loom
