// SPDX-License-Identifier: BSD-3-Clause
// Long: plates, frames and single targets share plug maps and grids, which nothing else knows.
#include "fiberloom/formats/sdss_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/spectrum/gaussian_resolution.hpp"

namespace fiberloom::formats {
namespace {

using fits::FitsReader;
using fits::Hdu;
using fits::HduKind;

/// What the peer fits of SDSS's wavelengths, Angstrom.
constexpr double kLowest = 3500, kHighest = 10000;
/// Where the peer lets the arms of a frame end.
constexpr double kBlueEnd = 6000, kRedBegin = 5500;
/// SDSS's grid: pixel k is at 10^(k kStep). The nearest to the limits, the last one left out.
constexpr double kStep = 1e-4;
constexpr std::size_t kFirstPixel = 35441, kLastPixel = 40000;
/// Spectra of single targets begin and end at multiples of so many pixels.
constexpr std::size_t kRound = 64;
/// Pixels; float32 leaves 0.001 of them.
constexpr double kOnGrid = 0.01;

constexpr double kLeastWidth = 1e-5, kUnknownWidth = 2, kMostWidth = 12;  // pixels

[[noreturn]] void missing(const FitsReader& file, const Hdu& hdu, const std::string& what) {
  throw file.error(Status::kMissingKeyword, hdu, what);
}

/// The first of these keywords that is an integer in [0, limit).
std::int64_t need_integer(const FitsReader& file, const Hdu& hdu, std::int64_t limit,
                          std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const auto value = hdu.header.integer(key);
    if (!value) continue;
    if (*value >= 0 && *value < limit) return *value;
    throw file.error(Status::kCorrupt, hdu,
                     std::string(key) + " is " + std::to_string(*value) + ", expected 0 to " +
                         std::to_string(limit - 1));
  }
  missing(file, hdu, std::string("no integer ") + *keys.begin());
}

constexpr std::int64_t kPlates = 1000000, kDays = 100000, kFibers = 10000;

bool is_sky(const std::string& type) { return fits::normal_name(type).starts_with("SKY"); }

/// Rows of a plate's fibermap, or the one of a target.
struct Fibers {
  std::vector<std::int64_t> id;
  std::vector<std::int32_t> plate, mjd, fiber;
  std::vector<double> ra, dec;
  std::vector<std::string> type;
};

Table fibermap_of(const Fibers& f) {
  std::vector<std::string> kind;
  for (const std::string& type : f.type) kind.emplace_back(is_sky(type) ? "SKY" : "TGT");
  Table out;
  out.add("TARGETID", std::span(f.id), "", "PLATE 1e9 + MJD 1e4 + FIBER");
  out.add("PLATE", std::span(f.plate)).add("MJD", std::span(f.mjd), "d");
  out.add("FIBER", std::span(f.fiber), "", "FIBERID, counted from 1");
  out.add("TARGET_RA", std::span(f.ra), "deg").add("TARGET_DEC", std::span(f.dec), "deg");
  out.add("OBJTYPE", std::span(kind), 3);
  out.add("SDSS_OBJTYPE", std::span(f.type), 16);
  return out;
}

const Hdu& image_like_flux(const FitsReader& file, std::size_t number, const Hdu& flux) {
  if (number >= file.hdus().size()) {
    throw file.error(Status::kMissingHdu, "no HDU " + std::to_string(number) +
                                              ", which a spPlate has; found " +
                                              std::to_string(file.hdus().size()));
  }
  return require_like_flux(file, file.hdus()[number], flux);
}

/// Wavelengths of all pixels by COEFF0 and COEFF1.
std::vector<double> log_grid(const FitsReader& file, const Hdu& flux) {
  const double first = flux.header.number("COEFF0").value_or(NAN);
  const double step = flux.header.number("COEFF1").value_or(NAN);
  const double last = first + step * static_cast<double>(flux.axes[0] - 1);
  if (!(step > 0 && first > 0 && last < 10)) {  // log10 of Angstrom
    throw file.error(Status::kCorrupt, flux,
                     "COEFF0 and COEFF1 make no wavelengths that increase (log10 of Angstrom)");
  }
  std::vector<double> wave(flux.axes[0]);
  for (std::size_t j = 0; j < wave.size(); ++j) {
    wave[j] = std::pow(10.0, first + step * static_cast<double>(j));
  }
  require_increasing(file, flux, wave);
  return wave;
}

std::size_t nearest(std::span<const double> wave, double to) {
  const auto nearer = [&](double a, double b) { return std::abs(a - to) < std::abs(b - to); };
  return static_cast<std::size_t>(std::min_element(wave.begin(), wave.end(), nearer) -
                                  wave.begin());
}

Fibers plugmap_fibers(const FitsReader& file, const Hdu& flux) {
  if (file.hdus().size() <= 5 || file.hdus()[5].kind != HduKind::kTable) {
    throw file.error(Status::kMissingHdu, "HDU 5 is no table, expected a spPlate's PLUGMAP");
  }
  const Hdu& hdu = file.hdus()[5];
  const RawTable map = file.read_table(hdu);
  const std::size_t n = flux.axes[1];
  if (map.rows != n) {
    throw file.error(Status::kWrongShape, hdu,
                     std::to_string(map.rows) + " rows, expected one for each of " +
                         std::to_string(n) + " spectra");
  }
  const auto fibers = map.integers("FIBERID", -1);
  if (!fibers) missing(file, hdu, "no column FIBERID");
  const std::int64_t plate = need_integer(file, flux, kPlates, {"PLATEID", "PLATE"});
  const std::int64_t mjd = need_integer(file, flux, kDays, {"MJD"});
  Fibers out;
  for (const std::int64_t fiber : *fibers) {
    if (fiber < 0 || fiber >= kFibers) {
      throw file.error(Status::kCorrupt, hdu,
                       "FIBERID is " + std::to_string(fiber) + ", expected 0 to 9999");
    }
    out.id.push_back(sdss_target_id(plate, mjd, fiber));
    out.fiber.push_back(static_cast<std::int32_t>(fiber));
  }
  out.plate.assign(n, static_cast<std::int32_t>(plate));
  out.mjd.assign(n, static_cast<std::int32_t>(mjd));
  out.ra = map.column("RA").value_or(std::vector<double>(n));
  out.dec = map.column("DEC").value_or(std::vector<double>(n));
  out.type = map.text_column("OBJTYPE").value_or(std::vector<std::string>(n));
  return out;
}

/// The pixel of which any fibre is nearest to a wavelength.
std::size_t nearest_of_all(const Array2D<double>& wave, double to) {
  std::size_t best = 0;
  double distance = HUGE_VAL;
  for (std::size_t j = 0; j < wave.cols(); ++j) {
    for (std::size_t r = 0; r < wave.rows(); ++r) {
      const double d = std::abs(wave(r, j) - to);
      if (!(d < distance)) continue;
      distance = d;
      best = j;
    }
  }
  return best;
}

bool increases(std::span<const double> wave) {
  for (std::size_t j = 0; j < wave.size(); ++j) {
    if (!std::isfinite(wave[j]) || !(wave[j] > (j == 0 ? 0 : wave[j - 1]))) return false;
  }
  return true;
}

/// Rows of a plug map in the order of a frame's rows.
Fibers in_rows(const FitsReader& file, const Hdu& hdu, const Fibers& map) {
  const std::size_t n = map.fiber.size();
  std::vector<std::size_t> from(n, n);
  for (std::size_t k = 0; k < n; ++k) {
    if (map.fiber[k] < 1) {
      throw file.error(Status::kCorrupt, hdu, "FIBERID is 0, expected 1 or more");
    }
    std::size_t& at = from[static_cast<std::size_t>(map.fiber[k] - 1) % n];
    if (at != n) {
      throw file.error(Status::kCorrupt, hdu,
                       "two fibres of one row, FIBERID " + std::to_string(map.fiber[k]));
    }
    at = k;
  }
  Fibers out = map;
  for (std::size_t r = 0; r < n; ++r) {
    out.id[r] = map.id[from[r]];
    out.fiber[r] = map.fiber[from[r]];
    out.ra[r] = map.ra[from[r]];
    out.dec[r] = map.dec[from[r]];
    out.type[r] = map.type[from[r]];
  }
  return out;
}

/// Has the table a column LOGLAM?
bool has_loglam(const Hdu& hdu) {
  if (hdu.kind != HduKind::kTable) return false;
  for (int k = 1; k < 100; ++k) {
    const auto name = hdu.header.text("TTYPE" + std::to_string(k));
    if (!name) return false;
    if (fits::normal_name(*name) == "LOGLAM") return true;
  }
  return false;
}

/// The columns of COADD that are used.
struct Pixels {
  std::vector<double> loglam, flux, ivar, dispersion;
  std::vector<std::int64_t> mask;
};

Pixels read_pixels(const FitsReader& file, AndMask and_mask) {
  const Hdu& hdu = file.hdus()[1];
  const RawTable table = file.read_table(hdu);
  const auto need = [&](const char* name) {
    const auto values = table.column(name);
    if (!values) missing(file, hdu, std::string("no column ") + name + " of single numbers");
    return *values;
  };
  Pixels out{need("LOGLAM"), need("FLUX"), need("IVAR"), {}, {}};
  if (table.rows < 2) {
    throw file.error(Status::kWrongShape, hdu,
                     std::to_string(table.rows) + " pixels, expected two or more");
  }
  if (auto wdisp = table.column("WDISP")) out.dispersion = std::move(*wdisp);
  if (and_mask == AndMask::kIgnore) return out;
  const auto mask = table.integers("AND_MASK", 0);
  if (!mask) missing(file, hdu, "no column AND_MASK, which is to be used");
  out.mask = *mask;
  return out;
}

/// Pixel of SDSS's grid for each, or empty where they are on none.
std::vector<std::int64_t> on_grid(std::span<const double> loglam) {
  std::vector<std::int64_t> out;
  for (const double l : loglam) {
    const double k = std::round(l / kStep);
    const bool good = std::abs(l / kStep - k) < kOnGrid && std::abs(k) < 1e6;
    if (!good || (!out.empty() && static_cast<std::int64_t>(k) <= out.back())) return {};
    out.push_back(static_cast<std::int64_t>(k));
  }
  return out;
}

/// Pixels `from` of a file stand at `to` of a grid.
struct Places {
  std::vector<std::size_t> from, to;
  std::vector<double> wave;
};

Places places_of(std::span<const double> loglam) {
  Places out;
  const std::vector<std::int64_t> grid = on_grid(loglam);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (grid[i] < std::int64_t{kFirstPixel} || grid[i] >= std::int64_t{kLastPixel}) continue;
    out.from.push_back(i);
    out.to.push_back(static_cast<std::size_t>(grid[i]));
  }
  if (!grid.empty() && !out.to.empty()) {
    const std::size_t first = std::max(kFirstPixel, out.to.front() / kRound * kRound);
    const std::size_t last = std::min(kLastPixel, (out.to.back() / kRound + 1) * kRound);
    for (std::size_t k = first; k < last; ++k) {
      out.wave.push_back(std::pow(10.0, static_cast<double>(k) * kStep));
    }
    for (std::size_t& k : out.to) k -= first;
  }
  if (!grid.empty()) return out;
  for (std::size_t i = 0; i < loglam.size(); ++i) {
    const double wave = std::pow(10.0, loglam[i]);
    if (!(wave >= kLowest && wave < kHighest)) continue;
    out.from.push_back(i);
    out.to.push_back(out.wave.size());
    out.wave.push_back(wave);
  }
  return out;
}

Fibers target_of(const FitsReader& file) {
  const Hdu& hdu = file.hdus().front();
  const HeaderCards& header = hdu.header;
  Fibers out;
  std::string type;
  std::optional<std::int64_t> catalogue;
  if (file.hdus().size() > 2 && file.hdus()[2].kind == HduKind::kTable) {
    const RawTable row = file.read_table(file.hdus()[2]);
    const auto types = row.text_column("OBJTYPE");
    const auto ids = row.integers("CATALOGID", -1);
    if (types && !types->empty()) type = types->front();
    if (ids && !ids->empty() && ids->front() > 0) catalogue = ids->front();
  }
  const bool field = catalogue && !header.has("PLATEID");  // of SDSS-V
  const std::int64_t plate = field ? header.integer("FIELD").value_or(0)
                                   : need_integer(file, hdu, kPlates, {"PLATEID", "PLATE"});
  const std::int64_t mjd =
      field ? header.integer("MJD").value_or(0) : need_integer(file, hdu, kDays, {"MJD"});
  const std::int64_t fiber = field ? header.integer("FIBERID").value_or(0)
                                   : need_integer(file, hdu, kFibers, {"FIBERID", "FIBER"});
  out.id = {field ? *catalogue : sdss_target_id(plate, mjd, fiber)};
  out.plate = {static_cast<std::int32_t>(plate)};
  out.mjd = {static_cast<std::int32_t>(mjd)};
  out.fiber = {static_cast<std::int32_t>(fiber)};
  const auto degrees = [&](const char* plug, const char* other) {
    const auto value = header.number(plug);
    return std::vector<double>{value ? *value : header.number(other).value_or(0)};
  };
  out.ra = degrees("PLUG_RA", "RA");
  out.dec = degrees("PLUG_DEC", "DEC");
  out.type = {type};
  return out;
}

SdssImages images_of(const FitsReader& file) {
  SdssImages out;
  out.flux = &file.hdus().front();
  out.ivar = &image_like_flux(file, 1, *out.flux);
  out.mask = &image_like_flux(file, 2, *out.flux);
  out.dispersion = &image_like_flux(file, 4, *out.flux);
  return out;
}

}  // namespace

SdssKind sdss_kind(const FitsReader& file) {
  const std::vector<Hdu>& hdus = file.hdus();
  const Hdu& first = hdus.front();
  const bool plate = first.is_image() && first.axes.size() == 2 && first.header.has("COEFF0") &&
                     first.header.has("COEFF1");
  const bool frame = first.is_image() && first.axes.size() == 2 && first.header.has("CAMERAS") &&
                     hdus.size() > 5 && hdus[3].is_image() && hdus[3].axes == first.axes &&
                     hdus[5].kind == HduKind::kTable && !plate;
  if (frame) return SdssKind::kFrame;
  if (plate) return SdssKind::kPlate;
  return hdus.size() > 1 && has_loglam(hdus[1]) ? SdssKind::kSpec : SdssKind::kNone;
}

SdssPlate parse_plate(const FitsReader& file) {
  SdssPlate out{images_of(file), {}, {}};
  const std::vector<double> wave = log_grid(file, *out.flux);
  out.first = nearest(wave, kLowest);
  const std::size_t last = wave.back() < kHighest ? wave.size() : nearest(wave, kHighest);
  if (last < out.first + 2) {
    throw file.error(Status::kWrongShape, *out.flux,
                     "less than two pixels between 3500 and 10000 Angstrom");
  }
  out.wave.assign(wave.begin() + static_cast<std::ptrdiff_t>(out.first),
                  wave.begin() + static_cast<std::ptrdiff_t>(last));
  out.fibermap = fibermap_of(plugmap_fibers(file, *out.flux));
  return out;
}

SdssFrame parse_sdss_frame(const FitsReader& file) {
  SdssFrame out{images_of(file), {}, {}, {}, {}};
  out.camera = fits::normal_name(out.flux->header.text("CAMERAS").value_or("")).substr(0, 2);
  const Fibers fibers = in_rows(file, file.hdus()[5], plugmap_fibers(file, *out.flux));
  out.fibermap = fibermap_of(fibers);
  const std::int64_t exposure = out.flux->header.integer("EXPOSURE").value_or(-1);
  if (exposure >= 0 && exposure <= INT32_MAX) {
    const std::vector<std::int32_t> all(fibers.id.size(), static_cast<std::int32_t>(exposure));
    out.fibermap.add("EXPID", std::span(all));
  }
  Array2D<double> wave = read_matrix(file, image_like_flux(file, 3, *out.flux));
  for (std::size_t i = 0; i < wave.size(); ++i) wave.data()[i] = std::pow(10.0, wave.data()[i]);
  const bool blue = !out.camera.empty() && out.camera.front() == 'B';
  out.first = nearest_of_all(wave, blue ? kLowest : kRedBegin);
  const double limit = blue ? kBlueEnd : kHighest;
  std::size_t last = nearest_of_all(wave, limit);
  if (wave(0, wave.cols() - 1) < limit && last == wave.cols() - 1) ++last;  // nothing to cut off
  if (last < out.first + 2) {
    throw file.error(Status::kWrongShape, *out.flux,
                     "less than two pixels between the limits of the camera's arm");
  }
  out.wave = Array2D<double>(wave.rows(), last - out.first);
  std::size_t good = wave.rows();
  for (std::size_t r = 0; r < wave.rows(); ++r) {
    std::copy(wave.row(r) + out.first, wave.row(r) + last, out.wave.row(r));
    out.usable.push_back(increases({out.wave.row(r), out.wave.cols()}));
    if (out.usable.back() && good == wave.rows()) good = r;
  }
  if (good == wave.rows()) {
    throw file.error(Status::kCorrupt, file.hdus()[3], "no fibre has wavelengths that increase");
  }
  for (std::size_t r = 0; r < wave.rows(); ++r) {
    if (!out.usable[r]) {
      std::copy_n(out.wave.row(good), out.wave.cols(), out.wave.row(r));
    }
  }
  return out;
}

Spectra parse_spec(const FitsReader& file, AndMask and_mask) {
  const Pixels pixels = read_pixels(file, and_mask);
  const Places places = places_of(pixels.loglam);
  const std::vector<std::size_t>&from = places.from, &to = places.to;
  if (from.size() < 2) {
    throw file.error(Status::kWrongShape, file.hdus()[1],
                     "less than two pixels between 3500 and 10000 Angstrom");
  }
  require_increasing(file, file.hdus()[1], places.wave);
  Spectra out;
  out.wave = places.wave;
  const std::size_t m = out.wave.size();
  out.flux = Array2D<double>(1, m, 0.0);
  out.ivar = Array2D<double>(1, m, 0.0);
  if (!pixels.mask.empty()) out.mask = Array2D<std::uint32_t>(1, m, 0U);
  std::vector<double> width(m);
  for (std::size_t i = 0; i < from.size(); ++i) {
    out.flux(0, to[i]) = pixels.flux[from[i]];
    out.ivar(0, to[i]) = pixels.ivar[from[i]];
    if (!out.mask.empty()) out.mask(0, to[i]) = pixels.mask[from[i]] != 0 ? 1 : 0;
    if (!pixels.dispersion.empty()) width[to[i]] = pixels.dispersion[from[i]];
  }
  if (!pixels.dispersion.empty()) {
    const std::vector<double> sigma = sigma_of_dispersion(width, out.wave);
    Array2D<double> of_bins(1, m);
    std::copy(sigma.begin(), sigma.end(), of_bins.data());
    out.resolution = gaussian_resolution(out.wave, of_bins);
  }
  out.fibermap = fibermap_of(target_of(file));
  return out;
}

std::vector<double> sigma_of_dispersion(std::span<const double> pixels,
                                        std::span<const double> wave) {
  std::vector<double> out(pixels.size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    const std::size_t low = j == 0 ? 0 : j - 1, high = std::min(j + 1, wave.size() - 1);
    const double width = (wave[high] - wave[low]) / static_cast<double>(high - low);
    const bool known = pixels[j] >= kLeastWidth && pixels[j] <= kMostWidth;
    out[j] = width * (known ? pixels[j] : kUnknownWidth);
  }
  return out;
}

}  // namespace fiberloom::formats

namespace fiberloom {

std::int64_t sdss_target_id(std::int64_t plate, std::int64_t mjd, std::int64_t fiber) noexcept {
  return (plate * formats::kDays + mjd) * formats::kFibers + fiber;
}

}  // namespace fiberloom
