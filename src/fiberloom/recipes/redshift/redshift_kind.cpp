// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_kind.hpp"

#include <algorithm>
#include <filesystem>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/sdss_plates.hpp"
#include "fiberloom/templates/built_in.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/verify.hpp"

namespace fiberloom::survey {
namespace {

/// Bytes of one group: spectra of two of them, blocks, curves; measured.
constexpr std::uint64_t kGroupBytes = std::uint64_t{300} << 20;
/// Core-seconds a byte of input: 0.05 a target of 0.45 MB.
constexpr double kSecondsOfByte = 1.2e-7;

struct JobContent final : Opaque {
  explicit JobContent(RedshiftJob its_job) : job(std::move(its_job)) {}
  RedshiftJob job;
};

/// An open search.
struct SearchMaterial final : Opaque {
  SearchMaterial(const RedshiftJob& job, const RedshiftModels& models, const Observer& observer,
                 redshift::FastScanner* scanner)
      : search(job, models, observer, scanner) {}
  RedshiftSearch search;
};

/// Rows of some groups, or of all.
struct RowsPiece final : Opaque {
  std::size_t first = 0;  ///< group
  std::vector<RedshiftRow> rows;
};

/// May a job be cut?
bool divisible(const RedshiftJob& job) { return job.details.empty() && job.model.empty(); }

template <class Archive, class Struct>
void job_fields(Archive& archive, Struct& job) {
  auto& [inputs, output, details, model, templates, archetypes, priors, chi2_scan, target_ids,
         first_target, ntargets, options, overwrite, verify] = job;
  archive(inputs, output, details, model, templates, archetypes, priors, chi2_scan, target_ids,
          first_target, ntargets, options, overwrite, verify);
}

/// A short list, one after the other.
template <class Archive, class List, class Fields>
void list_fields(Archive& archive, List& list, const Fields& fields) {
  constexpr std::size_t kMost = 1000;
  std::size_t count = list.size();
  archive(count);
  if (count > kMost) throw Error(Status::kInternal, "a list of redshifts does not read back");
  if constexpr (!std::is_const_v<List>) list.resize(count);
  for (auto& element : list) fields(element);
}

/// All of a candidate: one that gains a member does not compile here until it travels.
template <class Archive, class Struct>
void candidate_fields(Archive& archive, Struct& candidate) {
  auto& [curve, spectype, subtype, method, z, zerr, chi2, delta_chi2, zwarn, evidence, probability,
         class_probability, posterior_zerr, lines, quality, coefficients, legendre,
         template_coefficients, template_subtype, good_pixels, least_separation_kms, fine_z,
         fine_chi2] = candidate;
  archive(curve, spectype, subtype, method, z, zerr, chi2, delta_chi2, zwarn, evidence, probability,
          class_probability, posterior_zerr, quality, coefficients, legendre, template_coefficients,
          template_subtype, good_pixels, least_separation_kms, fine_z, fine_chi2);
  list_fields(archive, lines, [&](auto& line) {
    auto& [name, flux, ivar, sigma_kms] = line;
    archive(name, flux, ivar, sigma_kms);
  });
}

template <class Archive, class Struct>
void row_fields(Archive& archive, Struct& row) {
  auto& [id, best, fewest, most, others] = row;
  archive(id, fewest, most);
  candidate_fields(archive, best);
  list_fields(archive, others, [&](auto& other) { candidate_fields(archive, other); });
}

}  // namespace

Task to_task(std::string name, RedshiftJob job) {
  Task task;
  task.name = std::move(name);
  task.kind = kRedshiftKind;
  task.labels = {{"spectra", job.inputs.front()}};
  task.inputs = job.inputs;
  for (const std::string& path : frames_behind(job)) task.inputs.push_back(path);
  for (const std::string& path : model_files(job)) task.inputs.push_back(path);
  for (const std::string& path : {job.priors, job.chi2_scan}) {
    if (!path.empty()) task.inputs.push_back(path);
  }
  for (const std::string& path : {job.output, job.details, job.model}) {
    if (!path.empty()) task.outputs.push_back(path);
  }
  std::uint64_t bytes = 0, unpacked = 0;
  std::vector<std::string> files = job.inputs;
  if (job.options.use_frames) files = frames_behind(job);
  for (const std::string& path : files) {
    std::error_code missing;
    const std::uint64_t size = std::filesystem::file_size(path, missing);
    if (missing) continue;
    bytes += size;
    if (loom::has_ending(path, ".gz")) unpacked += 4 * size;
  }
  task.cost_s = 0.2 + kSecondsOfByte * static_cast<double>(bytes);
  task.memory_bytes = kGroupBytes + unpacked + bytes / 50;
  task.content = std::make_shared<const JobContent>(std::move(job));
  return task;
}

const RedshiftJob& job_of(const Task& task) {
  return static_cast<const JobContent&>(*task.content).job;
}

StageNames RedshiftKind::stages() const {
  return {"redshift/read", "redshift/compute", "redshift/write", "redshift/join", "redshift/page"};
}

std::string RedshiftKind::fingerprint(const Task& task) const {
  const RedshiftJob& job = job_of(task);
  std::string text = redshift_options_text(job);
  if (!job.archetypes.empty()) text += " archetypes=on";
  if (templates::falls_back(job.templates)) {  // no file of it could change
    text += std::string(" templates=") + templates::kBuiltInVersion;
  }
  return text;
}

void RedshiftKind::check(const Task& task) const { check_outputs(job_of(task)); }

const RedshiftModels& RedshiftKind::models_of(const RedshiftJob& job) {
  const std::lock_guard lock(mutex_);
  if (!models_) models_ = std::make_unique<const RedshiftModels>(load_models(job));
  return *models_;
}

std::unique_ptr<Opaque> RedshiftKind::read(const Task& task, const Observer& observer,
                                           Tracer* /*tracer*/) {
  const RedshiftJob& job = job_of(task);
  return std::make_unique<SearchMaterial>(job, models_of(job), observer, device_.get());
}

std::unique_ptr<Opaque> RedshiftKind::compute(const Task& task, const WorkUnit& unit,
                                              Opaque& material, Executor& executor,
                                              const Observer& observer, Tracer* tracer,
                                              Outcome& /*outcome*/) {
  RedshiftSearch& search = static_cast<SearchMaterial&>(material).search;
  const std::size_t groups = search.inputs().groups();
  const bool whole = unit.last_part < 0;
  if (!whole && static_cast<std::size_t>(unit.parts) != groups) {
    throw Error(Status::kChanged, job_of(task).inputs.front() +
                                      print(": %zu groups of targets, %d when it was shared out",
                                            groups, unit.parts));
  }
  Observer quiet = observer;  // of many files, how far one is tells nobody anything
  quiet.progress = {};
  auto piece = std::make_unique<RowsPiece>();
  piece->first = whole ? 0 : static_cast<std::size_t>(unit.first_part);
  const std::size_t last = whole ? groups : static_cast<std::size_t>(unit.last_part);
  piece->rows = search.fit(piece->first, last, executor, quiet, tracer);
  return piece;
}

void RedshiftKind::write(const Task& /*task*/, Opaque& material,
                         std::vector<std::unique_ptr<Opaque>> pieces, Tracer* tracer,
                         Outcome& outcome) const {
  RedshiftSearch& search = static_cast<SearchMaterial&>(material).search;
  std::vector<RowsPiece*> parts;
  for (const auto& piece : pieces) parts.push_back(static_cast<RowsPiece*>(piece.get()));
  std::sort(parts.begin(), parts.end(),
            [](const RowsPiece* a, const RowsPiece* b) { return a->first < b->first; });
  std::vector<RedshiftRow> rows;
  for (RowsPiece* part : parts) {
    std::move(part->rows.begin(), part->rows.end(), std::back_inserter(rows));
  }
  search.write(rows, tracer);
  const RedshiftSummary summary = summarize(rows);
  outcome.measures = {{"targets", static_cast<double>(summary.targets)},
                      {"zwarn_0", static_cast<double>(summary.sure)},
                      {"no_data", static_cast<double>(summary.without_data)}};
  outcome.parts = static_cast<int>(search.inputs().groups());
}

void RedshiftKind::verify_output(const std::string& path) const {
  if (!path.ends_with(".h5")) fits::verify_checksums(path);
}

void RedshiftKind::send(WireWriter& writer, const Opaque& content) const {
  job_fields(writer, static_cast<const JobContent&>(content).job);
}

std::shared_ptr<const Opaque> RedshiftKind::receive(WireReader& reader) const {
  RedshiftJob job;
  job_fields(reader, job);
  return std::make_shared<const JobContent>(std::move(job));
}

int RedshiftKind::count_parts(const Task& task) const {
  const RedshiftJob& job = job_of(task);
  if (!divisible(job)) return 1;
  try {
    return static_cast<int>(RedshiftInputs(job, {}).groups());
  } catch (const std::exception&) {  // told of by who does the task, whole
    return 1;
  }
}

void RedshiftKind::send_piece(WireWriter& writer, const Opaque& piece) const {
  const auto& part = static_cast<const RowsPiece&>(piece);
  writer(part.first, part.rows.size());
  for (const RedshiftRow& row : part.rows) row_fields(writer, row);
}

std::unique_ptr<Opaque> RedshiftKind::receive_piece(WireReader& reader) const {
  auto piece = std::make_unique<RowsPiece>();
  std::size_t n = 0;
  reader(piece->first, n);
  for (std::size_t i = 0; i < n; ++i) row_fields(reader, piece->rows.emplace_back());
  return piece;
}

bool RedshiftKind::ends_run(const Error& error) const {
  return error.status() == Status::kDevice && device_ != nullptr && !device_->any_left();
}

std::string RedshiftKind::size_of(const Task& task) const { return job_of(task).inputs.front(); }

std::string RedshiftKind::smaller() const {
  return "a file that is not gzipped is read by rows and needs less";
}

}  // namespace fiberloom::survey
