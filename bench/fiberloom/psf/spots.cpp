// SPDX-License-Identifier: BSD-3-Clause
// Spots of a PSF file as numbers, for comparisons: bench_spots PSF FIBRE,WAVE ... prints a line for
// each: x0 y0 nx ny and the values by rows, of the kernel that extracts, tails of GAUSS-HERMITE
// included.
#include <cstdio>
#include <cstdlib>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/psf/spot_plan.hpp"
#include "loom/base/error.hpp"

int main(int argc, char** argv) {
  using namespace fiberloom;
  try {
    const PsfModel psf = read_psf(argc > 1 ? argv[1] : "", {.tails = true}).model;
    for (int a = 2; a < argc; ++a) {
      int fiber = 0;
      double wave = 0;
      if (std::sscanf(argv[a], "%d,%lf", &fiber, &wave) != 2 || fiber < 0 || fiber >= psf.nfiber())
        return 2;
      const SpotPlan plan = make_spot_plan(psf, {wave});
      const FiberTrace trace = trace_fiber(plan, fiber);
      std::vector<double> tile(kLanes * plan.spot_size());
      make_spots(spot_kernels(active_isa()).spots, plan, fiber, 0, trace, tile.data());
      std::printf("%d %d %d %d", trace.x0[0], trace.y0[0], plan.nx, plan.ny);
      const int first = trace.x0[0] - trace.frame[0];
      for (int r = 0; r < plan.ny; ++r) {
        for (int c = 0; c < plan.nx; ++c)
          std::printf(" %.17g", tile[static_cast<std::size_t>(r * plan.stride + first + c)]);
      }
      std::printf("\n");
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_spots: %s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
