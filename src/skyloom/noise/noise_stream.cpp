// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/noise_stream.hpp"

#include <algorithm>

#include "loom/fft/long_plan.hpp"

namespace skyloom {
namespace {

using fft::LongPlan;

constexpr std::size_t kOversample = 2;  // of the transform beyond the samples, as the peer's

std::size_t transform_length(std::size_t samples) {
  std::size_t length = 2;
  while (length <= kOversample * samples) length *= 2;
  return length;
}

}  // namespace

// The plan takes 64 numbers and more: make() lays a shorter spectrum out in a longer one.
NoiseMaker::NoiseMaker(std::size_t samples, std::int64_t first, Isa isa)
    : samples_(samples),
      length_(transform_length(samples)),
      first_(first),
      isa_(isa),
      plan_(std::make_unique<LongPlan>(std::max<std::size_t>(length_, 64), fft::Sign::kPlus, isa)) {
}
NoiseMaker::~NoiseMaker() = default;
NoiseMaker::NoiseMaker(NoiseMaker&&) noexcept = default;

std::size_t NoiseMaker::work_bytes() const noexcept {
  return (2 * length_ + 2 * plan_->length() + plan_->work_size()) * sizeof(double);
}

void NoiseMaker::draw(const NoiseStream& stream, Buffer<double>& numbers) const {
  if (numbers.size() != length_) numbers = Buffer<double>(length_);
  const auto place = static_cast<std::uint64_t>(first_) * kOversample;
  fill_gaussian(stream.name.key(), {0, place}, {numbers.data(), length_}, isa_);
}

void NoiseMaker::make(std::span<const NoiseStream> streams, NoiseWork& work) const {
  const bool two = streams.size() > 1;
  draw(streams[0], work.first);
  if (two) draw(streams[1], work.second);
  const std::size_t n = plan_->length(), apart = n / length_, half = length_ / 2;
  if (work.spectrum.size() != 2 * n) work.spectrum = Buffer<double>(2 * n);
  if (work.work.size() != plan_->work_size()) work.work = Buffer<double>(plan_->work_size());
  Buffer<double>& z = work.spectrum;
  const double *const a = work.first.data(), *const b = two ? work.second.data() : nullptr;
  const double *const sa = streams[0].amplitudes.data(), *const sb =
                                                             two ? streams[1].amplitudes.data()
                                                                 : nullptr;
  // Z = A + i B of two Hermitian spectra: real numbers a[k] and imaginary ones a[length - k]. A
  // spectrum with `apart` - 1 zeros between its numbers has the same sums, again and again.
  if (apart > 1) z.fill(0);
  const auto put = [&](std::size_t k, double re, double im) {
    const std::size_t at = LongPlan::place(k * apart);
    z[at] = re;
    z[at + kLanes] = im;
  };
  put(0, 0, 0);
  put(half, sa[half] * a[half], two ? sb[half] * b[half] : 0);
  for (std::size_t k = 1; k < half; ++k) {
    const double ar = sa[k] * a[k], ai = sa[k] * a[length_ - k];
    const double br = two ? sb[k] * b[k] : 0, bi = two ? sb[k] * b[length_ - k] : 0;
    put(k, ar - bi, ai + br);
    put(length_ - k, ar + bi, br - ai);
  }
  plan_->run(z.data(), work.work.data());
  const std::size_t skipped = (length_ - samples_) / 2;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const std::span<double> out = streams[s].out;
    double sum = 0;
    for (std::size_t i = 0; i < samples_; ++i) {
      out[i] = z[LongPlan::place(skipped + i) + s * kLanes] / static_cast<double>(length_);
      sum += out[i];
    }
    const double mean = sum / static_cast<double>(samples_);
    for (double& x : out) x -= mean;
  }
}

}  // namespace skyloom
