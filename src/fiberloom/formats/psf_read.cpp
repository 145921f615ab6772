// SPDX-License-Identifier: BSD-3-Clause
// GAUSS-HERMITE PSF files, versions 1 to 3 (docs/fiberloom/formats.md).
#include <algorithm>
#include <cmath>

#include "fiberloom/formats/file_tables.hpp"
#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/psf_parts.hpp"
#include "fiberloom/formats/psf_table.hpp"

namespace fiberloom {
namespace formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

constexpr int kMaxHalfSize = 200, kMaxDegree = 20;

/// specex writes CAMERA as ''''r0      '''': a quoted string in a string.
void strip_inner_quotes(HeaderCards& header, const char* key) {
  std::string text = header.text(key).value_or("");
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return;
  text = text.substr(1, text.size() - 2);
  while (!text.empty() && text.back() == ' ') text.pop_back();
  header.set(key, text, header.comment(key));
}

/// The table of the parameters: HDU PSF, or the first table.
const Hdu& parameter_table(const FitsReader& file) {
  if (const Hdu* hdu = file.find("PSF")) return *hdu;
  for (const Hdu& hdu : file.hdus()) {
    if (hdu.kind == fits::HduKind::kTable) return hdu;
  }
  return file.require("PSF");  // throws with the list of HDUs
}

/// An image, a frame ... in the place of a PSF is told as what it is.
void require_no_other_kind(const FitsReader& file) {
  const FileKind kind = kind_of(summarise(file));
  const bool told = std::any_of(file.hdus().begin(), file.hdus().end(),
                                [](const Hdu& hdu) { return hdu.header.has("PSFTYPE"); });
  if (told || kind == FileKind::kPsf || kind == FileKind::kOther) return;
  throw file.error(
      Status::kMissingKeyword,
      std::string("is no PSF: no keyword PSFTYPE; it seems to be of kind '") + name_of(kind) + "'");
}

void check_kind(const FitsReader& file, const Hdu& table, const Hdu* xtrace) {
  const Hdu* primary = &file.hdus().front();
  const auto type = text_of({&table, xtrace, primary}, "PSFTYPE");
  if (!type) throw file.error(Status::kMissingKeyword, table, "no keyword PSFTYPE");
  if (*type != "GAUSS-HERMITE") {
    throw file.error(Status::kUnsupported, table,
                     "PSFTYPE is " + *type +
                         ", supported are GAUSS-HERMITE, GAUSS-HERMITE2, SPOTGRID, MONOSPOT and "
                         "PCA-PIX");
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
  read_ccd_keywords(file, hdu, {xtrace, &file.hdus().front()}, model);
  model.hsize_x = integer("HSIZEX", 1, kMaxHalfSize);
  model.hsize_y = integer("HSIZEY", 1, kMaxHalfSize);
  model.gh_deg_x = integer("GHDEGX", 0, kMaxDegree);
  model.gh_deg_y = integer("GHDEGY", 0, kMaxDegree);
  const double first = number_of({&hdu, xtrace}, "FIBERMIN").value_or(0);
  model.fiber_min = std::abs(first) < 1e8 ? static_cast<int>(first) : 0;
}

PsfFile parse_gauss_hermite(const FitsReader& file, const PsfReadOptions& options) {
  require_no_other_kind(file);
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
    read_traces(file, *xtrace, *ytrace, model);
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

}  // namespace

PsfFile parse_psf(const FitsReader& file, const PsfReadOptions& options) {
  std::optional<PsfFile> shaped = parse_shaped_psf(file);
  if (shaped && options.gh00 == Gh00::kOne) {
    throw file.error(Status::kUnsupported, file.hdus().front(),
                     std::string("a PSF of kind ") + shaped->model.shape->kind() +
                         ": --gh00 one is for GAUSS-HERMITE alone");
  }
  PsfFile out = shaped ? std::move(*shaped) : parse_gauss_hermite(file, options);
  if (options.status) switch_off_unfit_fibers(out.model);
  return out;
}

}  // namespace formats

PsfFile read_psf(const std::string& path, const PsfReadOptions& options) {
  return formats::parse_psf(fits::FitsReader::open(path, options.verify), options);
}

}  // namespace fiberloom
