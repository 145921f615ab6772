// SPDX-License-Identifier: BSD-3-Clause
// The steps of the calibration as work of the batch engine: a task is one output of one step.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/chain/step_options.hpp"
#include "fiberloom/recipes/chain/steps.hpp"
#include "loom/batch/work_kind.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

inline constexpr const char* kStepKind = "step";

/// What one task makes of which files. Of lists that may lack some (Task::any_inputs) those are
/// taken that are there.
struct StepWork {
  Step step = Step::kFiberFlat;
  std::string input{}, flat{}, sky{}, stars{}, flux{};  ///< empty: none
  std::vector<std::string> frames{}, flats{}, skies{}, fluxes{}, star_files{};
  std::vector<std::string> beside{};  ///< of a night's flat: those of the band's other cameras
  std::string models{}, passbands{}, average{}, output{};
  std::string desimodel{}, psf{};  ///< of the calibrated frame and what it was extracted with
  std::string database{};          ///< that `frames` are loaded into: path or URL
  bool afresh = false;             ///< of a plan: what was loaded is in another database
  std::string root{};              ///< of the run, for headers
  std::string night{};             ///< of a tile's coadd the last one
  StepOptions options{};
};

/// The average of a camera's flats, not the flat of one lamp's frame.
[[nodiscard]] inline bool is_night_flat(const StepWork& work) {
  return work.step == Step::kFiberFlat && !work.flats.empty();
}
[[nodiscard]] const StepWork& work_of(const Task& task);
/// The task's content.
[[nodiscard]] std::shared_ptr<const Opaque> content_of(StepWork work);

/// A step reads, computes and writes its one small output in compute(): they are seconds long, and
/// what they make appears whole or not at all. They are never cut. The catalogue's rows are in a
/// database; its output is a small file that says where.
class StepKind final : public WorkKind {
 public:
  [[nodiscard]] std::string name() const override { return kStepKind; }
  [[nodiscard]] StageNames stages() const override;
  [[nodiscard]] std::string fingerprint(const Task& task) const override;
  [[nodiscard]] std::unique_ptr<Opaque> read(const Task& task, const Observer& observer,
                                             Tracer* tracer) override;
  [[nodiscard]] std::unique_ptr<Opaque> compute(const Task& task, const WorkUnit& unit,
                                                Opaque& material, Executor& executor,
                                                const Observer& observer, Tracer* tracer,
                                                Outcome& outcome) override;
  void write(const Task& task, Opaque& material, std::vector<std::unique_ptr<Opaque>> pieces,
             Tracer* tracer, Outcome& outcome) const override;
  void verify_output(const std::string& path) const override;
  /// Of an exposure's quality: a picture of it.
  void make_page(const Task& task) const override;
  void send(WireWriter& writer, const Opaque& content) const override;
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader& reader) const override;
};

}  // namespace fiberloom::chain
