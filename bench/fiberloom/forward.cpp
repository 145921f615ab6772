// SPDX-License-Identifier: BSD-3-Clause
// CPU-seconds of p = A f, A^T p and the wings for a whole r camera, 500 fibres x 2326 bins:
// bench_forward.
// The smallest of five repetitions on one thread.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>

#include "fiberloom/psf/forward_model.hpp"
#include "fiberloom/psf/wings.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"

namespace {

double cpu_now() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void report(const char* name, const std::function<void()>& body) {
  double best = 1e300;
  for (int i = 0; i < 5; ++i) {
    const double start = cpu_now();
    body();
    best = std::min(best, cpu_now() - start);
  }
  std::printf("%-10s %7.3f CPU-s\n", name, best);
}

}  // namespace

int main() {
  using namespace fiberloom;
  const PsfModel psf = make_psf(camera_psf_options('r'));
  const auto wave = camera_wave_grid('r');
  SerialExecutor serial;
  report("set-up", [&] { ForwardModel(psf, wave); });
  const ForwardModel model(psf, wave);
  const Array2D<double> flux(model.nfiber(), model.nwave(), 100.0);
  Array2D<double> image;
  report("project", [&] { image = model.project(flux.view(), serial); });
  report("adjoint", [&] { (void)model.adjoint(image.view(), serial); });
  const PsfModel tailed = with_tails(psf, 0.005);
  for (const int reach : {50, 100}) {
    const WingModel wings(tailed, {wave}, reach);
    report(("wings " + std::to_string(reach)).c_str(),
           [&] { (void)wings.project(flux.view(), serial); });
    report("  shares", [&] { (void)wings.shares(serial); });
  }
  return 0;
}
