// SPDX-License-Identifier: BSD-3-Clause
// The filter as it is written down: sums over all pixels, frequency by frequency.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "tomoloom/prepare/phase.hpp"

namespace tomoloom {
namespace {

using Numbers = std::vector<std::complex<double>>;

/// Sums along the rows of [lines][n], or with `back` those of the way back.
Numbers transformed(const Numbers& in, std::size_t n, double sign) {
  Numbers out(in.size());
  for (std::size_t first = 0; first < in.size(); first += n) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j) {
        const double turn = static_cast<double>(j * k % n) / static_cast<double>(n);
        out[first + k] += in[first + j] * std::polar(1.0, sign * 2 * std::numbers::pi * turn);
      }
    }
  }
  return out;
}

Numbers turned(const Numbers& in, std::size_t n) {
  const std::size_t lines = in.size() / n;
  Numbers out(in.size());
  for (std::size_t r = 0; r < lines; ++r) {
    for (std::size_t c = 0; c < n; ++c) out[c * lines + r] = in[r * n + c];
  }
  return out;
}

Numbers both_ways(const Numbers& in, std::size_t rows, std::size_t columns, double sign) {
  return turned(transformed(turned(transformed(in, columns, sign), columns), rows, sign), rows);
}

}  // namespace

void retrieve_phase_plainly(const PhaseChoice& choice, std::size_t rows, std::size_t columns,
                            std::span<float> projection) {
  const std::size_t reach = phase_reach(choice, std::max(rows, columns));
  const PhaseAxis x = phase_axis(choice, columns, reach), y = phase_axis(choice, rows, reach);
  Numbers image;
  for (std::size_t r = 0; r < y.padded; ++r) {
    for (std::size_t c = 0; c < x.padded; ++c) {
      const std::size_t row = std::clamp(r, y.before, y.before + rows - 1) - y.before;
      const std::size_t column = std::clamp(c, x.before, x.before + columns - 1) - x.before;
      image.emplace_back(projection[row * columns + column]);
    }
  }
  image = both_ways(image, y.padded, x.padded, -1);
  const double alpha = phase_alpha(choice);
  const double least = static_cast<double>(x.least()) + static_cast<double>(y.least()) + alpha;
  for (std::size_t r = 0; r < y.padded; ++r) {
    for (std::size_t c = 0; c < x.padded; ++c) {
      const double area = static_cast<double>(x.plus[c]) + static_cast<double>(y.plus[r]);
      image[r * x.padded + c] *= least / (area + alpha) / static_cast<double>(x.padded * y.padded);
    }
  }
  image = both_ways(image, y.padded, x.padded, 1);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      projection[r * columns + c] =
          static_cast<float>(image[(r + y.before) * x.padded + c + x.before].real());
    }
  }
}

}  // namespace tomoloom
