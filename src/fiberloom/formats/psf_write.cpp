// SPDX-License-Identifier: BSD-3-Clause
// GAUSS-HERMITE version 3: XTRACE, YTRACE, and the table PSF with specex's rows in specex's order.
#include <algorithm>

#include "fiberloom/formats/formats.hpp"
#include "loom/base/error.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

/// Rows of the table, padded to one number of coefficients.
class ParameterRows {
 public:
  ParameterRows(std::size_t nfiber, std::size_t ncoef) : nfiber_(nfiber), ncoef_(ncoef) {}
  void add(const std::string& name, const LegendreSeries& series) {
    names_.push_back(name);
    const std::size_t start = values_.size();
    values_.resize(start + nfiber_ * ncoef_, 0.0);
    for (std::size_t f = 0; f < nfiber_; ++f) {
      for (std::size_t k = 0; k < series.coef.cols(); ++k) {
        values_[start + f * ncoef_ + k] = series.coef(f, k);
      }
    }
  }
  void add(const std::string& name, const std::vector<int>& values) {
    LegendreSeries constant{0, 1, Array2D<double>(nfiber_, 1, 0.0)};
    for (std::size_t f = 0; f < std::min(nfiber_, values.size()); ++f) {
      constant.coef(f, 0) = values[f];
    }
    add(name, constant);
  }
  [[nodiscard]] RawTable build() const {
    const std::vector<std::int32_t> degree_x(names_.size(), 0),
        degree_w(names_.size(), static_cast<std::int32_t>(ncoef_ - 1));
    std::string dim = "(";
    dim.append(std::to_string(ncoef_)).append(",").append(std::to_string(nfiber_)).append(")");
    return fits::TableBuilder(names_.size())
        .add("PARAM", names_, 8)
        .add_vector("COEFF", values_, nfiber_ * ncoef_, dim)
        .add("LEGDEGX", degree_x)
        .add("LEGDEGW", degree_w)
        .build();
  }
  [[nodiscard]] std::size_t rows() const { return names_.size(); }

 private:
  std::size_t nfiber_, ncoef_;
  std::vector<std::string> names_;
  std::vector<double> values_;
};

/// Every series of the shape, which in version 3 share one domain.
std::vector<const LegendreSeries*> shape_series(const PsfModel& m) {
  std::vector<const LegendreSeries*> out{&m.sigma_x, &m.sigma_y};
  for (const LegendreSeries& g : m.gh) out.push_back(&g);
  for (const LegendreSeries* t :
       {&m.tails.amp, &m.tails.core, &m.tails.xscale, &m.tails.yscale, &m.tails.index}) {
    if (!t->coef.empty()) out.push_back(t);
  }
  return out;
}

RawTable parameter_table(const std::string& path, const PsfModel& m) {
  const auto n = static_cast<std::size_t>(m.nfiber());
  std::size_t ncoef = 1;
  for (const LegendreSeries* s : shape_series(m)) {
    if (s->coef.rows() != n || s->wave_min != m.sigma_x.wave_min ||
        s->wave_max != m.sigma_x.wave_max) {
      throw Error(Status::kInternal, path +
                                         ": PSF to be written: rows of different fibre numbers "
                                         "or wavelength ranges do not fit version 3");
    }
    ncoef = std::max(ncoef, s->coef.cols());
  }
  ParameterRows rows(n, ncoef);
  rows.add("GHSIGX", m.sigma_x);
  rows.add("GHSIGY", m.sigma_y);
  for (int j = 0; j <= m.gh_deg_y; ++j) {
    for (int i = 0; i <= m.gh_deg_x; ++i) {
      rows.add("GH-" + std::to_string(i) + "-" + std::to_string(j),
               m.gh.at(static_cast<std::size_t>(j * (m.gh_deg_x + 1) + i)));
    }
  }
  const LegendreSeries none{0, 1, Array2D<double>(n, 1, 0.0)};
  const auto tail = [&](const char* name, const LegendreSeries& s) {
    rows.add(name, s.coef.empty() ? none : s);
  };
  tail("TAILAMP", m.tails.amp);
  tail("TAILCORE", m.tails.core);
  tail("TAILXSCA", m.tails.xscale);
  tail("TAILYSCA", m.tails.yscale);
  tail("TAILINDE", m.tails.index);
  if (!m.bundle.empty()) rows.add("BUNDLE", m.bundle);
  if (!m.status.empty()) rows.add("STATUS", m.status);
  RawTable out = rows.build();
  out.header.set("NPARAMS",
                 static_cast<std::int64_t>(rows.rows()) - !m.bundle.empty() - !m.status.empty());
  out.header.set("LEGDEG", static_cast<std::int64_t>(ncoef) - 1);
  return out;
}

void set_common(HeaderCards& h, const PsfModel& m, const LegendreSeries& series) {
  h.set("FIBERMIN", m.fiber_min);
  h.set("FIBERMAX", m.fiber_min + m.nfiber() - 1);
  h.set("WAVEMIN", series.wave_min);
  h.set("WAVEMAX", series.wave_max);
}

void write_trace(fits::FitsWriter& writer, const char* name, const LegendreSeries& series,
                 const HeaderCards& header) {
  writer.image(name, std::span<const double>(series.coef.data(), series.coef.size()),
               {series.coef.cols(), series.coef.rows()}, fits::PixelType::kFloat64, header);
}

}  // namespace

void write_psf(const std::string& path, const PsfFile& psf, Overwrite overwrite,
               FilesTogether* together) {
  const PsfModel& m = psf.model;
  if (m.shape) {
    throw Error(Status::kUnsupported, path + ": a PSF of kind " + m.shape->kind() +
                                          " cannot be written, only GAUSS-HERMITE");
  }
  RawTable table = parameter_table(path, m);
  HeaderCards h = psf.header;
  h.set("PSFTYPE", "GAUSS-HERMITE");
  h.set("PSFVER", "3");
  h.set("NPIX_X", m.npix_x, "columns of the CCD image");
  h.set("NPIX_Y", m.npix_y, "rows of the CCD image");
  h.set("HSIZEX", m.hsize_x, "half size of the spot, NX=2*HSIZEX+1");
  h.set("HSIZEY", m.hsize_y, "half size of the spot, NY=2*HSIZEY+1");
  h.set("GHDEGX", m.gh_deg_x, "degree of Hermite polynomial along columns");
  h.set("GHDEGY", m.gh_deg_y, "degree of Hermite polynomial along rows");
  h.set("PSFERR", m.psferr, "fractional error of the PSF");
  for (const char* key : {"NPARAMS", "LEGDEG"}) h.set(key, *table.header.integer(key));
  set_common(h, m, m.sigma_x);
  table.header = h;
  HeaderCards x, y;
  set_common(x, m, m.x);
  set_common(y, m, m.y);
  x.set("PSFTYPE", "GAUSS-HERMITE");
  x.set("PSFVER", 3);
  fits::write_fits(
      path, overwrite,
      [&](fits::FitsWriter& writer) {
        write_trace(writer, "XTRACE", m.x, x);
        write_trace(writer, "YTRACE", m.y, y);
        writer.table("PSF", table);
      },
      0, together);
}

}  // namespace fiberloom
