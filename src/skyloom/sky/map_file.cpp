// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/map_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>

#include "loom/base/print.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/float32.hpp"
#include "skyloom/kelvin.hpp"
#include "skyloom/sky/map_contents.hpp"
#include "skyloom/sky/stokes_names.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kStokes = 3;

double or_nan(double value) noexcept {
  const bool seen = std::isfinite(value) && std::fabs(value / kUnseen - 1) > 1e-5;
  return seen ? value : NAN;
}

/// By its name (U, U_STOKES), or the last of three that are I, Q, U.
bool is_u(const std::vector<std::string>& names, std::size_t number) {
  if (is_stokes(names[number], 'U')) return true;
  const auto found = names.size() == kStokes ? stokes_columns(names) : std::nullopt;
  return found && found->u == number;
}

/// What a column is in K. Throws kUnsupported.
double kelvin_of_column(const std::string& path, const std::string& unit) {
  const auto kelvin = unit.empty() ? 1 : kelvin_of(unit);
  if (!kelvin) {
    throw Error(Status::kUnsupported,
                path + ": unit '" + unit + "': expected K, mK or uK (of the CMB), or none");
  }
  return *kelvin;
}

constexpr std::array<char, 8> kHdf5Start{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};

}  // namespace

Ordering ordering_named(const std::string& text, const std::string& path) {
  if (text == "NESTED" || text == "NEST") return Ordering::kNested;
  if (text == "RING") return Ordering::kRing;
  throw Error(kPixelisation, path + ": ORDERING " + text + ": expected NESTED or RING");
}

Healpix pixels_of_file(const std::string& path, std::int64_t nside) {
  try {
    return Healpix(nside);
  } catch (const Error& error) {
    throw Error(error.status(), path + ": " + error.what());
  }
}

Healpix so_many_pixels(const std::string& path, std::size_t pixels) {
  try {
    return Healpix(nside_of(static_cast<std::int64_t>(pixels)));
  } catch (const Error& error) {
    throw Error(error.status(), path + ": " + error.what());
  }
}

bool begins_as_hdf5(const std::string& path) {
  (void)ByteSource::open(path);  // names what is missing or may not be read
  std::ifstream in(path, std::ios::binary);
  std::array<char, 8> start{};
  in.read(start.data(), start.size());
  return in && start == kHdf5Start;
}

std::string MapGrid::text() const {
  if (image) return text_of(*image);
  return print("Nside %lld", static_cast<long long>(pixels.nside()));
}

bool same_pixels(const MapGrid& a, const MapGrid& b) noexcept {
  if (a.image && b.image) return same_cells(*a.image, *b.image);
  return !a.image && !b.image && a.pixels.nside() == b.pixels.nside();
}

MapTable::MapTable(const std::string& path)
    : path_(path),
      contents_(std::make_unique<const MapContents>(begins_as_hdf5(path) ? open_hdf5_map(path)
                                                                         : open_fits_map(path))) {}

MapTable::~MapTable() = default;

const ImagePlace* MapTable::image() const noexcept {
  return contents_->image ? &*contents_->image : nullptr;
}
MapGrid MapTable::grid() const { return {.pixels = pixels(), .image = contents_->image}; }
const Healpix& MapTable::pixels() const noexcept { return contents_->pixels; }
const std::vector<std::string>& MapTable::names() const noexcept { return contents_->names; }
const std::string& MapTable::unit() const noexcept { return contents_->unit; }
const std::string& MapTable::unit(std::size_t column) const noexcept {
  const std::vector<std::string>& units = contents_->units;
  return column < units.size() && !units[column].empty() ? units[column] : contents_->unit;
}
const std::string& MapTable::frame() const noexcept { return contents_->frame; }

std::vector<double> MapTable::column(std::size_t number) const {
  const MapContents& own = *contents_;
  std::vector<double> values = own.values(number);
  const bool turned = own.iau && is_u(own.names, number);
  for (double& value : values) value = turned ? -or_nan(value) : or_nan(value);
  if (own.image) return values;
  const auto all = static_cast<std::size_t>(own.pixels.pixels());
  const std::size_t stored = own.numbers ? own.numbers->size() : all;
  if (values.size() != stored) {
    throw Error(Status::kWrongShape, path_ + print(": column %zu: %zu values of %zu pixels",
                                                   number + 1, values.size(), stored));
  }
  std::vector<double> out(all, NAN);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double at = own.numbers ? (*own.numbers)[i] : static_cast<double>(i);
    if (!(at >= 0 && at < static_cast<double>(all))) {
      throw Error(kPixelisation, path_ + print(": pixel %g of a map of Nside %lld", at,
                                               static_cast<long long>(own.pixels.nside())));
    }
    auto pixel = static_cast<Pixel>(at);
    if (own.ordering == Ordering::kRing) pixel = own.pixels.to_nested(pixel);
    out[static_cast<std::size_t>(pixel)] = values[i];
  }
  return out;
}

SkyMap read_sky(const std::string& path) {
  const MapTable file(path);
  if (file.image() != nullptr) {
    throw Error(kPixelisation,
                path + ": a flat map (" + file.grid().text() + "): expected HEALPix");
  }
  const std::vector<std::string>& names = file.names();
  const auto found = stokes_columns(names);
  if (!found) {
    throw Error(
        Status::kWrongShape,
        path + print(": %zu columns of values: expected 1 (I) or 3 (I, Q, U)", names.size()));
  }
  SkyMap sky;
  sky.pixels = file.pixels();
  sky.frame = file.frame();
  sky.values.assign(kStokes * static_cast<std::size_t>(sky.pixels.pixels()), 0.0F);
  std::vector<bool> lacking(static_cast<std::size_t>(sky.pixels.pixels()));
  const std::optional<std::size_t> columns[kStokes] = {found->i, found->q, found->u};
  for (std::size_t c = 0; c < kStokes; ++c) {
    if (!columns[c]) continue;
    const double kelvin = kelvin_of_column(path, file.unit(*columns[c]));
    const std::vector<double> values = file.column(*columns[c]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isnan(values[i])) {
        lacking[i] = true;
      } else {
        sky.values[kStokes * i + c] = static_cast<float>(kelvin * values[i]);
      }
    }
  }
  if (!found->q) {
    std::vector<std::string> beside = names;
    beside.erase(beside.begin() + static_cast<std::ptrdiff_t>(found->i));
    sky.beside = names_in_words(beside);
  }
  sky.unseen = static_cast<std::size_t>(std::count(lacking.begin(), lacking.end(), true));
  return sky;
}

std::vector<Pixel> numbers_of(const Healpix& pixels, const MapFile& file) {
  if (file.part == nullptr) return {};
  std::vector<Pixel> numbers = *file.part;
  if (file.ordering == Ordering::kRing) {
    for (Pixel& number : numbers) number = static_cast<Pixel>(pixels.to_ring(number));
    std::sort(numbers.begin(), numbers.end());
  }
  return numbers;
}

void require_map_format(const std::string& path) {
  if (path.ends_with(kHdf5Ending)) hdf5::require_available(path);
}

MapValues with_room(const std::string& path, const MapFile& file, MapValues values) {
  if (file.type != MapType::kFloat32) return values;
  return [&path, &file, values = std::move(values)](Pixel pixel, double* out) {
    values(pixel, out);
    for (std::size_t c = 0; c < file.columns.size(); ++c) {
      const bool positive = file.positive && c == 0;
      if (!(positive ? has_no_float32(out[c]) : is_beyond_float32(out[c]))) continue;
      throw Error(Status::kUnsupported,
                  path + print(": %s of a pixel is %g%s%s, for which float32 has no room (float64 "
                               "has: --type)",
                               file.columns[c].c_str(), out[c], file.unit.empty() ? "" : " ",
                               file.unit.c_str()));
    }
  };
}

void write_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
               const MapFile& file, const MapValues& values, Executor& executor) {
  const MapValues stored = with_room(path, file, values);
  if (path.ends_with(kHdf5Ending)) return write_hdf5_map(path, overwrite, pixels, file, stored);
  write_fits_map(path, overwrite, pixels, file, stored, executor);
}

}  // namespace skyloom
