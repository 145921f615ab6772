// SPDX-License-Identifier: BSD-3-Clause
// What a night has made goes into its catalogue as it is made: a task for the frames of an
// exposure, and one for the redshifts of a tile's petal. The rows are in a database; the task's
// output is a small file that says where they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/log.hpp"
#include "loom/batch/task.hpp"
#include "loom/batch/work_kind.hpp"

namespace fiberloom::chain {

using namespace loom::batch;  // NOLINT(google-build-using-namespace): a chain is a batch of steps

inline constexpr const char* kLoadKind = "catalogue";

struct LoadWork {
  std::vector<std::string> files;  ///< those of them that are there are loaded, in this order
  std::string database;            ///< path or URL
  std::string output;              ///< what is written of it
  bool afresh = false;             ///< of a plan: what is there is of another catalogue
};

/// Content of a task.
[[nodiscard]] std::shared_ptr<const Opaque> content_of(LoadWork work);

class LoadKind final : public WorkKind {
 public:
  [[nodiscard]] std::string name() const override { return kLoadKind; }
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
  void send(WireWriter& writer, const Opaque& content) const override;
  [[nodiscard]] std::shared_ptr<const Opaque> receive(WireReader& reader) const override;
};

}  // namespace fiberloom::chain
