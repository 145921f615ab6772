// SPDX-License-Identifier: BSD-3-Clause
// Fields and their magnitudes once; then camera by camera, exposure by exposure: light -> CCD ->
// files. No date, host or path enters a file.
#include "fiberloom/recipes/simulate_night.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

#include "fiberloom/calibrate/photometry.hpp"
#include "fiberloom/recipes/simulate_night_fibers.hpp"
#include "fiberloom/recipes/simulate_night_files.hpp"
#include "fiberloom/simulate/simulated_psf.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "fiberloom/truth/night.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {
namespace simulated_night {
namespace {

namespace fs = std::filesystem;
using truth::FieldTarget;
using truth::Sees;

constexpr double kFirstMjd = 58850.25;       // that night at 06:00 UTC
constexpr double kExposureSpacing = 0.0125;  // days from one exposure to the next
constexpr double kLampTime = 120;            // s

enum class Kind { kLamp, kArc, kField };

struct Planned {
  Kind kind = Kind::kField;
  std::int64_t expid = 0;
  int lamp = 0, tile = 0;  ///< tile: from 0
};

std::vector<Planned> plan_of(const SimulateNightJob& job) {
  std::vector<Planned> plan;
  std::int64_t expid = 0;
  for (int lamp = 0; lamp < job.lamps; ++lamp) plan.push_back({Kind::kLamp, ++expid, lamp, 0});
  if (job.arc) plan.push_back({Kind::kArc, ++expid, 0, 0});
  for (int tile = 0; tile < job.tiles; ++tile) {
    for (int e = 0; e < job.exposures; ++e) plan.push_back({Kind::kField, ++expid, 0, tile});
  }
  return plan;
}

/// One spectrograph's fibres in one tile, with what files say of them.
struct Field {
  std::vector<FieldTarget> targets;
  Table fibermap;
};

/// Wavelengths of all cameras, for fluxes and magnitudes.
std::vector<double> all_wavelengths() {
  constexpr double kFirst = 3600, kLast = 9824, kStep = 0.8;
  std::vector<double> wave;
  for (int i = 0; kFirst + kStep * i <= kLast + 1e-6; ++i) wave.push_back(kFirst + kStep * i);
  return wave;
}

/// Fluxes as they come to the telescope: standard stars behind their dust.
Array2D<double> flux_of(const std::vector<FieldTarget>& targets,
                        const redshift::TemplateSet& templates, const truth::NightOptions& night,
                        const std::vector<double>& wave, Executor& executor) {
  Array2D<double> flux = truth::field_flux(targets, templates, wave, executor);
  const std::vector<double> dust = calibrate::dust_transmission(wave, night.ebv);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (targets[t].sees != Sees::kStandardStar) continue;
    for (std::size_t i = 0; i < wave.size(); ++i) flux(t, i) *= dust[i];
  }
  return flux;
}

/// A CCD as wide as its fibres need; else the band's own.
PsfFile camera_psf(const SimulateNightJob& job, char band, const std::string& name) {
  constexpr double kMargin = 60;
  SimulatedPsfOptions o = camera_psf_options(band);
  const int bundles = (job.nspec - 1) / o.bundle_size;
  const double width = (job.nspec - 1 - bundles) * o.pitch + bundles * o.gap + kMargin;
  o.nfiber = job.nspec;
  o.npix_x = std::min(o.npix_x, static_cast<int>(std::ceil(width)));
  o.seed = job.seed;
  PsfFile file;
  file.model = make_psf(o);
  file.header.set("CAMERA", name, "camera");
  return file;
}

HeaderCards header_of(const SimulateNightJob& job, const Planned& p, const ExposureOptions& o,
                      const truth::Conditions& c) {
  constexpr std::array<const char*, 3> kFlavor{"flat", "arc", "science"};
  constexpr std::array<const char*, 3> kType{"FLAT", "ARC", "SCIENCE"};
  const auto kind = static_cast<std::size_t>(p.kind);
  HeaderCards h;
  h.set("CAMERA", std::string{o.band, static_cast<char>('0' + o.spectrograph)}, "camera");
  h.set("FLAVOR", kFlavor[kind], "kind of exposure");
  h.set("OBSTYPE", kType[kind]);
  h.set("PROGRAM", p.kind == Kind::kLamp  ? print("CALIB DESI-CALIB-%02d LEDs only", p.lamp)
                   : p.kind == Kind::kArc ? std::string("CALIB arc lamps")
                                          : std::string("dark"));
  h.set("SPECGRPH", std::int64_t{o.spectrograph}, "spectrograph");
  h.set("NIGHT", kNight, "YEARMMDD");
  h.set("EXPID", p.expid, "exposure number");
  if (p.kind == Kind::kField) {
    h.set("TILEID", std::int64_t{kFirstTile + p.tile}, "tile");
    h.set("AIRMASS", c.airmass);
  }
  h.set("DETECTOR", "SIM", "simulated CCD");
  h.set("EXPTIME", o.exptime_s, "[s] exposure time");
  h.set("MJD-OBS", kFirstMjd + kExposureSpacing * static_cast<double>(p.expid - 1),
        "[d] start of the exposure");
  h.set("TARGTRA", 150.1 + 4.0 * p.tile, "[deg] field centre");
  h.set("TARGTDEC", 2.2, "[deg] field centre");
  h.set("RDNOISE", o.readnoise_e, "[electron] read noise");
  h.set("SIMSEED", static_cast<std::int64_t>(job.seed), "seed of the simulation");
  h.set("BUNIT", std::string("electron"));
  return h;
}

/// Everything of one night that exposures share.
class Night {
 public:
  Night(const SimulateNightJob& job, const redshift::TemplateSet& templates, Executor& executor)
      : job_(job), places_(job.directory), templates_(templates), executor_(executor) {
    night_.seed = job.seed;
    night_.nspec = static_cast<std::size_t>(job.nspec);
    night_.brightest_mag = job.brightest_mag;
    night_.faintest_mag = job.faintest_mag;
  }

  /// Targets, their truth and their photometry, of all tiles of one spectrograph.
  void draw_fields(int spectrograph, std::vector<std::string>& files) {
    const std::vector<double> wave = all_wavelengths();
    for (int tile = 0; tile < job_.tiles; ++tile) {
      Field field{truth::draw_field(templates_, night_, tile, spectrograph), {}};
      const Array2D<double> flux = flux_of(field.targets, templates_, night_, wave, executor_);
      field.fibermap = fibermap_of(job_, fibers_of(job_, field.targets, tile, spectrograph));
      add_photometry(flux, wave, night_.ebv, field.fibermap);
      files.push_back(places_.field(tile, spectrograph));
      write_field_truth(files.back(), field.targets, flux, wave, job_.overwrite);
      fields_[{spectrograph, tile}] = std::move(field);
    }
  }

  /// All exposures of one camera.
  void expose_camera(const std::string& name, const std::vector<Planned>& plan,
                     const Observer& observer, const std::function<void()>& next,
                     std::vector<std::string>& files) {
    const PsfFile psf = camera_psf(job_, name[0], name);
    ExposureOptions o;
    o.band = name[0];
    o.spectrograph = name[1] - '0';
    o.nspec = job_.nspec;
    o.seed = job_.seed;
    o.truth_grid = job_.truth_grid;
    if (job_.defects == WithDefects::kYes) o.defects = DefectOptions{};
    const BinGrid bins = truth_bins(psf.model, o);
    Array2D<double> through = truth::fiber_throughput(night_, o.band, o.spectrograph, bins.wave);
    for (std::size_t f = 0; f < through.rows(); ++f) {
      if (is_broken(job_, f)) std::fill_n(through.row(f), through.cols(), 0.0);
    }
    files.push_back(places_.psf(name));
    write_psf(files.back(), psf, job_.overwrite);
    files.push_back(places_.camera(name));
    write_throughput(files.back(), through, bins.wave, job_.overwrite);
    for (const Planned& p : plan) {
      stop_if_asked(observer);
      o.expid = p.expid;
      o.exptime_s = p.kind == Kind::kField ? night_.exptime_s : kLampTime;
      o.cosmics_per_ccd = ExposureOptions{}.cosmics_per_ccd * o.exptime_s / night_.exptime_s;
      expose(name, p, o, psf.model, bins, through, files);
      next();
    }
  }

 private:
  Light field_light(const Planned& p, const ExposureOptions& o, const BinGrid& bins,
                    const truth::Conditions& c) {
    const Field& field = fields_.at({o.spectrograph, p.tile});
    Light out{flux_of(field.targets, templates_, night_, bins.wave, executor_), {}, {}};
    out.calibration = truth::electrons_of_flux(night_, o.band, bins, c);
    out.sky = sky_electrons(o.band, bins, o.exptime_s);
    for (double& s : out.sky) s *= c.sky;
    for (std::size_t f = 0; f < out.electrons.rows(); ++f) {
      double* row = out.electrons.row(f);
      for (std::size_t i = 0; i < bins.wave.size(); ++i) {
        row[i] = out.calibration[i] * row[i] + out.sky[i];
      }
    }
    return out;
  }

  Light lamp_light(const Planned& p, const ExposureOptions& o, const BinGrid& bins,
                   const std::vector<Target>& fibers) {
    constexpr double kRadiusMm = 405;
    const std::vector<double> lamp =
        p.kind == Kind::kLamp ? truth::lamp_electrons(o.band, bins) : truth::arc_electrons(bins);
    Light out{Array2D<double>(fibers.size(), bins.wave.size()), {}, {}};
    for (std::size_t f = 0; f < fibers.size(); ++f) {
      const double here = p.kind == Kind::kLamp ? truth::lamp_at(night_, p.lamp, job_.lamps,
                                                                 fibers[f].fiber_x_mm / kRadiusMm,
                                                                 fibers[f].fiber_y_mm / kRadiusMm)
                                                : 1;
      for (std::size_t i = 0; i < lamp.size(); ++i) out.electrons(f, i) = here * lamp[i];
    }
    return out;
  }

  void expose(const std::string& name, const Planned& p, const ExposureOptions& o,
              const PsfModel& psf, const BinGrid& bins, const Array2D<double>& through,
              std::vector<std::string>& files) {
    const truth::Conditions c = truth::conditions(night_, p.expid);
    PreprocFile frame;
    Light light;
    Table fibermap;
    if (p.kind == Kind::kField) {
      light = field_light(p, o, bins, c);
      fibermap = fields_.at({o.spectrograph, p.tile}).fibermap;
    } else {
      std::vector<Target> fibers = make_targets(job_.nspec, o.spectrograph, job_.seed);
      for (Target& t : fibers) t.kind = TargetClass::kElg, t.desi_target = 0;
      light = lamp_light(p, o, bins, fibers);
      fibermap = fibermap_of(job_, fibers);
    }
    for (std::size_t k = 0; k < light.electrons.size(); ++k) {
      light.electrons.data()[k] *= through.data()[k];
    }
    NoisyFrame ccd = expose_light(psf, o, bins, light.electrons, executor_);
    frame.header = header_of(job_, p, o, c);
    frame.ccd = {PixelArray(std::move(ccd.image)), PixelArray(std::move(ccd.ivar))};
    frame.mask = std::move(ccd.mask);
    frame.readnoise = o.readnoise_e;
    frame.fibermap = to_raw_table(fibermap);
    files.push_back(places_.preproc(name, p.expid));
    write_preproc(files.back(), frame, job_.overwrite);
    const auto an_angstrom = [&](double& value) { value /= bins.step_aa; };
    std::for_each(light.electrons.data(), light.electrons.data() + light.electrons.size(),
                  an_angstrom);
    std::for_each(light.sky.begin(), light.sky.end(), an_angstrom);
    std::for_each(light.calibration.begin(), light.calibration.end(), an_angstrom);
    files.push_back(places_.exposure(name, p.expid));
    write_light(files.back(), light, bins.wave, frame.header, fibermap, job_.overwrite);
  }

  const SimulateNightJob& job_;
  Places places_;
  const redshift::TemplateSet& templates_;
  Executor& executor_;
  truth::NightOptions night_;
  std::map<std::pair<int, int>, Field> fields_;  ///< by spectrograph and tile
};

void check(const SimulateNightJob& job) {
  const auto fail = [](const std::string& what) {
    throw Error(Status::kUsage, "simulate --night: " + what);
  };
  constexpr int kMost = 500;
  if (job.nspec < 1 || job.nspec > kMost) fail("a spectrograph has 1 to 500 fibres");
  if (job.lamps < 0 || job.tiles < 0 || job.exposures < 0) fail("a number of exposures below 0");
  if (job.tiles > 1000) fail("more than 1000 tiles");
  constexpr std::int64_t kMostOfNight = 100000;  // all files are named before the first one is made
  if (std::int64_t{job.tiles} * job.exposures > kMostOfNight) fail("more than 100000 exposures");
  if (plan_of(job).empty()) fail("a night without any exposure");
  std::set<std::string> seen;
  for (const std::string& name : job.cameras) {
    if (name.size() != 2 || std::string("brz").find(name[0]) == std::string::npos ||
        name[1] < '0' || name[1] > '9') {
      throw Error(Status::kUsage,
                  "camera '" + name + "': expected b, r or z and a digit, as in r0");
    }
    if (!seen.insert(name).second) fail("camera " + name + " twice");
  }
}

std::vector<std::string> files_of(const SimulateNightJob& job, const std::set<int>& spectrographs) {
  const Places places(job.directory);
  std::vector<std::string> files{places.models()};
  for (const char* band : kBands) files.push_back(places.filter(band));
  for (const int s : spectrographs) {
    for (int tile = 0; tile < job.tiles; ++tile) files.push_back(places.field(tile, s));
  }
  for (const std::string& camera : job.cameras) {
    files.push_back(places.psf(camera));
    files.push_back(places.camera(camera));
    for (const Planned& p : plan_of(job)) {
      files.push_back(places.preproc(camera, p.expid));
      files.push_back(places.exposure(camera, p.expid));
    }
  }
  return files;
}

}  // namespace
}  // namespace simulated_night

std::vector<std::string> simulate_night(const SimulateNightJob& job, Executor& executor,
                                        const Observer& observer) {
  using namespace simulated_night;  // NOLINT(google-build-using-namespace): its parts
  check(job);
  const templates::ChosenTemplates chosen = templates::choose_templates(job.templates);
  if (!chosen.note.empty()) observer.info(chosen.note);
  std::set<int> spectrographs;
  for (const std::string& camera : job.cameras) spectrographs.insert(camera[1] - '0');
  const std::vector<std::string> all = files_of(job, spectrographs);
  if (!job.templates.empty()) {
    check_distinct(named("output", all),
                   named("templates", templates::find_templates(job.templates)));
  }
  for (const std::string& path : all) make_folders(fs::path(path).parent_path().string());
  check_outputs(all, job.overwrite);

  const Places places(job.directory);
  const std::vector<Planned> plan = plan_of(job);
  const std::size_t total = plan.size() * job.cameras.size();
  std::size_t done = 0;
  const auto tell = [&] {
    if (observer.progress) observer.progress("frames", done, total);
  };
  tell();
  std::vector<std::string> files{places.models()};
  write_star_models(files.back(), job.overwrite);
  for (std::size_t b = 0; b < kBands.size(); ++b) {
    files.push_back(places.filter(kBands[b]));
    write_whole(files.back(), ecsv(passband(b)), job.overwrite);
  }
  Night night(job, chosen.set, executor);
  for (const int s : spectrographs) night.draw_fields(s, files);
  for (const std::string& camera : job.cameras) {
    night.expose_camera(
        camera, plan, observer, [&] { ++done, tell(); }, files);
  }
  return files;
}

}  // namespace fiberloom
