// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/average_flats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fiberloom/calibrate/flat_average.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "loom/base/error.hpp"
#include "loom/base/replaced.hpp"

namespace fiberloom {
namespace {

using calibrate::LampFlat;
using calibration::about;

constexpr const char* kCameraWord = "{camera}";

/// The files of one camera, lamp by lamp.
struct CameraFlats {
  std::string first;  ///< path, for messages
  HeaderCards header;
  std::map<long, std::vector<std::string>> lamps;
  std::map<std::pair<long, std::int64_t>, std::string> exposures;  ///< of lamp and EXPID

  [[nodiscard]] std::size_t files() const {
    std::size_t n = 0;
    for (const auto& [lamp, paths] : lamps) n += paths.size();
    return n;
  }
  [[nodiscard]] bool has_lamps_of(const CameraFlats& other) const {
    return std::all_of(other.lamps.begin(), other.lamps.end(),
                       [&](const auto& one) { return lamps.contains(one.first); });
  }
};

using ByCamera = std::map<std::string, CameraFlats>;

/// Headers alone: whose the files are.
ByCamera sort_flats(const std::vector<std::string>& paths) {
  ByCamera out;
  for (const std::string& path : paths) {
    const HeaderCards header = read_fiber_flat_header(path);
    const std::string camera = calibration::require_camera(path, "FIBERFLAT", header);
    CameraFlats& flats = out[camera];
    if (flats.first.empty()) flats.first = path, flats.header = header;
    const long lamp = lamp_of(header.text("PROGRAM").value_or(""));
    const std::int64_t exposure = calibration::integer_of(header, "EXPID");
    flats.lamps[lamp].push_back(path);
    if (exposure < 0) continue;
    const auto [other, fresh] = flats.exposures.emplace(std::pair(lamp, exposure), path);
    if (!fresh) {
      throw Error(Status::kUsage, path + ": FIBERFLAT: exposure " + std::to_string(exposure) +
                                      " of camera " + camera + " is in " + other->second +
                                      " too, expected each once");
    }
  }
  return out;
}

FiberFlat exposures_as_one(const std::vector<std::string>& paths, const CalibrationJob& job) {
  std::vector<FiberFlat> all;
  for (const std::string& path : paths) all.push_back(read_fiber_flat(path, job.verify));
  return about(paths.front(), [&] { return calibrate::average_flats(all); });
}

/// A camera's flats of each of `lamps`, which it has.
std::vector<LampFlat> read_lamps(const std::string& camera, const CameraFlats& files,
                                 const CameraFlats& lamps, const CalibrationJob& job) {
  std::vector<LampFlat> out;
  for (const auto& [lamp, ignored] : lamps.lamps) {
    out.push_back({lamp, camera[1] - '0', exposures_as_one(files.lamps.at(lamp), job)});
  }
  return out;
}

/// Flats of all spectrographs of a band and the same lamps, by spectrograph.
std::map<int, FiberFlat> average_band(std::vector<LampFlat> flats, const std::string& label,
                                      const CalibrationJob& job, const Observer& observer) {
  std::map<int, FiberFlat> out;
  const bool places = std::all_of(flats.begin(), flats.end(),
                                  [](const LampFlat& f) { return calibrate::has_places(f.flat); });
  if (!places) {
    observer.warn(label +
                  ": FIBERMAP: no FIBERASSIGN_X and FIBERASSIGN_Y, here or in another of "
                  "its band: lamps are averaged without the focal plane");
    std::map<int, std::vector<FiberFlat>> by_spectrograph;
    for (LampFlat& f : flats) by_spectrograph[f.spectrograph].push_back(std::move(f.flat));
    for (const auto& [number, all] : by_spectrograph) out[number] = calibrate::average_flats(all);
    return out;
  }
  const auto errors = job.method == CalibrationMethod::kDesispec ? calibrate::ScaledErrors::kStay
                                                                 : calibrate::ScaledErrors::kFollow;
  auto united = about(label, [&] { return combine_lamps(std::move(flats), errors); });
  for (LampFlat& f : united) out[f.spectrograph] = std::move(f.flat);
  return out;
}

std::string output_of(const CalibrationJob& job, const std::string& camera) {
  return replaced(job.output, kCameraWord, camera);
}

/// Throws kUsage where the name of the output has a word that stands for nothing, or none.
void check_pattern(const CalibrationJob& job, const ByCamera& all) {
  const std::array<std::string_view, 1> known{kCameraWord};
  const std::string word = unknown_word(job.output, known);
  if (!word.empty()) {
    throw Error(Status::kUsage,
                "fiberflat: output " + job.output + ": found " + word + ", expected {camera}");
  }
  if (all.size() < 2 || output_of(job, "b0") != output_of(job, "b1")) return;
  throw Error(Status::kUsage,
              "fiberflat: --flats are of " + std::to_string(all.size()) +
                  " cameras, expected {camera} in the name of the output: " + job.output);
}

void write_average(const CalibrationJob& job, const std::string& camera, const CameraFlats& files,
                   std::size_t lamps, FiberFlat flat, AverageFlatsSummary& summary) {
  FiberFlatFile file;
  file.header = calibration::header_of(files.header, job);
  for (const char* key : {"EXPID", "CHI2PDF", "IN_FRAME"}) file.header.remove(key);
  file.header.set("NLAMPS", static_cast<int>(lamps), "lamps that it is the average of");
  file.header.set("NFLATS", static_cast<int>(files.files()), "fibre flats of one exposure");
  static_cast<FiberFlat&>(file) = std::move(flat);
  const std::string path = output_of(job, camera);
  const FolderOf folder(path);
  write_fiber_flat(path, file, job.overwrite);
  summary.flats += files.files();
  summary.lamps = std::max(summary.lamps, lamps);
  summary.cameras.push_back(camera);
  summary.outputs.push_back(path);
}

}  // namespace

long lamp_of(const std::string& program) {
  constexpr const char* kWord = "CALIB-";
  const auto at = program.find(kWord);
  return at == std::string::npos ? 0 : std::atol(program.c_str() + at + 6);
}

AverageFlatsSummary average_fiber_flats(const CalibrationJob& job, const Observer& observer) {
  const ByCamera all = sort_flats(job.flats);
  check_pattern(job, all);
  std::vector<NamedFile> outputs, inputs;
  for (const auto& [camera, files] : all) {
    outputs.push_back({"output", output_of(job, camera)});
    check_output(outputs.back().path, job.overwrite);
  }
  for (const std::string& path : job.flats) inputs.push_back({"fibre flat", path});
  check_distinct(outputs, inputs);
  std::map<char, ByCamera> bands;
  for (const auto& [camera, files] : all) bands[camera[0]][camera] = files;
  AverageFlatsSummary out;
  for (const auto& [band, cameras] : bands) {
    const auto most = std::max_element(
        cameras.begin(), cameras.end(),
        [](const auto& a, const auto& b) { return a.second.lamps.size() < b.second.lamps.size(); });
    for (const auto& [camera, files] : cameras) {
      if (files.has_lamps_of(most->second) && most->second.has_lamps_of(files)) continue;
      throw Error(Status::kWrongShape, files.first + ": camera " + camera + " has flats of " +
                                           std::to_string(files.lamps.size()) + " lamps, " +
                                           most->first + " of " +
                                           std::to_string(most->second.lamps.size()) +
                                           ", expected the same lamps (PROGRAM) of all");
    }
    std::vector<LampFlat> read;
    for (const auto& [camera, files] : cameras) {
      std::ranges::move(read_lamps(camera, files, files, job), std::back_inserter(read));
    }
    auto flats = average_band(std::move(read), most->second.first, job, observer);
    for (const auto& [camera, files] : cameras) {
      write_average(job, camera, files, files.lamps.size(), std::move(flats.at(camera[1] - '0')),
                    out);
      out.together.push_back(camera);
    }
  }
  return out;
}

AverageFlatsSummary average_flats_of_camera(const CalibrationJob& job,
                                            const std::vector<std::string>& beside,
                                            const Observer& observer) {
  const ByCamera own = sort_flats(job.flats);
  if (own.size() != 1) {
    throw Error(Status::kUsage, job.output + ": flats of " + std::to_string(own.size()) +
                                    " cameras, expected those of one");
  }
  const auto& [camera, files] = *own.begin();
  AverageFlatsSummary out;
  out.together = {camera};
  const auto laid_together = [&, &whose = camera, &of = files](const ByCamera& others) {
    out.together = {whose};
    std::vector<LampFlat> read = read_lamps(whose, of, of, job);
    for (const auto& [other, its] : others) {
      if (other[0] != whose[0] || other == whose || !its.has_lamps_of(of)) continue;
      std::ranges::move(read_lamps(other, its, of, job), std::back_inserter(read));
      out.together.push_back(other);
    }
    return average_band(std::move(read), of.first, job, observer);
  };
  std::map<int, FiberFlat> flats;
  try {
    flats = laid_together(sort_flats(beside));
  } catch (const Error& error) {  // another's own step tells of it; this camera can do without
    // Where it was the machine that failed to read, the next try may well not.
    const bool unread = error.system_error() != 0 || error.status() == Status::kNotFound;
    if (beside.empty() || unread) throw;
    observer.warn(job.output + ": not laid beside the others of its band: " + error.what());
    flats = laid_together({});
  }
  write_average(job, camera, files, files.lamps.size(), std::move(flats.at(camera[1] - '0')), out);
  return out;
}

}  // namespace fiberloom
