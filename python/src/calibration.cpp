// SPDX-License-Identifier: BSD-3-Clause
// The steps of the calibration on arrays: dicts of spectra in, dicts of what was found out.
#include "calibration.hpp"

#include <pybind11/stl.h>

#include <cmath>
#include <map>

#include "arrays.hpp"
#include "bindings.hpp"
#include "corrections.hpp"
#include "fiberloom/calibrate/exposure_qa.hpp"
#include "fiberloom/calibrate/fiber_flat.hpp"
#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/sky.hpp"
#include "fiberloom/calibrate/standard_stars.hpp"
#include "fiberloom/calibrate/usable.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
std::optional<Table> to_fibermap(const py::object& given) {
  if (given.is_none()) return std::nullopt;
  if (py::isinstance<PyTable>(given)) return to_table(given.cast<const PyTable&>().table);
  Table out;
  for (const auto& [key, value] : given.cast<py::dict>()) {
    const std::string name = py::cast<std::string>(key);
    if (py::isinstance<py::list>(value)) {
      const auto texts = value.cast<std::vector<std::string>>();
      std::size_t width = 1;
      for (const std::string& t : texts) width = std::max(width, t.size());
      out.add(name, std::span<const std::string>(texts), width);
    } else if (py::cast<py::array>(value).dtype().kind() == 'i') {
      const auto values = to_vector<std::int64_t>(value.cast<Input<std::int64_t>>(), name.c_str());
      out.add(name, std::span<const std::int64_t>(values));
    } else {
      const auto values = to_vector<double>(value.cast<Input<double>>(), name.c_str());
      out.add(name, std::span<const double>(values));
    }
  }
  return out;
}

Spectra to_spectra(const py::dict& d) {
  Spectra out;
  take_arrays(d, out);
  out.fibermap = to_fibermap(d["fibermap"]);
  calibrate::drop_what_is_no_number(out);
  return out;
}

namespace {

using calibrate::Purpose;

py::object rows_of(std::vector<std::size_t>&& rows) {
  return to_numpy(std::vector<std::int64_t>(rows.begin(), rows.end()));
}

py::dict fiberflat(const py::dict& lamp, const std::string& camera, bool desispec,
                   std::size_t threads) {
  const Spectra spectra = to_spectra(lamp);
  calibrate::FiberFlatFit fit = Watch().run([&](const Observer&) {
    const auto executor = make_executor(threads);
    return calibrate::compute_fiber_flat(
        spectra, camera.at(0),
        desispec ? calibrate::desispec_fiber_flat() : calibrate::FiberFlatOptions(), *executor);
  });
  py::dict out;
  out["wave"] = to_numpy(std::move(fit.wave));
  out["flat"] = to_numpy(std::move(fit.flat));
  out["ivar"] = to_numpy(std::move(fit.ivar));
  out["mask"] = to_numpy(std::move(fit.mask));
  out["mean"] = to_numpy(std::move(fit.mean));
  out["chi2_per_dof"] = fit.chi2_per_dof;
  out["iterations"] = fit.iterations;
  return out;
}

py::dict sky(const py::dict& frame, const py::dict& corrections, bool desispec,
             bool adjust_wavelength, bool adjust_lsf, bool extra_variance, std::size_t threads) {
  Spectra spectra = to_spectra(frame);
  const Corrections before = to_corrections(corrections);
  calibrate::SkyOptions options = desispec ? calibrate::desispec_sky() : calibrate::SkyOptions();
  options.adjust_wavelength = adjust_wavelength;
  options.adjust_lsf = adjust_lsf;
  options.extra_variance = extra_variance;
  calibrate::SkyFit fit = Watch().run([&](const Observer&) {
    before.apply(spectra);
    const auto executor = make_executor(threads);
    return calibrate::compute_sky(spectra, before.band, options, *executor);
  });
  py::dict out;
  out["wave"] = to_numpy(std::move(fit.wave));
  out["flux"] = to_numpy(std::move(fit.flux));
  out["ivar"] = to_numpy(std::move(fit.ivar));
  out["mask"] = to_numpy(std::move(fit.mask));
  out["stat_ivar"] = to_numpy(std::move(fit.stat_ivar));
  out["deconvolved"] = to_numpy(std::move(fit.deconvolved));
  if (fit.throughput.empty()) fit.throughput.assign(spectra.nspec(), 1.0);
  out["throughput"] = to_numpy(std::move(fit.throughput));
  if (adjust_wavelength || adjust_lsf) {
    out["shift"] = to_numpy(std::move(fit.adjustment.shift));
    out["widening"] = to_numpy(std::move(fit.adjustment.width));
  }
  out["rows"] = rows_of(std::move(fit.fibers));
  out["discarded"] = rows_of(std::move(fit.discarded));
  return out;
}

py::dict fluxcalib(const py::dict& frame, const py::dict& corrections, const py::dict& models,
                   const py::dict& more, bool desispec, std::size_t threads) {
  Spectra spectra = to_spectra(frame);
  const Corrections before = to_corrections(corrections);
  calibrate::StarModels stars;
  stars.wave = to_vector<double>(models["wave"].cast<Input<double>>(), "wave");
  const auto flux = to_matrix<double>(models["flux"].cast<Input<double>>(), "flux");
  const auto rows = models["rows"].cast<std::vector<std::size_t>>();
  for (std::size_t k = 0; k < rows.size(); ++k) {
    stars.stars.push_back({rows[k], {flux.row(k), flux.row(k) + flux.cols()}});
  }
  calibrate::FluxOptions options = desispec ? calibrate::desispec_flux() : calibrate::FluxOptions();
  options.flat_to_psf = to_vector<double>(more["flat_to_psf"].cast<Input<double>>(), "flat_to_psf");
  options.average_wave =
      to_vector<double>(more["average_wave"].cast<Input<double>>(), "average_wave");
  options.average = to_vector<double>(more["average"].cast<Input<double>>(), "average");
  calibrate::FluxFit fit = Watch().run([&](const Observer&) {
    before.apply(spectra);
    const std::vector<bool> out_of_use = calibrate::forbidden(spectra, Purpose::kFlux, before.band);
    for (std::size_t s = 0; s < spectra.nspec(); ++s) {
      if (out_of_use[s]) std::fill_n(spectra.ivar.row(s), spectra.nwave(), 0.0);
    }
    const auto executor = make_executor(threads);
    return calibrate::compute_flux_calibration(spectra, stars, options, *executor);
  });
  py::dict out;
  out["wave"] = to_numpy(std::move(fit.wave));
  out["calib"] = to_numpy(std::move(fit.calib));
  out["ivar"] = to_numpy(std::move(fit.ivar));
  out["mask"] = to_numpy(std::move(fit.mask));
  out["deconvolved"] = to_numpy(std::move(fit.deconvolved));
  out["flat_to_psf"] = to_numpy(std::move(fit.flat_to_psf));
  out["rows"] = rows_of(std::move(fit.stars));
  out["scales"] = to_numpy(std::move(fit.scales));
  out["is_average"] = fit.is_average;
  return out;
}

py::dict calibrated(const py::dict& frame, const py::dict& corrections) {
  Spectra spectra = to_spectra(frame);
  const Corrections all = to_corrections(corrections);
  Watch().run([&](const Observer&) {
    all.apply(spectra);
    return 0;
  });
  return spectra_dict(std::move(spectra));
}

calibrate::StarColour to_colour(const std::string& name) {
  for (const auto colour : {calibrate::StarColour::kGR, calibrate::StarColour::kRZ,
                            calibrate::StarColour::kGaiaBpRp, calibrate::StarColour::kGaiaGRp}) {
    if (name == calibrate::name_of(colour)) return colour;
  }
  return calibrate::StarColour::kAny;
}

/// A pixel that is masked or no number has no weight.
void hide_bad(Spectra& s) {
  for (std::size_t k = 0; k < s.ivar.size(); ++k) {
    double &v = s.ivar.data()[k], &f = s.flux.data()[k];
    const bool masked = !s.mask.empty() && s.mask.data()[k] != 0;
    if (masked || !(v > 0) || !std::isfinite(v) || !std::isfinite(f)) v = f = 0;
  }
}

/// frames: (camera, spectra, corrections) of the same stars, exposures of a camera one by one.
// Long: arguments out of Python, one call, results into it.
py::dict stdstars(const std::vector<std::tuple<std::string, py::dict, py::dict>>& frames,
                  const py::dict& models, const std::map<std::string, py::tuple>& passbands,
                  const py::dict& o, bool desispec, std::size_t threads) {
  std::map<std::string, std::vector<std::pair<Spectra, Corrections>>> given;
  std::optional<Table> fibermap;
  for (const auto& [camera, frame, corrections] : frames) {
    Spectra s = to_spectra(frame);
    if (!fibermap) fibermap = s.fibermap;
    given[camera].emplace_back(std::move(s), to_corrections(corrections));
  }
  StellarGrid grid;
  grid.wave = to_vector<double>(models["wave"].cast<Input<double>>(), "wave");
  grid.flux = to_matrix<float>(models["flux"].cast<Input<float>>(), "flux");
  grid.teff = to_vector<double>(models["teff"].cast<Input<double>>(), "teff");
  grid.logg = to_vector<double>(models["logg"].cast<Input<double>>(), "logg");
  grid.metal = to_vector<double>(models["feh"].cast<Input<double>>(), "feh");
  std::map<std::string, Passband> bands;
  for (const auto& [name, pair] : passbands) {
    bands[name] = {to_vector<double>(pair[0].cast<Input<double>>(), "passbands"),
                   to_vector<double>(pair[1].cast<Input<double>>(), "passbands")};
  }
  const auto passband = [&](const std::string& name) {
    const auto found = bands.find(name);
    if (found != bands.end()) return found->second;
    throw Error(Status::kUsage, "passbands: no '" + name + "', expected one");
  };
  calibrate::StandardStarOptions options;
  options.colour_distance = o["delta_color"].cast<double>();
  options.least_blue_snr = o["min_blue_snr"].cast<double>();
  options.most_stars = o["max_stars"].cast<int>();
  options.fit.most_redshift = o["z_max"].cast<double>();
  options.fit.redshift_step = o["z_res"].cast<double>();
  options.fit.template_error = o["template_error"].cast<double>();
  if (desispec) options.fit.spikes = calibrate::SpikeLimit::kNoise;
  const calibrate::StarColour colour = to_colour(o["color"].cast<std::string>());
  const calibrate::StandardStars found = Watch().run([&](const Observer&) {
    const auto executor = make_executor(threads);
    std::vector<calibrate::StarCamera> cameras;
    for (auto& [camera, exposures] : given) {
      std::vector<Spectra> all;
      for (auto& [spectra, corrections] : exposures) {
        hide_bad(spectra);
        corrections.apply(spectra);
        hide_bad(spectra);
        all.push_back(std::move(spectra));
      }
      cameras.push_back({camera[0], calibrate::sum_star_exposures(all)});
    }
    const calibrate::StarCatalogue catalogue =
        calibrate::star_catalogue(fibermap.value_or(Table()), colour);
    return calibrate::find_standard_stars(cameras, catalogue, grid, passband, options, *executor);
  });
  const std::size_t n = found.stars.size();
  Array2D<double> flux(n, grid.wave.size());
  std::vector<std::size_t> rows;
  std::map<std::string, std::vector<double>> columns;
  for (std::size_t k = 0; k < n; ++k) {
    const calibrate::StandardStar& star = found.stars[k];
    std::copy(star.flux.begin(), star.flux.end(), flux.row(k));
    rows.push_back(star.row);
    columns["teff"].push_back(star.teff), columns["logg"].push_back(star.logg);
    columns["feh"].push_back(star.metal), columns["redshift"].push_back(star.redshift);
    columns["chi2_per_dof"].push_back(star.chi2_per_dof);
    columns["color"].push_back(star.seen_colour);
    columns["model_color"].push_back(star.model_colour);
  }
  py::dict out;
  out["wave"] = to_numpy(std::move(grid.wave));
  out["flux"] = to_numpy(std::move(flux));
  out["rows"] = rows_of(std::move(rows));
  for (auto& [name, values] : columns) out[py::str(name)] = to_numpy(std::move(values));
  return out;
}

/// cameras: (camera, spectra, corrections that were applied) of one spectrograph.
py::dict qa(const std::vector<std::tuple<std::string, py::dict, py::dict>>& cameras,
            const py::object& models) {
  std::vector<Spectra> spectra;
  std::vector<Corrections> applied;
  for (const auto& [name, d, corrections] : cameras) {
    spectra.push_back(to_spectra(d));
    applied.push_back(to_corrections(corrections));
  }
  std::vector<calibrate::QaCamera> given;
  for (std::size_t c = 0; c < cameras.size(); ++c) {
    given.push_back({std::get<0>(cameras[c]).at(0), &spectra[c],
                     applied[c].sky ? &*applied[c].sky : nullptr,
                     applied[c].flux ? &*applied[c].flux : nullptr});
  }
  std::vector<double> wave;
  Array2D<double> flux;
  calibrate::QaStars stars;
  if (!models.is_none()) {
    const auto d = models.cast<py::dict>();
    wave = to_vector<double>(d["wave"].cast<Input<double>>(), "wave");
    flux = to_matrix<double>(d["flux"].cast<Input<double>>(), "flux");
    stars.wave = wave;
    const auto rows = d["rows"].cast<std::vector<std::size_t>>();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      stars.stars.push_back({rows[k], {flux.row(k), flux.cols()}});
    }
  }
  calibrate::ExposureQa found = Watch().run([&](const Observer&) {
    return calibrate::exposure_qa(given, models.is_none() ? nullptr : &stars, {});
  });
  py::dict out, by_camera;
  for (std::size_t c = 0; c < found.cameras.size(); ++c) {
    calibrate::CameraQa& q = found.cameras[c];
    py::dict one;
    one["snr"] = to_numpy(std::move(q.snr));
    one["median_snr"] = q.median_snr;
    one["without"] = q.without;
    one["sky_fibers"] = q.sky_fibers;
    one["sky_chi2_per_dof"] = q.sky_chi2_per_dof;
    one["sky_mean"] = q.sky_mean;
    one["sky_width"] = q.sky_width;
    one["throughput"] = q.throughput;
    by_camera[py::str(std::get<0>(cameras[c]))] = one;
  }
  out["status"] = to_numpy(std::move(found.status));
  out["cameras"] = by_camera;
  out["stars"] = found.stars;
  out["star_rms"] = found.star_rms;
  out["good_positions"] = found.good_positions;
  out["good_fibers"] = found.good_fibers;
  return out;
}

}  // namespace

void bind_calibration(py::module_& m) {
  m.def("standard_star_rows", [](const py::object& fibermap) {
    Spectra spectra;
    spectra.fibermap = to_fibermap(fibermap);
    return rows_of(calibrate::standard_star_rows(spectra));
  });
  m.def("fiberflat", &fiberflat);
  m.def("sky", &sky);
  m.def("stdstars", &stdstars);
  m.def("fluxcalib", &fluxcalib);
  m.def("calibrate", &calibrated);
  m.def("qa", &qa);
}

}  // namespace fiberloom::python
