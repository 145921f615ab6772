// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/calibrate_frame.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "fiberloom/calibrate/fiber_acceptance.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "fiberloom/formats/desimodel_file.hpp"
#include "fiberloom/formats/spectrograph.hpp"
#include "fiberloom/recipes/calibration_steps.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/files/files_below.hpp"

namespace fiberloom {
namespace {

using calibration::about;
using calibration::band_of;
using calibration::header_of;
using calibration::Origin;
using calibration::read_frame_of_one_grid;
using calibration::require_same_origin;

/// Models that stop within the frame would make light of its ends nothing.
void check_reach(const StandardStarFile& models, const std::string& path, const Spectra& frame) {
  if (models.wave.empty() || frame.wave.empty()) return;  // the fit says so
  if (models.wave.front() <= frame.wave.front() && models.wave.back() >= frame.wave.back()) return;
  throw Error(Status::kWrongShape,
              print("%s: WAVELENGTH: %.4f to %.4f Angstrom, expected to reach over the frame's, "
                    "%.4f to %.4f",
                    path.c_str(), models.wave.front(), models.wave.back(), frame.wave.front(),
                    frame.wave.back()));
}

/// Whether `flux` is a star's: numbers, and light somewhere.
bool shines(std::span<const double> flux) {
  bool any = false;
  for (const double f : flux) {
    if (!std::isfinite(f)) return false;
    any = any || f > 0;
  }
  return any;
}

/// Rows of the frame's standard stars that have a model; fibres count within a petal, as
/// desispec's.
calibrate::StarModels models_of(const FrameFile& frame, const CalibrationJob& job,
                                const Observer& observer) {
  const StandardStarFile file = read_standard_stars(job.models, job.verify);
  check_reach(file, job.models, frame);
  const std::vector<std::size_t> standards =
      about(job.input, [&] { return calibrate::standard_star_rows(frame); });
  const auto fiber = frame.fibermap->integers("FIBER", -1);
  const auto target = frame.fibermap->integers("TARGETID", -1);
  const auto star = file.fibermap ? file.fibermap->integers("TARGETID", -1) : std::nullopt;
  calibrate::StarModels out;
  out.wave = file.wave;
  std::size_t unknown = 0, dark = 0;
  for (std::size_t m = 0; m < file.fibers.size(); ++m) {
    const auto same = [&](std::size_t row) {
      const std::int64_t number = fiber ? (*fiber)[row] : static_cast<std::int64_t>(row);
      if (target && star && (*target)[row] != (*star)[m]) return false;  // of another tile
      return number % kFibersOfSpectrograph == file.fibers[m] % kFibersOfSpectrograph;
    };
    const auto found = std::find_if(standards.begin(), standards.end(), same);
    if (found == standards.end()) {
      ++unknown;
      continue;
    }
    const std::span<const double> flux(file.flux.row(m), file.wave.size());
    if (shines(flux)) {
      out.stars.push_back({*found, {flux.begin(), flux.end()}});
    } else {
      ++dark;
    }
  }
  if (out.stars.empty()) {
    throw Error(Status::kNumerical, job.models + ": no model of a standard star of " + job.input +
                                        ", expected FIBERS of rows that DESI_TARGET names so, and "
                                        "FLUX above 0");
  }
  if (dark > 0) {
    observer.warn(
        print("%s: FLUX: %zu of %zu models are no light (NaN, or nowhere above 0); not used",
              job.models.c_str(), dark, file.fibers.size()));
  }
  if (unknown > 0) {
    observer.warn(print("%s: %zu of %zu models are of no standard star of %s; not used",
                        job.models.c_str(), unknown, file.fibers.size(), job.input.c_str()));
  }
  return out;
}

/// What fibres lose of light, [nspec]; empty: not known.
struct FiberLosses {
  std::vector<double> flat_to_psf;   ///< of a point, against each other
  std::vector<double> psf_to_fiber;  ///< against a survey's fibres
};

/// By the fibres' places; of points a column of FIBERMAP may say it as well.
FiberLosses fiber_losses(const Table& fibermap, const CalibrationJob& job,
                         const Observer& observer) {
  FiberLosses out;
  const auto known = fibermap.column("FLAT_TO_PSF_FLUX");
  if (known) out.flat_to_psf = *known;
  const std::string desimodel = find_desimodel(job.desimodel);
  const char* const all_alike = "fibres lose the same of a point's light";
  if (desimodel.empty()) {
    if (!known) {
      observer.info(std::string("no FLAT_TO_PSF_FLUX in FIBERMAP, no --desimodel: ") + all_alike);
    }
    return out;
  }
  with_desimodel(job, desimodel, "it is not used", observer, [&] {
    const FocalPlane plane = read_focal_plane(desimodel);
    const auto points = calibrate::flat_to_psf_flux(fibermap, plane, job.seeing_as);
    if (points && !known) out.flat_to_psf = *points;
    out.psf_to_fiber = calibrate::psf_to_fiber_flux(fibermap, plane, job.seeing_as)
                           .value_or(std::vector<double>());
    if (!points && !known)
      observer.warn(job.input + ": FIBERMAP: no FIBER_X and FIBER_Y: " + all_alike);
  });
  return out;
}

calibrate::FluxOptions flux_options(const FrameFile& frame, std::vector<double> flat_to_psf,
                                    const CalibrationJob& job) {
  calibrate::FluxOptions o = job.method == CalibrationMethod::kDesispec ? calibrate::desispec_flux()
                                                                        : calibrate::FluxOptions();
  o.scale_nsig = job.scale_nsig;
  o.flat_to_psf = std::move(flat_to_psf);
  if (!job.average.empty()) {
    const FluxCalibrationFile average = read_flux_calibration(job.average, job.verify);
    require_same_origin(job.average, average.header, frame.header, Origin::kCamera);
    if (average.deconvolved.empty()) {
      throw Error(Status::kMissingHdu,
                  job.average + ": no HDU DECONVOLVED_CALIB, expected one to be scaled");
    }
    o.average_wave = average.wave;
    o.average = average.deconvolved;
  }
  return o;
}

template <class T>
std::size_t zeros(const Array2D<T>& a) {
  return static_cast<std::size_t>(std::count(a.data(), a.data() + a.size(), T{}));
}

/// Throws kUsage where knots would be closer than bins: there is nothing to fit them to, and there
/// may be billions of them.
void require_bins_for_knots(const FrameFile& lamp, double spacing_aa) {
  if (lamp.nwave() < 2) return;
  const double bin = (lamp.wave.back() - lamp.wave.front()) / static_cast<double>(lamp.nwave() - 1);
  constexpr double kRounding = 1e-6;
  if (spacing_aa >= bin * (1 - kRounding)) return;
  throw Error(Status::kUsage,
              print("--smoothing-resolution %g: expected at least a bin of %s, %.4f Angstrom",
                    spacing_aa, lamp.path.c_str(), bin));
}

/// Throws kNumerical where no fibre shows a lamp's light: a flat of noise would pass for one.
void require_light(const FrameFile& lamp) {
  constexpr double kLeastSnr = 3;
  double best = 0;
  for (std::size_t s = 0; s < lamp.nspec(); ++s) {
    std::vector<double> snr;
    for (std::size_t i = 0; i < lamp.nwave(); ++i) {
      const double ivar = lamp.ivar(s, i);
      if (ivar > 0) snr.push_back(lamp.flux(s, i) * std::sqrt(ivar));
    }
    if (!snr.empty()) best = std::max(best, median_of(snr));
  }
  if (best >= kLeastSnr) return;
  throw Error(
      Status::kNumerical,
      print("%s: FLUX: the brightest of %zu fibres has a median S/N of %.2f a bin, expected "
            "%g at least of a lamp",
            lamp.path.c_str(), lamp.nspec(), best, kLeastSnr));
}

}  // namespace

void check_outputs(const CalibrationJob& job, std::span<const NamedFile> more) {
  std::vector<NamedFile> outputs{{"output", job.output}, {"adjustments", job.adjustments}};
  outputs.insert(outputs.end(), more.begin(), more.end());
  std::vector<NamedFile> inputs{{"input", job.input},     {"fibre flat", job.flat},
                                {"sky", job.sky},         {"models", job.models},
                                {"average", job.average}, {"flux calibration", job.flux},
                                {"models", job.grid},     {"PSF", job.psf}};
  for (const std::string& path : job.frames) inputs.push_back({"input", path});
  for (const std::string& path : job.flats) inputs.push_back({"fibre flat", path});
  for (const std::string& path : job.skies) inputs.push_back({"sky", path});
  for (const std::string& path : job.fluxes) inputs.push_back({"flux calibration", path});
  for (const std::string& path : job.star_files) inputs.push_back({"models", path});
  for (const std::string& path : loom::files_below(job.passbands, 1).files) {
    if (path.ends_with(".ecsv")) inputs.push_back({"passband", path});
  }
  check_distinct(outputs, inputs);
  const bool pattern = job.step == CalibrationStep::kFiberFlat && !job.flats.empty();
  if (!pattern) check_output(job.output, job.overwrite);  // {camera} is not yet known of it
  if (!job.adjustments.empty()) check_output(job.adjustments, job.overwrite);
}

FiberFlatSummary make_fiber_flat(const CalibrationJob& job, Executor& executor,
                                 const Observer& observer) {
  FrameFile lamp = read_frame_of_one_grid(job.input, job.verify, observer);
  const std::string flavor = lamp.header.text("FLAVOR").value_or("flat");
  if (flavor != "flat") {
    observer.warn(job.input + ": FLUX: FLAVOR is '" + flavor +
                  "', expected 'flat': not a lamp's frame, as its header has it");
  }
  require_bins_for_knots(lamp, job.spacing_aa);
  require_light(lamp);
  calibrate::FiberFlatOptions options = job.method == CalibrationMethod::kDesispec
                                            ? calibrate::desispec_fiber_flat()
                                            : calibrate::FiberFlatOptions();
  options.clip_nsig = job.clip_nsig;
  options.accuracy = job.accuracy;
  options.spacing_aa = job.spacing_aa;
  calibrate::FiberFlatFit flat = about(job.input, [&] {
    return calibrate::compute_fiber_flat(lamp, band_of(lamp.header), options, executor);
  });
  const FiberFlatSummary out{flat.flat.rows(), flat.flat.cols(), flat.lost_fibers, flat.rejected,
                             zeros(flat.ivar), flat.iterations,  flat.chi2_per_dof};
  FiberFlatFile file;
  file.header = header_of(lamp.header, job);
  file.header.set("CHI2PDF", flat.chi2_per_dof);
  static_cast<FiberFlat&>(file) = std::move(flat);
  const FolderOf folder(job.output);
  write_fiber_flat(job.output, file, job.overwrite);
  return out;
}

namespace {

calibrate::SkyOptions sky_options(const CalibrationJob& job) {
  if (!job.adjustments.empty() && !(job.adjust_wavelength && job.adjust_lsf)) {
    throw Error(Status::kUsage,
                "--save-adjustments: expected --adjust-wavelength and --adjust-lsf with it");
  }
  calibrate::SkyOptions options = job.method == CalibrationMethod::kDesispec
                                      ? calibrate::desispec_sky()
                                      : calibrate::SkyOptions();
  options.adjust_wavelength = job.adjust_wavelength;
  options.adjust_lsf = job.adjust_lsf;
  options.extra_variance = job.extra_variance;
  return options;
}

double rms(const Array2D<double>& m) {
  double sum = 0;
  for (std::size_t i = 0; i < m.rows() * m.cols(); ++i) sum += m.data()[i] * m.data()[i];
  return m.empty() ? 0 : std::sqrt(sum / static_cast<double>(m.rows() * m.cols()));
}

}  // namespace

SkySummary make_sky(const CalibrationJob& job, Executor& executor, const Observer& observer) {
  const calibrate::SkyOptions options = sky_options(job);
  FrameFile frame = read_frame_of_one_grid(job.input, job.verify, observer);
  if (!job.flat.empty()) (void)calibration::divide_by_flat(frame, job);
  calibrate::SkyFit sky = about(job.input, [&] {
    return calibrate::compute_sky(frame, band_of(frame.header), options, executor);
  });
  for (const std::size_t row : sky.discarded) {
    observer.warn(print("%s: spectrum %zu: light where only sky should be; not used for the sky",
                        job.input.c_str(), row));
  }
  const SkySummary out{sky.flux.rows(),          sky.flux.cols(),      sky.fibers.size(),
                       sky.discarded.size(),     sky.clipped,          zeros(sky.ivar),
                       sky.iterations,           sky.adjustment.peaks, rms(sky.adjustment.shift),
                       rms(sky.adjustment.width)};
  if ((job.adjust_wavelength || job.adjust_lsf) && out.peaks == 0) {
    observer.warn(job.input + ": no line of a sky fibre is measured well enough: none is adjusted");
  }
  SkyFile file;
  file.header = header_of(frame.header, job);
  const FolderOf beside(job.adjustments.empty() ? job.output : job.adjustments);
  const FolderOf folder(job.output);
  FilesTogether together;
  if (!job.adjustments.empty()) {
    write_sky_adjustments(job.adjustments, sky.wave, sky.adjustment.shift, sky.adjustment.width,
                          file.header, job.overwrite, &together);
  }
  static_cast<SkyModel&>(file) = std::move(sky);
  write_sky(job.output, file, job.overwrite, &together);
  together.commit();
  return out;
}

FluxSummary make_flux_calibration(const CalibrationJob& job, Executor& executor,
                                  const Observer& observer) {
  FrameFile frame = read_frame_of_one_grid(job.input, job.verify, observer);
  if (!job.flat.empty()) (void)calibration::divide_by_flat(frame, job);
  if (!job.sky.empty()) (void)calibration::subtract_sky(frame, job);
  const calibrate::StarModels models = models_of(frame, job, observer);
  FiberLosses losses = fiber_losses(*frame.fibermap, job, observer);
  const calibrate::FluxOptions options = flux_options(frame, std::move(losses.flat_to_psf), job);
  const std::vector<bool> out_of_use =
      calibrate::forbidden(frame, calibrate::Purpose::kFlux, band_of(frame.header));
  for (std::size_t s = 0; s < frame.nspec(); ++s) {
    if (out_of_use[s]) std::fill_n(frame.ivar.row(s), frame.nwave(), 0.0);
  }
  calibrate::FluxFit flux = about(job.input, [&] {
    return calibrate::compute_flux_calibration(frame, models, options, executor);
  });
  if (flux.is_average) {
    observer.warn(
        print("%s: standard stars of a median S/N of %.2f: %s scaled, error 100 %%, "
              "MASK 1",
              job.input.c_str(), flux.median_snr, job.average.c_str()));
  }
  const FluxSummary out{frame.nspec(),   frame.nwave(),   flux.stars.size(),
                        flux.left_out,   flux.clipped,    zeros(flux.ivar),
                        flux.iterations, flux.median_snr, flux.is_average};
  FluxCalibrationFile file;
  file.header = header_of(frame.header, job);
  if (!flux.stars.empty()) file.stars = frame.fibermap->take(flux.stars);
  static_cast<FluxCalibration&>(file) = std::move(flux);
  file.psf_to_fiber = std::move(losses.psf_to_fiber);
  const FolderOf folder(job.output);
  write_flux_calibration(job.output, file, job.overwrite);
  return out;
}

}  // namespace fiberloom
