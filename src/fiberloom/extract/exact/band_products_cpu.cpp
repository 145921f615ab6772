// SPDX-License-Identifier: BSD-3-Clause
// The products of one ISA level (compiled once for each).
#include <algorithm>

#include "fiberloom/extract/exact/band_products.hpp"
#include "loom/simd/pack.hpp"

namespace fiberloom::FIBERLOOM_ISA_NS {

namespace {

using exact::Band;

/// Columns of the result that are summed at once.
constexpr int kColumns = 8;

/// Entries (j, j + d), d = first ... first + kColumns - 1, of a b.
template <class V>
void some_columns(int n, int j, int first, const Band<const double>& a, const Band<const double>& b,
                  double* out) {
  V sum[kColumns];
  for (V& s : sum) s = V(0.0);
  const int low = std::max({-a.width, -j, first - b.width});
  const int high = std::min({a.width, n - 1 - j, first + kColumns - 1 + b.width});
  for (int e = low; e <= high; ++e) {
    const V own = V::load(a.at(j, e));
    const double* row = b.at(j + e, first - e);
    // columns of b's row that its band holds
    const int from = std::max(0, e - first - b.width);
    const int until = std::min(kColumns, e - first + b.width + 1);
    if (from == 0 && until == kColumns) {
      for (int d = 0; d < kColumns; ++d) sum[d] = fma(own, V::load(row + d * kLanes), sum[d]);
    } else {
      for (int d = from; d < until; ++d) sum[d] = fma(own, V::load(row + d * kLanes), sum[d]);
    }
  }
  for (int d = 0; d < kColumns; ++d) sum[d].store(out + d * kLanes);
}

template <class V>
void product(int n, Band<const double> a, Band<const double> b, Band<double> out) {
  for (int lane = 0; lane < kLanes; lane += V::width) {
    for (int j = 0; j < n; ++j) {
      for (int d = -out.width;; d += kColumns) {
        d = std::min(d, out.width + 1 - kColumns);
        some_columns<V>(n, j, d, a, b, out.at(j, d));
        if (d == out.width + 1 - kColumns) break;
      }
    }
    a.data += V::width;
    b.data += V::width;
    out.data += V::width;
  }
}

template <class V>
void add_scaled(long n, double c, const double* a, double* sum) {
  const V factor(c);
  for (long i = 0; i < n; i += V::width)
    fma(factor, V::load(a + i), V::load(sum + i)).store(sum + i);
}

}  // namespace

extern const exact::BandProducts kBandProducts;
const exact::BandProducts kBandProducts = {product<Pack>, add_scaled<Pack>};

}  // namespace fiberloom::FIBERLOOM_ISA_NS
