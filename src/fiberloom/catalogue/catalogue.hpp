// SPDX-License-Identifier: BSD-3-Clause
// The catalogue: exposures, frames, tiles, targets, redshifts and their candidates, quality, and
// where the spectra lie, in a database. What is put replaces what the same group or frame had
// before, in one transaction. Takes structs, knows no file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/catalogue/schema.hpp"
#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/table.hpp"
#include "loom/db/db.hpp"

namespace fiberloom::catalogue {

/// What a group of spectra is of: a tile's petal up to a night, a pixel of the sky ...
struct GroupLabels {
  std::string survey, program;
  std::string spgrp;  ///< "cumulative", "pernight", "perexp", "healpix"; empty: a file on its own
  std::optional<std::int64_t> spgrpval, night, tileid, healpix, petal;
  std::optional<std::int64_t> nside{};  ///< of `healpix`
  std::string file;  ///< of a group without labels: the file of redshifts that it would have
  /// Equal for equal groups, whatever the files are called: "cumulative 20210324 tile 80613 petal
  /// 4". Of labels that do not tell a group from its neighbours, without a petal say, the file too.
  [[nodiscard]] std::string key() const;
};

/// A file, of a kind: "redshifts", "coadd", "spectra", "details", "models".
using Location = std::pair<std::string, std::string>;

struct RedshiftGroup {
  GroupLabels labels;
  std::string path, stamp;  ///< where it came from; equal stamps, equal content
  std::string program;      ///< that found the redshifts
  Table redshifts;          ///< a row for each target
  std::optional<Table> fibermap, exp_fibermap, tsnr2, candidates;
  std::vector<Location> locations;
};

/// Spectra that have no redshifts yet, or had them before.
struct SpectraGroup {
  GroupLabels labels;
  std::optional<Table> fibermap, exp_fibermap;
  Location location;
};

/// A frame of a camera, or the quality of an exposure: what its header and tables say.
struct FrameRecord {
  std::string kind;  ///< "frame", "sframe", "cframe"
  std::string path, stamp;
  std::string camera;  ///< "r0"
  std::int64_t nspec = 0;
  Table header;  ///< one row: keywords as columns
  std::optional<Table> fibermap, scores;
};

struct QualityRecord {
  std::int64_t expid = 0;
  std::string kind, camera;
  std::int64_t petal = 0;
  std::vector<std::pair<std::string, double>> values;
};

class Catalogue {
 public:
  /// With Access::kWrite the tables are made where there are none. Throws db::Fault, and Error
  /// kNewerSchema where a newer program has made them.
  Catalogue(const std::string& url, const db::OpenOptions& options);

  [[nodiscard]] db::Connection& connection() const noexcept { return *connection_; }

  /// What no other catalogue has, also none that was made anew under the same name; empty of one
  /// that can only be read and was never written by a program that knows identities.
  [[nodiscard]] std::string identity();

  /// What is put between these becomes visible at the end, all at once: indices are written once
  /// for all of it, and others who write wait so long. A put that throws leaves nothing of its own.
  void begin_many();
  void end_many();
  [[nodiscard]] bool in_many() const noexcept { return many_; }

  /// Is just this content of the group there, from that path?
  [[nodiscard]] bool has(const GroupLabels& labels, const std::string& path,
                         const std::string& stamp);
  [[nodiscard]] bool has_frame(std::int64_t frameid, const std::string& kind,
                               const std::string& path, const std::string& stamp);

  /// How many rows of redshifts. Throws kMissingKeyword where a column is missing without which
  /// there is no row, kCorrupt where a target has two.
  std::size_t put(const RedshiftGroup& group);
  void put(const SpectraGroup& group);
  void put(const FrameRecord& frame);
  void put(const QualityRecord& quality);
  /// Effective seconds of an exposure, as its quality has them.
  void put_effective_time(std::int64_t expid, double seconds);

 private:
  std::int64_t group_id(const GroupLabels& labels);
  void put_group(std::int64_t id, const RedshiftGroup& group);
  void put_candidates(std::int64_t id, const RedshiftGroup& group);
  void put_targets(const std::optional<Table>& fibermap);
  void put_assigned(const std::optional<Table>& fibermap, const GroupLabels& labels);
  void put_exposures(const Table& table, const GroupLabels& labels);
  void put_tile(const GroupLabels& labels);
  template <class Group>
  void put_fibermaps(const Group& group);
  void sum_tile(std::int64_t tileid);
  void put_location(std::int64_t id, const Location& location);
  /// `work` as a whole or not at all.
  void whole(const std::function<void()>& work);
  std::unique_ptr<db::Connection> connection_;
  db::Access access_;
  bool many_ = false;
};

/// 100 x EXPID + 10 x (0 blue, 1 red, 2 infrared) + spectrograph, as the field numbers frames.
/// nullopt where the camera is none.
[[nodiscard]] std::optional<std::int64_t> frame_id(std::int64_t expid, const std::string& camera);

}  // namespace fiberloom::catalogue
