// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/catalogue/catalogue.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "fiberloom/catalogue/rows.hpp"
#include "fiberloom/status.hpp"

namespace fiberloom::catalogue {
namespace {

using db::Value;
using Values = std::vector<Value>;

constexpr std::int64_t kUndefined = std::numeric_limits<std::int64_t>::min();

Value value_of(const std::optional<std::int64_t>& number) {
  return number ? Value(*number) : Value(std::monostate{});
}
Value text_of(const std::string& text) {
  return text.empty() ? Value(std::monostate{}) : Value(clean_text(text));
}

Given given_of(const GroupLabels& l) {
  return {{"survey", text_of(l.survey)},    {"program", text_of(l.program)},
          {"spgrp", clean_text(l.spgrp)},   {"spgrpval", value_of(l.spgrpval)},
          {"night", value_of(l.night)},     {"tileid", value_of(l.tileid)},
          {"healpix", value_of(l.healpix)}, {"petal", value_of(l.petal)}};
}

std::vector<std::int64_t> targets_of(const RedshiftGroup& group) {
  for (const char* name : {"TARGETID", "Z", "ZWARN"}) {
    if (group.redshifts.column(name)) continue;
    throw Error(Status::kMissingKeyword,
                group.path + ": REDSHIFTS has no column " + name + " of single numbers");
  }
  std::vector<std::int64_t> ids = *group.redshifts.integers("TARGETID", kUndefined);
  std::vector<std::int64_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    throw Error(Status::kCorrupt,
                group.path + ": REDSHIFTS has two rows of target " + std::to_string(*twice));
  }
  return ids;
}

}  // namespace

std::string GroupLabels::key() const {
  if (spgrp.empty()) return "file " + file;
  std::string out = spgrp;
  const auto add = [&](const char* name, const std::optional<std::int64_t>& v) {
    if (v) out += std::string(" ") + name + std::to_string(*v);
  };
  if (spgrp == "healpix") {
    out += " " + (survey.empty() ? "-" : survey) + " " + (program.empty() ? "-" : program);
    add("", healpix ? healpix : spgrpval);
    constexpr std::int64_t kUsual = 64;
    if (nside && *nside != kUsual) add("nside ", nside);
    if (survey.empty() && program.empty()) out += " file " + file;
  } else {
    add("", spgrpval);
    add("tile ", tileid);
    add("petal ", petal);
    if (!tileid || !petal) out += " file " + file;  // ten petals are ten groups
  }
  return out;
}

std::optional<std::int64_t> frame_id(std::int64_t expid, const std::string& camera) {
  constexpr std::string_view kBands = "brz";
  if (camera.size() != 2 || camera[1] < '0' || camera[1] > '9') return std::nullopt;
  const std::size_t band = kBands.find(camera[0]);
  if (band == std::string_view::npos) return std::nullopt;
  return 100 * expid + 10 * static_cast<std::int64_t>(band) + (camera[1] - '0');
}

Catalogue::Catalogue(const std::string& url, const db::OpenOptions& options)
    : connection_(db::open(url, options)), access_(options.access) {
  std::optional<int> version = schema_version(*connection_);
  if (!version && options.access == db::Access::kWrite) {
    make_schema(*connection_);
    version = schema_version(*connection_);
  }
  if (!version) {
    throw db::Fault(db::Trouble::kNoDatabase, Status::kNotFound,
                    connection_->name() + ": there is no catalogue in it");
  }
  if (*version > kSchemaVersion) {
    throw Error(kNewerSchema, connection_->name() + ": a catalogue of version " +
                                  std::to_string(*version) + ", this program knows up to " +
                                  std::to_string(kSchemaVersion));
  }
}

std::string Catalogue::identity() {
  if (identity_of(*connection_).empty() && access_ == db::Access::kWrite) {
    make_identity(*connection_);
  }
  return identity_of(*connection_);
}

bool Catalogue::has(const GroupLabels& labels, const std::string& path, const std::string& stamp) {
  return !db::first_row(*connection_,
                        "SELECT 1 FROM spgroup WHERE groupkey = $1 AND path = $2 AND stamp = $3",
                        {clean_text(labels.key()), clean_text(path), stamp})
              .empty();
}

bool Catalogue::has_frame(std::int64_t frameid, const std::string& kind, const std::string& path,
                          const std::string& stamp) {
  return !db::first_row(
              *connection_,
              "SELECT 1 FROM frame WHERE frameid = $1 AND kind = $2 AND path = $3 AND stamp = $4",
              {frameid, kind, clean_text(path), stamp})
              .empty();
}

void Catalogue::begin_many() {
  connection_->begin();
  many_ = true;
}

void Catalogue::end_many() {
  many_ = false;
  connection_->commit();
}

void Catalogue::whole(const std::function<void()>& work) {
  if (!many_) return db::in_transaction(*connection_, work);
  connection_->execute("SAVEPOINT one");
  try {
    work();
  } catch (const db::Fault& fault) {
    // The connection's, perhaps: what began it all rolls all back.
    if (fault.trouble() != db::Trouble::kConstraint) throw;
    connection_->execute("ROLLBACK TO one; RELEASE one");
    throw Error(Status::kCorrupt, fault.what());  // of this one alone
  } catch (...) {
    connection_->execute("ROLLBACK TO one; RELEASE one");
    throw;
  }
  connection_->execute("RELEASE one");
}

std::int64_t Catalogue::group_id(const GroupLabels& labels) {
  const std::string key = clean_text(labels.key());
  const auto known =
      db::first_row(*connection_, "SELECT groupid FROM spgroup WHERE groupkey = $1", {key});
  if (!known.empty()) return std::get<std::int64_t>(known[0]);
  const auto last =
      db::first_row(*connection_, "SELECT coalesce(max(groupid), 0) + 1 FROM spgroup");
  const std::int64_t id = std::get<std::int64_t>(last.at(0));
  connection_->run("INSERT INTO spgroup(groupid, groupkey) VALUES($1, $2)", Values{id, key});
  return id;
}

template <class Group>
void Catalogue::put_fibermaps(const Group& group) {
  put_targets(group.fibermap);
  put_tile(group.labels);
  put_assigned(group.fibermap, group.labels);
  if (group.exp_fibermap) {
    put_assigned(group.exp_fibermap, group.labels);
    put_exposures(*group.exp_fibermap, group.labels);
  }
  if (group.labels.tileid) sum_tile(*group.labels.tileid);
}

std::size_t Catalogue::put(const RedshiftGroup& group) {
  const std::vector<std::int64_t> ids = targets_of(group);
  std::vector<Source> sources{same_rows(group.redshifts)};
  for (const auto* table : {&group.fibermap, &group.tsnr2}) {
    if (*table) sources.push_back(rows_of_targets(**table, ids));
  }
  whole([&] {
    const std::int64_t id = group_id(group.labels);
    put_group(id, group);
    Given given = given_of(group.labels);
    given["groupid"] = id;
    const Rows rows(redshift_table(), sources, given);
    const Derived derived;
    const std::size_t rownumber = place_of(redshift_table(), "rownumber");
    connection_->run("DELETE FROM redshift WHERE groupid = $1", Values{id});
    connection_->append(redshift_table().name, names_of(redshift_table()), ids.size(),
                        [&](std::size_t r, std::span<Value> out) {
                          rows.fill(r, out);
                          out[rownumber] = static_cast<std::int64_t>(r);
                          derived.fill(out);
                        });
    put_candidates(id, group);
    // of what lay beside the redshifts before: the spectra may have come from elsewhere
    connection_->run("DELETE FROM location WHERE groupid = $1 AND kind IN ('details', 'models')",
                     Values{id});
    for (const Location& location : group.locations) put_location(id, location);
    put_fibermaps(group);
  });
  return ids.size();
}

void Catalogue::put_group(std::int64_t id, const RedshiftGroup& group) {
  Given given = given_of(group.labels);
  std::string set;
  Values values;
  given["ntarget"] = static_cast<std::int64_t>(group.redshifts.rows);
  given["rrver"] = text_of(group.program);
  given["path"] = clean_text(group.path);
  given["stamp"] = group.stamp;
  for (const auto& [name, value] : given) {
    values.push_back(value);
    set += (set.empty() ? "" : ", ") + name + " = $" + std::to_string(values.size());
  }
  values.emplace_back(id);
  connection_->run(
      "UPDATE spgroup SET " + set + " WHERE groupid = $" + std::to_string(values.size()), values);
}

void Catalogue::put_candidates(std::int64_t id, const RedshiftGroup& group) {
  connection_->run("DELETE FROM candidate WHERE groupid = $1", Values{id});
  if (!group.candidates) return;
  const SqlTable& table = candidate_table();
  const Rows rows(table, std::vector<Source>{same_rows(*group.candidates)}, {{"groupid", id}});
  const std::vector<std::size_t> wanted = rows.by_key(group.candidates->rows, table.keys);
  connection_->append(table.name, names_of(table), wanted.size(),
                      [&](std::size_t r, std::span<Value> out) { rows.fill(wanted[r], out); });
}

void Catalogue::put_targets(const std::optional<Table>& fibermap) {
  if (!fibermap) return;
  const std::vector<Source> sources{same_rows(*fibermap)};
  merge_rows(*connection_, photometry_table(), Rows(photometry_table(), sources, {}),
             fibermap->rows);
}

void Catalogue::put_assigned(const std::optional<Table>& fibermap, const GroupLabels& labels) {
  if (!fibermap) return;
  const std::vector<Source> sources{same_rows(*fibermap)};
  Given given;
  if (fibermap->find("TILEID") == nullptr) given["tileid"] = value_of(labels.tileid);
  merge_rows(*connection_, fiberassign_table(), Rows(fiberassign_table(), sources, given),
             fibermap->rows);
}

void Catalogue::put_exposures(const Table& table, const GroupLabels& labels) {
  SqlTable sql = exposure_table();
  const bool header = table.find("MJD-OBS") != nullptr;
  if (!header) sql.columns[place_of(sql, "mjd")].from = "MJD";
  const std::vector<Source> sources{same_rows(table)};
  Given given;
  if (table.find("TILEID") == nullptr) given["tileid"] = value_of(labels.tileid);
  if (table.find("SURVEY") == nullptr) given["survey"] = text_of(labels.survey);
  if (table.find("PROGRAM") == nullptr) given["program"] = text_of(labels.program);
  merge_rows(*connection_, sql, Rows(sql, sources, given), table.rows);
}

void Catalogue::put_tile(const GroupLabels& labels) {
  if (!labels.tileid) return;
  const std::vector<std::string> columns{"tileid", "survey", "program"};
  connection_->merge("tile", columns, 1, 1, [&](std::size_t, std::span<Value> out) {
    out[0] = *labels.tileid;
    out[1] = text_of(labels.survey);
    out[2] = text_of(labels.program);
  });
}

void Catalogue::sum_tile(std::int64_t tileid) {
  connection_->run(
      "UPDATE tile SET nexp = (SELECT count(*) FROM exposure e WHERE e.tileid = tile.tileid), "
      "exptime = (SELECT sum(e.exptime) FROM exposure e WHERE e.tileid = tile.tileid), "
      "lastnight = (SELECT max(e.night) FROM exposure e WHERE e.tileid = tile.tileid) "
      "WHERE tileid = $1",
      Values{tileid});
}

void Catalogue::put_location(std::int64_t id, const Location& location) {
  const std::vector<std::string> columns{"groupid", "kind", "path"};
  connection_->merge("location", columns, 2, 1, [&](std::size_t, std::span<Value> out) {
    out[0] = id;
    out[1] = location.first;
    out[2] = clean_text(location.second);
  });
}

void Catalogue::put(const SpectraGroup& group) {
  whole([&] {
    put_location(group_id(group.labels), group.location);
    put_fibermaps(group);
  });
}

void Catalogue::put(const FrameRecord& frame) {
  const std::vector<Source> sources{same_rows(frame.header)};
  const auto expid = frame.header.integers("EXPID", kUndefined);
  const auto id = expid && (*expid)[0] != kUndefined ? frame_id((*expid)[0], frame.camera)
                                                     : std::optional<std::int64_t>();
  if (!id) {
    throw Error(Status::kMissingKeyword,
                frame.path + ": no EXPID and CAMERA that would name the frame");
  }
  GroupLabels labels;
  if (const auto tile = frame.header.integers("TILEID", kUndefined)) {
    if ((*tile)[0] != kUndefined) labels.tileid = (*tile)[0];
  }
  whole([&] {
    put_exposures(frame.header, labels);
    merge_rows(*connection_, frame_table(),
               Rows(frame_table(), sources,
                    {{"frameid", *id},
                     {"kind", frame.kind},
                     {"camera", frame.camera},
                     {"petal", std::int64_t{frame.camera[1] - '0'}},
                     {"nspec", frame.nspec},
                     {"path", clean_text(frame.path)},
                     {"stamp", frame.stamp}}),
               1);
    if (labels.tileid) {
      merge_rows(*connection_, tile_table(), Rows(tile_table(), sources, {}), 1);
      put_assigned(frame.fibermap, labels);
      sum_tile(*labels.tileid);
    }
    put_targets(frame.fibermap);
  });
}

void Catalogue::put(const QualityRecord& quality) {
  whole([&] {
    connection_->run(
        "DELETE FROM quality WHERE expid = $1 AND kind = $2 AND camera = $3 AND petal = $4",
        Values{quality.expid, quality.kind, quality.camera, quality.petal});
    connection_->append("quality", names_of(quality_table()), quality.values.size(),
                        [&](std::size_t r, std::span<Value> out) {
                          out[0] = quality.expid;
                          out[1] = quality.kind;
                          out[2] = quality.camera;
                          out[3] = quality.petal;
                          out[4] = clean_text(quality.values[r].first);
                          out[5] = quality.values[r].second;
                        });
  });
}

void Catalogue::put_effective_time(std::int64_t expid, double seconds) {
  whole([&] {
    connection_->merge("exposure", std::vector<std::string>{"expid", "efftime_spec"}, 1, 1,
                       [&](std::size_t, std::span<Value> out) {
                         out[0] = expid;
                         out[1] = seconds;
                       });
  });
}

}  // namespace fiberloom::catalogue
