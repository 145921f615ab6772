// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom qa`: calibrated frames of an exposure, with what calibrated them -> how
// good they are.
#include "fiberloom/recipes/quality/exposure_quality.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "fiberloom/formats/exposure_qa_file.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/recipes/redshift/lost_columns.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"
#include "fiberloom/spectrum/flux_unit.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/median.hpp"

namespace fiberloom {
namespace {

using calibrate::CameraQa;
using calibrate::ExposureQa;

/// What belongs to one camera of one spectrograph.
struct CameraFiles {
  FrameFile frame;
  std::optional<SkyFile> sky;
  std::optional<FluxCalibrationFile> flux;
};
/// Cameras of a spectrograph: 'b', 'r', 'z' in this order.
using Petal = std::map<char, CameraFiles>;

struct Petals {
  std::map<int, Petal> of;  ///< by the spectrograph's number
  std::map<int, StandardStarFile> stars;
  std::string first;  ///< the file that all others are compared with
  std::int64_t expid = -1;
};

Petals read_exposure(const CalibrationJob& job, const Observer& observer) {
  if (job.frames.empty()) throw Error(Status::kUsage, "no frame: give --frames");
  Petals out;
  for (const std::string& path : job.frames) {
    FrameFile frame = read_frame(path, job.verify, FrameTables::kAll);
    const std::string camera = calibration::require_camera(path, "FLUX", frame.header);
    const char band = camera[0];
    const int number = camera[1] - '0';
    const std::int64_t expid = calibration::integer_of(frame.header, "EXPID");
    if (out.first.empty()) out.first = path, out.expid = expid;
    if (expid != out.expid) {
      throw Error(Status::kWrongShape, path + ": FLUX: EXPID is " + std::to_string(expid) +
                                           ", expected that of " + out.first + ", " +
                                           std::to_string(out.expid));
    }
    const std::string unit = frame.header.text("BUNIT").value_or("");
    if (!unit.empty() && !is_flux_unit(unit)) {
      observer.warn(
          path + ": FLUX: BUNIT is '" + unit +
          "', expected a flux without the sky: what is said of it is of no calibrated frame");
    }
    if (!frame.fibermap) {
      observer.warn(path +
                    ": no FIBERMAP: none of its fibres is known to be bad, none as the sky's");
    }
    calibration::drop_and_tell(path, "", frame, observer);
    frame.resolution = {};  // nobody asks for it here
    if (!out.of[number].emplace(band, CameraFiles{std::move(frame), {}, {}}).second) {
      throw Error(Status::kUsage, path + ": a second frame of camera " + band +
                                      std::to_string(number) + ", expected one");
    }
  }
  for (const auto& [number, petal] : out.of) {  // a row is one fibre of all cameras
    const auto& first = petal.begin()->second.frame.fibermap;
    for (const auto& [band, files] : petal) {
      calibration::require_same_fibers(files.frame.path, files.frame.fibermap, first);
    }
  }
  return out;
}

/// The camera that a sky or a flux calibration belongs to, or null with a warning.
CameraFiles* find_camera(Petals& petals, const std::string& path, const char* hdu,
                         const HeaderCards& header, std::size_t nspec, const Observer& observer) {
  const std::string name = calibration::require_camera(path, hdu, header);
  const char band = name[0];
  const auto petal = petals.of.find(name[1] - '0');
  if (petal == petals.of.end() || petal->second.count(band) == 0 ||
      calibration::integer_of(header, "EXPID") != petals.expid) {
    observer.warn(path + ": of no frame that was given; not used");
    return nullptr;
  }
  CameraFiles& camera = petal->second.at(band);
  if (camera.frame.nspec() == nspec) return &camera;
  throw Error(Status::kWrongShape, path + ": " + std::to_string(nspec) +
                                       " spectra, expected those of " + camera.frame.path + ", " +
                                       std::to_string(camera.frame.nspec()));
}

Petals read_exposure_files(const CalibrationJob& job, const Observer& observer) {
  Petals out = read_exposure(job, observer);
  for (const std::string& path : job.skies) {
    SkyFile sky = read_sky(path, job.verify);
    CameraFiles* camera = find_camera(out, path, "SKY", sky.header, sky.flux.rows(), observer);
    if (camera != nullptr) camera->sky = std::move(sky);
  }
  for (const std::string& path : job.fluxes) {
    FluxCalibrationFile flux = read_flux_calibration(path, job.verify);
    CameraFiles* camera =
        find_camera(out, path, "FLUXCALIB", flux.header, flux.calib.rows(), observer);
    if (camera != nullptr) camera->flux = std::move(flux);
  }
  for (const std::string& path : job.star_files) {
    StandardStarFile stars = read_standard_stars(path, job.verify);
    const auto fiber = stars.fibermap ? stars.fibermap->integers("FIBER", -1) : std::nullopt;
    const bool numbered = fiber && !fiber->empty() && fiber->front() >= 0;
    const int number = numbered ? static_cast<int>(fiber->front() / kFibersOfSpectrograph) : -1;
    const int petal = out.of.size() == 1 ? out.of.begin()->first : number;
    if (out.of.count(petal) == 0) {
      observer.warn(path + ": FIBERMAP: stars of no spectrograph that was given; not used");
      continue;
    }
    if (!out.stars.emplace(petal, std::move(stars)).second) {
      throw Error(Status::kUsage, path + ": second standard stars of spectrograph " +
                                      std::to_string(petal) + ", expected one");
    }
  }
  return out;
}

/// Stars with a model whose fibre the flux calibration was made of, where it says so.
calibrate::QaStars stars_of(const StandardStarFile& file, const Petal& petal) {
  calibrate::QaStars out{file.wave, {}};
  const auto red = petal.find('r');
  const Petal::const_iterator any = red == petal.end() ? petal.begin() : red;
  const FrameFile& frame = any->second.frame;
  const auto fibers = frame.fibermap ? frame.fibermap->integers("FIBER", -1) : std::nullopt;
  const auto& flux = any->second.flux;
  const auto used = flux && flux->stars ? flux->stars->integers("FIBER", -1) : std::nullopt;
  for (std::size_t m = 0; m < file.fibers.size(); ++m) {
    const std::int64_t wanted = file.fibers[m] % kFibersOfSpectrograph;
    const auto is_it = [&](std::int64_t fiber) { return fiber % kFibersOfSpectrograph == wanted; };
    if (used && std::none_of(used->begin(), used->end(), is_it)) continue;
    for (std::size_t row = 0; row < frame.nspec(); ++row) {
      if (!is_it(fibers ? (*fibers)[row] : static_cast<std::int64_t>(row))) continue;
      out.stars.push_back({row, {file.flux.row(m), file.wave.size()}});
      break;
    }
  }
  return out;
}

ExposureQa judge(const Petals& petals, int number) {
  const Petal& petal = petals.of.at(number);
  std::vector<calibrate::QaCamera> cameras;
  for (const auto& [band, files] : petal) {
    cameras.push_back({band, &files.frame, files.sky ? &*files.sky : nullptr,
                       files.flux ? &*files.flux : nullptr});
  }
  const auto stars = petals.stars.find(number);
  if (stars == petals.stars.end()) return exposure_qa(cameras, nullptr, {});
  const calibrate::QaStars all = stars_of(stars->second, petal);
  return exposure_qa(cameras, &all, {});
}

/// Depth of all spectrographs, in seconds too where they are known.
std::map<int, PetalDepth> depths_of(const Petals& petals, const CalibrationJob& job,
                                    const Observer& observer) {
  std::map<int, std::vector<const FrameFile*>> cameras;
  std::vector<const FrameFile*> all;
  for (const auto& [number, petal] : petals.of) {
    for (const auto& [band, files] : petal) cameras[number].push_back(&files.frame);
    all.insert(all.end(), cameras[number].begin(), cameras[number].end());
  }
  const std::string kind = kind_of_goal(*all.front());
  const std::optional<double> seconds = seconds_of_tsnr2(kind, all, job, observer);
  std::map<int, PetalDepth> out;
  for (const auto& [number, frames] : cameras)
    out.emplace(number, depth_of_petal(frames, kind, seconds));
  return out;
}

/// Columns of the fibres that tell them, and what was found.
Table fiber_rows(const Petal& petal, const ExposureQa& qa, const PetalDepth& depth) {
  const FrameFile& frame = petal.begin()->second.frame;
  Table out;
  for (const char* name : {"TARGETID", "PETAL_LOC", "DEVICE_LOC", "LOCATION", "FIBER", "TARGET_RA",
                           "TARGET_DEC", "FIBER_X", "FIBER_Y", "DELTA_X", "DELTA_Y", "EBV"}) {
    const Column* column = frame.fibermap ? frame.fibermap->find(name) : nullptr;
    if (column == nullptr) continue;
    out.rows = frame.fibermap->rows;
    out.columns.push_back(*column);
  }
  const std::vector<std::int32_t> status(qa.status.begin(), qa.status.end());
  out.add("QAFIBERSTATUS", std::span<const std::int32_t>(status));
  for (const char band : {'b', 'r', 'z'}) {
    const auto camera = std::find_if(qa.cameras.begin(), qa.cameras.end(),
                                     [&](const CameraQa& c) { return c.band == band; });
    const std::vector<double> none(qa.status.size(), 0.0);
    out.add(std::string("MEDIAN_SNR_") + loom::capital(band),
            std::span<const double>(camera == qa.cameras.end() ? none : camera->snr), "",
            "median SNR/sqrt(A)");
  }
  if (!depth.seconds.empty()) {
    const std::vector<float> seconds(depth.seconds.begin(), depth.seconds.end());
    out.add("EFFTIME_SPEC", std::span<const float>(seconds), "s", "effective exposure time");
  }
  return out;
}

/// Throughputs against their mean over spectrographs.
void divide_by_mean(std::vector<float>& values) {
  double sum = 0, count = 0;
  for (const float v : values) {
    if (v != 0) sum += static_cast<double>(v), ++count;
  }
  for (float& v : values)
    v = sum > 0 ? static_cast<float>(static_cast<double>(v) * count / sum) : v;
}

Table petal_rows(const std::map<int, ExposureQa>& all, const std::map<int, PetalDepth>& depths) {
  Table out;
  const auto add = [&](const std::string& name, const auto& value) {
    std::vector<float> values;
    for (const auto& [number, qa] : all) values.push_back(static_cast<float>(value(number, qa)));
    if (name.ends_with("THRUFRAC")) divide_by_mean(values);
    out.add(name, std::span<const float>(values));
  };
  const auto add_count = [&](const std::string& name, const auto& value) {
    std::vector<std::int32_t> values;
    for (const auto& [number, qa] : all) {
      values.push_back(static_cast<std::int32_t>(value(number, qa)));
    }
    out.add(name, std::span<const std::int32_t>(values));
  };
  add_count("PETAL_LOC", [](int number, const ExposureQa&) { return number; });
  add_count("NGOODPOS", [](int, const ExposureQa& qa) { return qa.good_positions; });
  add_count("NGOODFIB", [](int, const ExposureQa& qa) { return qa.good_fibers; });
  add_count("NSTDSTAR", [](int, const ExposureQa& qa) { return qa.stars; });
  add("STARRMS", [](int, const ExposureQa& qa) { return qa.star_rms; });
  add_count("NCFRAME", [](int, const ExposureQa& qa) { return qa.cameras.size(); });
  for (const char band : {'b', 'r', 'z'}) {
    const std::string letter(1, loom::capital(band));
    const auto of_camera = [&](const std::string& name, double CameraQa::*member) {
      add(letter + name, [&](int, const ExposureQa& qa) {
        const auto camera = std::find_if(qa.cameras.begin(), qa.cameras.end(),
                                         [&](const CameraQa& c) { return c.band == band; });
        return camera == qa.cameras.end() ? 0.0 : (*camera).*member;
      });
    };
    of_camera("SKYTHRURMS", &CameraQa::sky_throughput_rms);
    of_camera("SKYCHI2PDF", &CameraQa::sky_chi2_per_dof);
    of_camera("SKYMEAN", &CameraQa::sky_mean);
    of_camera("SKYWIDTH", &CameraQa::sky_width);
    of_camera("THRUFRAC", &CameraQa::throughput);
    of_camera("SNR", &CameraQa::median_snr);
    of_camera("MASKED", &CameraQa::without);
  }
  std::set<std::string> scores;
  for (const auto& [number, depth] : depths) {
    for (const auto& [name, median] : depth.tsnr2) scores.insert(name);
  }
  for (const std::string& name : scores) {
    add(name, [&](int number, const ExposureQa&) {
      const auto found = depths.at(number).tsnr2.find(name);
      return found == depths.at(number).tsnr2.end() ? 0.0 : found->second;
    });
  }
  if (!depths.begin()->second.seconds.empty()) {
    add("EFFTIME_SPEC", [&](int number, const ExposureQa&) {
      std::vector<double> seconds = depths.at(number).seconds;
      return median_of(seconds);
    });
  }
  return out;
}

/// Medians of the spectrographs that have a good fibre, on average; 0 where none has one.
std::optional<double> mean_seconds(const QualitySummary& of) {
  double sum = 0, count = 0;
  for (const auto& [number, depth] : of.depths) {
    if (depth.seconds.empty()) return std::nullopt;
    if (of.petals.at(number).good_fibers == 0) continue;
    std::vector<double> seconds = depth.seconds;
    sum += median_of(seconds), ++count;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

QualitySummary judge_exposure(const CalibrationJob& job, const Observer& observer) {
  const Petals petals = read_exposure_files(job, observer);
  QualitySummary out;
  ExposureQaFile file;
  std::vector<Table> fibers;
  FibermapColumns columns;
  out.depths = depths_of(petals, job, observer);
  for (const auto& [number, petal] : petals.of) {
    const ExposureQa qa = calibration::about(petal.begin()->second.frame.path,
                                             [&, n = number] { return judge(petals, n); });
    fibers.push_back(fiber_rows(petal, qa, out.depths.at(number)));
    columns.add(petal.begin()->second.frame.path, fibers.back());
    out.fibers += qa.status.size();
    out.good_fibers += qa.good_fibers;
    out.good_petals += qa.good_fibers > 0 ? 1 : 0;
    out.petals.emplace(number, qa);
  }
  const HeaderCards& cards = petals.of.begin()->second.begin()->second.frame.header;
  for (const char* key : {"NIGHT", "EXPID", "TILEID"}) {
    if (const auto value = cards.number(key)) {
      file.header.set(key, static_cast<std::int64_t>(*value));
    }
  }
  for (const char* key : {"EXPTIME", "MJD-OBS", "TARGTRA", "TARGTDEC", "AIRMASS"}) {
    if (const auto value = cards.number(key)) file.header.set(key, *value);
  }
  file.header.set("NGOODFIB", static_cast<std::int64_t>(out.good_fibers));
  file.header.set("NGOODPET", static_cast<std::int64_t>(out.good_petals));
  if (const auto seconds = mean_seconds(out)) {
    file.header.set("EFFTIME", *seconds, "[s] effective exposure time");
  }
  file.fibers = fibers.size() == 1 ? std::move(fibers.front()) : stack(fibers);
  columns.tell({&file.fibers}, observer);
  file.petals = petal_rows(out.petals, out.depths);
  const FolderOf folder(job.output);
  write_exposure_qa(job.output, file, job.overwrite);
  return out;
}

}  // namespace fiberloom
