// SPDX-License-Identifier: BSD-3-Clause
// A small simulated frame as an engine takes it: for the checks of the device's engine, and for
// tests of engines. simulate/ knows no engine, so this stands above both.
#pragma once

#include <utility>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/simulate/small_frame.hpp"

namespace fiberloom {

struct SmallCase {
  PsfModel psf;
  CcdFrame ccd;  ///< double; nothing masked
  ExtractOptions options;
};

[[nodiscard]] inline SmallCase as_small_case(SmallFrame frame, int bundle_size) {
  SmallCase c{std::move(frame.psf), {}, {}};
  c.options.wave = std::move(frame.wave);
  c.options.bundle_size = bundle_size;
  c.ccd.image = PixelArray(std::move(frame.image));
  c.ccd.ivar = PixelArray(std::move(frame.ivar));
  return c;
}

/// The PSF that goes with the frame.
[[nodiscard]] inline SmallCase make_small_case(const SmallFrameOptions& frame, int bundle_size,
                                               Executor& executor) {
  return as_small_case(make_small_frame(frame, executor), bundle_size);
}

}  // namespace fiberloom
