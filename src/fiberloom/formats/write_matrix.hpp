// SPDX-License-Identifier: BSD-3-Clause
// Arrays as images of a FITS file. Internal to formats/.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom::formats {

template <class T>
void write_matrix(fits::FitsWriter& writer, const std::string& name, const Array2D<T>& a,
                  fits::PixelType type, const HeaderCards& header = {}) {
  writer.image(name, std::span<const T>(a.data(), a.size()), {a.cols(), a.rows()}, type, header);
}

/// Wavelengths in Angstrom, float64.
inline void write_wave(fits::FitsWriter& writer, const std::string& name,
                       const std::vector<double>& wave, HeaderCards unit = {}) {
  unit.set("BUNIT", "Angstrom");
  writer.image(name, std::span<const double>(wave), {wave.size()}, fits::PixelType::kFloat64, unit);
}

}  // namespace fiberloom::formats
