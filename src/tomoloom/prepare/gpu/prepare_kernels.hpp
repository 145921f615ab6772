// SPDX-License-Identifier: BSD-3-Clause
// The kernels of preparation as a table of launchers, one table a body: CUDA or the CPU in its
// place. Seen by .cu.
#pragma once

#include <cstdint>

#include "loom/device/device.hpp"
#include "tomoloom/prepare/gpu/phase_device_lane.hpp"
#include "tomoloom/prepare/gpu/prepare_device_lane.hpp"

namespace tomoloom::gpu {

struct PrepareKernels {
  template <class Args>
  using Launch = void (*)(Stream&, long threads, const Args&);

  Launch<TransmitArgs<std::uint16_t>> transmit_counts;
  Launch<TransmitArgs<float>> transmit_floats;
  Launch<BeamArgs> beam;
  Launch<LogArgs> log;
  Launch<MeanArgs> mean;
  Launch<StripeArgs> stripe;
  Launch<SubtractArgs> subtract;
  Launch<LineSumArgs> line_sum;
  Launch<CorrectArgs> correct;
  Launch<CombineArgs> combine;
  Launch<LiftArgs> lift;
  Launch<RootArgs> root;

  Launch<GatherRowsArgs> gather_rows;
  Launch<GatherColumnsArgs> gather_columns;
  Launch<FilterArgs> filter;
  Launch<PutColumnsArgs> put_columns;
  Launch<PutRowsArgs> put_rows;
};

template <class Run>
[[nodiscard]] PrepareKernels prepare_kernels_of() {
  return {&Run::template launch<TransmitKernel<std::uint16_t>>,
          &Run::template launch<TransmitKernel<float>>,
          &Run::template launch<BeamKernel>,
          &Run::template launch<LogKernel>,
          &Run::template launch<MeanKernel>,
          &Run::template launch<StripeKernel>,
          &Run::template launch<SubtractKernel>,
          &Run::template launch<LineSumKernel>,
          &Run::template launch<CorrectKernel>,
          &Run::template launch<CombineKernel>,
          &Run::template launch<LiftKernel>,
          &Run::template launch<RootKernel>,
          &Run::template launch<GatherRowsKernel>,
          &Run::template launch<GatherColumnsKernel>,
          &Run::template launch<FilterKernel>,
          &Run::template launch<PutColumnsKernel>,
          &Run::template launch<PutRowsKernel>};
}

/// Throws kUnsupported where emulation is not built in.
[[nodiscard]] const PrepareKernels& emulated_prepare_kernels();
/// Throws kDevice where CUDA is not compiled in.
[[nodiscard]] const PrepareKernels& cuda_prepare_kernels();
[[nodiscard]] inline const PrepareKernels& prepare_kernels(const DeviceInfo& info) {
  return info.emulated ? emulated_prepare_kernels() : cuda_prepare_kernels();
}

}  // namespace tomoloom::gpu
