// SPDX-License-Identifier: BSD-3-Clause
// Extraction as work of the batch engine: how a frame of a night is read, computed, written and
// shared out among ranks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/recipes/engine.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "fiberloom/recipes/night/psf_cache.hpp"
#include "loom/batch/work_kind.hpp"

namespace fiberloom::night {

inline constexpr const char* kExtractKind = "extract";

/// What the CPU took over from devices, of a frame that is done in this run.
[[nodiscard]] TakenOver taken_over(const Outcome& outcome);

/// A frame is cut between bundles; not one whose model or residual image is wanted, since there
/// bundles overlap.
class ExtractKind final : public WorkKind {
 public:
  explicit ExtractKind(Engine engine);

  [[nodiscard]] const Engine& engine() const noexcept { return engine_; }
  /// Before any work is given.
  void set_engine(Engine engine) { engine_ = std::move(engine); }

  [[nodiscard]] std::string name() const override { return kExtractKind; }
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
  void make_page(const Task& task) const override;

  void send(WireWriter& writer, const Opaque& content) const override;
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader& reader) const override;
  [[nodiscard]] int count_parts(const Task& task) const override;
  void send_piece(WireWriter& writer, const Opaque& piece) const override;
  [[nodiscard]] std::unique_ptr<Opaque> receive_piece(WireReader& reader) const override;
  [[nodiscard]] bool ends_run(const Error& error) const override;
  [[nodiscard]] std::string size_of(const Task& task) const override;
  [[nodiscard]] std::string smaller() const override;

 private:
  Engine engine_;
  mutable PsfCache psfs_;
};

}  // namespace fiberloom::night
