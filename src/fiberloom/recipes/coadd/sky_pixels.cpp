// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/coadd/sky_pixels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "fiberloom/catalogue/healpix.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"
#include "fiberloom/spectrum/take_rows.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

void check_pixels(const SkyPixels& pixels) {
  if (pixels.numbers.empty() && pixels.nside != SkyPixels{}.nside) {
    throw Error(Status::kUsage, "--nside " + std::to_string(pixels.nside) +
                                    ": expected --healpix with it, the pixels that are meant");
  }
  if (pixels.numbers.empty()) return;
  const auto nside = static_cast<unsigned>(pixels.nside);
  if (pixels.nside < 1 || pixels.nside > (1 << catalogue::kOrder) || !std::has_single_bit(nside)) {
    throw Error(Status::kUsage,
                "--nside " + std::to_string(pixels.nside) + ": expected a power of two to 2^20");
  }
  const long most = 12L * pixels.nside * pixels.nside;
  for (const long number : pixels.numbers) {
    if (number >= 0 && number < most) continue;
    throw Error(Status::kUsage, "--healpix " + std::to_string(number) +
                                    ": expected pixels from 0 to " + std::to_string(most - 1) +
                                    " of --nside " + std::to_string(pixels.nside));
  }
}

std::vector<std::size_t> rows_in(const SkyPixels& pixels, const SpectraFile& file) {
  const auto column = [&](const char* name) {
    const auto values = file.fibermap ? file.fibermap->column(name) : std::nullopt;
    if (values) return *values;
    throw Error(Status::kMissingKeyword, file.path + ": FIBERMAP: no column " + name +
                                             ", expected places of targets for --healpix");
  };
  const std::vector<double> ra = column("TARGET_RA"), dec = column("TARGET_DEC");
  const auto kind = file.fibermap->text_column("OBJTYPE");
  const int order = std::countr_zero(static_cast<unsigned>(pixels.nside));
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < ra.size(); ++r) {
    if (kind && (is_sky_type((*kind)[r]) || (*kind)[r] == "BAD")) continue;
    if (!std::isfinite(ra[r]) || !(std::abs(dec[r]) <= 90)) continue;
    const auto at = catalogue::nested_pixel(catalogue::direction(ra[r], dec[r]), order);
    if (std::ranges::find(pixels.numbers, at) != pixels.numbers.end()) rows.push_back(r);
  }
  return rows;
}

void keep_rows(const std::vector<std::size_t>& rows, SpectraFile& file) {
  for (SpectraFile::Camera& camera : file.cameras) camera.spectra = take_rows(camera.spectra, rows);
  file.fibermap = take_rows(file.fibermap, rows);
  file.scores = take_rows(file.scores, rows);
}

void label_group(const SkyPixels& pixels, HeaderCards& header) {
  if (pixels.numbers.empty()) return;
  for (const char* key : {"TILEID", "PETAL", "NIGHT", "SPGRPVAL", "HPXPIXEL"}) header.remove(key);
  header.set("SPGRP", "healpix", "how spectra are grouped");
  if (pixels.numbers.size() == 1) {
    header.set("SPGRPVAL", std::int64_t{pixels.numbers.front()});
    header.set("HPXPIXEL", std::int64_t{pixels.numbers.front()}, "HEALPix pixel");
  }
  header.set("HPXNSIDE", std::int64_t{pixels.nside});
  header.set_logical("HPXNEST", true, "nested numbers, not rings");
}

}  // namespace fiberloom
