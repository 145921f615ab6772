// SPDX-License-Identifier: BSD-3-Clause
// 16-bit codes are two planes of bytes, low ones first; signs are folded (0, -1, 1, -2 ...), so
// that high planes of small numbers are zeros.
#include "fiberloom/recipes/redshift_page/quantise.hpp"

#include <algorithm>
#include <cmath>

#include "fiberloom/redshift/candidate.hpp"

namespace fiberloom::redshift_page {
namespace {

constexpr int kSigmaCodes = 254;
constexpr double kMostCode = 32000;  // of a signed 16-bit number, with room for a difference's fold
constexpr double kNoChi2 = 65535;

void put_planes(std::span<const std::uint16_t> codes, Bytes& out) {
  for (const std::uint16_t c : codes) out.push_back(static_cast<std::uint8_t>(c & 255U));
  for (const std::uint16_t c : codes) out.push_back(static_cast<std::uint8_t>(c >> 8U));
}

std::vector<std::uint16_t> planes(std::span<const std::uint8_t> bytes) {
  const std::size_t n = bytes.size() / 2;
  std::vector<std::uint16_t> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint16_t>(bytes[i] | (bytes[n + i] << 8U));
  }
  return out;
}

std::uint16_t fold(std::int16_t v) {
  const int wide = v;
  return static_cast<std::uint16_t>(wide >= 0 ? 2 * wide : -2 * wide - 1);
}

std::int16_t unfold(std::uint16_t v) {
  const int half = v >> 1U;
  return static_cast<std::int16_t>((v & 1U) != 0 ? -half - 1 : half);
}

/// Differences modulo 2^16, folded: any jump comes back.
void put_differences(std::span<const std::uint16_t> values, Bytes& out) {
  std::vector<std::uint16_t> codes(values.size());
  std::uint16_t before = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = fold(static_cast<std::int16_t>(static_cast<std::uint16_t>(values[i] - before)));
    before = values[i];
  }
  put_planes(codes, out);
}

std::vector<std::uint16_t> sums(std::span<const std::uint8_t> bytes) {
  std::vector<std::uint16_t> out = planes(bytes);
  std::uint16_t sum = 0;
  for (std::uint16_t& v : out) {
    sum = static_cast<std::uint16_t>(sum + static_cast<std::uint16_t>(unfold(v)));
    v = sum;
  }
  return out;
}

double finite(double v) { return std::isfinite(v) ? v : 0; }

}  // namespace

SigmaCode sigma_code(std::span<const double> sigma) {
  double low = HUGE_VAL, high = 0;
  for (const double s : sigma) {
    if (!(s > 0) || !std::isfinite(s)) continue;
    low = std::min(low, s);
    high = std::max(high, s);
  }
  if (!(high > 0)) return {};
  return {low, std::max(SigmaCode::kStep, (std::log2(high) - std::log2(low)) / (kSigmaCodes - 1))};
}

void encode_sigma(std::span<const double> sigma, const SigmaCode& code, Bytes& out) {
  for (const double s : sigma) {
    const bool none = !(s > 0) || !std::isfinite(s);
    const double at = none ? -1 : (std::log2(s) - std::log2(code.low)) / code.step;
    out.push_back(static_cast<std::uint8_t>(1 + std::lround(std::min(at, kSigmaCodes - 1.0))));
  }
}

std::vector<double> decode_sigma(std::span<const std::uint8_t> bytes, const SigmaCode& code) {
  std::vector<double> out(bytes.size(), 0.0);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] > 0) out[i] = code.low * std::exp2(code.step * (bytes[i] - 1));
  }
  return out;
}

double flux_step(std::span<const double> flux, std::span<const double> sigma) {
  double most = 0;
  for (std::size_t i = 0; i < flux.size(); ++i) {
    if (sigma[i] > 0) most = std::max(most, std::abs(finite(flux[i])) / sigma[i]);
  }
  return std::max(kFluxStep, finite(most) / kMostCode);
}

void encode_flux(std::span<const double> flux, std::span<const double> sigma, double step,
                 Bytes& out) {
  std::vector<std::uint16_t> codes(flux.size(), 0);
  for (std::size_t i = 0; i < flux.size(); ++i) {
    if (!(sigma[i] > 0)) continue;
    const double at = std::clamp(finite(flux[i]) / (sigma[i] * step), -kMostCode, kMostCode);
    codes[i] = fold(static_cast<std::int16_t>(std::lround(at)));
  }
  put_planes(codes, out);
}

std::vector<double> decode_flux(std::span<const std::uint8_t> bytes, std::span<const double> sigma,
                                double step) {
  const std::vector<std::uint16_t> codes = planes(bytes);
  std::vector<double> out(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) out[i] = unfold(codes[i]) * step * sigma[i];
  return out;
}

double model_step(std::span<const double> model, std::span<const double> sigma) {
  constexpr double kPartOfSigma = 0.05;
  std::vector<double> known;
  for (const double s : sigma) {
    if (s > 0 && std::isfinite(s)) known.push_back(s);
  }
  double step = 0;
  if (!known.empty()) {
    const auto decile = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 10);
    std::nth_element(known.begin(), decile, known.end());
    step = kPartOfSigma * *decile;
  }
  double most = 0;
  for (const double m : model) most = std::max(most, std::abs(finite(m)));
  step = std::max(step, most / kMostCode);
  return step > 0 ? step : 1;
}

void encode_model(std::span<const double> model, double step, Bytes& out) {
  std::vector<std::uint16_t> codes(model.size());
  for (std::size_t i = 0; i < model.size(); ++i) {
    const double at = std::clamp(finite(model[i]) / step, -kMostCode, kMostCode);
    codes[i] = static_cast<std::uint16_t>(static_cast<std::int16_t>(std::lround(at)));
  }
  put_differences(codes, out);
}

std::vector<double> decode_model(std::span<const std::uint8_t> bytes, double step) {
  const std::vector<std::uint16_t> codes = sums(bytes);
  std::vector<double> out(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i)
    out[i] = static_cast<std::int16_t>(codes[i]) * step;
  return out;
}

void encode_chi2(std::span<const double> chi2, double least, Bytes& out) {
  std::vector<std::uint16_t> codes(chi2.size());
  for (std::size_t i = 0; i < chi2.size(); ++i) {
    const bool none = !std::isfinite(chi2[i]) || chi2[i] >= redshift::kHugeChi2;
    const double at = none ? kNoChi2 : std::log2(1 + std::max(0.0, chi2[i] - least)) / kChi2Step;
    codes[i] = static_cast<std::uint16_t>(std::lround(std::min(at, kNoChi2)));
  }
  put_differences(codes, out);
}

std::vector<double> decode_chi2(std::span<const std::uint8_t> bytes, double least) {
  const std::vector<std::uint16_t> codes = sums(bytes);
  std::vector<double> out(codes.size(), NAN);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < kNoChi2) out[i] = least + std::exp2(kChi2Step * codes[i]) - 1;
  }
  return out;
}

}  // namespace fiberloom::redshift_page
