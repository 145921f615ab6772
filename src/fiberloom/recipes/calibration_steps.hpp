// SPDX-License-Identifier: BSD-3-Clause
// What the recipes of the calibration share: cards of a frame that they ask for, and those that
// they leave. Internal to recipes/.
#pragma once

#include <optional>
#include <string>

#include "fiberloom/recipes/calibrate_frame.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::calibration {

/// What `step` throws, with the file that it is about.
template <class Step>
auto about(const std::string& path, Step step) {
  try {
    return step();
  } catch (const Error& e) {
    throw Error(e.status(), path + ": " + e.what());
  }
}

/// A frame whose fibres share one grid of wavelengths; another is an error. Bins that are no
/// numbers are 0 without weight in it, and told of.
[[nodiscard]] FrameFile read_frame_of_one_grid(const std::string& path, Verify verify,
                                               const Observer& observer,
                                               FrameTables tables = FrameTables::kFibermap);
/// The same of spectra that are there already; HDUs of `path` begin with `prefix` ("B_", or "").
void drop_and_tell(const std::string& path, const std::string& prefix, Spectra& spectra,
                   const Observer& observer);

/// The frame divided by job.flat, which is handed back.
FiberFlatFile divide_by_flat(FrameFile& frame, const CalibrationJob& job);
/// The frame without job.sky, which is handed back.
SkyFile subtract_sky(FrameFile& frame, const CalibrationJob& job);

/// What a flat, a sky or a flux calibration must share with the frame that it is applied to.
enum class Origin { kCamera, kCameraAndExposure };
/// Throws kWrongShape where both say what they are of, and it is not the same: cameras of one band
/// have the same grid, and nothing else would tell.
void require_same_origin(const std::string& path, const HeaderCards& made, const HeaderCards& frame,
                         Origin origin);
/// Throws kWrongShape where FIBERMIN of both says that their fibres are not the same within a
/// petal.
void require_same_first_fiber(const std::string& path, const HeaderCards& made,
                              const HeaderCards& frame);
/// The same of each row, where both FIBERMAPs have FIBER.
void require_same_fibers(const std::string& path, const std::optional<Table>& made,
                         const std::optional<Table>& frame);
/// CAMERA in lower case, "" where there is none.
[[nodiscard]] std::string camera_of(const HeaderCards& header);
/// 'b', 'r', 'z' of CAMERA; 0 where it names none.
[[nodiscard]] char band_of(const HeaderCards& header);
/// The same of two letters, band and number of the spectrograph: "b0". Throws kMissingKeyword.
[[nodiscard]] std::string require_camera(const std::string& path, const char* hdu,
                                         const HeaderCards& header);
/// A whole number, -1 where there is none.
[[nodiscard]] std::int64_t integer_of(const HeaderCards& header, const char* key);
/// The factor HELIOCOR, 1 where there is none. Throws kMissingKeyword where it is none near 1.
[[nodiscard]] double heliocor_of(const std::string& path, const HeaderCards& header);
/// The frame's cards and what the numbers were made with.
[[nodiscard]] HeaderCards header_of(const HeaderCards& frame, const CalibrationJob& job);

}  // namespace fiberloom::calibration
