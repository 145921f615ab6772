// SPDX-License-Identifier: BSD-3-Clause
// The files of a search for redshifts as targets: which rows of which files are whose, and spectra
// by groups of targets. Tables are in memory, spectra of one group at a time are.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fiberloom/formats/spectra_reader.hpp"
#include "fiberloom/recipes/redshift/lost_columns.hpp"
#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"
#include "fiberloom/redshift/target.hpp"
#include "loom/base/log.hpp"

namespace fiberloom {

inline constexpr std::int64_t kNoTarget = -1;  ///< TARGETID of a row without one

/// Targets that are fitted together. It never depends on who computes: a scan of a group takes the
/// mean resolution of its targets. 64 share the templates while these are in cache.
inline constexpr std::size_t kTargetsOfGroup = 64;

/// More fibres on the sky than these say nothing new of it.
inline constexpr std::size_t kMostSkies = 512;

/// Spectra of some targets, and views of them.
struct TargetGroup {
  std::deque<Spectra> spectra;  ///< what the views look at
  std::vector<redshift::TargetView> targets;
};

class RedshiftInputs {
 public:
  /// Opens all files and reads their tables. Throws kUsage, kFiberRange where targets are asked for
  /// that are not there, and what the readers throw.
  RedshiftInputs(const RedshiftJob& job, const Observer& observer);

  /// In the order in which they first appear.
  [[nodiscard]] const std::vector<std::int64_t>& ids() const noexcept { return asked_.ids; }
  [[nodiscard]] std::size_t groups() const noexcept { return (ids().size() + group_ - 1) / group_; }
  /// Targets of group g: [first, last).
  [[nodiscard]] std::pair<std::size_t, std::size_t> targets_of(std::size_t g) const noexcept;
  /// Compares the checksums of all spectra. Throws kCorrupt.
  void verify() const;
  /// Thread-safe.
  [[nodiscard]] TargetGroup read(std::size_t group) const;
  /// Fibres on the sky of all files, whichever targets are asked for; of more than kMostSkies, so
  /// many from first to last.
  [[nodiscard]] std::size_t skies() const noexcept { return skies_.ids.size(); }
  /// Up to `most` of them from `first` on.
  [[nodiscard]] TargetGroup read_skies(std::size_t first, std::size_t most) const;

  /// Cameras with different wavelengths, by name; two of one name get a number.
  struct Grid {
    std::string name;
    std::vector<double> wave;
  };
  [[nodiscard]] const std::vector<Grid>& grids() const noexcept { return grids_; }
  /// Of the primary HDU of the first file, of which group it is as far as all files agree.
  [[nodiscard]] const HeaderCards& header() const noexcept { return header_; }

  /// Bits of ZWARN that fibermaps give each target.
  std::vector<std::uint32_t> zwarn;
  std::optional<Table> fibermap, exp_fibermap, tsnr2;

 private:
  struct At {
    std::size_t file, row;
  };
  /// Where the spectra of a target are.
  using Rows = std::vector<At>;
  /// Targets in the order in which they first appear.
  struct Targets {
    std::vector<std::int64_t> ids;
    std::vector<Rows> rows;
    std::unordered_map<std::int64_t, std::size_t> place;  ///< of an id among them
    void add(std::int64_t id, At at);
  };
  void open_files(const RedshiftJob& job, const Observer& observer);
  void join_grids();
  void index_targets(const RedshiftJob& job, const Observer& observer);
  void find_skies();
  void find_grids();
  void find_forbidden(const Observer& observer);
  void make_tables(const Observer& observer);
  void coadd_tables(const Observer& observer);
  void stack_tables(const Observer& observer);
  /// `count` of them from `first` on.
  [[nodiscard]] TargetGroup read_some(const Targets& targets, std::size_t first,
                                      std::size_t count) const;

  std::size_t group_ = kTargetsOfGroup;  ///< 1 where each spectrum has wavelengths of its own
  double sigma_aa_ = 0;                  ///< resolution of spectra without one; 0: none
  bool as_redrock_ = false;              ///< which does not look at FIBERSTATUS of exposures
  std::deque<SpectraReader> files_;
  FibermapColumns columns_;
  std::vector<std::vector<std::int64_t>> unsure_exposures_;  ///< unsure_exposures()
  std::vector<std::vector<std::int64_t>> status_;  ///< FIBERSTATUS of each row of each file
  HeaderCards header_;
  Targets asked_, skies_;
  std::vector<Grid> grids_;
};

}  // namespace fiberloom
