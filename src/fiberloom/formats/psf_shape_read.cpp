// SPDX-License-Identifier: BSD-3-Clause
// PSF files of other kinds than GAUSS-HERMITE: GAUSS-HERMITE2 (one table), SPOTGRID, MONOSPOT and
// PCA-PIX (traces in XCOEFF and YCOEFF). docs/fiberloom/formats.md has the formats.
#include <algorithm>
#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/psf_parts.hpp"
#include "fiberloom/formats/psf_table.hpp"
#include "fiberloom/psf/pixel_spots.hpp"
#include "fiberloom/psf/two_core_spots.hpp"

namespace fiberloom::formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 28;
constexpr int kMostFine = 1000, kMostPower = 20;
/// How far a fibre may lie beyond the samples of a SPOTGRID, as a share of their range.
constexpr double kBeyondSamples = 0.05;

using Axes = std::vector<std::size_t>;  ///< slowest first

/// An image of so many axes as finite numbers.
std::vector<double> read_numbers(const FitsReader& file, const Hdu& hdu, std::size_t naxis,
                                 Axes& axes) {
  require_image(file, hdu, naxis);
  axes.assign(hdu.axes.rbegin(), hdu.axes.rend());
  std::size_t size = 1;
  for (const std::size_t n : axes) {
    if (n == 0 || size > kMostNumbers / n)
      throw file.error(Status::kWrongShape, hdu, "shape " + hdu.shape() + ", too large or empty");
    size *= n;
  }
  std::vector<double> out(size);
  file.read_pixels<double>(hdu, {out.data(), out.size()});
  const auto bad =
      std::count_if(out.begin(), out.end(), [](double v) { return !(std::abs(v) < 1e100); });
  if (bad > 0)
    throw file.error(
        Status::kCorrupt, hdu,
        std::to_string(bad) + " of " + std::to_string(size) + " numbers are not finite");
  return out;
}

std::vector<double> read_axis(const FitsReader& file, const char* name) {
  const Hdu& hdu = file.require(name);
  Axes axes;
  std::vector<double> out = read_numbers(file, hdu, 1, axes);
  const bool increases =
      std::adjacent_find(out.begin(), out.end(), std::greater_equal<>()) == out.end();
  if (out.size() < 2 || !increases)
    throw file.error(Status::kCorrupt, hdu, "expected two or more numbers that increase");
  return out;
}

void require_count(const FitsReader& file, const Hdu& hdu, std::size_t found, std::size_t expected,
                   const char* what) {
  if (found == expected) return;
  throw file.error(Status::kWrongShape, hdu,
                   std::to_string(found) + " " + what + ", expected " + std::to_string(expected));
}

/// Fine pixels: a stamp of whole CCD pixels that the engines can hold.
void require_fine(const FitsReader& file, const Hdu& hdu, std::size_t ny, std::size_t nx,
                  int fine) {
  const auto n = static_cast<std::size_t>(fine);
  const bool whole = ny % n == 0 && nx % n == 0;
  const auto most = static_cast<std::size_t>(kMaxShapeStamp);
  if (whole && ny / n + 1 <= most && nx / n + 1 <= most) return;
  throw file.error(whole ? Status::kUnsupported : Status::kCorrupt, hdu,
                   "spots of " + std::to_string(nx) + " x " + std::to_string(ny) + " pixels, " +
                       std::to_string(fine) +
                       " to a CCD pixel; expected whole CCD pixels, fewer than " +
                       std::to_string(kMaxShapeStamp));
}

/// sigma 1 for every fibre, over the wavelengths of its spots.
void set_rough_width(PsfModel& model, double wave_min, double wave_max) {
  const auto n = static_cast<std::size_t>(model.nfiber());
  model.sigma_x = model.sigma_y = {wave_min, wave_max, Array2D<double>(n, 1, 1.0)};
}

std::shared_ptr<const SpotShape> read_spot_grid(const FitsReader& file, PsfModel& model) {
  const Hdu& spots = file.require("SPOTS");
  const Hdu& fibers = file.require("FIBERPOS");
  SpotGrid g;
  g.position = read_axis(file, "SPOTPOS");
  g.wave_aa = read_axis(file, "SPOTWAVE");
  Axes axes;
  g.fiber_position = read_numbers(file, fibers, 1, axes);
  require_count(file, fibers, axes[0], static_cast<std::size_t>(model.nfiber()), "positions");
  const double reach = kBeyondSamples * (g.position.back() - g.position.front());
  for (const double p : g.fiber_position) {
    if (p >= g.position.front() - reach && p <= g.position.back() + reach) continue;
    throw file.error(Status::kCorrupt, fibers,
                     "a fibre at " + std::to_string(p) + ", off the samples of SPOTPOS (" +
                         std::to_string(g.position.front()) + " to " +
                         std::to_string(g.position.back()) + ")");
  }
  g.spots = read_numbers(file, spots, 4, axes);
  require_count(file, spots, axes[0], g.position.size(), "positions (SPOTPOS)");
  require_count(file, spots, axes[1], g.wave_aa.size(), "wavelengths (SPOTWAVE)");
  g.spot_ny = axes[2];
  g.spot_nx = axes[3];
  const auto ccd = number_of({&file.hdus().front(), &spots}, "CCDPIXSZ");
  const auto spot = number_of({&file.hdus().front(), &spots}, "PIXSIZE");
  if (!ccd || !spot)
    throw file.error(Status::kMissingKeyword, spots, "no keywords CCDPIXSZ and PIXSIZE");
  const double ratio = *ccd / *spot;
  if (!(ratio >= 1 && ratio <= kMostFine))
    throw file.error(Status::kCorrupt, spots,
                     "CCDPIXSZ / PIXSIZE is " + std::to_string(ratio) + ", expected 1 to " +
                         std::to_string(kMostFine));
  g.fine = static_cast<int>(ratio);  // as specter: cut, not rounded
  require_fine(file, spots, g.spot_ny, g.spot_nx, g.fine);
  set_rough_width(model, g.wave_aa.front(), g.wave_aa.back());
  return make_spot_grid(g);
}

std::shared_ptr<const SpotShape> read_mono_spot(const FitsReader& file, PsfModel& model) {
  const Hdu& hdu = file.require("SPOT");
  MonoSpot m;
  Axes axes;
  m.spot = read_numbers(file, hdu, 2, axes);
  m.ny = axes[0];
  m.nx = axes[1];
  m.fine = require_integer(file, hdu, "SCALE", 1, kMostFine);
  require_fine(file, hdu, m.ny, m.nx, m.fine);
  set_rough_width(model, model.y.wave_min, model.y.wave_max);
  return make_mono_spot(m);
}

/// A column of a table, a finite number a row.
std::vector<double> read_column(const FitsReader& file, const Hdu& hdu, const RawTable& table,
                                const char* name) {
  const auto column = fits::find_column(table, name);
  if (!column) throw file.error(Status::kMissingKeyword, hdu, std::string("no column ") + name);
  std::vector<double> out;
  for (std::size_t r = 0; r < table.rows; ++r) {
    const std::vector<double> value = fits::column_row(table, *column, r);
    if (value.size() != 1 || !(std::abs(value[0]) < 1e100))
      throw file.error(
          Status::kCorrupt, hdu,
          std::string("column ") + name + ", row " + std::to_string(r) + ": no finite number");
    out.push_back(value[0]);
  }
  return out;
}

std::vector<int> read_whole(const FitsReader& file, const Hdu& hdu, const RawTable& table,
                            const char* name, int most) {
  std::vector<int> out;
  for (const double v : read_column(file, hdu, table, name)) {
    if (v != std::floor(v) || v < 0 || v > most)
      throw file.error(Status::kCorrupt, hdu,
                       std::string("column ") + name + " holds " + std::to_string(v) +
                           ", expected 0 to " + std::to_string(most));
    out.push_back(static_cast<int>(v));
  }
  return out;
}

/// HDUs 3, 4 and 5 (from 0), whose names differ from file to file.
std::shared_ptr<const SpotShape> read_pca_pix(const FitsReader& file, PsfModel& model) {
  if (file.hdus().size() < 6)
    throw file.error(Status::kMissingHdu, file.hdus().back(),
                     "it is the last HDU; PCA-PIX has the exponents, the fibres and the images in "
                     "the fourth to sixth");
  const Hdu &powers = file.hdus()[3], &fibers = file.hdus()[4], &images = file.hdus()[5];
  for (const Hdu* hdu : {&powers, &fibers}) {
    if (hdu->kind != fits::HduKind::kTable) throw file.error(Status::kWrongShape, *hdu, "no table");
  }
  const RawTable of_image = file.read_table(powers), of_fiber = file.read_table(fibers);
  PcaPix pca;
  Axes axes;
  pca.images = read_numbers(file, images, 4, axes);
  pca.ny = axes[2];
  pca.nx = axes[3];
  if (axes[1] > ImageSum::kMost)
    throw file.error(Status::kUnsupported, images,
                     std::to_string(axes[1]) + " images of a fibre; expected up to " +
                         std::to_string(ImageSum::kMost));
  const auto most = static_cast<std::size_t>(kMaxShapeStamp);
  if (pca.ny % 2 == 0 || pca.nx % 2 == 0 || pca.ny > most || pca.nx > most)
    throw file.error(Status::kUnsupported, images,
                     "images of " + std::to_string(pca.nx) + " x " + std::to_string(pca.ny) +
                         " pixels; expected odd numbers up to " + std::to_string(kMaxShapeStamp));
  pca.x_power = read_whole(file, powers, of_image, "XEXP", kMostPower);
  pca.y_power = read_whole(file, powers, of_image, "YEXP", kMostPower);
  require_count(file, powers, of_image.rows, axes[1], "rows");
  pca.group = read_whole(file, fibers, of_fiber, "IGROUP", static_cast<int>(axes[0]) - 1);
  pca.x0 = read_column(file, fibers, of_fiber, "X0");
  pca.x_scale = read_column(file, fibers, of_fiber, "XSCALE");
  pca.y0 = read_column(file, fibers, of_fiber, "Y0");
  pca.y_scale = read_column(file, fibers, of_fiber, "YSCALE");
  require_count(file, fibers, of_fiber.rows, static_cast<std::size_t>(model.nfiber()), "rows");
  set_rough_width(model, model.y.wave_min, model.y.wave_max);
  return make_pca_pix(pca);
}

/// Traces, CCD and fibres of the kinds whose spots are images.
PsfFile read_base(const FitsReader& file) {
  const Hdu& primary = file.hdus().front();
  const Hdu* x = find_any(file, {"XCOEFF", "XCOEF", "XTRACE"});
  const Hdu* y = find_any(file, {"YCOEFF", "YCOEF", "YTRACE"});
  PsfFile out;
  out.path = file.path();
  out.header = primary.user_header();
  read_traces(file, x != nullptr ? *x : file.require("XCOEFF"),
              y != nullptr ? *y : file.require("YCOEFF"), out.model);
  read_ccd_keywords(file, primary, {x}, out.model);
  const auto count = primary.header.integer("NSPEC");
  if (count && *count != out.model.nfiber())
    throw file.error(Status::kWrongShape, primary,
                     "NSPEC is " + std::to_string(*count) + ", but there are " +
                         std::to_string(out.model.nfiber()) + " fibres");
  return out;
}

HermiteCore read_core(const FitsReader& file, const Hdu& hdu, const PsfTable& table,
                      const std::string& second) {
  HermiteCore core;
  core.degree_x = require_integer(file, hdu, "GHDEGX" + second, 0, kMaxCoreDegree);
  core.degree_y = require_integer(file, hdu, "GHDEGY" + second, 0, kMaxCoreDegree);
  core.sigma_x = table.series("GHSIGX" + second);
  core.sigma_y = table.series("GHSIGY" + second);
  for (int j = 0; j <= core.degree_y; ++j) {
    for (int i = 0; i <= core.degree_x; ++i)
      core.coef.push_back(
          table.series("GH" + second + "-" + std::to_string(i) + "-" + std::to_string(j)));
  }
  return core;
}

PsfFile read_two_cores(const FitsReader& file, const Hdu& hdu) {
  PsfFile out;
  out.path = file.path();
  out.header = hdu.user_header();
  PsfModel& model = out.model;
  read_ccd_keywords(file, hdu, {&file.hdus().front()}, model);
  const PsfTable table(file, hdu, 0, std::nullopt);
  TwoCores cores;
  constexpr int kMostHalf = kMaxShapeStamp / 2;
  cores.hsize_x = require_integer(file, hdu, "HSIZEX", 1, kMostHalf);
  cores.hsize_y = require_integer(file, hdu, "HSIZEY", 1, kMostHalf);
  cores.first = read_core(file, hdu, table, "");
  cores.second = read_core(file, hdu, table, "2");
  cores.cut_sigma = table.series("GHNSIG");
  cores.tails = {table.series("TAILAMP"), table.series("TAILCORE"), table.series("TAILXSCA"),
                 table.series("TAILYSCA"), table.series("TAILINDE")};
  model.x = table.series("X");
  model.y = table.series("Y");
  model.sigma_x = cores.first.sigma_x;
  model.sigma_y = cores.first.sigma_y;
  model.bundle = table.integers("BUNDLE");
  model.status = table.integers("STATUS");
  const double first = hdu.header.number("FIBERMIN").value_or(0);
  model.fiber_min = std::abs(first) < 1e8 ? static_cast<int>(first) : 0;
  // a fibre with a number that is none anywhere is switched off as a whole
  model.gh = cores.first.coef;
  model.gh.insert(model.gh.end(), cores.second.coef.begin(), cores.second.coef.end());
  for (const LegendreSeries* s : {&cores.second.sigma_x, &cores.second.sigma_y, &cores.cut_sigma})
    model.gh.push_back(*s);
  model.tails = cores.tails;
  switch_off_bad_fibers(file, hdu, model);
  cores.first.sigma_x = model.sigma_x;
  cores.first.sigma_y = model.sigma_y;
  model.gh.clear();
  model.tails = {};
  model.shape = make_two_cores(cores);
  return out;
}

/// The table of parameters, or the first HDU.
const Hdu& kind_hdu(const FitsReader& file) {
  for (const Hdu& hdu : file.hdus()) {
    if (hdu.kind == fits::HduKind::kTable && hdu.header.has("PSFTYPE")) return hdu;
  }
  return file.hdus().front();
}

}  // namespace

std::optional<PsfFile> parse_shaped_psf(const FitsReader& file) {
  const Hdu& hdu = kind_hdu(file);
  const auto type = text_of({&hdu, &file.hdus().front()}, "PSFTYPE");
  if (!type) return std::nullopt;
  if (*type == "GAUSS-HERMITE2") {
    PsfFile out = read_two_cores(file, hdu);
    check_fibers(file, hdu, out.model);
    return out;
  }
  const bool grid = *type == "SPOTGRID", mono = *type == "MONOSPOT";
  if (!grid && !mono && *type != "PCA-PIX") return std::nullopt;
  PsfFile out = read_base(file);
  PsfModel& model = out.model;
  const auto read = grid ? read_spot_grid : mono ? read_mono_spot : read_pca_pix;
  model.shape = read(file, model);
  switch_off_bad_fibers(file, file.hdus().front(), model);
  return out;
}

}  // namespace fiberloom::formats
