// SPDX-License-Identifier: BSD-3-Clause
// Templates to files that redrock reads too.
#include <cmath>

#include "fiberloom/templates/template_file.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom::templates {
namespace {

using loom::HeaderCards;
using loom::fits::FitsWriter;
using loom::fits::PixelType;

/// CRVAL1, CDELT1 and LOGLAM of equally spaced wavelengths.
void add_wavelengths(const std::string& path, const Template& t, HeaderCards& header) {
  const auto fits = [&](double first, double step, auto&& at) {
    for (std::size_t i = 0; i < t.wave.size(); ++i) {
      const double w = at(first + step * static_cast<double>(i));
      if (!(std::abs(w - t.wave[i]) <= 1e-9 * t.wave[i])) return false;
    }
    header.set("CRVAL1", first, "first wavelength");
    header.set("CDELT1", step, "step");
    return true;
  };
  // a step of so many decimals is what was meant
  const auto rounded = [](double x) { return std::round(x * 1e12) / 1e12; };
  const auto n = static_cast<double>(t.wave.size() - 1);
  const double low = std::log10(t.wave.front()), high = std::log10(t.wave.back());
  if (fits(t.wave.front(), rounded((t.wave.back() - t.wave.front()) / n),
           [](double x) { return x; })) {
    header.set_logical("LOGLAM", false, "wavelength = CRVAL1 + CDELT1 i");
  } else if (fits(rounded(low), rounded((high - low) / n),
                  [](double x) { return std::pow(10.0, x); })) {
    header.set_logical("LOGLAM", true, "wavelength = 10^(CRVAL1 + CDELT1 i)");
  } else {
    throw Error(Status::kInternal, path +
                                       ": template to be written: wavelengths are not spaced "
                                       "equally");
  }
}

void matrix(FitsWriter& writer, const char* name, const Array2D<double>& a,
            const HeaderCards& header) {
  writer.image(name, std::span<const double>(a.data(), a.size()), {a.cols(), a.rows()},
               PixelType::kFloat64, header);
}

}  // namespace

void write_template(const std::string& path, const Template& t, loom::Overwrite overwrite,
                    const GridRules& rules) {
  HeaderCards header;
  add_wavelengths(path, t, header);
  header.set("RRTYPE", t.spectype);
  header.set("RRSUBTYP", t.subtype);
  header.set("VERSION", t.version);
  header.set("RRMETHOD", std::string(redshift::name_of(t.method)));
  header.set("RRIGM", std::string(redshift::name_of(t.igm)));
  loom::fits::write_fits(path, overwrite, [&](FitsWriter& writer) {
    matrix(writer, "BASIS_VECTORS", t.flux, header);
    if (t.redshifts != redshift::default_grid(t.spectype, rules)) {
      writer.image("REDSHIFTS", std::span<const double>(t.redshifts), {t.redshifts.size()},
                   PixelType::kFloat64);
    }
    if (!t.training.empty()) matrix(writer, "ARCHETYPE_COEFF", t.training, {});
  });
}

}  // namespace fiberloom::templates
