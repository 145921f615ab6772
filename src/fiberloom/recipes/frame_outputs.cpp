// SPDX-License-Identifier: BSD-3-Clause
// Where the results go.
#include "fiberloom/recipes/frame_outputs.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/recipes/frame_steps.hpp"
#include "fiberloom/recipes/trace_step.hpp"
#include "fiberloom/simulate/noise.hpp"
#include "fiberloom/spectrum/scores.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

/// The files of a frame: none has its name before all of them are whole, and those of an earlier
/// run are there until then.
class NewFiles {
 public:
  /// Calls write_it(where its name waits).
  template <class Write>
  void write(const std::string& path, Write&& write_it) {
    folders_.push_back(std::make_unique<FolderOf>(path));
    write_it(&together_);
  }
  void commit() { together_.commit(); }

 private:
  std::vector<std::unique_ptr<FolderOf>> folders_;
  FilesTogether together_;
};

}  // namespace

std::vector<NamedFile> inputs_of(const ExtractJob& job) {
  return {{"image", job.image},
          {"PSF", job.psf},
          {"fibermap", job.fibermap},
          {"wavelengths", job.wave_file}};
}

std::vector<NamedFile> outputs_of(const ExtractJob& job) {
  return {{"frame", job.output},
          {"model", job.model},
          {"residual", job.residual},
          {"pixel mask", job.pixmask},
          {"shifted PSF", job.shifted_psf}};
}

void check_names(const ExtractJob& job, std::span<const NamedFile> more) {
  validate(job);
  if (!moves_traces(job) && !job.shifted_psf.empty()) {
    throw Error(Status::kUsage, "a shifted PSF without trace_shifts, which the exact method has");
  }
  auto outputs = outputs_of(job);
  outputs.insert(outputs.end(), more.begin(), more.end());
  check_distinct(outputs, inputs_of(job));
}

void check_outputs(const ExtractJob& job) {
  check_names(job);
  loom::check_outputs(paths_of(outputs_of(job)), job.overwrite);
}

Array2D<float> residual_image(const CcdFrame& ccd, const Array2D<float>& model) {
  Array2D<float> residual(model.rows(), model.cols());
  std::visit(
      [&](const auto& image, const auto& ivar) {
        for (std::size_t i = 0; i < residual.size(); ++i) {
          const double difference = static_cast<double>(image.data()[i]) - model.data()[i];
          residual.data()[i] = ivar.data()[i] > 0 ? static_cast<float>(difference) : 0.0F;
        }
      },
      ccd.image.data(), ccd.ivar.data());
  return residual;
}

Array2D<std::uint32_t> pixel_mask(const PreprocFile& image, const std::vector<CcdPixel>& rejected) {
  const std::size_t rows = image.ccd.image.rows(), cols = image.ccd.image.cols();
  Array2D<std::uint32_t> mask(rows, cols, 0U);
  if (!image.mask.empty()) std::copy_n(image.mask.data(), image.mask.size(), mask.data());
  for (const CcdPixel& p : rejected)
    mask(static_cast<std::size_t>(p.row), static_cast<std::size_t>(p.column)) |= kCcdCosmic;
  return mask;
}

void write_outputs(const ExtractJob& job, const PreparedFrame& prepared, const HeaderCards& header,
                   ExtractResult result, Tracer* tracer) {
  const PreprocFile& image = prepared.in.preproc;
  const Span span(tracer, "write");
  NewFiles files;
  if (!job.model.empty()) {
    files.write(job.model, [&](FilesTogether* together) {
      write_image(job.model, result.model, image_header(header), "MODEL", job.overwrite, together);
    });
  }
  if (!job.residual.empty()) {
    files.write(job.residual, [&](FilesTogether* together) {
      write_image(job.residual, residual_image(image.ccd, result.model), image_header(header),
                  "RESIDUAL", job.overwrite, together);
    });
  }
  if (!job.pixmask.empty()) {
    files.write(job.pixmask, [&](FilesTogether* together) {
      write_mask(job.pixmask, pixel_mask(image, result.rejected), job.overwrite, together);
    });
  }
  if (!job.shifted_psf.empty()) {
    files.write(job.shifted_psf, [&](FilesTogether* together) {
      write_moved_psf(job.shifted_psf, job.psf, job.verify, result.traces.change(),
                      trace_notes(prepared, result.traces), job.overwrite, together);
    });
  }
  FrameFile frame;
  frame.header = header;
  const FrameGrid& grid = prepared.grid;
  const auto first = static_cast<std::size_t>(result.spec_min), n = result.flux.rows();
  if (!grid.fiber_written.empty()) {
    frame.fiber_wave = Array2D<double>(n, grid.written.size());
    const double* from = grid.fiber_written.row(first);
    std::copy_n(from, frame.fiber_wave.size(), frame.fiber_wave.data());
  }
  if (!grid.fiber_factor.empty()) {
    const auto from = grid.fiber_factor.begin() + static_cast<std::ptrdiff_t>(first);
    frame.fiber_heliocor.assign(from, from + static_cast<std::ptrdiff_t>(n));
  }
  frame.chi2pix = std::move(result.chi2pix);
  frame.fine_resolution = std::move(result.fine_resolution);
  frame.fiber_correlation = std::move(result.fiber_correlation);
  frame.spec_min = result.spec_min;
  static_cast<Spectra&>(frame) = std::move(result);  // its own part, the last to go
  frame.fibermap = to_table(prepared.fibermap);
  if (job.scores) frame.scores = frame_scores(frame);
  files.write(job.output, [&](FilesTogether* together) {
    write_frame(job.output, frame, job.overwrite, together);
  });
  files.commit();
}

}  // namespace fiberloom
