// SPDX-License-Identifier: BSD-3-Clause
// What the CPU would lose by the text that cards have of factor, solve and pole
// (linalg/pole_registers_lane.hpp) in place of its own (linalg/banded_lane.hpp), compiled for this
// machine: nanoseconds a row of as many problems as a register holds. Medians of rounds in turn.
#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <vector>

#include "bench/fiberloom/best_time.hpp"
#include "loom/base/array.hpp"
#include "loom/linalg/pole_registers_lane.hpp"
#include "loom/simd/isa.hpp"
#include "loom/simd/pack.hpp"

namespace {

using namespace loom;
using V = loom::FIBERLOOM_ISA_NS::Pack;

constexpr int kRows = 400, kDiagonals = 5, kRounds = 15, kCalls = 40;

void compare(const char* what, int band, const std::function<void()>& own,
             const std::function<void()>& registers) {
  std::array<double, kRounds> a, b;
  for (int i = 0; i < kRounds; ++i) {
    a[static_cast<std::size_t>(i)] = fiberloom::bench::best_ns(kCalls, kRows, own);
    b[static_cast<std::size_t>(i)] = fiberloom::bench::best_ns(kCalls, kRows, registers);
  }
  constexpr std::size_t kMiddle = kRounds / 2;
  for (auto* each : {&a, &b}) std::nth_element(each->begin(), each->begin() + kMiddle, each->end());
  std::printf("band %2d  %-6s  own %7.2f  registers %7.2f  ratio %.2f\n", band, what, a[kMiddle],
              b[kMiddle], b[kMiddle] / a[kMiddle]);
}

Buffer<double> lanes(int elements, double value = 0) {
  return {static_cast<std::size_t>(elements) * kLanes, value};
}

template <int B>
void compare_band() {
  using Pole = lane::RegisterPole<V, B>;
  constexpr int kBehind = kRows + B;  // rows past the end are read
  Buffer<double> matrix = lanes(kBehind * (B + 1));
  for (int j = 0; j < kBehind; ++j) {
    for (int d = 0; d <= B; ++d) {
      for (int i = 0; i < kLanes; ++i)
        matrix[static_cast<std::size_t>((j * (B + 1) + d) * kLanes + i)] =
            d == 0 ? 3.0 : 0.5 / (d * d);
    }
  }
  Buffer<double> l = lanes(kBehind * B), inv_d = lanes(kBehind), ones = lanes(kBehind, 1),
                 x = lanes(kBehind, 1.3), v1 = lanes(kRows), vx = lanes(kRows),
                 q = lanes(kRows * (kDiagonals + 3)), work = lanes(kRows * Pole::kWork);
  const double* m = matrix.data();
  compare(
      "factor", B, [&] { (void)lane::factor<V, B>(kRows, m, V(0.0), l.data(), inv_d.data()); },
      [&] { (void)lane::factor_registers<V, B>(kRows, m, V(0.0), l.data(), inv_d.data()); });
  const auto at = [](double* array, int element) { return array + long{element} * kLanes; };
  compare(
      "solve", B,
      [&] {
        std::copy_n(ones.data(), kRows * kLanes, v1.data());
        lane::solve<V, B>(kRows, l.data(), inv_d.data(), v1.data());
      },
      [&] {
        lane::solve_registers<V, B>(
            kRows, l.data(), inv_d.data(), [&](int j) { return V::load(at(ones.data(), j)); },
            work.data(), [&](int j, V value) { value.store(at(v1.data(), j)); });
      });
  const V t(0.7), c(0.9);
  compare(
      "pole", B,
      [&] {
        double *q1 = at(q.data(), kRows * (kDiagonals + 1)), *qx = at(q1, kRows);
        (void)lane::root_pole<V, B>(kRows, m, t, c, ones.data(), x.data(), kDiagonals, l.data(),
                                    inv_d.data(), v1.data(), vx.data(), q.data(), q1, qx);
      },
      [&] {
        Pole pole;
        (void)pole.factor(kRows, m, t, c, ones.data(), x.data(), 0, work.data());
        for (int j = kRows - 1; j >= 0; j -= Pole::kSlots) {
          pole.next_rows(j, 0, [&](int r, int e, V value) {
            const int item = e <= B ? e : e - B + kDiagonals;
            if (e > kDiagonals && e <= B) return;
            double* to = at(q.data(), (j - r) * (kDiagonals + 3) + item);
            (V::load(to) + value).store(to);
          });
        }
      });
}

}  // namespace

int main() {
  compare_band<8>();
  compare_band<12>();
}
