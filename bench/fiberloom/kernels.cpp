// SPDX-License-Identifier: BSD-3-Clause
// Nanoseconds of each kernel on every ISA level, for one bin (pixel kernels) or one row of eight
// problems (banded kernels): bench_kernels. The smallest of many repetitions; DESI-like r camera,
// step 0.8 A. bench_kernels --spots: only spots, of every kind of PSF, over a whole fibre.
#include "fiberloom/extract/exact/kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/fiberloom/best_time.hpp"
#include "bench/fiberloom/psf/kinds.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "loom/linalg/banded.hpp"
#include "loom/linalg/congruence_lane.hpp"

namespace {

using namespace fiberloom;
using bench::best_ns;

void bench_pixels(Isa isa, const SpotPlan& plan) {
  constexpr int kFirst = 1200, kBins = 64;
  const exact::StampShape shape{plan.ny, plan.stride};
  const exact::PixelKernels& k = exact::pixel_kernels(isa);
  const SpotKernel spots = spot_kernels(isa).spots;
  std::vector<FiberTrace> trace{trace_fiber(plan, 100), trace_fiber(plan, 101)};
  const std::size_t size = plan.spot_size();
  Buffer<double> a(kBins * size), b(kBins * size);
  const auto fill = [&](int f, Buffer<double>& out) {
    for (int j = 0; j < kBins; j += kLanes) {
      make_spots(spots, plan, 100 + f, kFirst + j, trace[static_cast<std::size_t>(f)],
                 out.data() + static_cast<std::size_t>(j) * size);
    }
  };
  fill(1, b);
  const double spot = best_ns(200, kBins, [&] { fill(0, a); });

  const auto bin = [&](int j) { return static_cast<std::size_t>(kFirst + j); };
  const int x0 = trace[0].frame[bin(0)] - 64, y0 = trace[0].y0[bin(0)] - 4;
  Buffer<double> weight(256 * 192, 0.04), pixel(256 * 192, 10.0);
  const exact::StripView strip{weight.data(), pixel.data(), 192, x0, y0};
  double y = 0, phi = 0, product[64];
  const auto weigh = [&](int j) {
    k.weigh(shape, a.data() + static_cast<std::size_t>(j) * size, strip, trace[0].frame[bin(j)],
            trace[0].y0[bin(j)], &y, &phi);
  };
  const double weighing = best_ns(200, kBins, [&] {
    for (int j = 0; j < kBins; ++j) weigh(j);
  });
  // tiles as the normal equations have them: per pair of bins 2.5 groups of the fibre itself and 5
  // of its neighbour share some 9 and 7 rows (docs/fiberloom/performance.md)
  const auto tiles = [&](int columns, int rows, double groups_a_pair) {
    const int pairs = kBins / exact::kTileA - 2;
    const double ns = best_ns(200, pairs, [&] {
      for (int j = 0; j < pairs; ++j) {
        const auto at = static_cast<std::size_t>(j) * exact::kTileA * size;
        const exact::PatchPixels pixels{a.data() + at, plan.stride, static_cast<long>(size), strip};
        const exact::Patch left{y0, y0 + rows, x0, true, -static_cast<long>(y0) * plan.stride - x0};
        exact::Patch right = left;
        right.frame += plan.stride - columns;
        right.origin += (b.data() + at) - (a.data() + at) - right.frame + x0;
        k.tiles(pixels, left, &right, 1, product);
      }
    });
    return ns * groups_a_pair / exact::kTileA;
  };
  const double own = tiles(plan.stride, 9, 2.5), cross = tiles(plan.stride - kLanes, 7, 5);
  std::printf("%-8s spot %7.1f  weigh %6.1f  own products %6.1f  cross products %6.1f   ns a bin\n",
              std::string(isa_name(isa)).c_str(), spot, weighing, own, cross);
}

void bench_spots(Isa isa, const char* kind, const SpotPlan& plan) {
  constexpr int kFiber = 100;
  const SpotKernels& k = spot_kernels(isa);
  const FiberTrace trace = trace_fiber(plan, kFiber);
  Buffer<double> spots(kLanes * plan.spot_size());
  Buffer<float> narrow(kFloatLanes * plan.float_spot_size());
  const double exact = best_ns(10, plan.nwave_padded, [&] {
    for (int j = 0; j < plan.nwave_padded; j += kLanes)
      make_spots(k.spots, plan, kFiber, j, trace, spots.data());
  });
  const double floats = best_ns(10, plan.nwave_padded, [&] {
    for (int j = 0; j < plan.nwave_padded; j += kFloatLanes)
      k.float_spots(plan, kFiber, j, trace, narrow.data());
  });
  std::printf("%-8s %-20s %2d x %2d pixels  float64 %7.1f  float32 %7.1f   ns a spot\n",
              std::string(isa_name(isa)).c_str(), kind, plan.nx, plan.ny, exact, floats);
}

void bench_kinds(const PsfModel& psf, const std::vector<double>& wave_aa) {
  for (const char* kind :
       {"GAUSS-HERMITE", "GAUSS-HERMITE2", "MONOSPOT", "SPOTGRID", "PCA-PIX", "MONOSPOT-WIDE",
        "SPOTGRID-WIDE", "PCA-PIX-WIDE", "GAUSS-HERMITE2-WIDE"}) {
    const bool own = std::string(kind) == "GAUSS-HERMITE";
    const SpotPlan plan = make_spot_plan(own ? psf : bench::with_spots_of(psf, kind), wave_aa);
    for (const Isa isa : available_isas()) bench_spots(isa, kind, plan);
  }
}

void bench_banded(Isa isa, int band) {
  constexpr int kRows = 400, kNd = 5;
  const int kHalf = band == 8 ? 8 : 12;  // as cameras r, or b and z, have it
  const BandedKernels& k = banded_kernels(isa);
  const auto lanes = [](int elements) {
    return Buffer<double>(static_cast<std::size_t>(elements) * kLanes, 0.0);
  };
  const int width = band + 2 * kHalf;
  Buffer<double> m = lanes(kRows * (band + 1)), l = lanes(kRows * band), d = lanes(kRows),
                 v1 = lanes(kRows), vx = lanes(kRows), q = lanes(kRows * (kNd + 1)),
                 q1 = lanes(kRows), qx = lanes(kRows),
                 z = lanes((kRows + width) * loom::lane::inverse_row<ScalarLane>(width)),
                 c = lanes(kRows * (2 * kHalf + 1)), t = lanes(loom::lane::kTogether * (width + 1)),
                 e = lanes(kRows * (band + 1)), one = Buffer<double>(kRows * kLanes, 1.0);
  for (int j = 0; j < kRows; ++j) {
    for (int i = 0; i < kLanes; ++i) {
      for (int o = 0; o <= band; ++o)
        m[static_cast<std::size_t>((j * (band + 1) + o) * kLanes + i)] =
            o == 0 ? 3.0 : 0.5 / (o * o);
      for (int g = 0; g <= 2 * kHalf; ++g)
        c[static_cast<std::size_t>((j * (2 * kHalf + 1) + g) * kLanes + i)] = 1e-4;
    }
  }
  const double shift[kLanes] = {}, pole[kLanes] = {1, 1, 1, 1, 1, 1, 1, 1};
  double pivot[kLanes];
  const RootWork work{l.data(), d.data(), v1.data(), vx.data()};
  const double factor = best_ns(
      100, kRows, [&] { k.factor(band, kRows, m.data(), shift, l.data(), d.data(), pivot); });
  const double inverse = best_ns(
      100, kRows, [&] { k.selected_inverse(band, kRows, l.data(), d.data(), width, z.data()); });
  const double congruence = best_ns(100, kRows, [&] {
    k.congruence(kHalf, kRows, c.data(), z.data(), band, t.data(), e.data());
  });
  const double root = best_ns(100, kRows, [&] {
    k.root_pole(band, kRows, m.data(), pole, pole, one.data(), one.data(), kNd, work, q.data(),
                q1.data(), qx.data(), pivot);
  });
  std::printf(
      "%-8s band %2d: factor %6.1f  selected inverse %7.1f  congruence %7.1f  one pole %7.1f   ns "
      "a row of 8\n",
      std::string(isa_name(isa)).c_str(), band, factor, inverse, congruence, root);
}

}  // namespace

int main(int argc, char** argv) {
  const PsfModel psf = make_psf(camera_psf_options('r'));
  const std::vector<double> wave_aa = linear_wave_grid(5720, 7660, 0.8);
  if (argc > 1 && std::string(argv[1]) == "--spots") {
    bench_kinds(psf, wave_aa);
    return 0;
  }
  const SpotPlan plan = make_spot_plan(psf, wave_aa);
  for (const Isa isa : available_isas()) bench_pixels(isa, plan);
  for (const Isa isa : available_isas()) {
    for (const int band : {8, 12, 16}) bench_banded(isa, band);
  }
  return 0;
}
