// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/reconstruct/shift_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "loom/fft/fft.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kLanesAtOnce = fft::kBatch<float>, kShiftElement = fft::kElement<float>;

/// Numbers of an element: so many rows that move alike, half of them as imaginary parts. A filter
/// of real rows to real rows keeps the two apart.
static_assert(kShiftElement == 2 * kLanesAtOnce);

struct Rows {
  float* first = nullptr;
  std::size_t count = 0, stride = 0, columns = 0;
};

/// Rows -> elements, and what leads from the end of the row back to its beginning.
void gather(const Rows& rows, std::size_t padded, float* line) {
  std::fill_n(line, padded * kShiftElement, 0.0F);
  const auto gap = static_cast<float>(padded - rows.columns + 1);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const float* const row = rows.first + i * rows.stride;
    for (std::size_t x = 0; x < rows.columns; ++x) line[x * kShiftElement + i] = row[x];
    const float last = row[rows.columns - 1], step = (row[0] - last) / gap;
    for (std::size_t x = rows.columns; x < padded; ++x) {
      line[x * kShiftElement + i] = last + step * static_cast<float>(x - rows.columns + 1);
    }
  }
}

/// Spectrum times exp(-2 pi i k shift / padded), and the 1/padded of the way back. What is at the
/// highest frequency stays real.
void turn(float* spectrum, std::size_t padded, double shift) {
  const double size = 1 / static_cast<double>(padded);
  for (std::size_t k = 0; k < padded; ++k) {
    const double frequency = 2 * k < padded ? static_cast<double>(k)
                                            : static_cast<double>(k) - static_cast<double>(padded);
    const double angle = -2 * std::numbers::pi * frequency * shift * size;
    const auto c = static_cast<float>(std::cos(angle) * size);
    const auto s = 2 * k == padded ? 0.0F : static_cast<float>(std::sin(angle) * size);
    float* const re = spectrum + k * kShiftElement;
    float* const im = re + kLanesAtOnce;
    for (std::size_t l = 0; l < kLanesAtOnce; ++l) {
      const float a = re[l], b = im[l];
      re[l] = a * c - b * s;
      im[l] = a * s + b * c;
    }
  }
}

class Mover {
 public:
  explicit Mover(std::size_t columns)
      : padded_(fft::good_length(2 * columns)),
        forward_(padded_, fft::Sign::kMinus),
        back_(padded_, fft::Sign::kPlus) {}

  void move(const Rows& rows, double shift) const {
    std::vector<float> line(padded_ * kShiftElement), work(forward_.work_size()),
        more(back_.work_size());
    gather(rows, padded_, line.data());
    float* const spectrum = forward_.run(line.data(), 1, padded_, work.data());
    turn(spectrum, padded_, shift);
    const float* const moved = back_.run(spectrum, 1, padded_, more.data());
    for (std::size_t i = 0; i < rows.count; ++i) {
      float* const row = rows.first + i * rows.stride;
      for (std::size_t x = 0; x < rows.columns; ++x) row[x] = moved[x * kShiftElement + i];
    }
  }

 private:
  std::size_t padded_;
  fft::Plan<float> forward_, back_;
};

}  // namespace

std::uint64_t shift_rows_bytes(std::size_t columns) {
  // a line, and two of them for each of both transforms
  return 5 * std::uint64_t{fft::good_length(2 * columns)} * kShiftElement * sizeof(float);
}

void shift_rows(std::span<float> data, std::size_t columns, std::span<const double> shift,
                Executor& executor) {
  const std::size_t rows = shift.size(), angles = data.size() / (rows * columns);
  const Mover mover(columns);
  const std::size_t batches = (angles + kShiftElement - 1) / kShiftElement;
  executor.run(rows * batches, [&](std::size_t task) {
    const std::size_t r = task / batches, first = task % batches * kShiftElement;
    if (shift[r] == 0) return;
    const Rows own{.first = data.data() + (first * rows + r) * columns,
                   .count = std::min(kShiftElement, angles - first),
                   .stride = rows * columns,
                   .columns = columns};
    mover.move(own, shift[r]);
  });
}

void shift_projections(std::span<float> data, std::size_t rows, std::size_t columns,
                       std::span<const double> shift, Executor& executor) {
  const Mover mover(columns);
  executor.run(shift.size(), [&](std::size_t a) {
    if (shift[a] == 0) return;
    for (std::size_t first = 0; first < rows; first += kShiftElement) {
      mover.move({.first = data.data() + (a * rows + first) * columns,
                  .count = std::min(kShiftElement, rows - first),
                  .stride = columns,
                  .columns = columns},
                 shift[a]);
    }
  });
}

}  // namespace tomoloom
