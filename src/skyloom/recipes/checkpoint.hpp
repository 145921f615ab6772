// SPDX-License-Identifier: BSD-3-Clause
// The iterations of a solver in a file, so that a run that was killed goes on from there.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "loom/base/log.hpp"
#include "skyloom/mapping/destripe.hpp"
#include "skyloom/mapping/gls_system.hpp"
#include "skyloom/recipes/rank_company.hpp"

namespace skyloom {

/// What a system is, 64 hexadecimal digits: another input or option that changes its numbers gives
/// another one. `device`: whose kind (loom::device_kind()) takes the steps.
[[nodiscard]] std::string system_key(const OffsetSystem& system, const OffsetPrior& prior,
                                     Preconditioner preconditioner, int device = 0);
[[nodiscard]] std::string system_key(const GlsSystem& system);

/// Two files, PATH.0 and PATH.1 (of ranks PATH.rankR.0 ...), written in turn, whole or not at all:
/// that one is cut off by the end of the process, or that ranks end between each other's, leaves a
/// state that all have. Throws kCorrupt where one of these names is a file of something else;
/// a state of another system is told of and written over.
class Checkpoint final : public SolverMemory {
 public:
  /// Makes the folder of its files. `unknowns`: of this process; `observer` outlives it.
  Checkpoint(const std::string& path, std::string key, std::size_t unknowns, double seconds,
             const Observer& observer, RankCompany* company = nullptr);

  [[nodiscard]] std::optional<SolverState> recall() override;
  [[nodiscard]] bool due() override;
  void save(const SolverState& state) override;
  void save_at_stop(const SolverState& state) override;
  /// Iterations that recall() had.
  [[nodiscard]] std::size_t recalled() const noexcept { return recalled_; }

  /// Whether `other` is a file that a checkpoint `path` is kept in, or would be on some ranks.
  [[nodiscard]] static bool has_name(const std::string& path, const std::string& other);
  static void remove(const std::string& path, RankCompany* company);

 private:
  [[nodiscard]] std::optional<SolverState> read(const std::string& path) const;
  /// The same place among these states in all processes: the latest that all have.
  [[nodiscard]] std::optional<std::size_t> agreed(const std::optional<SolverState> (&states)[2]);

  std::string key_;
  std::size_t unknowns_;
  std::string paths_[2];
  double seconds_;
  const Observer& observer_;
  RankCompany* company_;
  std::size_t turn_ = 0;  ///< which file is written next
  std::size_t recalled_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace skyloom
