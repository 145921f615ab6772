// SPDX-License-Identifier: BSD-3-Clause
// Few frequencies out of many: as products of matrices with their waves, which are thin.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/simd/isa_tables.hpp"
#include "tomoloom/prepare/stripe_kinds.hpp"

namespace tomoloom {

LOOM_ISA_TABLES(StripeKernels, kStripe, stripe_kernels_of)

const StripeKernels& stripe_kernels(Isa isa) { return stripe_kernels_of(isa); }

void multiply(const Product& product) {
  std::vector<float> panel(product.k * kPanel);
  stripe_kernels().multiply(product, panel.data());
}

Band gaussian_band(std::size_t n, double sigma, Shift shift) {
  Band band{.n = n, .even = {}, .odd = {}, .waves = {}, .points = {}};
  const auto points = static_cast<double>(n);
  // frequencies are counted in halves: k - n/2 may be one
  const std::size_t origin = shift == Shift::kSigns ? n : n / 2 * 2;
  std::vector<double> even(n + 1, 0), odd(n + 1, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const double away = static_cast<double>(k) - (points - 1) / 2;
    const double w = std::exp(-away * away / (2 * sigma * sigma)) / points;
    if (w * points < 1e-9) continue;
    const std::size_t size = 2 * k > origin ? 2 * k - origin : origin - 2 * k;
    even[size] += w;
    odd[size] += 2 * k > origin ? w : -w;
  }
  std::vector<float> cosine(2 * n), sine(2 * n);  // of half a step of a frequency
  for (std::size_t i = 0; i < 2 * n; ++i) {
    const double turn = std::numbers::pi * static_cast<double>(i) / points;
    cosine[i] = static_cast<float>(std::cos(turn));
    sine[i] = static_cast<float>(std::sin(turn));
  }
  for (std::size_t halves = 0; halves <= n; ++halves) {
    if (even[halves] == 0) continue;
    band.even.push_back(static_cast<float>(even[halves]));
    band.odd.push_back(static_cast<float>(odd[halves]));
    for (const std::vector<float>* const wave : {&cosine, &sine}) {
      for (std::size_t i = 0; i < n; ++i) band.waves.push_back((*wave)[halves * i % (2 * n)]);
    }
  }
  band.count = band.even.size();
  band.points.resize(band.waves.size());
  for (std::size_t w = 0; w < band.wave_count(); ++w) {
    for (std::size_t i = 0; i < n; ++i) {
      band.points[i * band.wave_count() + w] = band.waves[w * n + i];
    }
  }
  return band;
}

std::vector<float> through_band(const Band& band, std::span<const float> in, std::size_t columns) {
  const std::size_t waves = band.wave_count();
  std::vector<float> found(waves * columns), out(in.size());
  multiply({.a = band.waves.data(),
            .b = in.data(),
            .c = found.data(),
            .a_step = band.n,
            .b_step = columns,
            .c_step = columns,
            .m = waves,
            .k = band.n,
            .n = columns});
  for (std::size_t w = 0; w < waves; ++w) {
    for (std::size_t x = 0; x < columns; ++x) found[w * columns + x] *= band.even[w / 2];
  }
  multiply({.a = band.points.data(),
            .b = found.data(),
            .c = out.data(),
            .a_step = waves,
            .b_step = columns,
            .c_step = columns,
            .m = band.n,
            .k = waves,
            .n = columns});
  return out;
}

std::vector<float> along_band(const Band& band, std::span<const float> in, std::size_t first,
                              std::size_t width) {
  const std::size_t waves = band.wave_count(), lines = in.size() / band.n;
  std::vector<float> found(lines * waves), out(lines * width);
  multiply({.a = in.data(),
            .b = band.points.data(),
            .c = found.data(),
            .a_step = band.n,
            .b_step = waves,
            .c_step = waves,
            .m = lines,
            .k = band.n,
            .n = waves});
  for (std::size_t i = 0; i < found.size(); i += waves) {
    for (std::size_t w = 0; w < waves; ++w) found[i + w] *= band.even[w / 2];
  }
  multiply({.a = found.data(),
            .b = band.waves.data() + first,
            .c = out.data(),
            .a_step = waves,
            .b_step = band.n,
            .c_step = width,
            .m = lines,
            .k = waves,
            .n = width});
  return out;
}

namespace {

/// What the waves of both axes count after the weights: cos(a + b) = cos a cos b - sin a sin b.
void weigh_waves(const Band& along, const Band& across, std::vector<float>& found) {
  const std::size_t width = across.wave_count();
  for (std::size_t k = 0; k < along.count; ++k) {
    float* const cosine = &found[2 * k * width];
    float* const sine = cosine + width;
    for (std::size_t l = 0; l < across.count; ++l) {
      const float even = along.even[k] * across.even[l], odd = along.odd[k] * across.odd[l];
      const float cc = cosine[2 * l], cs = cosine[2 * l + 1];
      const float sc = sine[2 * l], ss = sine[2 * l + 1];
      cosine[2 * l] = even * cc - odd * ss;
      cosine[2 * l + 1] = even * cs + odd * sc;
      sine[2 * l] = even * sc + odd * cs;
      sine[2 * l + 1] = even * ss - odd * cc;
    }
  }
}

}  // namespace

std::vector<float> through_bands(const Band& along, const Band& across, std::span<const float> in) {
  const std::size_t high = along.n, wide = across.n;
  const std::size_t rows = along.wave_count(), columns = across.wave_count();
  std::vector<float> narrow(high * columns), found(rows * columns), out(in.size());
  multiply({.a = in.data(),
            .b = across.points.data(),
            .c = narrow.data(),
            .a_step = wide,
            .b_step = columns,
            .c_step = columns,
            .m = high,
            .k = wide,
            .n = columns});
  multiply({.a = along.waves.data(),
            .b = narrow.data(),
            .c = found.data(),
            .a_step = high,
            .b_step = columns,
            .c_step = columns,
            .m = rows,
            .k = high,
            .n = columns});
  weigh_waves(along, across, found);
  multiply({.a = along.points.data(),
            .b = found.data(),
            .c = narrow.data(),
            .a_step = rows,
            .b_step = columns,
            .c_step = columns,
            .m = high,
            .k = rows,
            .n = columns});
  multiply({.a = narrow.data(),
            .b = across.waves.data(),
            .c = out.data(),
            .a_step = columns,
            .b_step = wide,
            .c_step = wide,
            .m = high,
            .k = columns,
            .n = wide});
  return out;
}

}  // namespace tomoloom
