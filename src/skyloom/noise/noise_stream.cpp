// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/noise/noise_stream.hpp"

#include <algorithm>
#include <array>

#include "loom/fft/long_plan.hpp"

namespace skyloom {
namespace {

using fft::LongPlan;

constexpr std::size_t kOversample = 2;  // of the transform beyond the samples, as the peer's
constexpr std::size_t kDrawn = 4096;    // numbers that are drawn at a time

std::size_t transform_length(std::size_t samples) {
  std::size_t length = 2;
  while (length <= kOversample * samples) length *= 2;
  return length;
}

}  // namespace

/// The Gaussian numbers x[k] and x[length - k] of a stream, for some k at a time.
class NoiseMaker::Drawn {
 public:
  Drawn(const NoiseMaker& maker, const NoiseStream& stream)
      : key_(stream.name.key()),
        place_(static_cast<std::uint64_t>(maker.first_) * kOversample),
        length_(maker.length_),
        isa_(maker.isa_) {}
  /// Makes those of first <= k < first + n ready.
  void draw(std::size_t first, std::size_t n) {
    fill_gaussian(key_, {0, place_ + first}, {low_.data(), n}, isa_);
    fill_gaussian(key_, {0, place_ + length_ - first - n + 1}, {high_.data(), n}, isa_);
    count_ = n;
  }
  [[nodiscard]] double low(std::size_t i) const { return low_[i]; }
  [[nodiscard]] double high(std::size_t i) const { return high_[count_ - 1 - i]; }

 private:
  Words key_;
  std::uint64_t place_;
  std::size_t length_, count_ = 0;
  Isa isa_;
  std::array<double, kDrawn> low_, high_;
};

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
  return (2 * plan_->length() + plan_->work_size()) * sizeof(double);
}

void NoiseMaker::make(std::span<const NoiseStream> streams, NoiseWork& work) const {
  const bool two = streams.size() > 1;
  const std::size_t n = plan_->length(), apart = n / length_, half = length_ / 2;
  if (work.spectrum.size() != 2 * n) work.spectrum = Buffer<double>(2 * n);
  if (work.work.size() != plan_->work_size()) work.work = Buffer<double>(plan_->work_size());
  Buffer<double>& z = work.spectrum;
  Drawn a(*this, streams[0]), b(*this, streams[two ? 1 : 0]);
  const std::span<const double> sa = streams[0].amplitudes;
  const std::span<const double> sb = two ? streams[1].amplitudes : std::span<const double>();
  // Z = A + i B of two Hermitian spectra: real numbers a[k] and imaginary ones a[length - k]. A
  // spectrum with `apart` - 1 zeros between its numbers has the same sums, again and again.
  if (apart > 1) z.fill(0);
  const auto put = [&](std::size_t k, double re, double im) {
    const std::size_t at = LongPlan::place(k * apart);
    z[at] = re;
    z[at + kLanes] = im;
  };
  put(0, 0, 0);
  for (std::size_t first = 1; first <= half; first += kDrawn) {
    const std::size_t count = std::min(kDrawn, half + 1 - first);
    a.draw(first, count);
    if (two) b.draw(first, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = first + i;
      const double ar = sa[k] * a.low(i), br = two ? sb[k] * b.low(i) : 0;
      if (k == half) {
        put(half, ar, br);
        break;
      }
      const double ai = sa[k] * a.high(i), bi = two ? sb[k] * b.high(i) : 0;
      put(k, ar - bi, ai + br);
      put(length_ - k, ar + bi, br - ai);
    }
  }
  plan_->run(z.data(), work.work.data());
  const std::size_t skipped = (length_ - samples_) / 2;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    const std::span<double> out = streams[s].out;
    plan_->take(z.data(), s == 0 ? LongPlan::Part::kReal : LongPlan::Part::kImaginary, skipped,
                out);
    double sum = 0;
    for (double& x : out) sum += x /= static_cast<double>(length_);
    const double mean = sum / static_cast<double>(samples_);
    for (double& x : out) x -= mean;
  }
}

}  // namespace skyloom
