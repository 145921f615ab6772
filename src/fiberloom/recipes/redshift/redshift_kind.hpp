// SPDX-License-Identifier: BSD-3-Clause
// A search for redshifts as work of the batch engine: a task is a file of spectra (or the cameras
// of an exposure), a part a group of its targets.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/recipes/redshift/find_redshifts.hpp"
#include "fiberloom/redshift/gpu/device_scan.hpp"
#include "loom/batch/work_kind.hpp"

namespace fiberloom::survey {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a survey is a batch of files

inline constexpr const char* kRedshiftKind = "redshift";

/// The task of a job; `name` is unique in a run.
[[nodiscard]] Task to_task(std::string name, RedshiftJob job);
/// The job that a task of ours carries.
[[nodiscard]] const RedshiftJob& job_of(const Task& task);

/// A job is cut between groups of targets; not one whose details or models are wanted, since these
/// are written as their groups are fitted.
class RedshiftKind final : public WorkKind {
 public:
  /// `device`: who scans, null for the CPU.
  explicit RedshiftKind(std::shared_ptr<redshift::DeviceScan> device = nullptr)
      : device_(std::move(device)) {}
  /// Before any work.
  void set_device(std::shared_ptr<redshift::DeviceScan> device) { device_ = std::move(device); }

  [[nodiscard]] std::string name() const override { return kRedshiftKind; }
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
  [[nodiscard]] int count_parts(const Task& task) const override;
  void send_piece(WireWriter& writer, const Opaque& piece) const override;
  [[nodiscard]] std::unique_ptr<Opaque> receive_piece(WireReader& reader) const override;
  [[nodiscard]] bool ends_run(const Error& error) const override;
  [[nodiscard]] std::string size_of(const Task& task) const override;
  [[nodiscard]] std::string smaller() const override;

 private:
  /// Templates are the same for all tasks of a run: read once, by who needs them first.
  [[nodiscard]] const RedshiftModels& models_of(const RedshiftJob& job);

  std::shared_ptr<redshift::DeviceScan> device_;
  std::mutex mutex_;
  std::unique_ptr<const RedshiftModels> models_;
};

}  // namespace fiberloom::survey
