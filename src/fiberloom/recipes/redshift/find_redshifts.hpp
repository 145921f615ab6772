// SPDX-License-Identifier: BSD-3-Clause
// The recipe of one set of files: read by groups, fit, write. Memory holds one group of targets and
// the next one's spectra, a short row of each target, and the tables beside them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "fiberloom/recipes/redshift/fit_targets.hpp"
#include "fiberloom/recipes/redshift/redshift_inputs.hpp"
#include "fiberloom/recipes/redshift/redshift_table.hpp"
#include "loom/base/executor.hpp"
#include "loom/files/output_files.hpp"
#include "loom/runtime/usage.hpp"
#include "loom/trace/trace.hpp"

namespace fiberloom {

/// Templates and archetypes that a job names, or the built-in set. Throws as
/// templates::load_templates().
[[nodiscard]] RedshiftModels load_models(const RedshiftJob& job);

/// Says so where there is nothing but the built-in set.
void warn_of_fallback(const RedshiftJob& job, const Observer& observer);

/// Names the templates that were tried at no redshift, since they cover the spectra at none.
void warn_of_unused(const TargetFits& fits, const Observer& observer);

/// The same for everybody who names the same files: a survey reads them once.
[[nodiscard]] std::vector<std::string> model_files(const RedshiftJob& job);

/// What a job reads and writes, with the words that name it in a message.
[[nodiscard]] std::vector<NamedFile> inputs_of(const RedshiftJob& job);
[[nodiscard]] std::vector<NamedFile> outputs_of(const RedshiftJob& job);
/// Before any work: kUsage where two are one file (`more`: outputs of whoever runs the job),
/// kOutputExists, kUnwritable, kUnsupported where details are asked of a build without HDF5.
void check_outputs(const RedshiftJob& job, std::span<const NamedFile> more = {});

class ScanFile;

/// A search in steps, for whoever puts them in a row.
class RedshiftSearch {
 public:
  /// Opens inputs. `models`, and where it is not null who scans instead of the CPU, outlive it.
  RedshiftSearch(RedshiftJob job, const RedshiftModels& models, const Observer& observer,
                 redshift::FastScanner* scanner = nullptr);
  ~RedshiftSearch();
  RedshiftSearch(const RedshiftSearch&) = delete;
  RedshiftSearch& operator=(const RedshiftSearch&) = delete;

  [[nodiscard]] const RedshiftInputs& inputs() const noexcept { return inputs_; }
  /// Rows of the targets of groups [first, last), in their order. Of details and models it writes
  /// what belongs to them, so then the groups come in their order, each once.
  [[nodiscard]] std::vector<RedshiftRow> fit(std::size_t first, std::size_t last,
                                             Executor& executor, const Observer& observer,
                                             Tracer* tracer);
  /// The files; the redshifts last. `rows`: of all targets, in their order.
  void write(std::span<const RedshiftRow> rows, Tracer* tracer);

 private:
  struct Extras;
  /// What the fibres on the sky say of its continuum.
  [[nodiscard]] std::vector<redshift::SkyWidth> measure_sky(Executor& executor) const;
  void keep_extras(std::size_t group, const TargetFits& fits, std::span<const RedshiftRow> rows);

  RedshiftJob job_;
  const RedshiftModels& models_;
  redshift::FastScanner* scanner_;
  RedshiftInputs inputs_;
  std::vector<redshift::Prior> priors_;  ///< one a target, or none
  std::unique_ptr<ScanFile> scan_;       ///< where chi2 comes from an earlier scan
  std::once_flag sky_known_;
  std::vector<redshift::SkyWidth> sky_;  ///< of its continuum, once it is known
  std::unique_ptr<Extras> extras_;       ///< details and models; null: not wanted
};

inline constexpr double kProbable = 0.95;

/// For --json and the log.
struct RedshiftSummary {
  std::size_t targets = 0, sure = 0, ambiguous = 0, without_data = 0;
  std::size_t probable = 0;  ///< whose PROBABILITY is above kProbable
  std::vector<std::pair<std::string, std::size_t>> types;
  /// Who passes the users' cuts, in the order of their bits (redshift/lines.hpp).
  std::array<std::pair<const char*, std::size_t>, 4> cuts{
      {{"BGS", 0}, {"LRG", 0}, {"ELG", 0}, {"QSO", 0}}};
  std::vector<std::string> grids;
  StageTime read, compute, write;
};

/// All of it, with files as in the job.
[[nodiscard]] RedshiftSummary find_redshifts(const RedshiftJob& job, Executor& executor,
                                             const Observer& observer, Tracer* tracer,
                                             redshift::FastScanner* scanner = nullptr);
[[nodiscard]] RedshiftSummary summarize(std::span<const RedshiftRow> rows);

}  // namespace fiberloom
