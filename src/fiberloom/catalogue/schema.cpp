// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/schema.hpp"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string_view>
#include <utility>

#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::catalogue {
namespace {

using Columns = std::vector<SqlColumn>;

/// "z zerr target_ra=TARGET_RA": columns of one type; without = the file's name is the same in
/// capitals. A name that ends in ! is nobody's column.
void add(Columns& out, SqlType type, std::string_view names) {
  std::size_t at = 0;
  while (at < names.size()) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    std::string name(names.substr(at, end - at));
    at = end + 1;
    if (name.empty()) continue;
    SqlColumn column{name, type, {}, 0};
    if (const std::size_t sign = name.find('='); sign != std::string::npos) {
      column.name = name.substr(0, sign);
      column.from = name.substr(sign + 1);
    } else if (name.back() == '!') {
      column.name.pop_back();
    } else {
      column.from = loom::in_capitals(column.name);
    }
    out.push_back(std::move(column));
  }
}
void integers(Columns& out, std::string_view names) { add(out, SqlType::kInteger, names); }
void numbers(Columns& out, std::string_view names) { add(out, SqlType::kNumber, names); }
void texts(Columns& out, std::string_view names) { add(out, SqlType::kText, names); }

/// Figures of exposures, of each camera and of all.
void add_tsnr2(Columns& out) {
  for (const char* camera : {"_b", "_r", "_z", ""}) {
    for (const char* kind :
         {"gpbdark", "elg", "gpbbright", "lya", "bgs", "gpbbackup", "qso", "lrg"}) {
      numbers(out, std::string("tsnr2_") + kind + camera);
    }
  }
}

SqlTable make_exposure() {
  Columns c;
  integers(c, "expid night tileid");
  texts(c, "survey program faprgrm faflavor flavor obstype");
  numbers(c, "mjd=MJD-OBS exptime airmass seeing=SEEING_ETC ebv efftime_spec tilera tiledec");
  return {"exposure", std::move(c), 1};
}

SqlTable make_frame() {
  Columns c;
  integers(c, "frameid!");
  texts(c, "kind!");
  integers(c, "expid night tileid");
  texts(c, "camera! flavor obstype");
  integers(c, "petal! nspec!");
  numbers(c, "mjd=MJD-OBS exptime");
  texts(c, "path! stamp!");
  return {"frame", std::move(c), 2};
}

SqlTable make_tile() {
  Columns c;
  integers(c, "tileid");
  texts(c, "survey program faprgrm faflavor");
  numbers(c, "tilera tiledec");
  integers(c, "nexp! lastnight!");
  numbers(c, "exptime!");
  return {"tile", std::move(c), 1};
}

SqlTable make_fiberassign() {
  Columns c;
  integers(c, "targetid tileid fiber petal_loc device_loc location fiberstatus");
  texts(c, "objtype");
  numbers(c, "target_ra target_dec pmra pmdec ref_epoch lambda_ref");
  integers(c, "fa_target fa_type");
  numbers(c, "fiberassign_x fiberassign_y");
  integers(c, "priority");
  numbers(c, "subpriority plate_ra plate_dec");
  return {"fiberassign", std::move(c), 2};
}

SqlTable make_photometry() {
  Columns c;
  integers(c, "targetid");
  numbers(c, "ra=TARGET_RA dec=TARGET_DEC pmra pmdec ref_epoch");
  integers(c, "release brickid");
  texts(c, "brickname");
  integers(c, "brick_objid");
  texts(c, "morphtype");
  numbers(c,
          "ebv flux_g flux_r flux_z flux_w1 flux_w2 flux_ivar_g flux_ivar_r flux_ivar_z "
          "flux_ivar_w1 flux_ivar_w2 fiberflux_g fiberflux_r fiberflux_z fibertotflux_g "
          "fibertotflux_r fibertotflux_z");
  integers(c, "maskbits");
  numbers(c, "sersic shape_r shape_e1 shape_e2");
  integers(c, "ref_id");
  texts(c, "ref_cat");
  numbers(c, "gaia_phot_g_mean_mag gaia_phot_bp_mean_mag gaia_phot_rp_mean_mag parallax");
  texts(c, "photsys");
  return {"photometry", std::move(c), 1};
}

/// What of a group each of its targets has too, so that a query needs no join.
constexpr const char* kGroupTexts = "survey! program! spgrp!";
constexpr const char* kGroupIntegers = "spgrpval! night! tileid! healpix! petal!";

SqlTable make_group() {
  Columns c;
  integers(c, "groupid!");
  texts(c, "groupkey!");
  texts(c, kGroupTexts);
  integers(c, kGroupIntegers);
  integers(c, "ntarget!");
  texts(c, "rrver! path! stamp!");
  return {"spgroup", std::move(c), 1};
}

SqlTable make_redshift() {
  Columns c;
  integers(c, "groupid! rownumber! targetid");
  texts(c, kGroupTexts);
  integers(c, kGroupIntegers);
  numbers(c, "z zerr");
  integers(c, "zwarn");
  numbers(c, "chi2");
  for (std::size_t i = 0; i < 10; ++i) {
    c.push_back({"coeff_" + std::to_string(i), SqlType::kNumber, "COEFF", i});
  }
  integers(c, "npixels");
  texts(c, "spectype subtype");
  integers(c, "ncoeff");
  numbers(c, "deltachi2");
  texts(c, "fitmethod");
  numbers(c, "probability class_probability posterior_zerr log_evidence");
  integers(c, "good_z_bgs good_z_lrg good_z_elg good_z_qso");
  for (const char* line : {"mgii", "oii", "hbeta", "oiii", "halpha", "nii"}) {
    for (const char* what : {"_flux", "_flux_ivar", "_sigma"}) numbers(c, std::string(line) + what);
  }
  texts(c, "objtype");
  numbers(c, "target_ra target_dec");
  integers(c, "desi_target bgs_target mws_target scnd_target coadd_fiberstatus coadd_numexp");
  numbers(c, "coadd_exptime");
  integers(c, "coadd_numnight coadd_numtile");
  numbers(c,
          "mean_delta_x rms_delta_x mean_delta_y rms_delta_y mean_fiber_ra std_fiber_ra "
          "mean_fiber_dec std_fiber_dec mean_psf_to_fiber_specflux mean_fiber_x mean_fiber_y");
  add_tsnr2(c);
  integers(c, "hpx!");
  numbers(c, "unit_x! unit_y! unit_z! zrank!");
  return {"redshift", std::move(c), 0};
}

SqlTable make_candidate() {
  Columns c;
  integers(c, "groupid! targetid znum");
  numbers(c, "z zerr");
  integers(c, "zwarn");
  numbers(c, "chi2");
  integers(c, "npixels");
  texts(c, "spectype subtype");
  integers(c, "ncoeff");
  numbers(c, "deltachi2 probability class_probability log_evidence");
  return {"candidate", std::move(c), 3};
}

SqlTable make_quality() {
  Columns c;
  integers(c, "expid!");
  texts(c, "kind! camera!");
  integers(c, "petal!");
  texts(c, "name!");
  numbers(c, "value!");
  return {"quality", std::move(c), 5};
}

SqlTable make_location() {
  Columns c;
  integers(c, "groupid!");
  texts(c, "kind! path!");
  return {"location", std::move(c), 2};
}

std::string sql_type(SqlType type) {
  switch (type) {
    case SqlType::kInteger:
      return "BIGINT";
    case SqlType::kNumber:
      return "DOUBLE PRECISION";
    default:
      return "TEXT";
  }
}

std::string create_text(const SqlTable& table) {
  std::string out, keys;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const SqlColumn& column = table.columns[i];
    out += (out.empty() ? "" : ", ") + column.name + " " + sql_type(column.type);
    if (i >= table.keys) continue;
    out += " NOT NULL";
    keys += (keys.empty() ? "" : ", ") + column.name;
  }
  if (!keys.empty()) out += ", PRIMARY KEY(" + keys + ")";
  return "CREATE TABLE " + table.name + "(" + out + ")";
}

/// Of two fits of a target the better one: as the field chooses, no warning first, then the deeper
/// exposure (zrank has both); what is still equal must not depend on the order of loading. The
/// index knows targetid and groupid: of a target with one fit no row is read.
constexpr const char* kBetter =
    "b.groupid <> a.groupid AND (b.zrank, coalesce(b.deltachi2, 0), coalesce(b.spgrpval, 0), "
    "coalesce(b.tileid, 0),"
    " coalesce(b.healpix, 0), b.groupid) > "
    "(a.zrank, coalesce(a.deltachi2, 0), coalesce(a.spgrpval, 0), coalesce(a.tileid, 0),"
    " coalesce(a.healpix, 0), a.groupid)";

std::string view_text(const char* name, const std::string& where) {
  const std::string rival = " FROM redshift b WHERE b.targetid = a.targetid AND b.spgrp = a.spgrp";
  return std::string("CREATE VIEW ") + name + " AS SELECT a.*, (SELECT count(*)" + rival +
         ") AS zcat_nspec,"
         " CASE WHEN EXISTS (SELECT 1" +
         rival + " AND " + kBetter + ") THEN 0 ELSE 1 END AS zcat_primary FROM redshift a WHERE " +
         where;
}

constexpr const char* kIndices[] = {
    "CREATE UNIQUE INDEX redshift_of_group ON redshift(groupid, targetid)",
    "CREATE INDEX redshift_of_target ON redshift(targetid, tileid, groupid)",
    "CREATE INDEX redshift_of_place ON redshift(hpx)",
    "CREATE INDEX redshift_of_tile ON redshift(tileid)",
    "CREATE INDEX candidate_of_target ON candidate(targetid)",
    "CREATE INDEX fiberassign_of_tile ON fiberassign(tileid)",
    "CREATE INDEX frame_of_exposure ON frame(expid)",
    "CREATE INDEX exposure_of_tile ON exposure(tileid)",
    "CREATE UNIQUE INDEX spgroup_of_key ON spgroup(groupkey)",
};

/// Whether a table is there, asked of the database's own list.
bool has_table(db::Connection& connection, const std::string& name) {
  const bool sqlite = connection.kind() == db::Kind::kSqlite;
  return !db::first_row(connection,
                        sqlite ? "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1"
                               : "SELECT 1 WHERE to_regclass($1) IS NOT NULL",
                        {name})
              .empty();
}

/// What the catalogue says of itself; empty: nothing.
std::string info_of(db::Connection& connection, const char* key) {
  const auto row = db::first_row(connection, "SELECT value FROM catalogue_info WHERE key = $1",
                                 {std::string(key)});
  const auto* const text = row.empty() ? nullptr : std::get_if<std::string>(&row[0]);
  return text == nullptr ? std::string() : *text;
}

}  // namespace

#define FIBERLOOM_TABLE(name)                    \
  const SqlTable& name##_table() {               \
    static const SqlTable table = make_##name(); \
    return table;                                \
  }
FIBERLOOM_TABLE(exposure)
FIBERLOOM_TABLE(frame)
FIBERLOOM_TABLE(tile)
FIBERLOOM_TABLE(fiberassign)
FIBERLOOM_TABLE(photometry)
FIBERLOOM_TABLE(group)
FIBERLOOM_TABLE(redshift)
FIBERLOOM_TABLE(candidate)
FIBERLOOM_TABLE(quality)
FIBERLOOM_TABLE(location)
#undef FIBERLOOM_TABLE

std::vector<std::string> names_of(const SqlTable& table) {
  std::vector<std::string> out;
  for (const SqlColumn& column : table.columns) out.push_back(column.name);
  return out;
}

std::optional<int> schema_version(db::Connection& connection) {
  if (!has_table(connection, "catalogue_info")) {
    if (connection.kind() == db::Kind::kSqlite &&
        !db::first_row(connection, "SELECT 1 FROM sqlite_master").empty()) {
      throw db::Fault(db::Trouble::kNoDatabase, Status::kUnsupported,
                      connection.name() + ": a database with other tables, no catalogue");
    }
    return std::nullopt;
  }
  const int version = std::atoi(info_of(connection, "schema_version").c_str());
  if (version > 0) return version;
  throw db::Fault(db::Trouble::kNoDatabase, Status::kUnsupported,
                  connection.name() + ": catalogue_info has no schema_version");
}

void make_schema(db::Connection& connection) {
  db::in_transaction(connection, [&] {
    if (schema_version(connection)) return;  // somebody else has made them meanwhile
    for (const SqlTable* table :
         {&exposure_table(), &frame_table(), &tile_table(), &fiberassign_table(),
          &photometry_table(), &group_table(), &redshift_table(), &candidate_table(),
          &quality_table(), &location_table()}) {
      connection.execute(create_text(*table));
    }
    for (const char* index : kIndices) connection.execute(index);
    connection.execute(
        std::string("CREATE VIEW zbest AS SELECT a.* FROM redshift a WHERE NOT EXISTS (SELECT 1 "
                    "FROM redshift b WHERE b.targetid = a.targetid AND ") +
        kBetter + ")");
    connection.execute(view_text("zpix", "a.spgrp = 'healpix'"));
    connection.execute(view_text("ztile", "a.spgrp <> 'healpix'"));
    connection.execute("CREATE TABLE catalogue_info(key TEXT PRIMARY KEY, value TEXT NOT NULL)");
    connection.run("INSERT INTO catalogue_info(key, value) VALUES('schema_version', $1)",
                   std::vector<db::Value>{std::to_string(kSchemaVersion)});
  });
}

std::string identity_of(db::Connection& connection) { return info_of(connection, "identity"); }

void make_identity(db::Connection& connection) {
  db::in_transaction(connection, [&] {
    if (!identity_of(connection).empty()) return;  // somebody else has made one meanwhile
    std::random_device random;
    std::string text;
    for (int i = 0; i < 4; ++i) text += print("%08x", static_cast<unsigned>(random()));
    connection.run("INSERT INTO catalogue_info(key, value) VALUES('identity', $1)",
                   std::vector<db::Value>{text});
  });
}

}  // namespace fiberloom::catalogue
