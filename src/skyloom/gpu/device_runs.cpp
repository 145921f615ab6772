// SPDX-License-Identifier: BSD-3-Clause
// Twice over the samples: the runs of each baseline are counted, then they are made, each in its
// place.
#include "skyloom/gpu/device_runs.hpp"

#include "loom/device/send.hpp"
#include "skyloom/gpu/sky_kernels.hpp"

namespace skyloom {
namespace {

/// Arrays of their own on the device.
template <class T>
class OnDevice {
 public:
  OnDevice(Device& device, std::size_t n)
      : memory_(device, std::max<std::size_t>(n, 1) * sizeof(T)) {}
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.data()); }

 private:
  DeviceMemory memory_;
};

}  // namespace

std::vector<gpu::PixelRun> runs_on_device(Device& device, const SampleBlock& samples,
                                          std::size_t step) {
  const std::size_t n = samples.pixels.size();
  if (n == 0) return {};
  if (step == 0) step = n;
  const std::size_t baselines = (n + step - 1) / step;
  const gpu::SkyKernels& kernels = gpu::sky_kernels(device);
  const auto stream = device.make_stream();
  HostMemory staging(device, gpu::kStaging);
  const OnDevice<Pixel> pixels(device, n);
  const OnDevice<double> q(device, n), u(device, n), signal(device, n);
  const OnDevice<std::uint8_t> flags(device, n);
  const OnDevice<std::uint64_t> places(device, baselines);
  send(*stream, pixels.data(), samples.pixels, staging);
  send(*stream, q.data(), samples.q, staging);
  send(*stream, u.data(), samples.u, staging);
  send(*stream, signal.data(), samples.signal, staging);
  send(*stream, flags.data(), samples.flags, staging);
  gpu::CompressArgs args{.pixels = pixels.data(),
                         .q = q.data(),
                         .u = u.data(),
                         .signal = signal.data(),
                         .flags = flags.data(),
                         .samples = n,
                         .step = step,
                         .counts = places.data()};
  kernels.compress(*stream, static_cast<long>(baselines), args);
  std::vector<std::uint64_t> starts(baselines);
  fetch(*stream, starts, places.data(), staging);
  std::uint64_t runs = 0;
  for (std::uint64_t& start : starts) {
    const std::uint64_t count = start;
    start = runs;
    runs += count;
  }
  std::vector<gpu::PixelRun> out(runs);
  const OnDevice<gpu::PixelRun> made(device, runs);
  send(*stream, places.data(), starts, staging);
  args.starts = places.data();
  args.runs = made.data();
  kernels.compress(*stream, static_cast<long>(baselines), args);
  fetch(*stream, out, made.data(), staging);
  return out;
}

}  // namespace skyloom
