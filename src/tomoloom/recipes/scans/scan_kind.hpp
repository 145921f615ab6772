// SPDX-License-Identifier: BSD-3-Clause
// A reconstruction as work of the batch engine: a task is a scan that becomes a volume. It is never
// cut: reading, computing and writing go on within it, by blocks, so that no volume has to lie in
// memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "loom/batch/work_kind.hpp"
#include "tomoloom/recipes/recon_job.hpp"

namespace tomoloom::scans {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): scans are a batch

inline constexpr const char* kScanKind = "scan";

/// The task of a job, whose paths are absolute; `name` is unique in a run. Opens the scan to learn
/// what it will take; one that cannot be opened fails later, with its line.
[[nodiscard]] Task to_task(std::string name, ReconJob job, std::size_t threads);
/// The job that a task of ours carries.
[[nodiscard]] const ReconJob& job_of(const Task& task);

class ScanKind final : public WorkKind {
 public:
  /// `stop`: whether scans in work are to be left as they are.
  explicit ScanKind(std::function<bool()> stop = {}) : stop_(std::move(stop)) {}

  [[nodiscard]] std::string name() const override { return kScanKind; }
  [[nodiscard]] StageNames stages() const override;
  [[nodiscard]] std::string fingerprint(const Task& task) const override;
  void check(const Task& task) const override;
  [[nodiscard]] std::unique_ptr<Opaque> read(const Task& task, const Observer& observer,
                                             Tracer* tracer) override;
  [[nodiscard]] std::unique_ptr<Opaque> compute(const Task& task, const WorkUnit& unit,
                                                Opaque& material, Executor& executor,
                                                const Observer& observer, Tracer* tracer,
                                                Outcome& outcome) override;
  void write(const Task& task, Opaque& material, std::vector<std::unique_ptr<Opaque>> pieces,
             Tracer* tracer, Outcome& outcome) const override;
  void verify_output(const std::string& path) const override;
  void send(WireWriter& writer, const Opaque& content) const override;
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader& reader) const override;
  [[nodiscard]] std::string size_of(const Task& task) const override;

 private:
  std::function<bool()> stop_;
};

}  // namespace tomoloom::scans
