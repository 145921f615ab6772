// SPDX-License-Identifier: BSD-3-Clause
// The kinds of stripe removal, one function each. For stripe*.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tomoloom/prepare/stripe.hpp"

namespace tomoloom {

/// A sinogram with nothing between its lines: [angle][column].
struct Sinogram {
  std::size_t angles = 0, columns = 0;
  std::vector<float> values;
  [[nodiscard]] float& at(std::size_t a, std::size_t x) { return values[a * columns + x]; }
  [[nodiscard]] float at(std::size_t a, std::size_t x) const { return values[a * columns + x]; }
};

void titarenko(Sinogram& s, double alpha, std::size_t blocks);
void wavelet(Sinogram& s, std::size_t level, double sigma);
void sorting(Sinogram& s, std::size_t size);
void filtering(Sinogram& s, double sigma, std::size_t size);
void fitting(Sinogram& s, std::size_t order, double sigma_x, double sigma_y);
void interpolation(Sinogram& s, double snr, std::size_t size, double drop_ratio);
void large(Sinogram& s, double snr, std::size_t size, double drop_ratio);
void dead(Sinogram& s, double snr, std::size_t size);

/// Running median of `size` values, mirrored at the ends with the end repeated; of an even number
/// the upper of the middle two, the window a place longer before than after.
void running_median(std::span<const float> in, std::size_t size, std::span<float> out);

/// How frequencies are counted from the middle of a spectrum of odd length: by turning every second
/// sign of the line, half a frequency off, or by moving the spectrum.
enum class Shift { kSigns, kSpectrum };

/// Frequencies of a line of `n` points under a Gaussian of `sigma` frequencies: y = Re B^H W B x.
/// The Gaussian's middle is at (n - 1)/2 of the shifted spectrum, as TomoPy's; weights below 1e-9
/// are left out.
struct Band {
  std::size_t n = 0, count = 0;
  std::vector<float> weight;        ///< [count], with the 1/n of the way back
  std::vector<float> cosine, sine;  ///< [count][n]
};
[[nodiscard]] Band gaussian_band(std::size_t n, double sigma, Shift shift);

/// Lines [n][columns] through the band, along their first axis.
[[nodiscard]] std::vector<float> through_band(const Band& band, std::span<const float> in,
                                              std::size_t columns);

/// A plane [along.n][across.n] through both bands at once; the real part of the whole.
[[nodiscard]] std::vector<float> through_bands(const Band& along, const Band& across,
                                               std::span<const float> in);

}  // namespace tomoloom
