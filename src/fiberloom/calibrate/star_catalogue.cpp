// SPDX-License-Identifier: BSD-3-Clause
// Magnitudes and colours of standard stars by the columns of a FIBERMAP.
#include <algorithm>
#include <cmath>

#include "fiberloom/calibrate/standard_stars.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

/// Three columns of numbers, NaN where there is no such column, and the limits that they lie
/// between.
struct Three {
  std::array<const char*, 3> names;
  double low, high;
  std::array<std::vector<double>, 3> values{};
  std::array<bool, 3> there{};

  [[nodiscard]] const std::vector<double>& operator[](std::size_t b) const { return values[b]; }
  /// "FLUX_R is nan"; empty where all three lie between the limits.
  [[nodiscard]] std::string lack(std::size_t s) const {
    for (std::size_t b = 0; b < 3; ++b) {
      if (values[b][s] > low && values[b][s] < high) continue;
      if (!there[b]) return std::string("no ") + names[b];
      return print("%s is %g", names[b], values[b][s]);
    }
    return {};
  }
};
Three three_of(const Table& stars, Three of) {
  for (std::size_t b = 0; b < 3; ++b) {
    const auto column = stars.column(of.names[b]);
    of.there[b] = column.has_value();
    of.values[b] = column.value_or(std::vector<double>(stars.rows, std::nan("")));
  }
  return of;
}

std::vector<std::string> lacks_of(const Three& values) {
  std::vector<std::string> out;
  for (std::size_t s = 0; s < values[0].size(); ++s) out.push_back(values.lack(s));
  return out;
}

/// Whether one star lacks nothing.
bool any(const std::vector<std::string>& lacks) {
  return std::any_of(lacks.begin(), lacks.end(), [](const auto& lack) { return lack.empty(); });
}

double magnitude_of(double nanomaggies) { return 22.5 - 2.5 * std::log10(nanomaggies); }

void of_imaging(const Table& stars, const Three& flux, StarCatalogue& out) {
  const auto names = stars.text_column("PHOTSYS");
  const std::size_t first = out.colour == StarColour::kRZ ? 1 : 0;
  for (std::size_t s = 0; s < stars.rows; ++s) {
    const PhotometricSystem system = photometric_system(names ? (*names)[s] : "");
    if (system == PhotometricSystem::kGaia && out.lacks[s].empty()) {
      out.lacks[s] = "PHOTSYS is '" + (*names)[s] + "'";
    }
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
  // magnitudes of 30 to 0, of 20 to 10: others are no measurement
  const Three flux = three_of(stars, {{"FLUX_G", "FLUX_R", "FLUX_Z"}, 1e-3, 1e9});
  const Three gaia = three_of(
      stars, {{"GAIA_PHOT_G_MEAN_MAG", "GAIA_PHOT_BP_MEAN_MAG", "GAIA_PHOT_RP_MEAN_MAG"}, 10, 20});
  std::vector<std::string> of_imaged = lacks_of(flux);
  StarCatalogue out;
  out.colour = wanted;
  if (wanted == StarColour::kAny) {
    out.colour = any(of_imaged) ? StarColour::kGR : StarColour::kGaiaBpRp;
    const bool columns = std::ranges::find(flux.there, true) != flux.there.end();
    if (!any(of_imaged) && columns && stars.rows > 0) out.not_imaged = of_imaged.front();
  }
  const bool of_survey = out.colour == StarColour::kGR || out.colour == StarColour::kRZ;
  out.lacks = of_survey ? std::move(of_imaged) : lacks_of(gaia);
  out.ebv = stars.column("EBV").value_or(std::vector<double>(stars.rows, 0.0));
  for (std::size_t s = 0; s < stars.rows; ++s) {
    if (out.lacks[s].empty() && !std::isfinite(out.ebv[s])) {
      out.lacks[s] = print("EBV is %g", out.ebv[s]);
    }
  }
  if (of_survey) {
    of_imaging(stars, flux, out);
  } else {
    of_gaia(gaia, out);
  }
  for (const std::string& lack : out.lacks) out.known.push_back(lack.empty());
  if (any(out.lacks)) return out;
  std::string lack = out.not_imaged;
  if (lack.empty() && !out.lacks.empty()) lack = out.lacks.front();
  if (!lack.empty()) lack = " (of the first one " + lack + ")";
  throw Error(Status::kNumerical,
              std::string("standard stars: none of ") + std::to_string(stars.rows) +
                  " has photometry for " + name_of(out.colour) +
                  ", expected FLUX_G, FLUX_R and FLUX_Z, or GAIA_PHOT_G_MEAN_MAG and its "
                  "neighbours, of one at least" +
                  lack);
}

}  // namespace fiberloom::calibrate
