// SPDX-License-Identifier: BSD-3-Clause
// Fibermaps of exposures as desispec's coadds have them: a row a target.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"

namespace fiberloom {
namespace {

using Rows = std::vector<std::size_t>;

constexpr std::array kBands{'b', 'r', 'z'};

/// Is an exposure of this FIBERSTATUS part of the camera's coadd? As of one whose flux is
/// calibrated.
bool is_in_coadd(std::int64_t status, char band) {
  return (status & calibrate::fatal_bits(calibrate::Purpose::kFlux, band)) == 0;
}

/// Columns of an exposure, in desispec's order.
constexpr std::array<std::string_view, 30> kOfExposure{"TARGETID",
                                                       "PRIORITY",
                                                       "SUBPRIORITY",
                                                       "NIGHT",
                                                       "EXPID",
                                                       "MJD",
                                                       "TILEID",
                                                       "EXPTIME",
                                                       "PETAL_LOC",
                                                       "DEVICE_LOC",
                                                       "LOCATION",
                                                       "FIBER",
                                                       "FIBERSTATUS",
                                                       "FIBERASSIGN_X",
                                                       "FIBERASSIGN_Y",
                                                       "LAMBDA_REF",
                                                       "PLATE_RA",
                                                       "PLATE_DEC",
                                                       "NUM_ITER",
                                                       "FIBER_X",
                                                       "FIBER_Y",
                                                       "DELTA_X",
                                                       "DELTA_Y",
                                                       "FIBER_RA",
                                                       "FIBER_DEC",
                                                       "PSF_TO_FIBER_SPECFLUX",
                                                       "FLAT_TO_PSF_FLUX",
                                                       "HELIOCOR_OFFSET",
                                                       "COADD_NORM",
                                                       "SIGMA_COADD_NORM"};
constexpr std::array<std::string_view, 10> kNotOfTarget{"NIGHT",
                                                        "EXPID",
                                                        "MJD",
                                                        "EXPTIME",
                                                        "NUM_ITER",
                                                        "PSF_TO_FIBER_SPECFLUX",
                                                        "FLAT_TO_PSF_FLUX",
                                                        "HELIOCOR_OFFSET",
                                                        "COADD_NORM",
                                                        "SIGMA_COADD_NORM"};
/// What means nothing across tiles.
constexpr std::array<std::string_view, 13> kOfTile{
    "TILEID",    "FIBER",      "FIBER_X",    "FIBER_Y",       "PRIORITY",
    "PETAL_RA",  "PETAL_DEC",  "LAMBDA_REF", "FIBERASSIGN_X", "FIBERASSIGN_Y",
    "PETAL_LOC", "DEVICE_LOC", "LOCATION"};
constexpr std::array<std::string_view, 17> kTargetBits{
    "CMX_TARGET",      "SV1_DESI_TARGET", "SV1_BGS_TARGET",  "SV1_MWS_TARGET",  "SV1_SCND_TARGET",
    "SV2_DESI_TARGET", "SV2_BGS_TARGET",  "SV2_MWS_TARGET",  "SV2_SCND_TARGET", "SV3_DESI_TARGET",
    "SV3_BGS_TARGET",  "SV3_MWS_TARGET",  "SV3_SCND_TARGET", "DESI_TARGET",     "BGS_TARGET",
    "MWS_TARGET",      "SCND_TARGET"};

void remove(Table& table, std::string_view name) {
  std::erase_if(table.columns, [&](const Column& c) { return c.name == name; });
}

Column* find_mutable(Table& table, const std::string& name) {
  return const_cast<Column*>(table.find(name));  // of a table that is ours to change
}

/// In the place of the one of that name, where there is one.
void put(Table& table, Column column) {
  Column* const old = find_mutable(table, column.name);
  if (old == nullptr) return table.columns.push_back(std::move(column));
  *old = std::move(column);
}

template <class T>
void put(Table& table, const std::string& name, Cell cell, std::span<const double> values) {
  Column column{.name = name, .cell = cell};
  column.data.resize(values.size() * sizeof(T));
  for (std::size_t r = 0; r < values.size(); ++r) {
    const T value = static_cast<T>(values[r]);
    std::memcpy(column.data.data() + r * sizeof(T), &value, sizeof(T));
  }
  put(table, std::move(column));
}
void put_double(Table& t, const std::string& n, std::span<const double> v) {
  put<double>(t, n, Cell::kFloat64, v);
}
void put_float(Table& t, const std::string& n, std::span<const double> v) {
  put<float>(t, n, Cell::kFloat32, v);
}
void put_short(Table& t, const std::string& n, std::span<const double> v) {
  put<std::int16_t>(t, n, Cell::kInt16, v);
}

template <class T>
void store(Column& column, std::size_t row, std::int64_t value) {
  const T stored = static_cast<T>(value);
  std::memcpy(column.data.data() + row * sizeof(T), &stored, sizeof(T));
}

/// Overwrites an integer of a column, in the width that it has; unsigned ones are stored less
/// TZERO.
void set_integer(Column& column, std::size_t row, std::int64_t value) {
  __extension__ using Wide = __int128;
  value = static_cast<std::int64_t>(Wide{value} - static_cast<Wide>(column.zero));
  switch (column.cell) {
    case Cell::kUint8:
      return store<std::uint8_t>(column, row, value);
    case Cell::kInt16:
      return store<std::int16_t>(column, row, value);
    case Cell::kInt32:
      return store<std::int32_t>(column, row, value);
    case Cell::kInt64:
      return store<std::int64_t>(column, row, value);
    default:
      return;
  }
}

/// Which rows of each target count.
struct Selection {
  std::vector<Rows> good;   ///< used for the coadd
  std::vector<Rows> means;  ///< those, or all where there is none
};

std::vector<double> over(std::span<const Rows> rows_of, const std::vector<double>& values,
                         const std::function<double(std::span<const double>)>& reduce) {
  std::vector<double> out;
  std::vector<double> some;
  for (const Rows& rows : rows_of) {
    some.clear();
    for (const std::size_t r : rows) some.push_back(values[r]);
    out.push_back(reduce(some));
  }
  return out;
}

double sum(std::span<const double> v) {
  double s = 0;
  for (const double x : v) s += x;
  return s;
}
double mean(std::span<const double> v) {
  return v.empty() ? 0 : sum(v) / static_cast<double>(v.size());
}
double rms(std::span<const double> v) {
  double s = 0;
  for (const double x : v) s += x * x;
  return v.empty() ? 0 : std::sqrt(s / static_cast<double>(v.size()));
}
double deviation(std::span<const double> v) {
  const double m = mean(v);
  double s = 0;
  for (const double x : v) s += (x - m) * (x - m);
  return v.empty() ? 0 : std::sqrt(s / static_cast<double>(v.size()));
}
double distinct(std::span<const double> v) {
  return static_cast<double>(std::set<double>(v.begin(), v.end()).size());
}

Selection select(const std::optional<std::vector<std::int64_t>>& status,
                 std::span<const Rows> rows_of) {
  Selection out;
  for (const Rows& rows : rows_of) {
    Rows good;
    for (const std::size_t r : rows) {
      const std::int64_t s = status ? (*status)[r] : 0;
      const bool any = std::any_of(kBands.begin(), kBands.end(),
                                   [s](char band) { return is_in_coadd(s, band); });
      if (any) good.push_back(r);
    }
    out.means.push_back(good.empty() ? rows : good);
    out.good.push_back(std::move(good));
  }
  return out;
}

void add_status(Table& targets, const std::vector<std::int64_t>& status,
                std::span<const Rows> rows_of, const Selection& selection) {
  Column* column = find_mutable(targets, "FIBERSTATUS");
  if (column == nullptr) column = find_mutable(targets, "COADD_FIBERSTATUS");
  if (column == nullptr) return;
  column->name = "COADD_FIBERSTATUS";
  for (std::size_t t = 0; t < rows_of.size(); ++t) {
    const bool any = !selection.good[t].empty();
    std::int64_t value = any ? ~std::int64_t{0} : 0;
    for (const std::size_t r : any ? selection.good[t] : rows_of[t]) {
      value = any ? value & status[r] : value | status[r];
    }
    set_integer(*column, t, value);
  }
}

/// Mean and scatter (arcsec) of the coordinates of fibres, where there are any.
void add_coordinates(Table& targets, const std::vector<double>& ra, const std::vector<double>& dec,
                     std::span<const Rows> rows_of, const Selection& selection) {
  std::vector<double> mean_ra, std_ra, mean_dec, std_dec;
  for (std::size_t t = 0; t < rows_of.size(); ++t) {
    const auto known = [&](std::size_t r) { return ra[r] != 0 || dec[r] != 0; };
    const bool none = std::none_of(rows_of[t].begin(), rows_of[t].end(), known);
    Rows both, alone;
    for (const std::size_t r : rows_of[t]) {
      if (none || known(r)) alone.push_back(r);
    }
    for (const std::size_t r : selection.means[t]) {
      if (none || known(r)) both.push_back(r);
    }
    std::vector<double> x, y;
    for (const std::size_t r : both.empty() ? alone : both) {
      x.push_back(ra[r]);
      y.push_back(dec[r]);
    }
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    const double offset = *high - *low > 180 ? 180 : 0;  // around 0 degrees
    if (offset > 0) {
      for (double& v : x) v = std::fmod(v + offset, 360.0);
    }
    mean_dec.push_back(mean(y));
    std_dec.push_back(deviation(y) * 3600);
    mean_ra.push_back(std::fmod(mean(x) - offset + 360, 360.0));
    std_ra.push_back(deviation(x) * std::cos(mean_dec.back() * M_PI / 180) * 3600);
  }
  put_double(targets, "MEAN_FIBER_RA", mean_ra);
  put_float(targets, "STD_FIBER_RA", std_ra);
  put_double(targets, "MEAN_FIBER_DEC", mean_dec);
  put_float(targets, "STD_FIBER_DEC", std_dec);
  remove(targets, "FIBER_RA");
  remove(targets, "FIBER_DEC");
}

void add_means(Table& targets, const Table& exposures, bool one_tile, std::span<const Rows> rows) {
  std::vector<std::string> names{"DELTA_X", "DELTA_Y", "PSF_TO_FIBER_SPECFLUX"};
  if (one_tile) names.insert(names.end(), {"FIBER_X", "FIBER_Y"});
  for (const std::string& name : names) {
    const auto values = exposures.column(name);
    if (!values) continue;
    put_float(targets, "MEAN_" + name, over(rows, *values, mean));
    if (name.starts_with("DELTA")) put_float(targets, "RMS_" + name, over(rows, *values, rms));
    remove(targets, name);
  }
}

void add_times(Table& targets, const Table& exposures, std::span<const Rows> rows) {
  const auto mjd = exposures.column("MJD");
  if (!mjd) return;
  put_double(targets, "MIN_MJD",
             over(rows, *mjd, [](auto v) { return *std::min_element(v.begin(), v.end()); }));
  put_double(targets, "MAX_MJD",
             over(rows, *mjd, [](auto v) { return *std::max_element(v.begin(), v.end()); }));
  put_double(targets, "MEAN_MJD", over(rows, *mjd, mean));
}

void add_counts(Table& targets, const Table& exposures, std::span<const Rows> good) {
  const auto none = std::vector<double>(exposures.rows, 0.0);
  put_short(targets, "COADD_NUMEXP",
            over(good, none, [](auto v) { return static_cast<double>(v.size()); }));
  const auto time = exposures.column("EXPTIME");
  const auto minus = std::vector<double>(good.size(), -1.0);
  put_float(targets, "COADD_EXPTIME", time ? over(good, *time, sum) : minus);
  for (const auto& [name, from] :
       {std::pair{"COADD_NUMNIGHT", "NIGHT"}, {"COADD_NUMTILE", "TILEID"}}) {
    const auto values = exposures.column(from);
    put_short(targets, name, values ? over(good, *values, distinct) : minus);
  }
}

void join_target_bits(Table& targets, const Table& exposures, std::span<const Rows> rows_of) {
  for (const std::string_view name : kTargetBits) {
    const auto values = exposures.integers(std::string(name), 0);
    Column* column = find_mutable(targets, std::string(name));
    if (!values || column == nullptr || column->zero != 0 || column->scale != 1) continue;
    if (column->cell == Cell::kFloat32 || column->cell == Cell::kFloat64) continue;
    for (std::size_t t = 0; t < rows_of.size(); ++t) {
      std::int64_t all = 0;
      for (const std::size_t r : rows_of[t]) all |= (*values)[r];
      set_integer(*column, t, all);
    }
  }
}

void remove_tiles_own(Table& targets, const Table& exposures) {
  const auto tiles = exposures.column("TILEID");
  if (!tiles || distinct(*tiles) <= 1) return;
  for (const std::string_view name : kOfTile) remove(targets, name);
}

/// Is it a column that a coadd computes of its exposures?
bool is_computed(const std::string& name) {
  constexpr std::array<std::string_view, 6> kStarts{"COADD_", "MEAN_",   "RMS_",
                                                    "STD_",   "MIN_MJD", "MAX_MJD"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](std::string_view start) { return name.starts_with(start); });
}

Table exposure_columns(const Table& exposures,
                       const std::optional<std::vector<std::int64_t>>& status) {
  Table out;
  out.rows = exposures.rows;
  out.notes = exposures.notes;
  for (const std::string_view name : kOfExposure) {
    if (const Column* column = exposures.find(std::string(name))) out.columns.push_back(*column);
  }
  const std::array<const char*, 3> names{"IN_COADD_B", "IN_COADD_R", "IN_COADD_Z"};
  for (std::size_t b = 0; b < names.size() && status; ++b) {
    Column column{.name = names[b], .cell = Cell::kTruth};
    for (const std::int64_t s : *status) {
      column.data.push_back(is_in_coadd(s, kBands[b]) ? 'T' : 'F');
    }
    out.columns.push_back(std::move(column));
  }
  return out;
}

}  // namespace

CoaddedFibermap coadd_fibermap(const Table& exposures,
                               std::span<const std::vector<std::size_t>> rows_of) {
  auto status = exposures.integers("FIBERSTATUS", 0);
  if (!status) status = exposures.integers("COADD_FIBERSTATUS", 0);
  const Selection selection = select(status, rows_of);
  const auto tiles = exposures.column("TILEID");
  const bool one_tile = !tiles || distinct(*tiles) <= 1;
  Rows first;
  for (const Rows& rows : rows_of) first.push_back(rows.front());
  CoaddedFibermap out;
  out.exposures = exposure_columns(exposures, status);
  out.targets = exposures.take(first);
  forget_cards(out.targets);
  add_counts(out.targets, exposures, selection.good);
  add_means(out.targets, exposures, one_tile, selection.means);
  const auto ra = exposures.column("FIBER_RA"), dec = exposures.column("FIBER_DEC");
  if (ra && dec) add_coordinates(out.targets, *ra, *dec, rows_of, selection);
  add_times(out.targets, exposures, selection.means);
  if (status) add_status(out.targets, *status, rows_of, selection);
  join_target_bits(out.targets, exposures, rows_of);
  for (const std::string_view name : kNotOfTarget) remove(out.targets, name);
  remove_tiles_own(out.targets, exposures);
  return out;
}

CoaddedFibermap coadd_fibermap(const Table& coadds,
                               std::span<const std::vector<std::size_t>> rows_of,
                               const Table& exposures) {
  const std::vector<std::int64_t> ids = coadds.integers("TARGETID", -1).value();
  const std::vector<std::int64_t> of_exposures = exposures.integers("TARGETID", -1).value();
  std::unordered_map<std::int64_t, std::size_t> place;
  Rows first;
  for (const Rows& rows : rows_of) {
    place.emplace(ids[rows.front()], first.size());
    first.push_back(rows.front());
  }
  std::vector<Rows> its(rows_of.size());
  Rows kept;
  for (std::size_t r = 0; r < of_exposures.size(); ++r) {
    const auto found = place.find(of_exposures[r]);
    if (found == place.end()) continue;
    its[found->second].push_back(kept.size());
    kept.push_back(r);
  }
  const auto none = [](const Rows& rows) { return rows.empty(); };
  if (std::any_of(its.begin(), its.end(), none)) return coadd_fibermap(coadds, rows_of);
  const auto one = [](const Rows& rows) { return rows.size() == 1; };
  if (coadds.find("COADD_NUMEXP") != nullptr && std::all_of(rows_of.begin(), rows_of.end(), one)) {
    return {coadds.take(first), exposures.take(kept)};  // what they say holds as before
  }
  CoaddedFibermap out = coadd_fibermap(exposures.take(kept), its);
  Table computed = std::exchange(out.targets, coadd_fibermap(coadds, rows_of).targets);
  std::erase_if(out.targets.columns, [&](const Column& c) {
    return is_computed(c.name) && c.name != "COADD_FIBERSTATUS" && !computed.find(c.name);
  });
  for (Column& column : computed.columns) {
    if (is_computed(column.name)) put(out.targets, std::move(column));
  }
  remove_tiles_own(out.targets, exposures);
  return out;
}

}  // namespace fiberloom
