// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/standard_stars.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/spectrum/wave_grid.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibrate {
namespace {

/// Where the throughput of DESI's collimators has a dip that medians do not follow, Angstrom.
constexpr std::array kDip{4300.0, 4500.0};

/// Colour of bands of a system, and the one that fluxes are scaled in.
struct ColourBands {
  std::size_t blue = 0, red = 1, reference = 1;
};
ColourBands bands_of(StarColour colour) {
  switch (colour) {
    case StarColour::kRZ:
      return {1, 2, 1};
    case StarColour::kGaiaBpRp:
      return {1, 2, 0};
    case StarColour::kGaiaGRp:
      return {0, 2, 0};
    case StarColour::kGR:
    case StarColour::kAny:
      break;
  }
  return {0, 1, 1};
}

/// Magnitudes in the three bands that matter, of one photometric system on the grid's wavelengths.
class SystemBands {
 public:
  SystemBands(PhotometricSystem system, const ColourBands& which, const StellarGrid& grid,
              const PassbandSource& passbands)
      : blue_(integral(system, which.blue, grid, passbands)),
        red_(integral(system, which.red, grid, passbands)),
        reference_(integral(system, which.reference, grid, passbands)) {
    for (std::size_t m = 0; m < grid.nmodel(); ++m) models_.push_back(colour(grid.flux.row(m)));
  }
  template <class T>
  [[nodiscard]] double colour(const T* flux) const {
    return blue_.magnitude(flux) - red_.magnitude(flux);
  }
  [[nodiscard]] double reference(const double* flux) const { return reference_.magnitude(flux); }
  [[nodiscard]] const std::vector<double>& of_models() const noexcept { return models_; }

 private:
  struct Integral {
    BandIntegral band;
    double to_catalogue;
    template <class T>
    [[nodiscard]] double magnitude(const T* flux) const {
      return band.magnitude(flux) + to_catalogue;
    }
  };
  static Integral integral(PhotometricSystem system, std::size_t number, const StellarGrid& grid,
                           const PassbandSource& passbands) {
    const Band& band = calibrate::bands_of(system)[number];
    try {
      return {BandIntegral(grid.wave, passbands(band.file)), band.to_catalogue};
    } catch (const Error& e) {
      if (e.status() != Status::kWrongShape) throw;
      throw Error(e.status(), std::string(band.file) + ": models on " + e.what());
    }
  }
  Integral blue_, red_, reference_;
  std::vector<double> models_;  ///< [nmodel] colours
};

/// Median S/N for a square root of an Angstrom, 0 at least; of all pixels, hidden ones too.
double snr_of(const Spectra& stars, std::size_t s, const std::vector<double>& widths) {
  std::vector<double> all(stars.nwave());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = stars.flux(s, i) * std::sqrt(stars.ivar(s, i)) / std::sqrt(widths[i]);
  }
  return std::max(0.0, median_of(all));
}

class StarFinding {
 public:
  StarFinding(std::span<const StarCamera> cameras, const StarCatalogue& catalogue,
              const StellarGrid& grid, const StandardStarOptions& o, Executor& executor)
      : cameras_(cameras), catalogue_(catalogue), grid_(grid), o_(o), executor_(executor) {}

  StandardStars run(const PassbandSource& passbands) {
    measure_light();
    const std::vector<std::size_t> chosen = choose();
    const ColourBands which = bands_of(catalogue_.colour);
    std::map<PhotometricSystem, SystemBands> systems;
    for (const std::size_t s : chosen) {
      const PhotometricSystem system = catalogue_.system[s];
      if (systems.count(system) == 0) {
        systems.emplace(system, SystemBands(system, which, grid_, passbands));
      }
    }
    for (const std::size_t s : chosen) find(s, systems.at(catalogue_.system[s]));
    if (!out_.stars.empty()) return std::move(out_);
    throw Error(Status::kNumerical,
                print("standard stars: none of %zu is left: %zu without photometry, %zu of a blue "
                      "S/N below %.1f, %zu without a model of their colour",
                      catalogue_.known.size(), out_.without_photometry, out_.too_faint,
                      o_.least_blue_snr, out_.without_model));
  }

 private:
  void measure_light() {
    snr_.assign(catalogue_.known.size(), {});
    for (const StarCamera& c : cameras_) {
      const std::size_t band = std::string("brz").find(c.band);
      if (band > 2) continue;
      const std::vector<double> widths = bin_widths(c.stars.wave);
      for (std::size_t s = 0; s < snr_.size(); ++s) {
        snr_[s][band] = std::hypot(snr_[s][band], snr_of(c.stars, s, widths));
      }
    }
  }
  /// Rows of enough light in the blue, of most first.
  std::vector<std::size_t> choose() {
    std::vector<std::size_t> out;
    for (std::size_t s = 0; s < snr_.size(); ++s) {
      if (!catalogue_.known[s]) {
        ++out_.without_photometry;
      } else if (snr_[s][0] > o_.least_blue_snr) {
        out.push_back(s);
      } else {
        ++out_.too_faint;
      }
    }
    std::stable_sort(out.begin(), out.end(),
                     [&](std::size_t a, std::size_t b) { return snr_[a][0] > snr_[b][0]; });
    out.resize(std::min(out.size(), static_cast<std::size_t>(o_.most_stars)));
    return out;
  }

  /// Models of about the star's colour, and all between them: interpolation wants a cube.
  [[nodiscard]] std::vector<std::size_t> models_for(std::size_t s,
                                                    const std::vector<double>& colours) const {
    std::vector<std::size_t> near, out;
    for (std::size_t m = 0; m < colours.size(); ++m) {
      if (std::abs(colours[m] - catalogue_.free[s]) < o_.colour_distance) near.push_back(m);
    }
    if (near.empty()) return near;
    const auto within = [&](const std::vector<double>& parameter, std::size_t m) {
      const auto [low, high] = std::minmax_element(
          near.begin(), near.end(),
          [&](std::size_t a, std::size_t b) { return parameter[a] < parameter[b]; });
      return parameter[m] >= parameter[*low] && parameter[m] <= parameter[*high];
    };
    for (std::size_t m = 0; m < colours.size(); ++m) {
      if (within(grid_.teff, m) && within(grid_.logg, m) && within(grid_.metal, m)) {
        out.push_back(m);
      }
    }
    return out;
  }

  void find(std::size_t s, const SystemBands& bands) {
    const std::vector<std::size_t> models = models_for(s, bands.of_models());
    if (models.empty()) {
      ++out_.without_model;
      return;
    }
    std::vector<StarSpectrum> seen;
    std::vector<std::vector<double>> ivar;
    for (const StarCamera& c : cameras_) {
      const std::size_t n = c.stars.nwave();
      ivar.emplace_back(c.stars.ivar.row(s), c.stars.ivar.row(s) + n);
      for (std::size_t i = 0; i < n; ++i) {
        if (c.stars.wave[i] >= kDip[0] && c.stars.wave[i] <= kDip[1]) ivar.back()[i] = 0;
      }
      seen.push_back({c.stars.wave, {c.stars.flux.row(s), n}, {}, banded(c.stars.resolution, s)});
    }
    for (std::size_t c = 0; c < seen.size(); ++c) seen[c].ivar = ivar[c];
    const StarFit fit = fit_star(seen, grid_, models, o_.fit, executor_);
    StandardStar star;
    star.row = s;
    star.redshift = fit.redshift;
    star.chi2_per_dof = fit.chi2_per_dof;
    star.snr = snr_[s];
    star.seen_colour = catalogue_.seen[s];
    star.coefficients.assign(grid_.nmodel(), 0.0);
    for (std::size_t m = 0; m < models.size(); ++m) {
      star.coefficients[models[m]] = fit.coefficients[m];
      star.teff += fit.coefficients[m] * grid_.teff[models[m]];
      star.logg += fit.coefficients[m] * grid_.logg[models[m]];
      star.metal += fit.coefficients[m] * grid_.metal[models[m]];
    }
    make_flux(star, bands);
    out_.stars.push_back(std::move(star));
  }

  /// The mixture at the star's velocity, behind dust, at its reference magnitude.
  void make_flux(StandardStar& star, const SystemBands& bands) const {
    const std::size_t n = grid_.wave.size();
    std::vector<double> rest(n, 0.0), moved(n);
    for (std::size_t m = 0; m < grid_.nmodel(); ++m) {
      const double share = star.coefficients[m];
      if (share == 0) continue;
      for (std::size_t i = 0; i < n; ++i) rest[i] += share * static_cast<double>(grid_.flux(m, i));
    }
    for (std::size_t i = 0; i < n; ++i) moved[i] = grid_.wave[i] * (1 + star.redshift);
    star.flux = dust_transmission(grid_.wave, catalogue_.ebv[star.row]);
    for (std::size_t i = 0; i < n; ++i) star.flux[i] *= interpolate(moved, rest, grid_.wave[i]);
    star.model_colour = bands.colour(star.flux.data());
    const double brighter =
        bands.reference(star.flux.data()) - catalogue_.reference[star.row];  // magnitudes
    const double scale = std::pow(10, 0.4 * brighter);
    for (double& f : star.flux) f *= scale;
  }

  std::span<const StarCamera> cameras_;
  const StarCatalogue& catalogue_;
  const StellarGrid& grid_;
  const StandardStarOptions& o_;
  Executor& executor_;
  std::vector<std::array<double, 3>> snr_;
  StandardStars out_;
};

/// How much light an exposure has, against the mean of those that have some.
std::vector<double> weights_of(std::span<const Spectra> exposures) {
  std::vector<double> out;
  double sum = 0, count = 0;
  for (const Spectra& e : exposures) {
    std::vector<double> light;
    for (std::size_t k = 0; k < e.flux.size(); ++k) {
      if (e.ivar.data()[k] > 0) light.push_back(e.flux.data()[k]);
    }
    out.push_back(light.empty() ? 0 : std::max(0.0, median_of(light)));
    if (out.back() > 0) sum += out.back(), ++count;
  }
  if (count == 0) {
    throw Error(Status::kNumerical,
                "standard stars: no light in any exposure of a camera, expected some");
  }
  for (double& w : out) w *= count / sum;
  return out;
}

}  // namespace

Spectra sum_star_exposures(std::span<const Spectra> exposures) {
  if (exposures.empty()) {
    throw Error(Status::kWrongShape, "standard stars: no exposure, expected one at least");
  }
  const Spectra& first = exposures.front();
  for (const Spectra& e : exposures) {
    require_same_grid("exposures of one camera", e.wave, e.nspec(), first);
    if (e.resolution.rows() != first.resolution.rows()) {
      throw Error(Status::kWrongShape,
                  "exposures of one camera: RESOLUTION of other diagonals than the first's");
    }
  }
  if (exposures.size() == 1) return first;
  const std::vector<double> weights = weights_of(exposures);
  const std::size_t n = first.nwave(), ndiag = first.resolution.rows();
  Spectra out = first;
  for (std::size_t s = 0; s < first.nspec(); ++s) {
    std::vector<double> flux(n, 0.0);
    std::vector<std::vector<double>> weight;
    std::vector<RowWeighted<float>> rows;
    for (std::size_t e = 0; e < exposures.size(); ++e) {
      std::vector<double>& w = weight.emplace_back(n);
      for (std::size_t i = 0; i < n; ++i) {
        w[i] = weights[e] * exposures[e].ivar(s, i);
        flux[i] += w[i] * exposures[e].flux(s, i);
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      double sum = 0;
      for (const std::vector<double>& w : weight) sum += w[i];
      out.ivar(s, i) = sum;
      out.flux(s, i) = sum > 0 ? flux[i] / sum : 0;
    }
    for (std::size_t e = 0; e < exposures.size(); ++e) {
      rows.push_back({banded(exposures[e].resolution, s), weight[e]});
    }
    const Array2D<double> mean = row_weighted_mean(std::span<const RowWeighted<float>>(rows));
    std::copy(mean.data(), mean.data() + ndiag * n, &out.resolution(s, 0, 0));
  }
  return out;
}

StandardStars find_standard_stars(std::span<const StarCamera> cameras,
                                  const StarCatalogue& catalogue, const StellarGrid& grid,
                                  const PassbandSource& passbands,
                                  const StandardStarOptions& options, Executor& executor) {
  const bool same = std::all_of(cameras.begin(), cameras.end(), [&](const StarCamera& c) {
    return c.stars.nspec() == catalogue.known.size() && !c.stars.resolution.empty();
  });
  if (!same || cameras.empty()) {
    throw Error(Status::kWrongShape,
                "standard stars: expected a row of each star and a resolution in each camera");
  }
  return StarFinding(cameras, catalogue, grid, options, executor).run(passbands);
}

}  // namespace fiberloom::calibrate
