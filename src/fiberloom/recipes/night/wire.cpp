// SPDX-License-Identifier: BSD-3-Clause
// The fields of each struct, said once for both directions. The structured bindings fail to compile
// when a struct gets a member that is not listed here.
#include "fiberloom/recipes/night/wire.hpp"

#include <type_traits>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::night {
namespace {

[[noreturn]] void malformed() {
  throw Error(Status::kInternal, "a message between ranks does not read back");
}

template <class Archive, class Struct>
void outcome_fields(Archive& archive, Struct& outcome) {
  auto& [frame, first_bundle, state, exit_code, system_error, message, attempts, rank, start_s,
         end_s, read, compute, write, bytes_in, bytes_out, bundles, output_checksum, by_cpu,
         quality, page] = outcome;
  auto& [cpu_bundles, failure] = by_cpu;
  archive(frame, first_bundle, state, exit_code, system_error, message, attempts, rank, start_s,
          end_s, read, compute, write, bytes_in, bytes_out, bundles, output_checksum, cpu_bundles,
          failure, quality, page);
}

/// The rows of the option table, and what no user gives as an option. That no member is missing is
/// a test of the table.
template <class Archive, class Struct>
void job_fields(Archive& archive, Struct& job) {
  each_extract_option(job, [&](const ExtractOptionRow&, auto& value) { archive(value); });
  archive(job.image, job.psf, job.fibermap, job.output, job.model, job.residual, job.overwrite,
          job.psf_options.verify, job.options.wave, job.options.want_model);
}

template <class Archive, class Struct>
void task_fields(Archive& archive, Struct& task) {
  auto& [name, night, camera, expid, job, page, image_bytes, memory_bytes, workspace_bytes,
         staging_bytes, cost_s, bundles] = task;
  archive(name, night, camera, expid, page, image_bytes, memory_bytes, workspace_bytes,
          staging_bytes, cost_s, bundles);
  job_fields(archive, job);
}

/// Of a result, all but the tables of its spectra, which whoever joins the parts has, and what a
/// device did, which the outcome tells.
template <class Archive, class Struct>
void result_fields(Archive& archive, Struct& result) {
  std::conditional_t<std::is_const_v<Struct>, const Spectra, Spectra>& spectra = result;
  auto& [wave, flux, ivar, mask, resolution, fibermap, scores] = spectra;
  archive(wave, result.spec_min, flux, ivar, mask, result.xflux, result.chi2pix,
          result.pixmask_fraction, resolution, result.model, result.bundles);
}

template <class Archive, class Struct>
void part_fields(Archive& archive, Struct& part) {
  auto& [unit, round, outcome, result] = part;
  archive(unit, round);
  outcome_fields(archive, outcome);
  result_fields(archive, result);
}

template <class Archive, class Struct>
void hello_fields(Archive& archive, Struct& hello) {
  auto& [host, cores, isa, processors, device] = hello;
  archive(host, cores, isa, processors, device);
}

template <class Archive, class Struct>
void report_fields(Archive& archive, Struct& report) {
  auto& [rank, host, cores, launch_s, open_s, first_unit_s, wait_s, mpi_s, loop_cpu_s, cpu_s,
         peak_memory_bytes, bytes_sent, frames, parts, trace] = report;
  archive(rank, host, cores, launch_s, open_s, first_unit_s, wait_s, mpi_s, loop_cpu_s, cpu_s,
          peak_memory_bytes, bytes_sent, frames, parts, trace);
}

}  // namespace

void WireReader::raw(void* to, std::size_t n) {
  if (n > rest_.size()) malformed();
  if (n > 0) std::memcpy(to, rest_.data(), n);
  rest_ = rest_.subspan(n);
}

std::size_t WireReader::count(std::size_t element_size) {
  std::size_t n = 0;
  get(n);
  check_size(n, 1, element_size);
  return n;
}

void WireReader::check_size(std::size_t a, std::size_t b, std::size_t element_size) const {
  if (a != 0 && b > rest_.size() / element_size / a) malformed();
}

void WireReader::finish() const {
  if (!rest_.empty()) malformed();
}

Bytes to_bytes(const FrameOutcome& outcome) {
  WireWriter writer;
  outcome_fields(writer, outcome);
  return writer.take();
}

Bytes to_bytes(const std::vector<QueuedTask>& tasks) {
  WireWriter writer;
  writer(tasks.size());
  for (const auto& [number, priority, task] : tasks) {
    writer(number, priority);
    task_fields(writer, task);
  }
  return writer.take();
}

Bytes to_bytes(const Assignment& assignment, const FrameTask& task) {
  WireWriter writer;
  writer(assignment);
  task_fields(writer, task);
  return writer.take();
}

Bytes to_bytes(const PartialFrame& part) {
  WireWriter writer;
  const ExtractResult& r = part.result;
  writer.reserve(6 * r.flux.size() * sizeof(double) + r.resolution.size() * sizeof(float) + 65536);
  part_fields(writer, part);
  return writer.take();
}

Bytes to_bytes(const RankHello& hello) {
  WireWriter writer;
  hello_fields(writer, hello);
  return writer.take();
}

Bytes to_bytes(const RankReport& report) {
  WireWriter writer;
  report_fields(writer, report);
  return writer.take();
}

void from_bytes(std::span<const std::byte> bytes, FrameOutcome& outcome) {
  WireReader reader(bytes);
  outcome_fields(reader, outcome);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, std::vector<QueuedTask>& tasks) {
  WireReader reader(bytes);
  std::size_t count = 0;
  reader(count);
  tasks.clear();
  while (tasks.size() < count) {
    auto& [number, priority, task] = tasks.emplace_back();
    reader(number, priority);
    task_fields(reader, task);
  }
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, Assignment& assignment, FrameTask& task) {
  WireReader reader(bytes);
  reader(assignment);
  task_fields(reader, task);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, PartialFrame& part) {
  WireReader reader(bytes);
  part_fields(reader, part);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, RankHello& hello) {
  WireReader reader(bytes);
  hello_fields(reader, hello);
  reader.finish();
}

void from_bytes(std::span<const std::byte> bytes, RankReport& report) {
  WireReader reader(bytes);
  report_fields(reader, report);
  reader.finish();
}

}  // namespace fiberloom::night
