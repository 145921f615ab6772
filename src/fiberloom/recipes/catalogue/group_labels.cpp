// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/group_labels.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/fits/fits_name.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;
using catalogue::GroupLabels;
using catalogue::Location;

constexpr std::int64_t kNoLabel = std::numeric_limits<std::int64_t>::min();

/// A column that has one value throughout.
std::optional<std::int64_t> only_value(const std::optional<Table>& table, const char* name) {
  const auto values = table ? table->integers(name, kNoLabel) : std::nullopt;
  if (!values || values->empty() || values->front() == kNoLabel) return std::nullopt;
  const bool all = std::all_of(values->begin(), values->end(),
                               [&](std::int64_t v) { return v == values->front(); });
  return all ? std::optional(values->front()) : std::nullopt;
}

std::string group_stem(const std::string& path) {
  return loom::fits::without_fits_ending(fs::path(path).filename().string());
}

/// "4-80613" of "redrock-4-80613.fits" and "coadd-4-80613.fits.gz"; empty where a name says
/// nothing.
std::string group_rest(const std::string& path) {
  const std::string stem = group_stem(path);
  for (const std::string_view prefix : {"redrock-", "coadd-", "spectra-"}) {
    if (stem.starts_with(prefix)) return stem.substr(prefix.size());
  }
  return {};
}

}  // namespace

std::string absolute_path(const std::string& path) {
  return fs::absolute(path).lexically_normal().string();
}

GroupLabels labels_of(const HeaderCards& header, const std::optional<Table>& fibermap,
                      const std::string& path) {
  GroupLabels out;
  const auto either = [&](const char* key, const char* column) {
    const auto value = header.integer(key);
    return value ? value : only_value(fibermap, column);
  };
  out.survey = header.text("SURVEY").value_or("");
  out.program = header.text("PROGRAM").value_or(header.text("FAPRGRM").value_or(""));
  out.spgrp = header.text("SPGRP").value_or("");
  out.spgrpval = header.integer("SPGRPVAL");
  out.night = header.integer("NIGHT");
  out.tileid = either("TILEID", "TILEID");
  out.healpix = header.integer("HPXPIXEL");
  out.nside = header.integer("HPXNSIDE");
  out.petal = either("PETAL", "PETAL_LOC");
  if (!out.petal) out.petal = header.integer("SPECTRO");
  if (out.spgrp == "healpix") {
    out.tileid.reset();  // of many tiles
    out.petal.reset();
    if (!out.healpix) out.healpix = out.spgrpval;
  }
  if (!out.spgrp.empty() && !out.spgrpval && !out.healpix) out.spgrp.clear();
  const std::string rest = group_rest(path);
  const fs::path whole = absolute_path(path);
  out.file = rest.empty() ? whole.string() : (whole.parent_path() / ("redrock-" + rest)).string();
  return out;
}

std::vector<Location> files_beside(const std::string& redshifts) {
  const fs::path whole = absolute_path(redshifts);
  std::vector<Location> out{{"redshifts", whole.string()}};
  const std::string rest = group_rest(redshifts);
  if (rest.empty()) return out;
  const std::pair<const char*, std::vector<std::string>> kinds[] = {
      {"coadd", {"coadd-" + rest + ".fits", "coadd-" + rest + ".fits.gz"}},
      {"spectra", {"spectra-" + rest + ".fits", "spectra-" + rest + ".fits.gz"}},
      {"details", {"rrdetails-" + rest + ".h5"}},
      {"models", {"rrmodel-" + rest + ".fits"}}};
  std::error_code ignored;
  for (const auto& [kind, names] : kinds) {
    for (const std::string& name : names) {
      const fs::path path = whole.parent_path() / name;
      if (!fs::is_regular_file(path, ignored)) continue;
      out.emplace_back(kind, path.string());
      break;
    }
  }
  return out;
}

std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Error(Status::kNotFound, path + ": cannot be read");
  return print("%lld:%lld.%09ld", static_cast<long long>(status.st_size),
               static_cast<long long>(status.st_mtim.tv_sec),
               static_cast<long>(status.st_mtim.tv_nsec));
}

Table header_table(const HeaderCards& header) {
  Table out;
  std::set<std::string> seen;
  for (const catalogue::SqlTable* table :
       {&catalogue::exposure_table(), &catalogue::frame_table(), &catalogue::tile_table()}) {
    for (const catalogue::SqlColumn& column : table->columns) {
      if (column.from.empty() || !seen.insert(column.from).second) continue;
      if (column.type == catalogue::SqlType::kText) {
        const auto text = header.text(column.from);
        if (!text || text->empty()) continue;
        const std::vector<std::string> values{*text};
        out.add(column.from, std::span<const std::string>(values), text->size());
      } else if (column.type == catalogue::SqlType::kInteger) {
        const auto number = header.integer(column.from);
        if (!number) continue;
        const std::vector<std::int64_t> values{*number};
        out.add(column.from, std::span<const std::int64_t>(values));
      } else if (const auto number = header.number(column.from)) {
        const std::vector<double> values{*number};
        out.add(column.from, std::span<const double>(values));
      }
    }
  }
  return out;
}

}  // namespace fiberloom
