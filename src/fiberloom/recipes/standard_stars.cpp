// SPDX-License-Identifier: BSD-3-Clause
// The recipe of `fiberloom stdstars`: frames of one spectrograph -> standard stars of known
// spectrum.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/recipes/calibrate_frame.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/spectrum/take_rows.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;
using calibrate::Purpose;
using calibrate::StandardStar;
using calibration::about;
using calibration::integer_of;
using calibration::read_frame_of_one_grid;
using calibration::require_camera;

using Rows = std::vector<std::size_t>;

/// The stars of one frame.
struct StarFrame {
  std::string path, camera;  ///< camera: "b0"
  std::int64_t expid = -1, night = -1;
  double heliocor = 1;
  std::size_t nspec = 0;  ///< of the frame
  Rows rows;              ///< of the frame
  Spectra stars;
  std::vector<std::int64_t> fibers, status, ids;  ///< ids: none where nobody says them
  HeaderCards header;
  [[nodiscard]] std::string name_of(std::size_t s) const {
    return ids.empty() ? "fibre " + std::to_string(fibers[s])
                       : "TARGETID " + std::to_string(ids[s]);
  }
};

Rows rows_of_targets(const Spectra& frame, const std::vector<long>& targets) {
  const auto ids = frame.fibermap ? frame.fibermap->integers("TARGETID", -1) : std::nullopt;
  if (!ids) {
    throw Error(Status::kMissingKeyword,
                "FIBERMAP: no column TARGETID, expected one to find --std-targetids by");
  }
  Rows out;
  for (std::size_t s = 0; s < ids->size(); ++s) {
    if (std::find(targets.begin(), targets.end(), (*ids)[s]) != targets.end()) out.push_back(s);
  }
  return out;
}

StarFrame read_stars(const std::string& path, const CalibrationJob& job, const Observer& observer) {
  const FrameFile frame = read_frame_of_one_grid(path, job.verify, observer);
  StarFrame out;
  out.path = path;
  out.camera = require_camera(path, "FLUX", frame.header);
  out.expid = integer_of(frame.header, "EXPID");
  out.night = integer_of(frame.header, "NIGHT");
  out.heliocor = calibration::heliocor_of(path, frame.header);
  out.nspec = frame.nspec();
  out.header = frame.header;
  out.rows = about(path, [&] {
    return job.targets.empty() ? calibrate::standard_star_rows(frame)
                               : rows_of_targets(frame, job.targets);
  });
  if (frame.resolution.empty()) {
    throw Error(Status::kMissingHdu, path + ": no HDU RESOLUTION, expected one");
  }
  out.stars = take_rows(static_cast<const Spectra&>(frame), out.rows);
  const auto fiber = out.stars.fibermap->integers("FIBER", -1);
  const auto status = out.stars.fibermap->integers("FIBERSTATUS", 0);
  out.ids = out.stars.fibermap->integers("TARGETID", -1).value_or(std::vector<std::int64_t>());
  for (std::size_t s = 0; s < out.rows.size(); ++s) {
    out.fibers.push_back(fiber ? (*fiber)[s] : static_cast<std::int64_t>(out.rows[s]));
    out.status.push_back(status ? (*status)[s] : 0);
  }
  return out;
}

/// Stars asked for that no fibre sees.
void warn_of_missing(const std::vector<long>& targets, const StarFrame& frame,
                     const Observer& observer) {
  const std::size_t missing = std::ranges::count_if(
      targets, [&](long id) { return std::ranges::find(frame.ids, id) == frame.ids.end(); });
  if (missing == 0 || frame.ids.empty()) return;
  observer.warn(frame.path + print(": FIBERMAP: %zu of %zu of --std-targetids are not there",
                                   missing, targets.size()));
}

/// Stars without photometry, and a colour that is not the first choice.
void warn_of_photometry(const calibrate::StarCatalogue& catalogue, const StarFrame& frame,
                        const Observer& observer) {
  const std::string colour = calibrate::name_of(catalogue.colour);
  if (!catalogue.not_imaged.empty()) {
    observer.warn(frame.path + ": FIBERMAP: no standard star has FLUX_G, FLUX_R and FLUX_Z (of " +
                  frame.name_of(0) + " " + catalogue.not_imaged + "): by " + colour);
  }
  const auto first = std::find(catalogue.known.begin(), catalogue.known.end(), false);
  const auto without = std::count(first, catalogue.known.end(), false);
  if (without == 0) return;
  const auto s = static_cast<std::size_t>(first - catalogue.known.begin());
  observer.warn(frame.path + print(": FIBERMAP: %td of %zu standard stars left out, without "
                                   "photometry for %s (of %s %s)",
                                   without, catalogue.known.size(), colour.c_str(),
                                   frame.name_of(s).c_str(), catalogue.lacks[s].c_str()));
}

/// Frames whose stars are the same fibres of the same spectrograph.
std::vector<StarFrame> read_star_frames(const CalibrationJob& job, const Observer& observer) {
  if (job.frames.empty()) throw Error(Status::kUsage, "no frame: give --frames");
  std::vector<StarFrame> out;
  for (const std::string& path : job.frames) {
    out.push_back(read_stars(path, job, observer));
    const StarFrame &first = out.front(), &last = out.back();
    const bool twice = std::any_of(out.begin(), out.end() - 1, [&](const StarFrame& f) {
      return f.camera == last.camera && f.expid == last.expid;
    });
    if (twice) {
      throw Error(Status::kUsage, path + ": a second frame of camera " + last.camera +
                                      " in exposure " + std::to_string(last.expid) +
                                      ", expected one");
    }
    if (last.camera[1] != first.camera[1]) {
      throw Error(Status::kWrongShape, path + ": FLUX: CAMERA is " + last.camera +
                                           ", expected the spectrograph of " + first.path + ", " +
                                           first.camera);
    }
    if (last.fibers != first.fibers || last.rows != first.rows) {
      throw Error(Status::kWrongShape, path + ": FIBERMAP: " + std::to_string(last.fibers.size()) +
                                           " standard stars, expected the fibres of " + first.path +
                                           ", " + std::to_string(first.fibers.size()));
    }
    if (last.ids != first.ids && !last.ids.empty() && !first.ids.empty()) {
      throw Error(Status::kWrongShape,
                  path + ": FIBERMAP: other TARGETIDs on the fibres of standard stars than in " +
                      first.path + ", expected the same stars");
    }
  }
  warn_of_missing(job.targets, out.front(), observer);
  if (!out.front().fibers.empty()) return out;
  throw Error(Status::kNumerical,
              out.front().path + ": FIBERMAP: no standard star, expected one at least");
}

/// A fibre that one camera of an exposure forbids is forbidden in all of its cameras.
void join_status(std::vector<StarFrame>& frames) {
  std::map<std::int64_t, std::vector<std::int64_t>> joined;
  for (const StarFrame& f : frames) {
    std::vector<std::int64_t>& all = joined[f.expid];
    all.resize(f.status.size(), 0);
    for (std::size_t s = 0; s < all.size(); ++s) all[s] |= f.status[s];
  }
  for (StarFrame& f : frames) f.status = joined[f.expid];
}

/// No weight where a pixel is masked, and no light where there is no weight.
void hide_masked(Spectra& s) {
  for (std::size_t k = 0; k < s.ivar.size(); ++k) {
    const bool masked = !s.mask.empty() && s.mask.data()[k] != 0;
    double& v = s.ivar.data()[k];
    if (masked || !(v > 0) || !std::isfinite(v) || !std::isfinite(s.flux.data()[k])) {
      v = 0, s.flux.data()[k] = 0;
    }
  }
}

template <class File>
void require_rows(const File& file, std::size_t rows, const StarFrame& frame) {
  if (rows == frame.nspec) return;
  throw Error(Status::kWrongShape, file.path + ": " + std::to_string(rows) +
                                       " spectra, expected those of " + frame.path + ", " +
                                       std::to_string(frame.nspec));
}

/// Flats by camera, skies by camera and exposure, of the stars' rows alone.
class Corrections {
 public:
  Corrections(const CalibrationJob& job, const StarFrame& like, const Observer& observer) {
    for (const std::string& path : job.flats) {
      const FiberFlatFile flat = read_fiber_flat(path, job.verify);
      const std::string camera = require_camera(path, "FIBERFLAT", flat.header);
      require_rows(flat, flat.flat.rows(), like);
      calibration::require_same_first_fiber(path, flat.header, like.header);
      if (!flats_.emplace(camera, take_rows(static_cast<const FiberFlat&>(flat), like.rows))
               .second) {
        observer.warn(path + ": a second fibre flat of camera " + camera + "; not used");
      }
    }
    for (const std::string& path : job.skies) {
      const SkyFile sky = read_sky(path, job.verify);
      const std::string camera = require_camera(path, "SKY", sky.header);
      require_rows(sky, sky.flux.rows(), like);
      calibration::require_same_first_fiber(path, sky.header, like.header);
      const auto key = std::make_pair(camera, integer_of(sky.header, "EXPID"));
      if (!skies_.emplace(key, take_rows(static_cast<const SkyModel&>(sky), like.rows)).second) {
        observer.warn(path + ": a second sky of camera " + camera + " in one exposure; not used");
      }
    }
  }
  /// False where the frame's flat or sky is not there.
  bool apply(StarFrame& frame) const {
    const auto flat = flats_.find(frame.camera);
    const auto sky = skies_.find({frame.camera, frame.expid});
    if (flat == flats_.end() || sky == skies_.end()) return false;
    const std::uint32_t fatal = calibrate::fatal_bits(Purpose::kStars, frame.camera[0]);
    for (std::size_t s = 0; s < frame.rows.size(); ++s) {
      if ((static_cast<std::uint32_t>(frame.status[s]) & fatal) == 0) continue;
      std::fill_n(frame.stars.ivar.row(s), frame.stars.nwave(), 0.0);
    }
    hide_masked(frame.stars);
    about(frame.path, [&] {
      calibrate::apply_fiber_flat(frame.stars, flat->second, frame.heliocor);
      calibrate::subtract_sky(frame.stars, sky->second, frame.camera[0]);
    });
    hide_masked(frame.stars);
    return true;
  }

 private:
  std::map<std::string, FiberFlat> flats_;
  std::map<std::pair<std::string, std::int64_t>, SkyModel> skies_;
};

std::vector<calibrate::StarCamera> cameras_of(std::vector<StarFrame>& frames,
                                              const CalibrationJob& job, const Observer& observer) {
  const Corrections corrections(job, frames.front(), observer);
  std::map<std::string, std::vector<Spectra>> exposures;
  for (StarFrame& f : frames) {
    if (corrections.apply(f)) {
      exposures[f.camera].push_back(std::move(f.stars));
    } else {
      observer.warn(f.path + ": no fibre flat of camera " + f.camera + ", or no sky of exposure " +
                    std::to_string(f.expid) + "; not used");
    }
  }
  std::vector<calibrate::StarCamera> out;
  for (const auto& [camera, spectra] : exposures) {
    out.push_back({camera[0], about("camera " + camera, [&, &all = spectra] {
                     return calibrate::sum_star_exposures(all);
                   })});
  }
  if (!out.empty()) return out;
  throw Error(Status::kUsage,
              "no frame has its fibre flat and its sky: give --fiberflats and --skymodels");
}

/// What is wrong with models names their file, what with stars a frame, what with a passband its
/// own.
calibrate::StandardStars find_stars(const CalibrationJob& job,
                                    const std::vector<calibrate::StarCamera>& cameras,
                                    const calibrate::StarCatalogue& catalogue,
                                    const StellarGrid& grid, Executor& executor) {
  const auto passband = [&](const std::string& name) {
    try {
      return read_passband((fs::path(job.passbands) / (name + ".ecsv")).string());
    } catch (const Error& e) {
      throw Error(e.status(), e.what() + print(" (passband for %s of standard stars)",
                                               calibrate::name_of(catalogue.colour)));
    }
  };
  calibrate::StandardStarOptions options = job.stars;
  if (job.method == CalibrationMethod::kDesispec) {
    options.fit.spikes = calibrate::SpikeLimit::kNoise;
    options.fit.continuum = calibrate::Continuum::kMedian;
  }
  try {
    return calibrate::find_standard_stars(cameras, catalogue, grid, passband, options, executor);
  } catch (const Error& e) {
    if (e.status() == Status::kWrongShape) throw Error(e.status(), job.grid + ": " + e.what());
    if (e.status() != Status::kNumerical) throw;
    throw Error(e.status(), job.frames.front() + ": " + e.what());
  }
}

/// The stars' rows of a FIBERMAP without what is an exposure's, not a target's.
Table fibermap_of(const Table& all, std::span<const std::size_t> rows) {
  Table out = all.take(rows);
  constexpr std::array kOfExposure{"DELTA_X",  "DELTA_Y",   "EXPTIME", "NUM_ITER",
                                   "FIBER_RA", "FIBER_DEC", "FIBER_X", "FIBER_Y"};
  std::erase_if(out.columns, [&](const Column& c) {
    return std::find(kOfExposure.begin(), kOfExposure.end(), c.name) != kOfExposure.end();
  });
  out.notes.clear(), out.descriptions.clear();
  out.described = 0;
  return out;
}

Table metadata_of(const Table& fibermap, std::span<const StandardStar> stars,
                  calibrate::StarColour colour) {
  Table out;
  const auto column = [&](const std::string& name, const auto& value, const char* unit = "") {
    std::vector<double> values;
    for (const StandardStar& s : stars) values.push_back(value(s));
    out.add(name, std::span<const double>(values), unit);
  };
  const auto ids = fibermap.integers("TARGETID", -1), fibers = fibermap.integers("FIBER", -1);
  if (ids) out.add("TARGETID", std::span<const std::int64_t>(*ids));
  if (fibers) out.add("FIBER", std::span<const std::int64_t>(*fibers));
  const std::string name = calibrate::name_of(colour);
  column("LOGG", [](const StandardStar& s) { return s.logg; });
  column(
      "TEFF", [](const StandardStar& s) { return s.teff; }, "K");
  column("FEH", [](const StandardStar& s) { return s.metal; });
  column("CHI2DOF", [](const StandardStar& s) { return s.chi2_per_dof; });
  column("REDSHIFT", [](const StandardStar& s) { return s.redshift; });
  column("DATA_" + name, [](const StandardStar& s) { return s.seen_colour; });
  column("MODEL_" + name, [](const StandardStar& s) { return s.model_colour; });
  column("BLUE_SNR", [](const StandardStar& s) { return s.snr[0]; });
  column("RED_SNR", [](const StandardStar& s) { return s.snr[1]; });
  column("NIR_SNR", [](const StandardStar& s) { return s.snr[2]; });
  return out;
}

Table input_frames(const std::vector<StarFrame>& frames) {
  std::vector<std::int64_t> night, expid;
  std::vector<std::string> camera;
  for (const StarFrame& f : frames) {
    night.push_back(f.night), expid.push_back(f.expid), camera.push_back(f.camera);
  }
  Table out;
  out.add("NIGHT", std::span<const std::int64_t>(night));
  out.add("EXPID", std::span<const std::int64_t>(expid));
  out.add("CAMERA", std::span<const std::string>(camera), 2);
  return out;
}

StandardStarFile file_of(const CalibrationJob& job, const std::vector<StarFrame>& frames,
                         const Table& fibermap, const StellarGrid& grid,
                         const std::vector<StandardStar>& stars, calibrate::StarColour colour) {
  StandardStarFile out;
  Rows rows;
  out.wave = grid.wave;
  out.flux = Array2D<double>(stars.size(), grid.wave.size());
  out.coefficients = Array2D<double>(stars.size(), grid.nmodel());
  for (std::size_t s = 0; s < stars.size(); ++s) {
    rows.push_back(stars[s].row);
    out.fibers.push_back(frames.front().fibers[stars[s].row]);
    std::copy(stars[s].flux.begin(), stars[s].flux.end(), out.flux.row(s));
    std::copy(stars[s].coefficients.begin(), stars[s].coefficients.end(), out.coefficients.row(s));
  }
  out.fibermap = fibermap_of(fibermap, rows);
  out.metadata = metadata_of(*out.fibermap, stars, colour);
  out.input_frames = input_frames(frames);
  HeaderCards cards;
  for (const char* key : {"NIGHT", "TILEID"}) {
    const std::int64_t value = integer_of(frames.front().header, key);
    if (value >= 0) cards.set(key, static_cast<int>(value));
  }
  out.header = calibration::header_of(cards, job);
  return out;
}

}  // namespace

StandardStarSummary make_standard_stars(const CalibrationJob& job, Executor& executor,
                                        const Observer& observer) {
  std::vector<StarFrame> frames = read_star_frames(job, observer);
  join_status(frames);
  const Table fibermap = *frames.front().stars.fibermap;
  const calibrate::StarCatalogue catalogue =
      about(frames.front().path, [&] { return calibrate::star_catalogue(fibermap, job.colour); });
  warn_of_photometry(catalogue, frames.front(), observer);
  const bool no_dust =
      std::all_of(catalogue.ebv.begin(), catalogue.ebv.end(), [](double ebv) { return ebv == 0; });
  if (no_dust) {
    observer.warn(frames.front().path +
                  ": FIBERMAP: EBV is 0 of all stars: no dust is allowed for");
  }
  const std::vector<calibrate::StarCamera> cameras = cameras_of(frames, job, observer);
  const StellarGridFile grid = read_stellar_grid(job.grid, job.verify);
  const calibrate::StandardStars found = find_stars(job, cameras, catalogue, grid, executor);
  const FolderOf folder(job.output);
  write_standard_stars(job.output,
                       file_of(job, frames, fibermap, grid, found.stars, catalogue.colour),
                       job.overwrite);
  StandardStarSummary out;
  out.candidates = catalogue.known.size();
  out.stars = found.stars.size();
  out.cameras = cameras.size();
  out.models = grid.nmodel();
  out.without_photometry = found.without_photometry;
  out.too_faint = found.too_faint;
  out.without_model = found.without_model;
  std::vector<double> chi2;
  for (const StandardStar& s : found.stars) chi2.push_back(s.chi2_per_dof);
  out.median_chi2_per_dof = median_of(chi2);
  std::map<std::int64_t, int> exposures;
  for (const StarFrame& f : frames) ++exposures[f.expid];
  out.exposures = exposures.size();
  return out;
}

}  // namespace fiberloom
