// SPDX-License-Identifier: BSD-3-Clause
// make or read the PSF -> simulate each exposure -> write. No date, host or path enters a file.
#include "fiberloom/recipes/simulate_camera.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/raw_table.hpp"

namespace fiberloom {
namespace {

constexpr std::int64_t kNight = 20200101;
constexpr double kFirstMjd = 58850.25;       // that night at 06:00 UTC
constexpr double kExposureSpacing = 0.0125;  // days from one exposure to the next
constexpr std::int32_t kBrokenFiber = 1 << 2;
constexpr std::int64_t kTile = 1;  // all exposures look at the same targets

struct Camera {
  char band = 'r';
  int spectrograph = 0;
};

Camera parse_camera(const std::string& name) {
  if (name.size() != 2 || std::string("brz").find(name[0]) == std::string::npos || name[1] < '0' ||
      name[1] > '9') {
    throw Error(Status::kUsage, "camera '" + name + "': expected b, r or z and a digit, as in r0");
  }
  return {name[0], name[1] - '0'};
}

std::string file_path(const SimulateJob& job, const char* kind, const std::string& camera,
                      std::int64_t expid) {
  char name[64];
  std::snprintf(name, sizeof name, "%s-%s-%08lld.fits", kind, camera.c_str(),
                static_cast<long long>(expid));
  return (std::filesystem::path(job.directory) / name).string();
}

std::string psf_path(const SimulateJob& job, const std::string& camera) {
  return (std::filesystem::path(job.directory) / ("psf-" + camera + ".fits")).string();
}

/// All that a job writes.
std::vector<std::string> files_of(const SimulateJob& job) {
  std::vector<std::string> files;
  for (const std::string& camera : job.cameras) {
    files.push_back(psf_path(job, camera));
    for (int exposure = 1; exposure <= job.exposures; ++exposure) {
      files.push_back(file_path(job, "preproc", camera, exposure));
      files.push_back(file_path(job, "truth", camera, exposure));
    }
  }
  return files;
}

HeaderCards exposure_header(const ExposureOptions& o, const std::string& camera) {
  HeaderCards h;
  h.set("CAMERA", camera, "camera");
  h.set("FLAVOR", std::string("science"), "kind of exposure");
  h.set("OBSTYPE", std::string("SCIENCE"));
  h.set("SPECGRPH", std::int64_t{o.spectrograph}, "spectrograph");
  h.set("NIGHT", kNight, "YEARMMDD");
  h.set("EXPID", o.expid, "exposure number");
  h.set("TILEID", kTile, "tile: the same targets, the same number");
  h.set("DETECTOR", "SIM", "simulated CCD");
  h.set("EXPTIME", o.exptime_s, "[s] exposure time");
  h.set("MJD-OBS", kFirstMjd + kExposureSpacing * static_cast<double>(o.expid - 1),
        "[d] start of the exposure");
  h.set("TARGTRA", 150.1, "[deg] field centre");
  h.set("TARGTDEC", 2.2, "[deg] field centre");
  h.set("RDNOISE", o.readnoise_e, "[electron] read noise");
  h.set("SIMSEED", static_cast<std::int64_t>(o.seed), "seed of the simulation");
  h.set("BUNIT", std::string("electron"));
  return h;
}

PsfFile camera_psf(const SimulateJob& job, const Camera& camera, const std::string& name) {
  if (!job.psf.empty()) return read_psf(job.psf, {.gh00 = job.gh00, .verify = job.verify});
  SimulatedPsfOptions options = camera_psf_options(camera.band);
  options.seed = job.seed;
  PsfFile file;
  file.model = make_psf(options);
  file.header.set("CAMERA", name, "camera");
  return file;
}

/// Throws kFiberRange where more fibres than the PSF has are asked for by their number: what a job
/// asks for where nothing is said means all of a smaller one, which is told of.
void check_fibers(const SimulateJob& job, const PsfModel& psf, const Observer& observer) {
  if (job.nspec <= psf.nfiber()) return;
  const std::string name = job.psf.empty() ? "simulate: the PSF that is made" : job.psf;
  if (job.nspec != SimulateJob().nspec) {
    throw Error(kFiberRange, print("%s: has %d fibres, --nspec %d asks for more", name.c_str(),
                                   psf.nfiber(), job.nspec));
  }
  observer.info(print("%s: has %d fibres, all are lit", name.c_str(), psf.nfiber()));
}

/// Of a kind that no writer has: the file that was given, HDU by HDU.
void write_camera_psf(const SimulateJob& job, const PsfFile& psf, const std::string& path,
                      FilesTogether& together) {
  if (psf.model.shape) {
    return write_moved_psf(path, job.psf, job.verify, {}, {}, job.overwrite, &together);
  }
  write_psf(path, psf, job.overwrite, &together);
}

/// A PSF that was given and does not fit is named with its file.
SimulatedExposure expose(const SimulateJob& job, const PsfModel& psf, const ExposureOptions& o,
                         Executor& executor, const Observer& observer) {
  try {
    return simulate_exposure(psf, o, executor, observer);
  } catch (const Error& error) {
    if (job.psf.empty() || error.status() != kNotCovered) throw;
    throw Error(error.status(), job.psf + ": " + error.what());
  }
}

void write_exposure(const SimulateJob& job, const ExposureOptions& o, SimulatedExposure&& e,
                    SimulateSummary& summary, FilesTogether& together) {
  const auto nlit = e.truth_flux.rows();
  PreprocFile frame;
  frame.header = exposure_header(o, e.camera);
  frame.ccd = {PixelArray(std::move(e.frame.image)), PixelArray(std::move(e.frame.ivar))};
  frame.mask = std::move(e.frame.mask);
  frame.readnoise = o.readnoise_e;
  frame.fibermap = make_fibermap(e.targets, nlit, TruthColumns::kNo);
  const std::string preproc = file_path(job, "preproc", e.camera, o.expid);
  write_preproc(preproc, frame, job.overwrite, &together);
  summary.files.push_back(preproc);

  e.targets.resize(nlit);
  TruthFile truth;
  truth.header = exposure_header(o, e.camera);
  truth.wave = std::move(e.truth_wave);
  truth.flux = std::move(e.truth_flux);
  truth.fibermap = to_table(make_fibermap(e.targets, nlit, TruthColumns::kYes));
  const std::string path = file_path(job, "truth", e.camera, o.expid);
  write_truth(path, truth, job.overwrite, &together);
  summary.files.push_back(path);
}

/// All exposures as one bar that moves with every fibre, from the start.
class Progress {
 public:
  Progress(const Observer& observer, std::size_t exposures, int nspec)
      : observer_(observer), exposures_(exposures), nspec_(static_cast<std::size_t>(nspec)) {
    tell(0);
  }
  /// What one exposure tells, as a part of all.
  [[nodiscard]] Observer inside() const {
    Observer inner = observer_;
    inner.progress = [this](const char* /*stage*/, std::size_t done, std::size_t total) {
      tell(nspec_ * done / std::max<std::size_t>(total, 1));
    };
    return inner;
  }
  void next() {
    ++done_;
    tell(0);
  }

 private:
  void tell(std::size_t fibers) const {
    if (!observer_.progress) return;
    observer_.progress("fibres", nspec_ * done_ + fibers, nspec_ * exposures_);
  }
  const Observer& observer_;
  std::size_t exposures_, nspec_, done_ = 0;  ///< nspec: as asked for; a PSF may have fewer
};

/// Where the fibres are, which desispec averages over exposures.
void add_places(fits::TableBuilder& table, const std::vector<Target>& targets) {
  const auto add = [&](const char* name, double Target::*member, const char* unit) {
    std::vector<double> values;
    for (const Target& t : targets) values.push_back(t.*member);
    table.add(name, values, unit);
  };
  add("FIBER_X", &Target::fiber_x_mm, "mm");
  add("FIBER_Y", &Target::fiber_y_mm, "mm");
  add("DELTA_X", &Target::delta_x_mm, "mm");
  add("DELTA_Y", &Target::delta_y_mm, "mm");
  add("FIBER_RA", &Target::fiber_ra_deg, "deg");
  add("FIBER_DEC", &Target::fiber_dec_deg, "deg");
}

/// Gaia's magnitudes of the stars, roughly; 0, as desispec has it, of what Gaia does not know.
void add_magnitudes(fits::TableBuilder& table, const std::vector<Target>& targets) {
  std::vector<double> g, bp, rp;
  for (const Target& t : targets) {
    const bool star = t.kind == TargetClass::kStandardStar;
    const double mag = star ? 24.4 - 2.5 * std::log10(t.brightness) : 0;
    const double color = star ? 0.82 - 2.8e-4 * (t.temperature_k - 5800) : 0;
    g.push_back(mag);
    bp.push_back(mag + 0.4 * color);
    rp.push_back(mag - 0.6 * color);
  }
  table.add("GAIA_PHOT_G_MEAN_MAG", g, "mag")
      .add("GAIA_PHOT_BP_MEAN_MAG", bp, "mag")
      .add("GAIA_PHOT_RP_MEAN_MAG", rp, "mag");
}

}  // namespace

RawTable make_fibermap(const std::vector<Target>& targets, std::size_t nlit, TruthColumns truth) {
  std::vector<std::int64_t> targetid, desi_target;
  std::vector<std::int32_t> fiber, petal, device, location, status;
  std::vector<double> ra, dec, redshift;
  std::vector<std::string> objtype, kind;
  for (const Target& t : targets) {
    const bool lit = status.size() < nlit;
    targetid.push_back(t.targetid);
    desi_target.push_back(t.desi_target);
    fiber.push_back(t.fiber);
    petal.push_back(t.fiber / 500);
    device.push_back(t.fiber % 500);
    location.push_back(1000 * (t.fiber / 500) + t.fiber % 500);
    status.push_back(lit ? 0 : kBrokenFiber);
    ra.push_back(t.ra_deg);
    dec.push_back(t.dec_deg);
    redshift.push_back(t.redshift);
    objtype.emplace_back(t.kind == TargetClass::kSky ? "SKY" : "TGT");
    kind.emplace_back(target_class_name(t.kind));
  }
  fits::TableBuilder table(targets.size());
  table.add("TARGETID", targetid)
      .add("FIBER", fiber)
      .add("PETAL_LOC", petal)
      .add("DEVICE_LOC", device)
      .add("LOCATION", location)
      .add("TARGET_RA", ra, "deg")
      .add("TARGET_DEC", dec, "deg")
      .add("OBJTYPE", objtype, 3)
      .add("DESI_TARGET", desi_target)
      .add("FIBERSTATUS", status);
  add_places(table, targets);
  add_magnitudes(table, targets);
  if (truth == TruthColumns::kYes) table.add("REDSHIFT", redshift).add("CLASS", kind, 4);
  return table.build();
}

SimulateSummary simulate_cameras(const SimulateJob& job, Executor& executor,
                                 const Observer& observer, Tracer* tracer) {
  if (job.exposures < 1 || job.exposures > kMostExposures) {
    throw Error(Status::kUsage,
                "simulate: exposures: expected 1 to " + std::to_string(kMostExposures));
  }
  std::vector<Camera> cameras;
  for (const std::string& name : job.cameras) cameras.push_back(parse_camera(name));
  const std::vector<std::string> files = files_of(job);
  check_distinct(named("output", files), std::array<NamedFile, 1>{{{"--psf", job.psf}}});
  check_outputs(files, job.overwrite);
  SimulateSummary summary;
  std::optional<FolderOf> folder;
  Progress progress(observer, cameras.size() * static_cast<std::size_t>(job.exposures),
                    std::max(job.nspec, 1));
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    const PsfFile psf = camera_psf(job, cameras[c], job.cameras[c]);
    check_fibers(job, psf.model, observer);
    summary.nspec = std::max(summary.nspec, std::min(job.nspec, psf.model.nfiber()));
    for (int exposure = 1; exposure <= job.exposures; ++exposure) {
      ExposureOptions o;
      o.band = cameras[c].band;
      o.spectrograph = cameras[c].spectrograph;
      o.nspec = job.nspec;
      o.expid = exposure;
      o.seed = job.seed;
      o.truth_grid = job.truth_grid;
      if (job.defects == WithDefects::kYes) o.defects = DefectOptions{};
      Span compute(tracer, "compute");
      SimulatedExposure e = expose(job, psf.model, o, executor, progress.inside());
      compute.stop();
      const Span write(tracer, "write");
      FilesTogether together;
      if (exposure == 1) {  // not before the PSF has shown that it will do
        summary.files.push_back(psf_path(job, job.cameras[c]));
        if (!folder) folder.emplace(summary.files.back());
        write_camera_psf(job, psf, summary.files.back(), together);
      }
      write_exposure(job, o, std::move(e), summary, together);
      together.commit();
      progress.next();
    }
  }
  return summary;
}

}  // namespace fiberloom
