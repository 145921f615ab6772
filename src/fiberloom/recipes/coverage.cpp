// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/coverage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fiberloom/extract/extract.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {

Coverage grid_coverage(const PsfModel& psf, int first, int count, const std::vector<double>& wave) {
  Coverage c;
  c.first_aa = -std::numeric_limits<double>::infinity();
  c.last_aa = std::numeric_limits<double>::infinity();
  c.bins = static_cast<std::size_t>(count) * wave.size();
  const WaveRange range = wave_range_of(psf);
  c.beyond_psf = wave.front() < range.first_aa || wave.back() > range.last_aa;
  for (int f = first; f < first + count; ++f) {
    const auto touches = [&](double wave_aa) {
      const double y = psf.y(static_cast<std::size_t>(f), wave_aa);
      if (!(std::abs(y) < 1e6)) return false;
      const int y0 = psf.corner_y(y);
      return y0 < psf.npix_y && y0 + psf.stamp_ny() > 0;
    };
    std::size_t low = 0, high = wave.size();
    while (low < high && !touches(wave[low])) ++low;
    while (high > low && !touches(wave[high - 1])) --high;
    c.without_ccd += low + wave.size() - high;
    c.first_aa = std::max(c.first_aa, low < high ? wave[low] : wave.back());
    c.last_aa = std::min(c.last_aa, low < high ? wave[high - 1] : wave.front());
  }
  return c;
}

std::string coverage_text(const Coverage& c, const PsfModel& psf, const std::vector<double>& wave) {
  std::string text;
  const auto grid = print("the grid %.2f-%.2f Angstrom", wave.front(), wave.back());
  if (c.without_ccd > 0) {
    const double percent = 100 * static_cast<double>(c.without_ccd) / static_cast<double>(c.bins);
    const std::string covered =
        c.first_aa < c.last_aa
            ? print("all fibres have pixels from %.2f to %.2f", c.first_aa, c.last_aa)
            : std::string("no wavelength of it falls on the CCD for all fibres");
    text = grid + " runs past the CCD: " + covered +
           print("; %zu of %zu bins (%.2f %%) have none and get flux = ivar = 0, ALLBADPIX",
                 c.without_ccd, c.bins, percent);
  }
  if (c.beyond_psf) {
    const WaveRange range = wave_range_of(psf);
    text += (text.empty() ? grid + " leaves" : std::string("; it leaves")) +
            print(" the PSF's range %.2f-%.2f, beyond which its polynomials are extrapolated",
                  range.first_aa, range.last_aa);
  }
  return text;
}

}  // namespace fiberloom
