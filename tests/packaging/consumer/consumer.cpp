// SPDX-License-Identifier: BSD-3-Clause
// Simulates a small frame, extracts it, projects it back, writes and reads a file: something of
// every part.
#include <cmath>
#include <cstdio>

#include "fiberloom/astro/barycentric.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/psf/forward_model.hpp"
#include "fiberloom/recipes/version.hpp"
#include "fiberloom/simulate/small_frame.hpp"
#include "loom/runtime/executors.hpp"

int main(int argc, char** argv) {
  using namespace fiberloom;
  const auto executor = make_executor(2);
  SmallFrameOptions small;
  small.nfiber = 5;
  small.nwave = 40;
  const SmallFrame frame = make_small_frame(small, *executor);
  ExtractOptions options;
  options.wave = frame.wave;
  FrameFile file;
  static_cast<Spectra&>(file) = extract_exact({PixelArray(frame.image), PixelArray(frame.ivar)},
                                              frame.psf, options, *executor);
  const double flux = file.flux(2, 20);
  const ForwardModel model(frame.psf, frame.lit_wave);
  const auto image = model.project(frame.electrons.view(), *executor);
  const double difference = std::abs(image(100, 20) - frame.mean(100, 20));
  if (argc > 1) {
    write_frame(argv[1], file, Overwrite::kYes);
    if (std::abs(read_frame(argv[1]).flux(2, 20) - flux) > 1e-5 * std::abs(flux)) return 1;
  }
  const double factor = astro::barycentric_factor(astro::kKittPeak, {155.5939, -4.8391}, 61000);
  if (!(std::abs(factor - 1) > 1e-5 && std::abs(factor - 1) < 1.1e-4)) return 1;
  std::printf("fiberloom %s: flux %.3f\n", std::string(version()).c_str(), flux);
  return difference < 1e-9 ? 0 : 1;
}
