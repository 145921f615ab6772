// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibrate_frame.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;

/// What `step` throws, with the file that it is about.
template <class Step>
auto about(const std::string& path, Step step) {
  try {
    return step();
  } catch (const Error& e) {
    throw Error(e.status(), path + ": " + e.what());
  }
}

/// 'b', 'r', 'z' of CAMERA; 0 where it names none.
char band_of(const HeaderCards& header) {
  const std::string camera = header.text("CAMERA").value_or("");
  return camera.empty() ? '\0'
                        : static_cast<char>(std::tolower(static_cast<unsigned char>(camera[0])));
}

double heliocor_of(const std::string& path, const HeaderCards& header) {
  if (!header.has("HELIOCOR")) return 1;
  const auto value = header.number("HELIOCOR");
  constexpr double kMost = 0.01;  // a hundredth of the speed of light: no planet is that fast
  if (value && std::abs(*value - 1) < kMost) return *value;
  throw Error(Status::kMissingKeyword, path + ": FLUX: HELIOCOR is '" +
                                           header.text("HELIOCOR").value_or("") +
                                           "', expected a factor near 1");
}

/// The frame's cards and what the numbers were made with.
HeaderCards header_of(const HeaderCards& frame, const CalibrationFiles& files) {
  HeaderCards header = frame;
  set_dependency(header, "fiberloom", std::string(version()));
  header.set("CALMETH", files.method == CalibrationMethod::kDesispec ? "desispec" : "fiberloom",
             "Rules of this calibration step");
  const auto input = [&](const char* key, const std::string& path) {
    if (!path.empty()) header.set(key, shorten_filename(path));
  };
  input("IN_FRAME", files.input);
  input("FIBERFLT", files.flat);
  input("IN_SKY", files.sky);
  return header;
}

void divide(FrameFile& frame, const CalibrationFiles& files) {
  const FiberFlatFile flat = read_fiber_flat(files.flat, files.verify);
  const double heliocor = heliocor_of(files.input, frame.header);
  about(files.flat, [&] { calibrate::apply_fiber_flat(frame, flat, heliocor); });
}

template <class T>
std::size_t zeros(const Array2D<T>& a) {
  return static_cast<std::size_t>(std::count(a.data(), a.data() + a.size(), T{}));
}

}  // namespace

void check_outputs(const CalibrationFiles& files, std::span<const NamedFile> more) {
  std::vector<NamedFile> outputs{{"output", files.output}};
  outputs.insert(outputs.end(), more.begin(), more.end());
  const std::array<NamedFile, 3> inputs{
      {{"input", files.input}, {"fibre flat", files.flat}, {"sky", files.sky}}};
  check_distinct(outputs, inputs);
  std::error_code ignored;
  if (files.overwrite == Overwrite::kNo && fs::exists(files.output, ignored)) {
    throw Error(Status::kOutputExists, files.output + ": exists, and --no-clobber was given");
  }
  check_place(files.output);
}

FiberFlatSummary make_fiber_flat(const FiberFlatJob& job, Executor& executor,
                                 const Observer& observer) {
  FrameFile lamp = read_frame(job.files.input, job.files.verify);
  const std::string flavor = lamp.header.text("FLAVOR").value_or("flat");
  if (flavor != "flat") {
    observer.warn(job.files.input + ": FLUX: FLAVOR is '" + flavor +
                     "', expected 'flat': not a lamp's frame, as its header has it");
  }
  calibrate::FiberFlatOptions options = job.files.method == CalibrationMethod::kDesispec
                                            ? calibrate::desispec_fiber_flat()
                                            : calibrate::FiberFlatOptions();
  options.clip_nsig = job.clip_nsig;
  options.accuracy = job.accuracy;
  options.spacing_aa = job.spacing_aa;
  calibrate::FiberFlatFit flat = about(job.files.input, [&] {
    return calibrate::compute_fiber_flat(lamp, band_of(lamp.header), options, executor);
  });
  const FiberFlatSummary out{flat.flat.rows(), flat.flat.cols(), flat.lost_fibers, flat.rejected,
                             zeros(flat.ivar), flat.iterations,  flat.chi2_per_dof};
  FiberFlatFile file;
  file.header = header_of(lamp.header, job.files);
  file.header.set("CHI2PDF", flat.chi2_per_dof);
  static_cast<FiberFlat&>(file) = std::move(flat);
  write_fiber_flat(job.files.output, file, job.files.overwrite);
  return out;
}

SkySummary make_sky(const SkyJob& job, Executor& executor, const Observer& observer) {
  FrameFile frame = read_frame(job.files.input, job.files.verify);
  if (!job.files.flat.empty()) divide(frame, job.files);
  const calibrate::SkyOptions options = job.files.method == CalibrationMethod::kDesispec
                                            ? calibrate::desispec_sky()
                                            : calibrate::SkyOptions();
  calibrate::SkyFit sky = about(job.files.input, [&] {
    return calibrate::compute_sky(frame, band_of(frame.header), options, executor);
  });
  for (const std::size_t row : sky.discarded) {
    observer.warn(print("%s: spectrum %zu: light where only sky should be; not used for the sky",
                           job.files.input.c_str(), row));
  }
  const SkySummary out{sky.flux.rows(), sky.flux.cols(), sky.fibers.size(), sky.discarded.size(),
                       sky.clipped,     zeros(sky.ivar), sky.iterations};
  SkyFile file;
  file.header = header_of(frame.header, job.files);
  static_cast<SkyModel&>(file) = std::move(sky);
  write_sky(job.files.output, file, job.files.overwrite);
  return out;
}

CalibrateSummary calibrate_frame(const CalibrateJob& job, const Observer&) {
  FrameFile frame = read_frame(job.files.input, job.files.verify, FrameTables::kAll);
  if (!job.files.flat.empty()) divide(frame, job.files);
  if (!job.files.sky.empty()) {
    const SkyFile sky = read_sky(job.files.sky, job.files.verify);
    about(job.files.sky, [&] { calibrate::subtract_sky(frame, sky, band_of(frame.header)); });
  }
  frame.header = header_of(frame.header, job.files);
  write_frame(job.files.output, frame, job.files.overwrite);
  return {frame.nspec(), frame.nwave(), zeros(frame.ivar)};
}

}  // namespace fiberloom
