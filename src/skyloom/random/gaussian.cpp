// SPDX-License-Identifier: BSD-3-Clause
// The outer polynomials of the inverse error function, and the pick of a level.
#include "skyloom/random/gaussian.hpp"

#include <cmath>
#include <limits>

#include "loom/simd/isa_tables.hpp"
#include "skyloom/random/gaussian_kernels.hpp"
#include "skyloom/random/gaussian_lane.hpp"

namespace skyloom {
namespace {

constexpr double kMiddle[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635};
constexpr double kTail[] = {
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833622122026,
    1.0103004648645343977,      4.8499064014085844221};

template <std::size_t n>
double polynomial(const double (&coefficients)[n], double t) {
  double p = 0;
  for (const double c : coefficients) p = p * t + c;
  return p;
}

}  // namespace

LOOM_ISA_TABLES(GaussianKernels, kGaussian, gaussian_kernels)

double outer_inverse_erf_ratio(double w) noexcept {
  const double root = std::sqrt(w);
  return w < 16 ? polynomial(kMiddle, root - 3.25) : polynomial(kTail, root - 5);
}

double inverse_erf(double x) noexcept {
  if (x == 1 || x == -1) return x * std::numeric_limits<double>::infinity();
  const double w = -std::log((1 - x) * (1 + x));
  return x * (w < kInnerLogs ? lane::inner_inverse_erf_ratio(w) : outer_inverse_erf_ratio(w));
}

void fill_gaussian(Words key, Words counter, std::span<double> out, Isa isa) {
  gaussian_kernels(isa).fill(key.first, key.second, counter.first, counter.second, out.size(),
                             out.data());
}

}  // namespace skyloom
