// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/simulate_night_files.hpp"

#include "fiberloom/recipes/simulate_targets.hpp"
#include "loom/base/print.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom::simulated_night {
namespace {

using truth::FieldTarget;
using truth::Sees;

constexpr std::array<double, 3> kBandCentres{4800, 6400, 9100};

template <class T>
void matrix(fits::FitsWriter& writer, const char* name, const Array2D<T>& a, fits::PixelType type,
            const HeaderCards& header = {}) {
  writer.image(name, std::span<const T>(a.data(), a.size()), {a.cols(), a.rows()}, type, header);
}

void vector(fits::FitsWriter& writer, const char* name, const std::vector<double>& v,
            const char* unit) {
  HeaderCards header;
  header.set("BUNIT", unit);
  writer.image(name, std::span<const double>(v), {v.size()}, fits::PixelType::kFloat64, header);
}

}  // namespace

std::string Places::psf(const std::string& camera) const {
  return (root_ / std::to_string(kNight) / ("psf-" + camera + ".fits")).string();
}

std::string Places::preproc(const std::string& camera, std::int64_t expid) const {
  const std::string number = print("%08lld", static_cast<long long>(expid));
  return (root_ / std::to_string(kNight) / number / ("preproc-" + camera + "-" + number + ".fits"))
      .string();
}

std::string Places::exposure(const std::string& camera, std::int64_t expid) const {
  return in_truth(print("truth-%s-%08lld.fits", camera.c_str(), static_cast<long long>(expid)));
}

std::string Places::camera(const std::string& name) const {
  return in_truth("throughput-" + name + ".fits");
}

std::string Places::field(int tile, int spectrograph) const {
  return in_truth(print("targets-%d-%d.fits", spectrograph, kFirstTile + tile));
}

std::string Places::models() const { return (root_ / "starmodels.fits").string(); }

std::string Places::filter(const char* name) const {
  return (root_ / "filters" / (std::string(name) + ".ecsv")).string();
}

std::string Places::in_truth(const std::string& name) const {
  return (root_ / "truth" / name).string();
}

Passband passband(std::size_t band) {
  Passband out;
  for (int i = 0; i <= 50; ++i) {
    out.wave.push_back(kBandCentres[band] - 500 + 20 * i);
    const double t = (i - 25) / 25.0;
    out.response.push_back(1 - t * t);
  }
  return out;
}

std::string ecsv(const Passband& band) {
  std::string text =
      "# %ECSV 0.9\n# ---\n# datatype:\n# - {name: wavelength, unit: Angstrom, datatype: float64}\n"
      "# - {name: response, datatype: float64}\nwavelength response\n";
  for (std::size_t i = 0; i < band.wave.size(); ++i) {
    text += print("%.1f %.6f\n", band.wave[i], band.response[i]);
  }
  return text;
}

void write_field_truth(const std::string& path, const std::vector<FieldTarget>& targets,
                       const Array2D<double>& flux, const std::vector<double>& wave,
                       Overwrite overwrite) {
  std::vector<truth::TrueTarget> rows;
  std::vector<double> teff, logg, metal;
  for (const FieldTarget& t : targets) {
    rows.push_back(t.truth);
    const bool star = t.sees == Sees::kStandardStar;
    teff.push_back(star ? t.star.teff : 0);
    logg.push_back(star ? t.star.logg : 0);
    metal.push_back(star ? t.star.metal : 0);
  }
  Table table = truth_table(rows);
  table.add("TEFF", teff, "K").add("LOGG", logg).add("FEH", metal);
  HeaderCards unit;
  unit.set("BUNIT", "10**-17 erg/(s cm2 Angstrom)");
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    matrix(writer, "FLUX", flux, fits::PixelType::kFloat32, unit);
    vector(writer, "WAVELENGTH", wave, "Angstrom");
    writer.table("TRUTH", to_raw_table(table));
  });
}

void write_star_models(const std::string& path, Overwrite overwrite) {
  const StellarGrid grid = truth::star_grid();
  std::vector<std::int32_t> number;
  for (std::size_t k = 0; k < grid.nmodel(); ++k) number.push_back(static_cast<std::int32_t>(k));
  Table table;
  table.add("TEMPLATEID", std::span<const std::int32_t>(number))
      .add("TEFF", grid.teff, "K")
      .add("LOGG", grid.logg)
      .add("FEH", grid.metal);
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    matrix(writer, "FLUX", grid.flux, fits::PixelType::kFloat32);
    writer.table("MODELS", to_raw_table(table));
    vector(writer, "WAVELENGTH", grid.wave, "Angstrom");
  });
}

void write_throughput(const std::string& path, const Array2D<double>& throughput,
                      const std::vector<double>& wave, Overwrite overwrite) {
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    matrix(writer, "THROUGHPUT", throughput, fits::PixelType::kFloat32);
    vector(writer, "WAVELENGTH", wave, "Angstrom");
  });
}

void write_light(const std::string& path, const Light& light, const std::vector<double>& wave,
                 const HeaderCards& exposure, const Table& fibermap, Overwrite overwrite) {
  HeaderCards cards = exposure;
  cards.set("BUNIT", "electron/Angstrom");
  fits::write_fits(path, overwrite, [&](fits::FitsWriter& writer) {
    matrix(writer, "FLUX", light.electrons, fits::PixelType::kFloat64, cards);
    vector(writer, "WAVELENGTH", wave, "Angstrom");
    if (!light.sky.empty()) {
      vector(writer, "SKY", light.sky, "electron/Angstrom");
      vector(writer, "CALIBRATION", light.calibration, "electron/Angstrom of a flux of 1");
    }
    writer.table("FIBERMAP", to_raw_table(fibermap));
  });
}

}  // namespace fiberloom::simulated_night
