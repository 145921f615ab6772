// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibration_steps.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/frame_header.hpp"
#include "fiberloom/recipes/version.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::calibration {
namespace {

/// Petals are exchanged, and fibres keep their places in them.
bool same_in_petal(std::int64_t a, std::int64_t b) {
  return a < 0 || b < 0 || a % kFibersOfSpectrograph == b % kFibersOfSpectrograph;
}

}  // namespace

std::string camera_of(const HeaderCards& header) {
  return loom::in_small_letters(header.text("CAMERA").value_or(""));
}

char band_of(const HeaderCards& header) {
  const std::string camera = camera_of(header);
  return camera.empty() ? '\0' : camera[0];
}

FrameFile read_frame_of_one_grid(const std::string& path, Verify verify, const Observer& observer,
                                 FrameTables tables) {
  FrameFile frame = read_frame(path, verify, tables);
  require_one_grid(frame);
  drop_and_tell(path, "", frame, observer);
  return frame;
}

void drop_and_tell(const std::string& path, const std::string& prefix, Spectra& spectra,
                   const Observer& observer) {
  const std::size_t lost = calibrate::drop_what_is_no_number(spectra);
  if (lost == 0) return;
  observer.warn(
      print("%s: %sFLUX, IVAR or RESOLUTION of %zu of %zu bins is no number, or IVAR is "
            "below 0: without weight",
            path.c_str(), prefix.c_str(), lost, spectra.flux.size()));
}

FiberFlatFile divide_by_flat(FrameFile& frame, const CalibrationJob& job) {
  FiberFlatFile flat = read_fiber_flat(job.flat, job.verify);
  require_same_origin(job.flat, flat.header, frame.header, Origin::kCamera);
  require_same_fibers(job.flat, flat.fibermap, frame.fibermap);
  const double heliocor = heliocor_of(job.input, frame.header);
  about(job.flat, [&] { calibrate::apply_fiber_flat(frame, flat, heliocor); });
  return flat;
}

SkyFile subtract_sky(FrameFile& frame, const CalibrationJob& job) {
  SkyFile sky = read_sky(job.sky, job.verify);
  require_same_origin(job.sky, sky.header, frame.header, Origin::kCameraAndExposure);
  about(job.sky, [&] { calibrate::subtract_sky(frame, sky, band_of(frame.header)); });
  return sky;
}

void require_same_origin(const std::string& path, const HeaderCards& made, const HeaderCards& frame,
                         Origin origin) {
  const std::string camera = camera_of(made), expected = camera_of(frame);
  if (!camera.empty() && !expected.empty() && camera != expected) {
    throw Error(Status::kWrongShape,
                path + ": CAMERA is " + camera + ", expected that of the frame, " + expected);
  }
  require_same_first_fiber(path, made, frame);
  if (origin == Origin::kCamera) return;
  const std::int64_t exposure = integer_of(made, "EXPID"), wanted = integer_of(frame, "EXPID");
  if (exposure < 0 || wanted < 0 || exposure == wanted) return;
  throw Error(Status::kWrongShape, path + ": EXPID is " + std::to_string(exposure) +
                                       ", expected that of the frame, " + std::to_string(wanted));
}

void require_same_first_fiber(const std::string& path, const HeaderCards& made,
                              const HeaderCards& frame) {
  const std::int64_t first = integer_of(made, "FIBERMIN"), wanted = integer_of(frame, "FIBERMIN");
  if (same_in_petal(first, wanted)) return;
  throw Error(Status::kWrongShape, path + ": FIBERMIN is " + std::to_string(first) +
                                       ", expected that of the frame, " + std::to_string(wanted));
}

void require_same_fibers(const std::string& path, const std::optional<Table>& made,
                         const std::optional<Table>& frame) {
  const auto fibers = made ? made->integers("FIBER", -1) : std::nullopt;
  const auto wanted = frame ? frame->integers("FIBER", -1) : std::nullopt;
  if (!fibers || !wanted) return;
  for (std::size_t s = 0; s < std::min(fibers->size(), wanted->size()); ++s) {
    if (same_in_petal((*fibers)[s], (*wanted)[s])) continue;
    throw Error(Status::kWrongShape,
                path + print(": FIBERMAP: row %zu is of fibre %lld, expected that of the frame, "
                             "%lld",
                             s, static_cast<long long>((*fibers)[s]),
                             static_cast<long long>((*wanted)[s])));
  }
}

std::string require_camera(const std::string& path, const char* hdu, const HeaderCards& header) {
  const std::string camera = camera_of(header);
  const bool good = camera.size() == 2 && std::string("brz").find(camera[0]) != std::string::npos &&
                    std::isdigit(static_cast<unsigned char>(camera[1])) != 0;
  if (good) return camera;
  throw Error(Status::kMissingKeyword,
              path + ": " + hdu + ": CAMERA is '" + camera +
                  "', expected b, r or z and the number of a spectrograph");
}

std::int64_t integer_of(const HeaderCards& header, const char* key) {
  const auto value = header.number(key);
  return value ? static_cast<std::int64_t>(*value) : -1;
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

HeaderCards header_of(const HeaderCards& frame, const CalibrationJob& job) {
  HeaderCards header = frame;
  set_dependency(header, "fiberloom", std::string(version()));
  header.set("CALMETH", job.method == CalibrationMethod::kDesispec ? "desispec" : "fiberloom",
             "Rules of this calibration step");
  const auto input = [&](const char* key, const std::string& path) {
    if (path.empty()) return;
    const bool below = !job.root.empty() && path.starts_with(job.root + "/");
    header.set(key, below ? path.substr(job.root.size() + 1) : shorten_filename(path));
  };
  input("IN_FRAME", job.input);
  input("FIBERFLT", job.flat);
  input("IN_SKY", job.sky);
  input("STDMODEL", job.models);
  input("FLUXCALB", job.flux);
  input("STARGRID", job.grid);
  return header;
}

}  // namespace fiberloom::calibration
