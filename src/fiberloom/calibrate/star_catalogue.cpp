// SPDX-License-Identifier: BSD-3-Clause
// Magnitudes and colours of standard stars by the columns of a FIBERMAP.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/standard_stars.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibrate {
namespace {

/// Three columns of numbers, NaN where there is no such column.
using Three = std::array<std::vector<double>, 3>;
Three three_of(const Table& stars, const std::array<const char*, 3>& names) {
  Three out;
  for (std::size_t b = 0; b < 3; ++b) {
    out[b] = stars.column(names[b]).value_or(std::vector<double>(stars.rows, std::nan("")));
  }
  return out;
}

/// Whether all three lie between the limits; not where one is no number.
std::vector<bool> all_within(const Three& values, double low, double high) {
  std::vector<bool> out(values[0].size());
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] = std::all_of(values.begin(), values.end(),
                         [&](const std::vector<double>& v) { return v[s] > low && v[s] < high; });
  }
  return out;
}

bool any(const std::vector<bool>& all) {
  return std::find(all.begin(), all.end(), true) != all.end();
}

double magnitude_of(double nanomaggies) { return 22.5 - 2.5 * std::log10(nanomaggies); }

void of_imaging(const Table& stars, const Three& flux, StarCatalogue& out) {
  const auto names = stars.text_column("PHOTSYS");
  const std::size_t first = out.colour == StarColour::kRZ ? 1 : 0;
  for (std::size_t s = 0; s < stars.rows; ++s) {
    const PhotometricSystem system = photometric_system(names ? (*names)[s] : "");
    if (system == PhotometricSystem::kGaia) out.known[s] = false;
    const std::span<const Band> bands = bands_of(system);
    const auto free = [&](std::size_t b) {
      return magnitude_of(flux[b][s]) - bands[b].per_ebv * out.ebv[s];
    };
    out.system.push_back(system);
    out.seen.push_back(magnitude_of(flux[first][s]) - magnitude_of(flux[first + 1][s]));
    out.free.push_back(free(first) - free(first + 1));
    out.reference.push_back(magnitude_of(flux[1][s]));
  }
}

void of_gaia(const Three& mag, StarCatalogue& out) {
  for (std::size_t s = 0; s < mag[0].size(); ++s) {
    const GaiaMagnitudes seen{mag[0][s], mag[1][s], mag[2][s]};
    const GaiaMagnitudes dust = gaia_extinction(seen, out.ebv[s]);
    const bool from_g = out.colour == StarColour::kGaiaGRp;
    const double blue = from_g ? seen.g : seen.bp, blue_dust = from_g ? dust.g : dust.bp;
    out.system.push_back(PhotometricSystem::kGaia);
    out.seen.push_back(blue - seen.rp);
    out.free.push_back(blue - blue_dust - (seen.rp - dust.rp));
    out.reference.push_back(seen.g);
  }
}

}  // namespace

const char* name_of(StarColour colour) noexcept {
  switch (colour) {
    case StarColour::kRZ:
      return "R-Z";
    case StarColour::kGaiaBpRp:
      return "GAIA-BP-RP";
    case StarColour::kGaiaGRp:
      return "GAIA-G-RP";
    case StarColour::kGR:
    case StarColour::kAny:
      break;
  }
  return "G-R";
}

StarCatalogue star_catalogue(const Table& stars, StarColour wanted) {
  const Three flux = three_of(stars, {"FLUX_G", "FLUX_R", "FLUX_Z"});
  const Three gaia =
      three_of(stars, {"GAIA_PHOT_G_MEAN_MAG", "GAIA_PHOT_BP_MEAN_MAG", "GAIA_PHOT_RP_MEAN_MAG"});
  // magnitudes of 30 to 0, of 20 to 10: others are no measurement
  const std::vector<bool> imaged = all_within(flux, 1e-3, 1e9), by_gaia = all_within(gaia, 10, 20);
  StarCatalogue out;
  out.colour = wanted;
  if (wanted == StarColour::kAny) {
    out.colour = any(imaged) ? StarColour::kGR : StarColour::kGaiaBpRp;
  }
  const bool of_survey = out.colour == StarColour::kGR || out.colour == StarColour::kRZ;
  out.known = of_survey ? imaged : by_gaia;
  out.ebv = stars.column("EBV").value_or(std::vector<double>(stars.rows, 0.0));
  if (of_survey) {
    of_imaging(stars, flux, out);
  } else {
    of_gaia(gaia, out);
  }
  if (any(out.known)) return out;
  throw Error(Status::kNumerical,
              std::string("standard stars: none of ") + std::to_string(stars.rows) +
                  " has photometry for " + name_of(out.colour) +
                  ", expected FLUX_G, FLUX_R and FLUX_Z, or GAIA_PHOT_G_MEAN_MAG and its "
                  "neighbours, of one at least");
}

}  // namespace fiberloom::calibrate
