// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/chain/load_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "fiberloom/recipes/catalogue/load_files.hpp"
#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/chain/steps.hpp"
#include "loom/base/error.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::chain {
namespace {

struct LoadContent final : Opaque {
  explicit LoadContent(LoadWork its_work) : work(std::move(its_work)) {}
  LoadWork work;
};

struct LoadPiece final : Opaque {
  LoadSummary summary;
};

const LoadWork& load_of(const Task& task) {
  return static_cast<const LoadContent&>(*task.content).work;
}

}  // namespace

std::shared_ptr<const Opaque> content_of(LoadWork work) {
  return std::make_shared<const LoadContent>(std::move(work));
}

StageNames LoadKind::stages() const {
  return {"catalogue/read", "catalogue/compute", "catalogue/write", "catalogue/join",
          "catalogue/page"};
}

std::string LoadKind::fingerprint(const Task& task) const {
  return "step=" + name_of(Step::kCatalogue) + (load_of(task).afresh ? " afresh" : "");
}

std::unique_ptr<Opaque> LoadKind::read(const Task& /*task*/, const Observer& /*observer*/,
                                       Tracer* /*tracer*/) {
  return std::make_unique<LoadPiece>();
}

std::unique_ptr<Opaque> LoadKind::compute(const Task& task, const WorkUnit& /*unit*/,
                                          Opaque& /*material*/, Executor& /*executor*/,
                                          const Observer& observer, Tracer* /*tracer*/,
                                          Outcome& /*outcome*/) {
  const LoadWork& work = load_of(task);
  LoadJob job{.inputs = {}, .database = work.database, .wait_s = kCatalogueWaitS};
  std::error_code ignored;
  std::copy_if(work.files.begin(), work.files.end(), std::back_inserter(job.inputs),
               [&](const std::string& path) { return std::filesystem::exists(path, ignored); });
  Observer quiet = observer;
  quiet.progress = {};
  quiet.message = {};  // what cannot be loaded fails the task, which says so
  auto piece = std::make_unique<LoadPiece>();
  if (job.inputs.empty()) return piece;  // of an exposure of which nothing could be made
  piece->summary = load_files(job, quiet);
  if (const auto& failed = piece->summary.failed; !failed.empty()) {
    throw Error(Status::kSomeFailed, failed.front());
  }
  return piece;
}

void LoadKind::write(const Task& task, Opaque& /*material*/,
                     std::vector<std::unique_ptr<Opaque>> pieces, Tracer* /*tracer*/,
                     Outcome& outcome) const {
  const LoadWork& work = load_of(task);
  const LoadSummary& s = static_cast<LoadPiece&>(*pieces.front()).summary;
  const Json said{{"catalogue", shown_catalogue(work.database)}, {"files", s.files}};
  write_whole(work.output, said.dump(1, JsonText::kAscii) + "\n", Overwrite::kYes);
  outcome.measures = {{"files", static_cast<double>(s.files)},
                      {"redshifts", static_cast<double>(s.redshifts)}};
  outcome.parts = 1;
}

void LoadKind::send(WireWriter& writer, const Opaque& content) const {
  const LoadWork& work = static_cast<const LoadContent&>(content).work;
  writer(work.files, work.database, work.output, work.afresh);
}

std::shared_ptr<const Opaque> LoadKind::receive(WireReader& reader) const {
  LoadWork work;
  reader(work.files, work.database, work.output, work.afresh);
  return content_of(std::move(work));
}

}  // namespace fiberloom::chain
