// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/scan_kind.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/slice_folder.hpp"
#include "tomoloom/recipes/recon_files.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/recon_scan.hpp"
#include "tomoloom/recipes/recon_setup.hpp"

namespace tomoloom::scans {
namespace {

namespace fs = std::filesystem;

/// Core-seconds of a slice, an angle and column: 0.05 for 1024 x 720; many times more in each
/// iteration. Only the order of tasks depends on it.
constexpr double kDirect = 7e-8, kIteration = 1e-7;

struct JobContent final : Opaque {
  explicit JobContent(ReconJob its_job) : job(std::move(its_job)) {}
  ReconJob job;
};

struct NothingRead final : Opaque {};

struct MadeVolume final : Opaque {
  explicit MadeVolume(ReconSummary its_summary) : summary(std::move(its_summary)) {}
  ReconSummary summary;
};

std::vector<std::string> input_files(const ReconJob& job) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& path) {
    if (path.empty()) return;
    try {
      auto found = is_stack(path) ? stack_files(path) : ScanReader(path, job.group).files();
      std::ranges::move(found, std::back_inserter(files));
    } catch (const Error&) {  // told of by who does the task
      files.push_back(path);
    }
  };
  add(job.scan);
  add(job.flats);
  add(job.darks);
  std::error_code ignored;
  for (const std::string& file :
       {job.theta, job.shifts, job.weights, job.centres, job.filter_weights}) {
    if (fs::is_regular_file(file, ignored)) files.push_back(file);
  }
  return files;
}

std::vector<std::string> output_files(const ReconJob& job, std::size_t first, std::size_t slices,
                                      std::size_t width) {
  if (job.format == VolumeFormat::kHdf5) return {job.output};
  std::vector<std::string> files;
  if (job.format == VolumeFormat::kZarr) {
    for (const std::string& name :
         ZarrVolume::files({.slices = slices, .width = width}, zarr_chunks(job))) {
      files.push_back(job.output + "/" + name);
    }
    return files;
  }
  for (std::size_t s = 0; s < slices; ++s) {
    files.push_back(job.output + "/" + SliceFolder::file_name(first + s * job.window.bin));
  }
  return files;
}

/// What is known of a scan before it is worked on.
void estimate(const ReconJob& job, std::size_t threads, Task& task) {
  std::size_t first = 0, slices = 1, width = 1;
  try {
    SerialExecutor serial;
    const Observer silent;
    ReconSetup setup(job, serial, silent);
    const ReconSummary& summary = setup.summary();
    first = summary.row();
    slices = summary.slices;
    setup.open_rows(setup.blocks());
    setup.make_plan(threads);
    width = summary.width;
    const bool direct = job.method == Method::kExact || job.method == Method::kGridrec;
    const double samples =
        static_cast<double>(summary.layout.angles) * static_cast<double>(summary.layout.columns);
    task.cost_s = static_cast<double>(slices) * samples *
                  (direct ? kDirect : kIteration * static_cast<double>(job.iterations));
    task.memory_bytes = summary.memory;
  } catch (const Error&) {  // told of by who does the task
    std::error_code ignored;
    const auto bytes = fs::file_size(job.scan, ignored);
    task.cost_s = ignored ? 0.1 : 1e-7 * static_cast<double>(bytes);
  }
  task.outputs = output_files(job, first, slices, width);
}

/// Words of a job beside its option table.
template <class Archive, class Struct>
void file_fields(Archive& archive, Struct& job) {
  archive(job.scan, job.output, job.memory, job.overwrite, job.resume);
}

}  // namespace

Task to_task(std::string name, ReconJob job, std::size_t threads) {
  Task task;
  task.name = std::move(name);
  task.kind = kScanKind;
  task.labels = {{"scan", job.scan}};
  task.inputs = input_files(job);
  estimate(job, threads, task);
  task.content = std::make_shared<const JobContent>(std::move(job));
  return task;
}

const ReconJob& job_of(const Task& task) {
  return static_cast<const JobContent&>(*task.content).job;
}

StageNames ScanKind::stages() const {
  return {"scan/open", "scan/reconstruct", "scan/done", "scan/join", "scan/page"};
}

std::string ScanKind::fingerprint(const Task& task) const {
  const ReconJob& job = job_of(task);
  std::string text = job.format == VolumeFormat::kHdf5 ? "format=hdf5"
                     : job.format == VolumeFormat::kTiff
                         ? "format=tiff"
                         : print("format=zarr zarr_level=%d", job.zarr_level);
  for (const auto& [key, value] : option_texts(recon_option_rows(), job, true)) {
    text += " " + key + "=" + value;
  }
  return text;
}

void ScanKind::check(const Task& task) const { check_recon_output(job_of(task)); }

std::unique_ptr<Opaque> ScanKind::read(const Task& task, const Observer& /*observer*/,
                                       Tracer* /*tracer*/) {
  (void)open_scan(job_of(task));  // a bad one fails here, before a thread is taken
  return std::make_unique<NothingRead>();
}

std::unique_ptr<Opaque> ScanKind::compute(const Task& task, const WorkUnit& /*unit*/,
                                          Opaque& /*material*/, Executor& executor,
                                          const Observer& observer, Tracer* /*tracer*/,
                                          Outcome& /*outcome*/) {
  const ReconJob& job = job_of(task);
  Observer own;  // of many scans, where one has its axis and how far it is tells nobody anything
  own.stop_requested = stop_;
  own.message = [&](LogLevel level, const std::string& text) {
    if (level > LogLevel::kInfo) observer.log(level, text);
  };
  try {
    return std::make_unique<MadeVolume>(reconstruct_scan(job, executor, own));
  } catch (const Error&) {
    std::error_code ignored;
    if (job.format != VolumeFormat::kHdf5) fs::remove(job.output, ignored);  // where it is empty
    throw;
  }
}

void ScanKind::write(const Task& /*task*/, Opaque& /*material*/,
                     std::vector<std::unique_ptr<Opaque>> pieces, Tracer* /*tracer*/,
                     Outcome& outcome) const {
  const ReconSummary& summary = static_cast<const MadeVolume&>(*pieces.front()).summary;
  outcome.measures = {{"slices", static_cast<double>(summary.slices)},
                      {"axis", summary.axis()},
                      {"blind_pixels", static_cast<double>(summary.flaws.blind)},
                      {"saturated_pixels", static_cast<double>(summary.flaws.saturated)}};
  outcome.parts = 1;
}

void ScanKind::verify_output(const std::string& path) const {
  if (path.ends_with(".h5")) (void)hdf5::Reader(path).extent("exchange/data");
}

void ScanKind::send(WireWriter& writer, const Opaque& content) const {
  const ReconJob& job = static_cast<const JobContent&>(content).job;
  file_fields(writer, job);
  std::vector<std::string> texts;
  for (const auto& [key, text] : option_texts(recon_option_rows(), job)) texts.push_back(text);
  writer(texts);
}

std::shared_ptr<const Opaque> ScanKind::receive(WireReader& reader) const {
  ReconJob job;
  file_fields(reader, job);
  std::vector<std::string> texts;
  reader(texts);
  const auto rows = recon_option_rows();
  if (texts.size() != rows.size()) {
    throw Error(Status::kInternal, "a job of another version of tomoloom");
  }
  for (std::size_t i = 0; i < rows.size(); ++i) set_option(rows[i], job, texts[i]);
  return std::make_shared<const JobContent>(std::move(job));
}

std::string ScanKind::size_of(const Task& task) const { return job_of(task).scan; }

}  // namespace tomoloom::scans
