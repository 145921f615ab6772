// SPDX-License-Identifier: BSD-3-Clause
// Spectra, models and chi2 as few bytes: each coder says its bound, and has its inverse beside it,
// which the page has in JavaScript (redshift_unpack.js). Knows no targets and no markup.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fiberloom::redshift_page {

using Bytes = std::vector<std::uint8_t>;

/// sigma = low 2^(step (code - 1)), code 0: no information. 254 steps of 1.6 %, or wider ones where
/// the range asks for it: within step / 2 in log2 (0.8 %).
struct SigmaCode {
  double low = 1, step = kStep;
  static constexpr double kStep = 0.0230;
};
[[nodiscard]] SigmaCode sigma_code(std::span<const double> sigma);
void encode_sigma(std::span<const double> sigma, const SigmaCode& code, Bytes& out);
[[nodiscard]] std::vector<double> decode_sigma(std::span<const std::uint8_t> bytes,
                                               const SigmaCode& code);

/// Flux in units of `step` decoded sigmas, 16 bits: within step / 2 sigma of each bin. 0.1 sigma,
/// or more where a bin of the spectrum is brighter than 3276 sigma. 0 where sigma is 0.
inline constexpr double kFluxStep = 0.1;
[[nodiscard]] double flux_step(std::span<const double> flux, std::span<const double> sigma);
void encode_flux(std::span<const double> flux, std::span<const double> sigma, double step,
                 Bytes& out);
[[nodiscard]] std::vector<double> decode_flux(std::span<const std::uint8_t> bytes,
                                              std::span<const double> sigma, double step);

/// A model in steps of an absolute size, differences of neighbours: within step / 2. A twentieth of
/// a low decile of sigma, or 1 / 32000 of the largest value.
[[nodiscard]] double model_step(std::span<const double> model, std::span<const double> sigma);
void encode_model(std::span<const double> model, double step, Bytes& out);
[[nodiscard]] std::vector<double> decode_model(std::span<const std::uint8_t> bytes, double step);

/// chi2 above its least: log2(1 + chi2 - least) in steps of 0.005 (0.18 % of it and one),
/// differences of neighbours. What is no fit (NaN, kHugeChi2) is the largest code.
inline constexpr double kChi2Step = 0.005;
void encode_chi2(std::span<const double> chi2, double least, Bytes& out);
[[nodiscard]] std::vector<double> decode_chi2(std::span<const std::uint8_t> bytes, double least);

}  // namespace fiberloom::redshift_page
