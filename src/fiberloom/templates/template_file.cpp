// SPDX-License-Identifier: BSD-3-Clause
// One template or archetype file (docs/fiberloom/redshift-design.md has the format).
#include "fiberloom/templates/template_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "fiberloom/status.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/sha256.hpp"

namespace fiberloom::templates {
namespace {

using fits::FitsReader;
using fits::Hdu;
using redshift::Igm;
using redshift::Method;

/// Far more than any file of the field has; a file that claims more is foreign, and would take all
/// memory.
constexpr std::size_t kMostBasis = 1000, kMostWaves = 10000000, kMostArchetypes = 100000;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? ""
                                    : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

const Hdu& require_hdu(const FitsReader& file, const char* name) {
  if (const Hdu* hdu = file.find(name)) return *hdu;
  std::string there;
  for (const Hdu& hdu : file.hdus()) there += " " + (hdu.name.empty() ? "(no name)" : hdu.name);
  throw file.error(kBadTemplate, std::string("no HDU ") + name + ", found:" + there);
}

double require_number(const FitsReader& file, const Hdu& hdu, const char* key) {
  if (const auto value = hdu.header.number(key)) return *value;
  throw file.error(kBadTemplate, hdu,
                   std::string("keyword ") + key + ": found " +
                       hdu.header.text(key).value_or("none") + ", expected a number");
}

/// LOGLAM is 1, 0, T, F or absent.
bool logarithmic(const FitsReader& file, const Hdu& hdu) {
  if (!hdu.header.has("LOGLAM")) return false;
  if (const auto flag = hdu.header.logical("LOGLAM")) return *flag;
  return require_number(file, hdu, "LOGLAM") != 0;
}

void require_increasing(const FitsReader& file, const Hdu& hdu, std::span<const double> values,
                        double above, const char* what) {
  double last = above;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || !(values[i] > last)) {
      throw file.error(kBadTemplate, hdu,
                       print("%s %zu is %g after %g: expected finite numbers that increase", what,
                             i, values[i], last));
    }
    last = values[i];
  }
}

std::vector<double> wavelengths(const FitsReader& file, const Hdu& hdu, std::size_t n) {
  const double first = require_number(file, hdu, "CRVAL1");
  const double step = require_number(file, hdu, "CDELT1");
  const bool in_log10 = logarithmic(file, hdu);
  std::vector<double> wave(n);
  for (std::size_t i = 0; i < n; ++i) {
    wave[i] = first + step * static_cast<double>(i);
    if (in_log10) wave[i] = std::pow(10.0, wave[i]);
  }
  require_increasing(file, hdu, wave, 0, "wavelength");
  return wave;
}

void require_finite(const FitsReader& file, const Hdu& hdu, const Array2D<double>& values) {
  for (std::size_t r = 0; r < values.rows(); ++r) {
    for (std::size_t c = 0; c < values.cols(); ++c) {
      if (std::isfinite(values(r, c))) continue;
      throw file.error(
          kBadTemplate, hdu,
          print("vector %zu, pixel %zu is %g: expected a finite number", r, c, values(r, c)));
    }
  }
}

/// A vector of nothing fits nothing, and no prior can say how bright it is.
void require_light(const FitsReader& file, const Hdu& hdu, const Array2D<double>& values) {
  for (std::size_t r = 0; r < values.rows(); ++r) {
    const std::span<const double> vector(values.row(r), values.cols());
    if (std::any_of(vector.begin(), vector.end(), [](double x) { return x != 0; })) continue;
    throw file.error(kBadTemplate, hdu, print("vector %zu is 0 everywhere", r));
  }
}

/// A two-dimensional image; one axis counts as one row.
Array2D<double> matrix(const FitsReader& file, const Hdu& hdu, std::size_t most_rows) {
  const std::size_t axes = hdu.axes.size();
  const std::size_t rows = axes == 2 ? hdu.axes[1] : 1;
  if (!hdu.is_image() || axes < 1 || axes > 2 || rows > most_rows || hdu.axes[0] > kMostWaves) {
    throw file.error(kBadTemplate, hdu,
                     (hdu.is_image() ? "shape " + hdu.shape() : std::string("no image")) +
                         ", expected an image of vectors and pixels");
  }
  Array2D<double> out(rows, hdu.axes[0]);
  file.read_pixels<double>(hdu, {out.data(), out.size()});
  require_finite(file, hdu, out);
  return out;
}

std::string require_type(const FitsReader& file, const Hdu& hdu) {
  const std::string type = loom::in_capitals(trimmed(hdu.header.text("RRTYPE").value_or("")));
  if (!type.empty()) return type;
  throw file.error(kBadTemplate, hdu, "no keyword RRTYPE, expected GALAXY, QSO, STAR ...");
}

std::string version_of(const Hdu& hdu) {
  const std::string version = trimmed(hdu.header.text("VERSION").value_or(""));
  return version.empty() ? "unknown" : version;
}

Method method_of(const FitsReader& file, const Hdu& hdu) {
  const std::string name = loom::in_capitals(trimmed(hdu.header.text("RRMETHOD").value_or("PCA")));
  if (name == "PCA") return Method::kPca;
  if (name == "NMF") return Method::kNmf;
  throw file.error(kBadTemplate, hdu, "RRMETHOD is " + name + ", expected PCA or NMF");
}

/// RRIGM, or what files from before that keyword are known to mean. Galaxies without it reach to no
/// redshift at which it matters; a quasar of an unknown version is not guessed.
Igm igm_of(const FitsReader& file, const Hdu& hdu, const Template& t) {
  if (const auto text = hdu.header.text("RRIGM")) {
    const std::string name = loom::in_capitals(trimmed(*text));
    for (const Igm igm : {Igm::kNone, Igm::kCalura12, Igm::kKamble20, Igm::kInoue14}) {
      if (name == loom::in_capitals(std::string(redshift::name_of(igm)))) return igm;
    }
    throw file.error(kBadTemplate, hdu,
                     "RRIGM is " + *text + ", expected None, Calura12, Kamble20 or Inoue14");
  }
  if (t.spectype == "GALAXY") return Igm::kCalura12;
  if (t.spectype != "QSO") return Igm::kNone;
  if (t.version == "0.1" || t.version == "1.0") return Igm::kCalura12;
  if (t.version == "1.1") return Igm::kKamble20;
  throw file.error(kBadTemplate, hdu,
                   "no keyword RRIGM, which QSO templates of version " + t.version + " need");
}

std::vector<double> redshifts_of(const FitsReader& file, const Hdu& basis, const Template& t,
                                 const GridRules& rules) {
  const Hdu* hdu = file.find("REDSHIFTS");
  if (hdu == nullptr) {
    std::vector<double> grid = redshift::default_grid(t.spectype, rules);
    if (!grid.empty()) return grid;
    throw file.error(kBadTemplate, basis,
                     "type " + t.spectype +
                         " has no default redshifts and the file no HDU "
                         "REDSHIFTS");
  }
  if (!hdu->is_image() || hdu->axes.size() != 1 || hdu->pixels() > kMostWaves) {
    throw file.error(kBadTemplate, *hdu, "expected an image with one axis");
  }
  std::vector<double> z(hdu->pixels());
  file.read_pixels<double>(*hdu, z);
  require_increasing(file, *hdu, z, -1, "redshift");
  return z;
}

Array2D<double> training_of(const FitsReader& file, std::size_t nbasis) {
  const Hdu* hdu = file.find("ARCHETYPE_COEFF");
  if (hdu == nullptr) return {};
  Array2D<double> out = matrix(file, *hdu, kMostWaves);
  if (out.cols() == nbasis) return out;
  throw file.error(kBadTemplate, *hdu,
                   print("%zu coefficients a row, expected %zu, one a vector", out.cols(), nbasis));
}

std::string name_without_folder(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

}  // namespace

Template parse_template(const FitsReader& file, const GridRules& rules) {
  const Hdu& hdu = require_hdu(file, "BASIS_VECTORS");
  Template t;
  t.spectype = require_type(file, hdu);
  t.subtype = loom::in_capitals(trimmed(hdu.header.text("RRSUBTYP").value_or("")));
  t.version = version_of(hdu);
  t.method = method_of(file, hdu);
  t.igm = igm_of(file, hdu, t);
  t.flux = matrix(file, hdu, kMostBasis);
  if (t.flux.cols() < 2) {
    throw file.error(kBadTemplate, hdu, "one pixel, expected two or more");
  }
  require_light(file, hdu, t.flux);
  t.wave = wavelengths(file, hdu, t.flux.cols());
  t.redshifts = redshifts_of(file, hdu, t, rules);
  t.training = training_of(file, t.nbasis());
  return t;
}

Archetypes parse_archetypes(const FitsReader& file) {
  const Hdu& hdu = require_hdu(file, "ARCHETYPES");
  if (hdu.kind != fits::HduKind::kTable) {
    throw file.error(kBadTemplate, hdu, "expected a binary table");
  }
  const RawTable table = file.read_table(hdu);
  Archetypes out;
  out.spectype = require_type(file, hdu);
  out.version = version_of(hdu);
  const auto column = fits::find_column(table, "ARCHETYPE");
  const bool numeric = column && (column->type == 'E' || column->type == 'D');
  if (!numeric || column->repeat < 2 || column->repeat > kMostWaves || table.rows == 0 ||
      table.rows > kMostArchetypes) {
    throw file.error(kBadTemplate, hdu,
                     print("%zu rows, column ARCHETYPE %s: expected rows of two or more numbers",
                           table.rows, numeric ? "found" : "not there or no numbers"));
  }
  out.flux = Array2D<double>(table.rows, column->repeat);
  for (std::size_t r = 0; r < table.rows; ++r) {
    const std::vector<double> row = fits::column_row(table, *column, r);
    if (row.size() != column->repeat) throw file.error(kBadTemplate, hdu, "row cut short");
    std::copy(row.begin(), row.end(), out.flux.row(r));
  }
  require_finite(file, hdu, out.flux);
  require_light(file, hdu, out.flux);
  out.wave = wavelengths(file, hdu, out.flux.cols());
  auto names = table.text_column("SUBTYPE").value_or(std::vector<std::string>(table.rows));
  for (std::size_t r = 0; r < table.rows; ++r) {
    out.subtypes.push_back(trimmed(names[r]) + "_" + std::to_string(r));
  }
  return out;
}

Template read_template(const std::string& path, const GridRules& rules) {
  const std::string found = resolve_path(path);
  Template t = parse_template(FitsReader::open(found), rules);
  t.file = name_without_folder(found);
  t.hash = sha256_file(found);
  return t;
}

Archetypes read_archetypes(const std::string& path) {
  const std::string found = resolve_path(path);
  Archetypes out = parse_archetypes(FitsReader::open(found));
  out.file = name_without_folder(found);
  out.hash = sha256_file(found);
  return out;
}

TemplateSet load_templates(std::span<const std::string> files, const GridRules& rules) {
  TemplateSet set;
  for (const std::string& file : files) {
    set.push_back(read_template(file, rules));
    for (std::size_t i = 0; i + 1 < set.size(); ++i) {
      if (set[i].full_type() != set.back().full_type()) continue;
      throw Error(kBadTemplate, file + ": a second template " + set[i].full_type() +
                                    ", the first is " + set[i].file);
    }
  }
  return set;
}

}  // namespace fiberloom::templates
