// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/extract_kind.hpp"

#include <type_traits>

#include "fiberloom/extract/exact/gpu/device_engine.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/frame_outputs.hpp"
#include "fiberloom/recipes/frame_steps.hpp"
#include "fiberloom/recipes/night/frame_quality.hpp"
#include "fiberloom/recipes/report/report.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/fits/verify.hpp"

namespace fiberloom::night {
namespace {

constexpr std::size_t kPsfs = 60;  // two exposures' cameras; about 2 MB each

struct FrameContent final : Opaque {
  explicit FrameContent(FrameTask its_frame) : frame(std::move(its_frame)) {}
  FrameTask frame;
};

/// What is read of a frame, until it is written.
struct FrameMaterial final : Opaque {
  explicit FrameMaterial(PreparedFrame its_frame) : frame(std::move(its_frame)) {}
  PreparedFrame frame;
};

/// Spectra of some bundles, or of all.
struct FramePiece final : Opaque {
  FramePiece(ExtractResult its_result, TakenOver its_by_cpu)
      : result(std::move(its_result)), by_cpu(std::move(its_by_cpu)) {}
  ExtractResult result;
  TakenOver by_cpu;
};

const ExtractJob& job_of(const Task& task) { return frame_of(task).job; }

/// May a frame be cut?
bool divisible(const ExtractJob& job) {
  return job.model.empty() && job.residual.empty() && !moves_traces(job) && !takes_wings_off(job);
}

/// A frame is cut by what its PSF held when it was shared out.
void require_as_cut(const WorkUnit& unit, const PreparedFrame& frame) {
  const auto found = static_cast<int>(count_bundles(frame));
  if (found == unit.parts) return;
  throw Error(Status::kChanged, frame.in.psf->path + ": holds " + std::to_string(found) +
                                    " bundles of the fibres asked for, " +
                                    std::to_string(unit.parts) +
                                    " when the frame was shared out among the ranks");
}

/// The rows of the option table, and what no user gives as an option. That no member is missing is
/// a test of the table.
template <class Archive, class Struct>
void job_fields(Archive& archive, Struct& job) {
  each_extract_option(job, [&](const ExtractOptionRow&, auto& value) { archive(value); });
  archive(job.image, job.psf, job.fibermap, job.output, job.model, job.residual, job.pixmask,
          job.shifted_psf, job.overwrite, job.psf_options.verify, job.options.wave,
          job.options.fiber_wave, job.options.want_model, job.wave_file);
}

template <class Archive, class Struct>
void frame_fields(Archive& archive, Struct& frame) {
  auto& [name, night, camera, expid, job, page, image_bytes, memory_bytes, workspace_bytes,
         staging_bytes, cost_s, twin] = frame;
  archive(name, night, camera, expid, page, image_bytes, memory_bytes, workspace_bytes,
          staging_bytes, cost_s, twin);
  job_fields(archive, job);
}

/// All but the tables of its spectra, which whoever joins the parts has, and what a device did,
/// which TakenOver tells.
template <class Archive, class Struct>
void result_fields(Archive& archive, Struct& result) {
  std::conditional_t<std::is_const_v<Struct>, const Spectra, Spectra>& spectra = result;
  auto& [wave, flux, ivar, mask, resolution, fibermap, scores] = spectra;
  static_cast<void>(fibermap), static_cast<void>(scores);
  archive(wave, result.spec_min, flux, ivar, mask, result.xflux, result.chi2pix,
          result.pixmask_fraction, result.rejected_fraction, result.rejected, resolution,
          result.fine_resolution, result.fiber_correlation, result.model, result.bundles);
}

}  // namespace

Task to_task(FrameTask frame) {
  Task task;
  task.name = frame.name;
  task.kind = kExtractKind;
  task.labels = {{"night", frame.night}, {"expid", frame.expid}, {"camera", frame.camera}};
  task.inputs = {frame.job.image, frame.job.psf};
  if (!frame.job.fibermap.empty()) task.inputs.push_back(frame.job.fibermap);
  if (!frame.twin.empty()) task.inputs.push_back(frame.twin);
  task.outputs = {frame.job.output};
  task.page = frame.report;
  task.priority = frame.expid;
  task.cost_s = frame.cost_s;
  task.memory_bytes = frame.memory_bytes;
  task.workspace_bytes = frame.workspace_bytes;
  task.staging_bytes = frame.staging_bytes;
  task.content = std::make_shared<const FrameContent>(std::move(frame));
  return task;
}

const FrameTask& frame_of(const Task& task) {
  return static_cast<const FrameContent&>(*task.content).frame;
}

TakenOver taken_over(const Outcome& outcome) {
  if (outcome.facts.size() < 2) return {};
  return {static_cast<int>(std::get<double>(outcome.facts[0])),
          std::get<std::string>(outcome.facts[1])};
}

ExtractKind::ExtractKind(Engine engine) : engine_(std::move(engine)), psfs_(kPsfs) {}

StageNames ExtractKind::stages() const {
  return {"frame/read", "frame/compute", "frame/write", "frame/join", "frame/report"};
}

std::string ExtractKind::fingerprint(const Task& task) const { return options_text(job_of(task)); }

void ExtractKind::check(const Task& task) const { check_outputs(job_of(task)); }

std::unique_ptr<Opaque> ExtractKind::read(const Task& task, const Observer& observer,
                                          Tracer* tracer) {
  const ExtractJob& job = job_of(task);
  if (const std::string& twin = frame_of(task).twin; !twin.empty()) {
    throw Error(Status::kUsage, twin + " and " + job.image + ": two images of one frame, " +
                                    task.name + ", expected one; neither is taken");
  }
  FrameInputs in = read_inputs(job, psfs_.get(job.psf, psf_options(job)), {}, tracer);
  // Masking belongs to the engine's side, but here it frees the mask, a third of what a frame that
  // waits would hold, and takes no compute slot for a serial pass.
  return std::make_unique<FrameMaterial>(prepare_frame(job, std::move(in), observer));
}

std::unique_ptr<Opaque> ExtractKind::compute(const Task& task, const WorkUnit& unit,
                                             Opaque& material, Executor& executor,
                                             const Observer& observer, Tracer* tracer,
                                             Outcome& /*outcome*/) {
  const ExtractJob& job = job_of(task);
  PreparedFrame& frame = static_cast<FrameMaterial&>(material).frame;
  const bool whole = unit.last_part < 0;
  if (!whole) require_as_cut(unit, frame);
  ExtractResult result =
      whole ? compute_frame(job, frame, engine_, executor, observer, tracer)
            : compute_bundles(job, frame, static_cast<std::size_t>(unit.first_part),
                              static_cast<std::size_t>(unit.last_part), engine_, executor, observer,
                              tracer);
  if (job.residual.empty()) frame.in.preproc.ccd = {};  // most of a frame's memory
  TakenOver by_cpu = fiberloom::taken_over(result);
  return std::make_unique<FramePiece>(std::move(result), std::move(by_cpu));
}

void ExtractKind::write(const Task& task, Opaque& material,
                        std::vector<std::unique_ptr<Opaque>> pieces, Tracer* tracer,
                        Outcome& outcome) const {
  const PreparedFrame& frame = static_cast<FrameMaterial&>(material).frame;
  std::vector<ExtractResult> results;
  TakenOver by_cpu;
  for (const auto& piece : pieces) {
    auto& part = static_cast<FramePiece&>(*piece);
    by_cpu.bundles += part.by_cpu.bundles;
    if (by_cpu.failure.empty()) by_cpu.failure = part.by_cpu.failure;
    results.push_back(std::move(part.result));
  }
  ExtractResult result = results.size() == 1 ? std::move(results.front())
                                             : join_parts(job_of(task), std::move(results), frame);
  outcome.measures = to_measures(measure_quality(result));
  outcome.facts = {static_cast<double>(by_cpu.bundles), by_cpu.failure};
  outcome.parts = static_cast<int>(count_bundles(frame));
  write_result(job_of(task), frame, std::move(result), tracer);
}

void ExtractKind::verify_output(const std::string& path) const { fits::verify_checksums(path); }

void ExtractKind::make_page(const Task& task) const {
  const ExtractJob& frame = job_of(task);
  report::ReportJob job;
  job.inputs.resize(1);
  job.inputs[0].frame = frame.output;
  const auto inputs = stamp_inputs(task);  // the frame may have outlived them
  if (inputs.missing.empty()) job.inputs[0].image = inputs.files.front().path;
  job.bundle_size = frame.options.bundle_size;
  write_text_file(task.page, report::report_html(job));
}

void ExtractKind::send(WireWriter& writer, const Opaque& content) const {
  frame_fields(writer, static_cast<const FrameContent&>(content).frame);
}

std::shared_ptr<const Opaque> ExtractKind::receive(WireReader& reader) const {
  FrameTask frame;
  frame_fields(reader, frame);
  return std::make_shared<const FrameContent>(std::move(frame));
}

int ExtractKind::count_parts(const Task& task) const {
  const ExtractJob& job = job_of(task);
  try {
    if (!divisible(job)) return 1;
    const auto psf = psfs_.get(job.psf, psf_options(job));
    const bool known = job.options.bundle_size > 0 || !psf->model.bundle.empty();
    return known ? static_cast<int>(wanted_bundles(psf->model, job.options).size()) : 1;
  } catch (const std::exception&) {  // told of by who extracts the frame, whole
    return 1;
  }
}

void ExtractKind::send_piece(WireWriter& writer, const Opaque& piece) const {
  const auto& part = static_cast<const FramePiece&>(piece);
  const ExtractResult& r = part.result;
  writer.reserve(6 * r.flux.size() * sizeof(double) + r.resolution.size() * sizeof(float) + 65536);
  writer(part.by_cpu.bundles, part.by_cpu.failure);
  result_fields(writer, r);
}

std::unique_ptr<Opaque> ExtractKind::receive_piece(WireReader& reader) const {
  TakenOver by_cpu;
  ExtractResult result;
  reader(by_cpu.bundles, by_cpu.failure);
  result_fields(reader, result);
  return std::make_unique<FramePiece>(std::move(result), std::move(by_cpu));
}

bool ExtractKind::ends_run(const Error& error) const {
  return error.status() == Status::kDevice && engine_.device() != nullptr &&
         !engine_.device()->any_left();
}

std::string ExtractKind::size_of(const Task& task) const {
  const ExtractJob& job = job_of(task);
  return job.image + print(": a grid by %g Angstrom", job.wave->at(2));
}

std::string ExtractKind::smaller() const {
  return "a coarser step, a shorter range or fewer fibres need less";
}

}  // namespace fiberloom::night
