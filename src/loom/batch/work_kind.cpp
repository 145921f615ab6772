// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/work_kind.hpp"

#include <utility>

namespace loom::batch {
namespace {

[[noreturn]] void not_cut(const std::string& kind) {
  throw Error(Status::kInternal, "tasks of the kind " + kind + " are never cut");
}

}  // namespace

void WorkKind::check(const Task& /*task*/) const {}

void WorkKind::make_page(const Task& /*task*/) const {
  throw Error(Status::kInternal, "tasks of the kind " + name() + " have no page");
}

void WorkKind::send_piece(WireWriter& /*writer*/, const Opaque& /*piece*/) const {
  not_cut(name());
}

std::unique_ptr<Opaque> WorkKind::receive_piece(WireReader& /*reader*/) const { not_cut(name()); }

std::string WorkKind::size_of(const Task& task) const { return task.name; }

WorkKind& WorkKinds::at(const std::string& name) const {
  for (const auto& kind : kinds_) {
    if (kind->name() == name) return *kind;
  }
  throw Error(Status::kInternal, "no work of the kind " + name + " is known here");
}

}  // namespace loom::batch
