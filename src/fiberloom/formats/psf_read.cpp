// SPDX-License-Identifier: BSD-3-Clause
// GAUSS-HERMITE PSF files, versions 1 to 3 (docs/fiberloom/formats.md).
#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/psf_table.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

constexpr int kMaxPixels = 100000, kMaxHalfSize = 200, kMaxDegree = 20;

const Hdu* find_any(const FitsReader& file, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Hdu* hdu = file.find(name)) return hdu;
  }
  return nullptr;
}

/// The keyword from the first HDU that has it.
std::optional<std::string> text_of(std::initializer_list<const Hdu*> hdus, const char* key) {
  for (const Hdu* hdu : hdus) {
    if (hdu == nullptr) continue;
    if (auto value = hdu->header.text(key)) return value;
  }
  return std::nullopt;
}

std::optional<double> number_of(std::initializer_list<const Hdu*> hdus, const char* key) {
  for (const Hdu* hdu : hdus) {
    if (hdu == nullptr) continue;
    if (const auto value = hdu->header.number(key)) return value;
  }
  return std::nullopt;
}

/// specex writes CAMERA as ''''r0      '''': a quoted string in a string.
void strip_inner_quotes(HeaderCards& header, const char* key) {
  std::string text = header.text(key).value_or("");
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return;
  text = text.substr(1, text.size() - 2);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  header.set(key, text, header.comment(key));
}

/// Trace image [nfiber][ncoef] with its domain.
LegendreSeries read_trace(const FitsReader& file, const Hdu& hdu) {
  const Domain domain = require_domain(file, hdu);
  return {domain.min, domain.max, read_matrix(file, hdu)};
}

/// The table of the parameters: HDU PSF, or the first table.
const Hdu& parameter_table(const FitsReader& file) {
  if (const Hdu* hdu = file.find("PSF")) return *hdu;
  for (const Hdu& hdu : file.hdus()) {
    if (hdu.kind == fits::HduKind::kTable) return hdu;
  }
  return file.require("PSF");  // throws with the list of HDUs
}

void check_kind(const FitsReader& file, const Hdu& table, const Hdu* xtrace) {
  const Hdu* primary = &file.hdus().front();
  const auto type = text_of({&table, xtrace, primary}, "PSFTYPE");
  if (!type) throw file.error(Status::kMissingKeyword, table, "no keyword PSFTYPE");
  if (*type != "GAUSS-HERMITE") {
    throw file.error(Status::kUnsupported, table,
                     "PSFTYPE is " + *type + ", supported is GAUSS-HERMITE");
  }
  const auto version = text_of({&table, xtrace, primary}, "PSFVER");
  const auto number = number_of({&table, xtrace, primary}, "PSFVER");
  const double low = xtrace != nullptr ? 3 : 1, high = xtrace != nullptr ? 3.999 : 2.999;
  if (version && (!number || *number < low || *number > high)) {
    throw file.error(Status::kUnsupported, table,
                     "PSFVER is " + *version +
                         (xtrace != nullptr ? ", expected 3 where there is an HDU XTRACE"
                                            : ", expected 1 or 2 without an HDU XTRACE"));
  }
}

void read_shape(const PsfTable& table, const PsfReadOptions& options, PsfModel& model) {
  model.sigma_x = table.series("GHSIGX");
  model.sigma_y = table.series("GHSIGY");
  for (int j = 0; j <= model.gh_deg_y; ++j) {
    for (int i = 0; i <= model.gh_deg_x; ++i) {
      model.gh.push_back(table.series("GH-" + std::to_string(i) + "-" + std::to_string(j)));
    }
  }
  if (options.gh00 == Gh00::kOne) {
    Array2D<double>& c = model.gh.front().coef;
    for (std::size_t f = 0; f < c.rows(); ++f) {
      for (std::size_t k = 0; k < c.cols(); ++k) c(f, k) = k == 0 ? 1.0 : 0.0;
    }
  }
  if (options.tails || table.has("TAILAMP")) {
    model.tails = {table.series("TAILAMP"), table.series("TAILCORE"), table.series("TAILXSCA"),
                   table.series("TAILYSCA"), table.series("TAILINDE")};
  }
  model.has_tails = options.tails;
  model.bundle = table.integers("BUNDLE");
  model.status = table.integers("STATUS");
}

void read_keywords(const FitsReader& file, const Hdu& hdu, const Hdu* xtrace, PsfModel& model) {
  const auto integer = [&](const char* key, int min, int max) {
    return require_integer(file, hdu, key, min, max);
  };
  model.npix_x = integer("NPIX_X", 1, kMaxPixels);
  model.npix_y = integer("NPIX_Y", 1, kMaxPixels);
  model.hsize_x = integer("HSIZEX", 1, kMaxHalfSize);
  model.hsize_y = integer("HSIZEY", 1, kMaxHalfSize);
  model.gh_deg_x = integer("GHDEGX", 0, kMaxDegree);
  model.gh_deg_y = integer("GHDEGY", 0, kMaxDegree);
  const Hdu* primary = &file.hdus().front();
  model.psferr = number_of({&hdu, xtrace, primary}, "PSFERR").value_or(0.01);
  if (!(model.psferr >= 0 && model.psferr < 1e3)) {
    throw file.error(Status::kCorrupt, hdu,
                     "PSFERR is " + std::to_string(model.psferr) + ", expected a fraction");
  }
  const double first = number_of({&hdu, xtrace}, "FIBERMIN").value_or(0);
  model.fiber_min = std::abs(first) < 1e8 ? static_cast<int>(first) : 0;
}

/// Switches off fibres whose coefficients hold a NaN or Inf (a failed fit): sigma 0 makes the spot
/// zero, so that the fibre's bins carry no information and its neighbours stay sound.
void switch_off_bad_fibers(const FitsReader& file, const Hdu& hdu, PsfModel& model) {
  std::vector<LegendreSeries*> all{&model.x, &model.y, &model.sigma_x, &model.sigma_y};
  for (LegendreSeries& g : model.gh) all.push_back(&g);
  for (LegendreSeries* t : {&model.tails.amp, &model.tails.core, &model.tails.xscale,
                            &model.tails.yscale, &model.tails.index}) {
    if (!t->coef.empty()) all.push_back(t);
  }
  const auto n = static_cast<std::size_t>(model.nfiber());
  std::size_t bad = 0;
  for (std::size_t f = 0; f < n; ++f) {
    bool good = true;
    for (LegendreSeries* s : all) {
      for (std::size_t k = 0; k < s->coef.cols(); ++k) {
        double& c = s->coef(f, k);
        if (std::abs(c) < 1e100) continue;  // false for NaN
        good = false;
        c = 0;
      }
    }
    if (good) continue;
    ++bad;
    for (LegendreSeries* s : {&model.sigma_x, &model.sigma_y}) {
      for (std::size_t k = 0; k < s->coef.cols(); ++k) s->coef(f, k) = 0;
    }
    if (model.status.empty()) model.status.assign(n, 0);
    model.status[f] = kStatusNan;
  }
  if (bad == n) throw file.error(Status::kCorrupt, hdu, "no fibre has finite coefficients");
}

void check_fibers(const FitsReader& file, const Hdu& hdu, const PsfModel& model) {
  const auto first = hdu.header.integer("FIBERMIN"), last = hdu.header.integer("FIBERMAX");
  if (!first || !last || *last - *first + 1 == model.nfiber()) return;
  throw file.error(Status::kWrongShape, hdu,
                   "FIBERMIN, FIBERMAX are " + std::to_string(*first) + ", " +
                       std::to_string(*last) + ", but there are " + std::to_string(model.nfiber()) +
                       " fibres");
}

}  // namespace

PsfFile parse_psf(const FitsReader& file, const PsfReadOptions& options) {
  const Hdu* xtrace = find_any(file, {"XTRACE", "XCOEF", "XCOEFF"});
  const Hdu* ytrace = find_any(file, {"YTRACE", "YCOEF", "YCOEFF"});
  if (xtrace != nullptr && ytrace == nullptr) ytrace = &file.require("YTRACE");  // throws
  const Hdu& hdu = parameter_table(file);
  check_kind(file, hdu, xtrace);
  PsfFile out;
  out.path = file.path();
  out.header = hdu.user_header();
  strip_inner_quotes(out.header, "CAMERA");
  PsfModel& model = out.model;
  read_keywords(file, hdu, xtrace, model);
  if (xtrace != nullptr) {
    model.x = read_trace(file, *xtrace);
    model.y = read_trace(file, *ytrace);
    if (model.x.coef.rows() != model.y.coef.rows()) {
      throw file.error(Status::kWrongShape, *ytrace,
                       std::to_string(model.y.coef.rows()) + " fibres, but " + xtrace->label() +
                           " has " + std::to_string(model.x.coef.rows()));
    }
    read_shape(PsfTable(file, hdu, model.nfiber(), require_domain(file, hdu)), options, model);
  } else {
    const PsfTable table(file, hdu, 0, std::nullopt);
    model.x = table.series("X");
    model.y = table.series("Y");
    read_shape(table, options, model);
  }
  check_fibers(file, hdu, model);
  switch_off_bad_fibers(file, hdu, model);
  return out;
}

}  // namespace formats

PsfFile read_psf(const std::string& path, const PsfReadOptions& options) {
  return formats::parse_psf(fits::FitsReader::open(path, options.verify), options);
}

}  // namespace fiberloom
