// SPDX-License-Identifier: BSD-3-Clause
// Everything that was looked at, as HDF5 in redrock's layout (rrdetails-*.h5): chi2 at every
// redshift and the minima that were kept. Written group by group, read back as a scan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_table.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace fiberloom {

/// /targetids, /zbest, /zscan/{FULLTYPE}/{redshifts, zchi2, penalty, zcoeff},
/// /zfit/{TARGETID}/zfit. Arrays over targets are stored in a chunk for each target.
class DetailsWriter {
 public:
  /// `shape`: wide enough for all rows; `points`: samples around a minimum.
  DetailsWriter(const std::string& path, Overwrite overwrite, std::span<const std::int64_t> ids,
                const RedshiftModels& models, const RedshiftShape& shape, std::size_t points);
  /// Targets [first, ...): scans and candidates, to which bits of fibermaps were applied.
  void add(std::size_t first, const TargetFits& fits,
           std::span<const std::vector<redshift::Candidate>> candidates);
  /// With `together` its name waits for the others there.
  void commit(FilesTogether* together = nullptr);

 private:
  [[nodiscard]] RedshiftShape shape_with(bool number) const;
  [[nodiscard]] std::vector<hdf5::Field> fields(bool with_number) const;
  void append(std::int64_t id, const redshift::Candidate& candidate, int number, bool with_number,
              std::vector<std::uint8_t>& out) const;

  std::vector<std::int64_t> ids_;
  const RedshiftModels& models_;
  RedshiftShape shape_;
  std::size_t points_;
  hdf5::Writer file_;
  std::vector<std::uint8_t> best_;  ///< rows of /zbest
  // Of one group, kept: blocks that come and go leave holes which fit nothing.
  std::vector<double> chi2_, penalty_;
  std::vector<float> coefficients_;
};

/// A details file of ours or redrock's, as the scan of its targets.
class ScanFile {
 public:
  /// Throws kNotFound, kCorrupt; kMissingHdu, kWrongShape where a template's scan is missing or
  /// its arrays disagree.
  ScanFile(const std::string& path, const RedshiftModels& models);
  /// One curve a template. Throws kFiberRange where a target is not in the file.
  [[nodiscard]] std::vector<GivenCurve> curves(std::span<const std::int64_t> ids) const;

 private:
  hdf5::Reader file_;
  const RedshiftModels& models_;
  std::unordered_map<std::int64_t, std::size_t> rows_;
  std::vector<std::vector<double>> redshifts_;  ///< of each template
};

/// How many samples around a minimum are kept.
[[nodiscard]] std::size_t points_of(const RedshiftOptions& options);

}  // namespace fiberloom
