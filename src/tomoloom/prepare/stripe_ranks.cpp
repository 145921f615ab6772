// SPDX-License-Identifier: BSD-3-Clause
// Columns in the order of their values: sorted by digits, smoothed with a rank in each lane.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {
namespace {

/// Columns that are turned at once: a cache line of each row.
constexpr std::size_t kTurned = 16;

/// A value and its angle as one number in the order of both; -0 counts as 0.
std::uint64_t key_of(float value, std::size_t angle) {
  const auto bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  const std::uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return std::uint64_t{ordered} << 32 | angle;
}
float value_of(std::uint64_t key) {
  const auto ordered = static_cast<std::uint32_t>(key >> 32);
  return std::bit_cast<float>((ordered >> 31) != 0 ? ordered & 0x7fffffffU : ~ordered);
}

/// Sorts by the upper four bytes, one at a time from the lowest; stable, so that angles stay in
/// their order. A byte that is the same in all is passed over.
class DigitSort {
 public:
  explicit DigitSort(std::size_t n) : keys_(n), other_(n) {}
  [[nodiscard]] std::vector<std::uint64_t>& keys() { return keys_; }
  void run() {
    constexpr std::size_t kDigits = 4;
    for (auto& counts : counts_) counts.fill(0);
    for (const std::uint64_t key : keys_) {
      for (std::size_t d = 0; d < kDigits; ++d) ++counts_[d][digit(key, d)];
    }
    for (std::size_t d = 0; d < kDigits; ++d) {
      auto& counts = counts_[d];
      if (counts[digit(keys_.front(), d)] == keys_.size()) continue;
      std::uint32_t before = 0;
      for (std::uint32_t& count : counts) before += std::exchange(count, before);
      for (const std::uint64_t key : keys_) other_[counts[digit(key, d)]++] = key;
      keys_.swap(other_);
    }
  }

 private:
  static std::size_t digit(std::uint64_t key, std::size_t d) { return (key >> (32 + 8 * d)) & 255; }
  std::vector<std::uint64_t> keys_, other_;
  std::array<std::array<std::uint32_t, 256>, 4> counts_{};
};

}  // namespace

Columns::Columns(std::size_t angle_count, std::size_t column_count)
    : angles(angle_count),
      columns(column_count),
      step((angle_count + kRankLanes - 1) / kRankLanes * kRankLanes),
      values(column_count * step, 0) {}

Columns turned(const SinogramView& sinogram) {
  Columns out(sinogram.angles, sinogram.columns);
  for (std::size_t x = 0; x < out.columns; x += kTurned) {
    const std::size_t end = std::min(out.columns, x + kTurned);
    for (std::size_t a = 0; a < out.angles; ++a) {
      const float* const from = sinogram.data + a * sinogram.stride;
      for (std::size_t i = x; i < end; ++i) out.values[i * out.step + a] = from[i];
    }
  }
  return out;
}

void turn_back(const Columns& from, const SinogramView& to) {
  for (std::size_t x = 0; x < from.columns; x += kTurned) {
    const std::size_t end = std::min(from.columns, x + kTurned);
    for (std::size_t a = 0; a < from.angles; ++a) {
      float* const line = to.data + a * to.stride;
      for (std::size_t i = x; i < end; ++i) line[i] = from.values[i * from.step + a];
    }
  }
}

Ranks ranked(const Columns& s) {
  Ranks out{Columns(s.angles, s.columns), std::vector<std::uint32_t>(s.values.size())};
  DigitSort sort(s.angles);
  for (std::size_t x = 0; x < s.columns; ++x) {
    const std::span<const float> from = s.column(x);
    for (std::size_t a = 0; a < s.angles; ++a) sort.keys()[a] = key_of(from[a], a);
    sort.run();
    const std::span<float> to = out.values.column(x);
    for (std::size_t r = 0; r < s.angles; ++r) {
      to[r] = value_of(sort.keys()[r]);
      out.order[x * s.step + r] = static_cast<std::uint32_t>(sort.keys()[r]);
    }
  }
  return out;
}

void smooth_ranks(std::size_t size, Columns& values) {
  const StripeKernels& kernels = stripe_kernels();
  std::vector<float> smooth(values.values.size()), window(size * kRankLanes);
  for (std::size_t rank = 0; rank < values.step; rank += kRankLanes) {
    kernels.running_medians(&values.values[rank], values.columns, values.step, size, window.data(),
                            &smooth[rank]);
  }
  values.values.swap(smooth);
}

void restore_column(const Ranks& ranks, std::size_t x, Columns& s) {
  const std::span<const float> from = ranks.values.column(x);
  const std::span<float> to = s.column(x);
  const std::uint32_t* const order = &ranks.order[x * s.step];
  for (std::size_t r = 0; r < s.angles; ++r) to[order[r]] = from[r];
}

}  // namespace tomoloom
