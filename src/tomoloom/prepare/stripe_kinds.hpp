// SPDX-License-Identifier: BSD-3-Clause
// The kinds of stripe removal, one function each. For stripe*.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/prepare/stripe_kernels.hpp"

namespace tomoloom {

/// A sinogram with nothing between its lines: [angle][column].
struct Sinogram {
  std::size_t angles = 0, columns = 0;
  std::vector<float> values;
  [[nodiscard]] float& at(std::size_t a, std::size_t x) { return values[a * columns + x]; }
  [[nodiscard]] float at(std::size_t a, std::size_t x) const { return values[a * columns + x]; }
};

/// A sinogram by columns: [column][angle], each column a multiple of kRankLanes long; what is
/// beyond the angles is 0.
struct Columns {
  std::size_t angles = 0, columns = 0, step = 0;
  std::vector<float> values;
  Columns(std::size_t angles, std::size_t columns);
  [[nodiscard]] std::span<float> column(std::size_t x) { return {&values[x * step], angles}; }
  [[nodiscard]] std::span<const float> column(std::size_t x) const {
    return {&values[x * step], angles};
  }
};
[[nodiscard]] Columns turned(const SinogramView& sinogram);
void turn_back(const Columns& from, const SinogramView& to);

/// Of each column the values in their order, and which angles they are of: [column][rank]. Of equal
/// values the earlier angle comes first.
struct Ranks {
  Columns values;
  std::vector<std::uint32_t> order;  ///< [column][step]
};
[[nodiscard]] Ranks ranked(const Columns& s);
/// Each rank's line smoothed along columns by a running median.
void smooth_ranks(std::size_t size, Columns& values);
/// A column's values go back to where those of its order stood.
void restore_column(const Ranks& ranks, std::size_t x, Columns& s);

void titarenko(Sinogram& s, double alpha, std::size_t blocks);
void wavelet(Sinogram& s, std::size_t level, double sigma);
void fitting(Sinogram& s, std::size_t order, double sigma_x, double sigma_y);
void sorting(Columns& s, std::size_t size);
void filtering(Columns& s, double sigma, std::size_t size);
void interpolation(Columns& s, double snr, std::size_t size, double drop_ratio);
void large(Columns& s, double snr, std::size_t size, double drop_ratio);
void dead(Columns& s, double snr, std::size_t size);

/// Every column's polynomial of a degree over (nearly) all angles, angles mirrored beyond the ends:
/// Savitzky & Golay 1964, its value in the middle of the window. O(angles columns order).
[[nodiscard]] std::vector<float> fitted(const Sinogram& s, std::size_t order);

/// Running median of `size` values, mirrored at the ends with the end repeated; of an even number
/// the upper of the middle two, the window a place longer before than after.
void running_median(std::span<const float> in, std::size_t size, std::span<float> out);

/// C = A B, with memory of its own to pack B in.
void multiply(const Product& product);

/// How frequencies are counted from the middle of a spectrum of odd length: by turning every second
/// sign of the line, half a frequency off, or by moving the spectrum.
enum class Shift { kSigns, kSpectrum };

/// Frequencies of a line of `n` points under a Gaussian of `sigma` frequencies: y = Re B^H W B x.
/// The Gaussian's middle is at (n - 1)/2 of the shifted spectrum, as TomoPy's; weights below 1e-9
/// are left out. A frequency and its opposite share their waves: of the sum of their weights lives
/// what is even, of the difference what is odd.
struct Band {
  std::size_t n = 0, count = 0;
  std::vector<float> even, odd;  ///< [count], with the 1/n of the way back
  std::vector<float> waves;      ///< [2 count][n]: cosine and sine of each frequency
  std::vector<float> points;     ///< [n][2 count]: the same
  [[nodiscard]] std::size_t wave_count() const noexcept { return 2 * count; }
};
[[nodiscard]] Band gaussian_band(std::size_t n, double sigma, Shift shift);

/// Lines [n][columns] through the band, along their first axis.
[[nodiscard]] std::vector<float> through_band(const Band& band, std::span<const float> in,
                                              std::size_t columns);
/// Lines [count][n] through the band, along their second axis: points [first, first + width) of
/// each.
[[nodiscard]] std::vector<float> along_band(const Band& band, std::span<const float> in,
                                            std::size_t first, std::size_t width);

/// A plane [along.n][across.n] through both bands at once; the real part of the whole.
[[nodiscard]] std::vector<float> through_bands(const Band& along, const Band& across,
                                               std::span<const float> in);

}  // namespace tomoloom
