// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/prepare/gpu/device_prepare.hpp"

#include <algorithm>
#include <cstring>

#include "loom/device/device_stage.hpp"
#include "loom/device/send.hpp"
#include "tomoloom/prepare/gpu/prepare_kernels.hpp"

namespace tomoloom {
namespace {

/// Angles whose counts are on the device at the same time.
constexpr std::size_t kAngles = 128;

}  // namespace

struct DevicePrepare::Arrays {
  std::int32_t* set;
  float *dark, *scale;
  void* counts;
  lane::Beam* beams = nullptr;
  double *mean = nullptr, *sums = nullptr, *band = nullptr, *q = nullptr;
  float *stripe = nullptr, *least = nullptr, *lift = nullptr;

  Arrays(const PrepareChoice& c, std::size_t rows, Arena& arena)
      : set(arena.take<std::int32_t>(c.angles)),
        dark(arena.take<float>(c.flat_sets * rows * c.columns)),
        scale(arena.take<float>(c.flat_sets * rows * c.columns)),
        counts(arena.take<std::byte>(kAngles * rows * c.columns *
                                     (c.counts ? sizeof(std::uint16_t) : sizeof(float)))) {
    const std::size_t pixels = rows * c.columns;
    if (c.air > 0) beams = arena.take<lane::Beam>(kAngles * rows);
    if (c.stripe.method != Stripe::kNone) mean = arena.take<double>(pixels);
    if (c.stripe.method == Stripe::kSf) stripe = arena.take<float>(pixels);
    if (c.stripe.method == Stripe::kTi) {
      sums = arena.take<double>(c.angles * rows);
      band = arena.take<double>(3 * 2 * pixels);
      q = arena.take<double>(2 * pixels);
      least = arena.take<float>(pixels);
      lift = arena.take<float>(rows);
    }
  }
};

namespace {

template <class Arrays>
std::size_t bytes_of(const PrepareChoice& choice, std::size_t rows) {
  Arena measure;
  const Arrays unused(choice, rows, measure);
  return measure.used();
}

}  // namespace

bool DevicePrepare::knows(Stripe stripe) noexcept {
  return stripe == Stripe::kNone || stripe == Stripe::kSf || stripe == Stripe::kTi;
}

DevicePrepare::DevicePrepare(const PrepareChoice& choice, std::size_t rows, Device& device)
    : choice_(choice),
      kernels_(gpu::prepare_kernels(device.info())),
      memory_(device, bytes_of<Arrays>(choice, rows)) {
  Arena arena(memory_.data(), memory_.bytes());
  arrays_ = std::make_unique<Arrays>(choice, rows, arena);
}

DevicePrepare::~DevicePrepare() = default;

void DevicePrepare::begin(const CountsView& block, Stream& stream, HostMemory& staging) {
  block_ = block;
  const std::size_t pixels = block.rows * choice_.columns;
  for (std::size_t set = 0; set < block.gains.size(); ++set) {
    send(stream, arrays_->dark + set * pixels, block.gains[set].dark, staging);
    send(stream, arrays_->scale + set * pixels, block.gains[set].scale, staging);
  }
  std::vector<std::int32_t> sets(choice_.angles, 0);
  std::copy(choice_.flat_set.begin(), choice_.flat_set.end(), sets.begin());
  send(stream, arrays_->set, sets, staging);
}

void DevicePrepare::bring(std::size_t first, std::size_t count, float* all, Stream& stream,
                          HostMemory& staging, Executor& executor) {
  if (choice_.stripe.method == Stripe::kNone) {
    return transmit(first, count, all, stream, staging, executor);
  }
  if (first > 0) return;  // stripes are seen in all angles together
  transmit(0, choice_.angles, all, stream, staging, executor);
  if (!has_enough(choice_.stripe.method, choice_.angles, choice_.columns)) return;
  const DeviceStage stage(stream, "stripes");
  if (choice_.stripe.method == Stripe::kSf) return remove_means(all, stream);
  titarenko(all, stream);
}

void DevicePrepare::transmit(std::size_t first, std::size_t count, float* all, Stream& stream,
                             HostMemory& staging, Executor& executor) {
  const DeviceStage stage(stream, "counts");
  const Arrays& a = *arrays_;
  const std::size_t pixels = block_.rows * choice_.columns;
  const std::size_t bytes = pixels * (choice_.counts ? sizeof(std::uint16_t) : sizeof(float));
  const auto* const from = choice_.counts ? reinterpret_cast<const std::byte*>(block_.counts)
                                          : reinterpret_cast<const std::byte*>(block_.floats);
  auto* const host = static_cast<std::byte*>(staging.data());
  for (std::size_t at = first; at < first + count; at += kAngles) {
    const std::size_t angles = std::min(kAngles, first + count - at);
    executor.run(angles, [&](std::size_t k) {
      std::memcpy(host + (at + k) * bytes, from + (at + k) * bytes, bytes);
    });
    stream.copy_in(a.counts, host + at * bytes, angles * bytes);
    const auto make = [&](auto launch, const auto* counts) {
      launch(stream, static_cast<long>(angles * pixels),
             {.pixels = static_cast<long>(pixels),
              .counts = counts,
              .set = a.set + at,
              .dark = a.dark,
              .scale = a.scale,
              .out = all + at * pixels});
    };
    if (choice_.counts) {
      make(kernels_.transmit_counts, static_cast<const std::uint16_t*>(a.counts));
    } else {
      make(kernels_.transmit_floats, static_cast<const float*>(a.counts));
    }
    const auto columns = static_cast<long>(choice_.columns);
    if (choice_.air > 0) {
      kernels_.beam(stream, static_cast<long>(angles * block_.rows),
                    {.columns = columns,
                     .air = std::min(columns, static_cast<long>(choice_.air)),
                     .transmissions = all + at * pixels,
                     .beams = a.beams});
    }
    kernels_.log(stream, static_cast<long>(angles * pixels),
                 {.columns = columns, .beams = a.beams, .values = all + at * pixels});
  }
}

void DevicePrepare::remove_means(float* all, Stream& stream) {
  const Arrays& a = *arrays_;
  const auto angles = static_cast<long>(choice_.angles), rows = static_cast<long>(block_.rows);
  const auto columns = static_cast<long>(choice_.columns);
  kernels_.mean(
      stream, rows * columns,
      {{.angles = angles, .rows = rows, .columns = columns, .end = angles, .values = all}, a.mean});
  kernels_.stripe(stream, rows * columns,
                  {.columns = columns,
                   .size = static_cast<long>(mean_window(choice_.stripe)),
                   .mean = a.mean,
                   .stripe = a.stripe});
  kernels_.subtract(stream, angles * rows * columns,
                    {.pixels = rows * columns, .stripe = a.stripe, .values = all});
}

void DevicePrepare::titarenko(float* all, Stream& stream) {
  const Arrays& a = *arrays_;
  const auto angles = static_cast<long>(choice_.angles), rows = static_cast<long>(block_.rows);
  const auto columns = static_cast<long>(choice_.columns);
  gpu::Sinograms of{.angles = angles, .rows = rows, .columns = columns, .values = all};
  for (const std::size_t end : titarenko_ends(choice_.angles, choice_.stripe.blocks)) {
    of.end = static_cast<long>(end);
    kernels_.mean(stream, rows * columns, {of, a.mean});
    kernels_.line_sum(stream, (of.end - of.first) * rows, {of, a.sums});
    kernels_.correct(stream, 2 * rows, {of, a.mean, a.sums, a.band, a.q});
    kernels_.combine(stream, rows * columns, {of, a.q, a.least});
    of.first = of.end;
  }
  kernels_.lift(stream, rows,
                {.columns = columns,
                 .alpha = static_cast<float>(choice_.stripe.alpha),
                 .least = a.least,
                 .lift = a.lift});
  kernels_.root(stream, angles * rows * columns,
                {.rows = rows, .columns = columns, .lift = a.lift, .values = all});
}

}  // namespace tomoloom
