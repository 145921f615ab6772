// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/selection.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "fiberloom/catalogue/healpix.hpp"
#include "fiberloom/catalogue/schema.hpp"
#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/number_text.hpp"

namespace fiberloom::catalogue {
namespace {

constexpr double kArcsec = std::numbers::pi / (180 * 3600);

struct Origin {
  const char* name;
  const SqlTable& (*table)();
  const char* columns;  ///< that most want; empty: all
  const char* order;    ///< equal bytes for equal catalogues
};

constexpr const char* kUsual =
    "targetid,target_ra,target_dec,z,zerr,zwarn,spectype,subtype,deltachi2,survey,program,spgrp,"
    "spgrpval,tileid,healpix,petal";

constexpr std::array<Origin, 12> kOrigins{{
    {"zbest", redshift_table, kUsual, "targetid"},
    {"zpix", redshift_table, kUsual, "targetid,survey,program,spgrpval,groupid"},
    {"ztile", redshift_table, kUsual, "targetid,spgrp,spgrpval,tileid,groupid"},
    {"redshift", redshift_table, kUsual, "targetid,spgrp,spgrpval,tileid,groupid"},
    {"candidate", candidate_table, "", "targetid,groupid,znum"},
    {"exposure", exposure_table, "", "expid"},
    {"frame", frame_table, "", "frameid,kind"},
    {"tile", tile_table, "", "tileid"},
    {"fiberassign", fiberassign_table, "", "tileid,targetid"},
    {"photometry", photometry_table, "", "targetid"},
    {"spgroup", group_table, "", "groupkey"},
    {"quality", quality_table, "", "expid,kind,camera,petal,name"},
}};

const Origin& origin_of(const std::string& name) {
  for (const Origin& origin : kOrigins) {
    if (name == origin.name) return origin;
  }
  std::string all;
  for (const Origin& origin : kOrigins) all += (all.empty() ? "" : ", ") + std::string(origin.name);
  throw Error(Status::kUsage, "--from: found " + name + ", expected one of " + all);
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::size_t from = 0;
  for (std::size_t end = 0; end != std::string::npos; from = end + 1) {
    end = text.find(at, from);
    out.push_back(text.substr(from, end - from));
  }
  return out;
}

bool is_view(const Origin& origin) {
  return std::string_view(origin.name) == "zpix" || std::string_view(origin.name) == "ztile";
}

bool has_column(const Origin& origin, const std::string& name) {
  if (is_view(origin) && (name == "zcat_nspec" || name == "zcat_primary")) return true;
  const std::vector<SqlColumn>& columns = origin.table().columns;
  return std::any_of(columns.begin(), columns.end(),
                     [&](const SqlColumn& c) { return c.name == name; });
}

void require_column(const Origin& origin, const std::string& name, const char* option) {
  if (has_column(origin, name)) return;
  throw Error(Status::kUsage, std::string(option) + ": " + origin.name + " has no column " + name);
}

/// What rows are ordered by, the same on every database: what is unknown comes first, texts go by
/// their bytes and not by the server's language.
std::string order_text(const Origin& origin) {
  const SqlTable& table = origin.table();
  std::string out;
  for (const std::string& name : split(origin.order, ',')) {
    const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                     [&](const SqlColumn& c) { return c.name == name; });
    const bool text = column->type == SqlType::kText;
    const bool known = static_cast<std::size_t>(column - table.columns.begin()) < table.keys ||
                       name == "targetid" || name == "groupid";
    std::string one = "t." + name;
    if (!known) one = "coalesce(" + one + (text ? ", '')" : ", -1)");
    if (text) one += " COLLATE \"C\"";
    out += (out.empty() ? "" : ", ") + one;
  }
  return out;
}

/// The parts of a query as they come together.
struct Builder {
  const Origin& origin;
  db::Query query{};
  std::string with{}, from{}, where{}, order{};

  std::string hole(db::Value value) {
    query.values.push_back(std::move(value));
    return "$" + std::to_string(query.values.size());
  }
  void condition(const std::string& text) { where += (where.empty() ? " WHERE " : " AND ") + text; }
  template <class T>
  void one_of(const char* column, const char* option, const std::vector<T>& values) {
    if (values.empty()) return;
    require_column(origin, column, option);
    std::string holes;
    for (const T& value : values) holes += (holes.empty() ? "" : ", ") + hole(value);
    condition(std::string("t.") + column + " IN (" + holes + ")");
  }
  void cone(const Cone& c) {
    require_column(origin, "hpx", "--cone");
    const Direction to = direction(c.ra_deg, c.dec_deg);
    const double radius = c.radius_arcsec * kArcsec;
    // Numbers of ours, not the user's text: they may stand in the statement.
    std::string ranges;
    for (const PixelRange& r : cone_ranges(to, radius)) {
      ranges += (ranges.empty() ? "(" : ", (") + std::to_string(r.first) + ", " +
                std::to_string(r.last) + ")";
    }
    with = "WITH cone(lo, hi) AS (VALUES " + ranges + ") ";
    from = "cone CROSS JOIN ";
    condition("t.hpx BETWEEN cone.lo AND cone.hi");
    std::string chord;
    constexpr std::array<const char*, 3> kAxes{"t.unit_x", "t.unit_y", "t.unit_z"};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::string difference =
          std::string("(") + kAxes[k] + " - CAST(" + hole(to[k]) + " AS DOUBLE PRECISION))";
      // squared as a product: not every SQLite has a power. The same value twice, so its hole too.
      chord += (chord.empty() ? "" : " + ") + difference + " * " + difference;
    }
    condition(chord + " <= CAST(" + hole(chord_squared(radius)) + " AS DOUBLE PRECISION)");
    order = chord + ", ";
  }
};

std::string column_text(const Selection& s, const Origin& origin) {
  std::vector<std::string> names = s.columns;
  if (names.empty()) names = split(origin.columns, ',');
  if (names == std::vector<std::string>{"*"} || names == std::vector<std::string>{""}) {
    names = names_of(origin.table());
    if (is_view(origin)) names.insert(names.end(), {"zcat_nspec", "zcat_primary"});
    std::erase_if(names, [](const std::string& name) {  // the index's own
      return name == "hpx" || name.starts_with("unit_") || name == "zrank";
    });
  }
  std::string out;
  for (const std::string& name : names) {
    require_column(origin, name, "--columns");
    out += (out.empty() ? "t." : ", t.") + name;
  }
  return out;
}

}  // namespace

Cone parse_cone(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  std::array<double, 3> values{};
  bool good = parts.size() == 3;
  for (std::size_t i = 0; good && i < 3; ++i) {
    const auto value = number_in(parts[i]);
    good = value.has_value();
    values[i] = value.value_or(0);
  }
  const bool inside = std::abs(values[0]) <= 360 && std::abs(values[1]) <= 90 && values[2] > 0;
  if (good && inside) return {values[0], values[1], values[2]};
  throw Error(Status::kUsage, "--cone: found '" + text +
                                  "', expected RA,DEC,ARCSEC: degrees, degrees, more than 0");
}

void parse_z_range(const std::string& text, Selection& selection) {
  const std::vector<std::string> parts = split(text, ',');
  bool good = parts.size() == 2 && parts[0].size() + parts[1].size() > 0;
  for (std::size_t i = 0; good && i < 2; ++i) {
    std::optional<double>& end = i == 0 ? selection.z_min : selection.z_max;
    end = number_in(parts[i]);
    good = end.has_value() || parts[i].empty();
  }
  if (!good)
    throw Error(Status::kUsage, "--z: found '" + text + "', expected MIN,MAX, MIN, or ,MAX");
  if (!selection.z_min || !selection.z_max || *selection.z_min <= *selection.z_max) return;
  throw Error(Status::kUsage, "--z: found '" + text + "', expected the lower end first");
}

std::vector<std::int64_t> parse_numbers(const std::string& option,
                                        const std::vector<std::string>& texts) {
  std::vector<std::int64_t> out;
  for (const std::string& text : texts) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      throw Error(Status::kUsage, option + ": found '" + text + "', expected whole numbers");
    }
    out.push_back(value);
  }
  return out;
}

namespace {

/// GALAXY, QSO and STAR in letters of either case; others as they are.
std::string class_named(const std::string& text) {
  const std::string upper = loom::in_capitals(text);
  const bool known = upper == "GALAXY" || upper == "QSO" || upper == "STAR";
  return known ? upper : text;
}

}  // namespace

std::vector<std::string> selectable() {
  std::vector<std::string> out;
  for (const Origin& origin : kOrigins) out.emplace_back(origin.name);
  return out;
}

db::Query query_of(const Selection& s) {
  Builder builder{origin_of(s.from)};
  if (s.cone) builder.cone(*s.cone);
  std::vector<std::string> classes;
  for (const std::string& text : s.classes) classes.push_back(class_named(text));
  builder.one_of("spectype", "--class", classes);
  builder.one_of("targetid", "--targetid", s.targetids);
  builder.one_of("tileid", "--tileid", s.tileids);
  const auto compare = [&](const char* column, const char* option, const char* sign,
                           db::Value value) {
    require_column(builder.origin, column, option);
    builder.condition(std::string("t.") + column + sign + builder.hole(std::move(value)));
  };
  if (s.z_min) compare("z", "--z", " >= ", *s.z_min);
  if (s.z_max) compare("z", "--z", " <= ", *s.z_max);
  if (s.good) compare("zwarn", "--good", " = ", std::int64_t{0});
  if (s.none) builder.condition("1 = 0");
  builder.query.sql = builder.with + "SELECT " + column_text(s, builder.origin) + " FROM " +
                      builder.from + builder.origin.name + " t" + builder.where + " ORDER BY " +
                      builder.order + order_text(builder.origin);
  if (s.limit > 0) builder.query.sql += " LIMIT " + std::to_string(s.limit);
  if (s.skip > 0) builder.query.sql += " OFFSET " + std::to_string(s.skip);
  return std::move(builder.query);
}

}  // namespace fiberloom::catalogue
