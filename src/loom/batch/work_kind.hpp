// SPDX-License-Identifier: BSD-3-Clause
// How tasks of one kind are done: the only place where a program's own work meets the batch engine.
// A program writes one class for each kind of step that it has.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "loom/batch/task.hpp"
#include "loom/batch/wire_archive.hpp"
#include "loom/trace/trace.hpp"

namespace loom::batch {

/// Names of a kind's stages in a timeline; they outlive the run.
struct StageNames {
  const char* read = "task/read";
  const char* compute = "task/compute";
  const char* write = "task/write";
  const char* join = "task/join";
  const char* page = "task/page";
};

/// Serves all threads of a process at once; every function may be called from any of them. What
/// they throw fails the task (an Error as it is, anything else as an internal fault).
class WorkKind {
 public:
  WorkKind() = default;
  WorkKind(const WorkKind&) = delete;
  WorkKind& operator=(const WorkKind&) = delete;
  virtual ~WorkKind() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual StageNames stages() const { return {}; }

  /// What decides the bytes of the outputs beside the inputs and the version, as text: receipts
  /// keep it, and outputs made under another one are made again.
  [[nodiscard]] virtual std::string fingerprint(const Task& task) const = 0;

  // The work, stage by stage. What read() and compute() return is handed to the next one.
  /// Before anything is read: throws where outputs cannot be written, or may not be.
  virtual void check(const Task& task) const;
  [[nodiscard]] virtual std::unique_ptr<Opaque> read(const Task& task, const Observer& observer,
                                                     Tracer* tracer) = 0;
  /// All of the task, or the unit's parts, with the same result to the bit. May free of `material`
  /// what write() does without.
  [[nodiscard]] virtual std::unique_ptr<Opaque> compute(const Task& task, const WorkUnit& unit,
                                                        Opaque& material, Executor& executor,
                                                        const Observer& observer, Tracer* tracer,
                                                        Outcome& outcome) = 0;
  /// Makes the outputs, each whole or not at all, outputs.front() last. `pieces`: what compute()
  /// returned, one of all of the task, or of its parts in any order. `material` is what the process
  /// that writes has read. Fills in measures, facts and parts of the outcome.
  virtual void write(const Task& task, Opaque& material,
                     std::vector<std::unique_ptr<Opaque>> pieces, Tracer* tracer,
                     Outcome& outcome) const = 0;
  /// Looks at an output that is there more closely than its checksum does; throws where it is bad.
  virtual void verify_output(const std::string& /*path*/) const {}
  /// Makes task.page from outputs that are there.
  virtual void make_page(const Task& task) const;

  // Sharing out. Kinds whose tasks are never cut need only the first two.
  virtual void send(WireWriter& writer, const Opaque& content) const = 0;
  [[nodiscard]] virtual std::shared_ptr<const Opaque> receive(WireReader& reader) const = 0;
  /// May read files, once; 1 where they cannot be read: who does the task will say why.
  [[nodiscard]] virtual int count_parts(const Task& /*task*/) const { return 1; }
  virtual void send_piece(WireWriter& writer, const Opaque& piece) const;
  [[nodiscard]] virtual std::unique_ptr<Opaque> receive_piece(WireReader& reader) const;
  /// Has a failed task a fault that ends the run, beside a full disk and a run folder that takes no
  /// files? When the last device is lost, say.
  [[nodiscard]] virtual bool ends_run(const Error& /*error*/) const { return false; }
  /// "of a grid by 0.1 Angstrom": what makes the task large, and what would make it smaller, for
  /// the message that it does not fit into the memory.
  [[nodiscard]] virtual std::string size_of(const Task& task) const;
  [[nodiscard]] virtual std::string smaller() const { return {}; }
};

/// The kinds of a run, by name.
class WorkKinds {
 public:
  WorkKinds() = default;
  explicit WorkKinds(std::vector<std::shared_ptr<WorkKind>> kinds) : kinds_(std::move(kinds)) {}
  /// Throws kInternal where there is none of the name.
  [[nodiscard]] WorkKind& at(const std::string& name) const;
  [[nodiscard]] WorkKind& of(const Task& task) const { return at(task.kind); }

 private:
  std::vector<std::shared_ptr<WorkKind>> kinds_;
};

}  // namespace loom::batch
