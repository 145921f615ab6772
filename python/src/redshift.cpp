// SPDX-License-Identifier: BSD-3-Clause
// Redshifts of arrays, and files of spectra and redshifts.
#include <pybind11/stl.h>

#include <algorithm>
#include <numeric>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/recipes/redshift/find_redshifts.hpp"
#include "fiberloom/recipes/redshift/named_lines.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/scan_device.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

/// One camera of all targets.
struct Camera {
  std::vector<double> wave;
  Array2D<double> flux, ivar;
  Array2D<std::uint32_t> mask;
  Array3D<float> resolution;
};

Camera to_camera(const py::dict& d) {
  Camera out;
  take_arrays(d, out);
  return out;
}

redshift::TargetView view_of(const std::vector<Camera>& cameras, std::int64_t id, std::size_t t) {
  redshift::TargetView view{id, {}};
  for (const Camera& c : cameras) {
    const std::size_t n = c.wave.size(), nd = c.resolution.rows();
    redshift::CameraView camera{.wave = c.wave,
                                .flux = std::span(c.flux.row(t), n),
                                .ivar = std::span(c.ivar.row(t), n),
                                .mask = {},
                                .resolution = {}};
    if (!c.mask.empty()) camera.mask = {c.mask.row(t), n};
    if (!c.resolution.empty()) {
      camera.resolution = std::span<const float>(c.resolution.data() + t * nd * n, nd * n);
      camera.ndiag = nd;
    }
    view.spectra.push_back(camera);
  }
  return view;
}

std::vector<redshift::TargetView> views_of(const std::vector<Camera>& cameras,
                                           const std::vector<std::int64_t>& ids,
                                           std::span<const std::size_t> targets) {
  std::vector<redshift::TargetView> out;
  for (const std::size_t t : targets) out.push_back(view_of(cameras, ids[t], t));
  return out;
}

/// What those of the targets that are nothing but sky say of its continuum.
std::vector<redshift::SkyWidth> sky_widths(const std::vector<Camera>& cameras,
                                           const std::vector<std::int64_t>& ids,
                                           const std::vector<std::size_t>& skies,
                                           const RedshiftOptions& options, Executor& executor) {
  redshift::SkyMeans means;
  for (std::size_t i = 0; i < skies.size(); i += kTargetsOfGroup) {
    const auto some = std::span(skies).subspan(i, std::min(kTargetsOfGroup, skies.size() - i));
    means.add(*ready_spectra(views_of(cameras, ids, some), options, executor).set);
  }
  return means.widths();
}

/// What comes out, target by target.
struct Fits {
  std::vector<std::vector<redshift::Candidate>> candidates;
  std::vector<std::string> templates;
  std::vector<std::vector<double>> z;  ///< of each template
  std::vector<Array2D<double>> chi2;   ///< [target][z], penalty added; where it is wanted
  std::vector<Array2D<float>> models;  ///< of each camera; where they are wanted
};

Fits fit(const std::vector<Camera>& cameras, const std::vector<std::int64_t>& ids,
         const std::vector<std::size_t>& skies, const RedshiftJob& job, bool scan, bool models,
         Executor& executor, const Observer& observer, redshift::FastScanner* scanner) {
  warn_of_fallback(job, observer);
  const RedshiftModels loaded = load_models(job);
  Fits out;
  for (const redshift::Template& t : loaded.templates) {
    out.templates.push_back(t.full_type());
    out.z.push_back(t.redshifts);
    if (scan) out.chi2.emplace_back(ids.size(), t.redshifts.size(), redshift::kHugeChi2);
  }
  for (const Camera& c : cameras) {
    if (models) out.models.emplace_back(ids.size(), c.wave.size(), 0.0F);
  }
  std::vector<redshift::SkyWidth> sky;
  if (has_sky_continuum(job.options, loaded)) {
    sky = sky_widths(cameras, ids, skies, job.options, executor);
  }
  for (std::size_t first = 0; first < ids.size(); first += kTargetsOfGroup) {
    if (observer.stop_requested && observer.stop_requested()) {
      throw Error(Status::kInterrupted, "interrupted");
    }
    const std::size_t last = std::min(first + kTargetsOfGroup, ids.size());
    std::vector<std::size_t> targets(last - first);
    std::iota(targets.begin(), targets.end(), first);
    TargetFits fits = fit_targets(views_of(cameras, ids, targets), loaded, job.options, {}, {},
                                  KeepScan::kNo, executor, scanner, sky);
    if (first == 0) warn_of_unused(fits, observer);
    for (std::size_t k = 0; scan && k < fits.curves.size(); ++k) {
      const redshift::Curve& curve = fits.curves[k];
      std::size_t at = 0;
      for (std::size_t i = 0; i < out.z[k].size() && at < curve.z.size(); ++i) {
        if (out.z[k][i] != curve.z[at]) continue;
        for (std::size_t t = first; t < last; ++t) {
          out.chi2[k](t, i) = curve.chi2(t - first, at) + curve.penalty(t - first, at);
        }
        ++at;
      }
    }
    for (std::size_t t = first; t < last; ++t) {
      std::vector<redshift::Candidate>& found = fits.candidates[t - first];
      const bool is_sky = std::binary_search(skies.begin(), skies.end(), t);
      for (redshift::Candidate& c : found) apply_verdict(is_sky ? redshift::zwarn::kSky : 0U, c);
      if (models && (found.front().zwarn & redshift::zwarn::kNoData) == 0) {
        const auto of_grids = model_of(fits, t - first, found.front(), loaded, job.options);
        for (std::size_t c = 0; c < cameras.size(); ++c) {
          for (std::size_t g = 0; g < of_grids.size(); ++g) {
            if (fits.set->grids[g].wave != cameras[c].wave || of_grids[g].empty()) continue;
            std::transform(of_grids[g].begin(), of_grids[g].end(), out.models[c].row(t),
                           [](double v) { return static_cast<float>(v); });
          }
        }
      }
      out.candidates.push_back(std::move(found));
    }
    if (observer.progress) observer.progress("redshift", last, ids.size());
  }
  return out;
}

py::dict candidate_dict(const redshift::Candidate& c) {
  py::dict out;
  out["spectype"] = c.spectype;
  out["subtype"] = c.subtype;
  out["method"] = c.method;
  out["z"] = c.z;
  out["zerr"] = c.zerr;
  out["chi2"] = c.chi2;
  out["deltachi2"] = c.delta_chi2;
  out["zwarn"] = c.zwarn;
  out["npixels"] = c.good_pixels;
  out["coeff"] = to_numpy(std::vector<double>(c.coefficients));
  out["probability"] = c.probability;
  out["class_probability"] = c.class_probability;
  out["posterior_zerr"] = c.posterior_zerr;
  out["log_evidence"] = c.evidence;
  out["quality"] = c.quality;
  py::dict lines;
  for (const redshift::LineFlux& line : c.lines) {
    py::dict values;
    values["flux"] = line.flux;
    values["ivar"] = line.ivar;
    values["sigma_kms"] = line.sigma_kms;
    lines[py::str(line.name)] = values;
  }
  out["lines"] = lines;
  out["legcoeff"] = to_numpy(std::vector<double>(c.legendre));
  return out;
}

/// skies: places of fibres on the sky, in order.
py::dict fit_redshifts(const py::list& cameras, const std::vector<std::int64_t>& ids,
                       const std::vector<std::size_t>& skies,
                       const std::map<std::string, std::vector<std::string>>& options,
                       const py::dict& given, bool scan, bool models, std::size_t threads,
                       const py::object& progress) {
  std::vector<Camera> arrays;
  for (const py::handle& camera : cameras) arrays.push_back(to_camera(camera.cast<py::dict>()));
  RedshiftJob job;
  for (const auto& [key, texts] : options) {
    for (const RedshiftOptionRow& row : redshift_option_rows()) {
      if (row.key != key) continue;
      for (const std::string& text : texts) loom::set_option(row, job, text);
    }
  }
  const DeviceChoice choice = to_device(given);
  std::string device;  // that scanned
  Fits fits = Watch(progress).run([&](const Observer& observer) {
    const auto executor = make_executor(threads);
    // Opened for one call: what a card's memory holds is nobody's when the call is over.
    const auto scanner = open_scan_device(choice, job.options.method, observer);
    Fits found = fit(arrays, ids, skies, job, scan, models, *executor, observer, scanner.get());
    if (scanner != nullptr && scanner->report().scans > 0) device = scanner->info().name;
    return found;
  });
  py::dict out;
  out["device"] = device.empty() ? py::object(py::none()) : py::cast(device);
  py::list candidates;
  for (const auto& of_target : fits.candidates) {
    py::list list;
    for (const redshift::Candidate& c : of_target) list.append(candidate_dict(c));
    candidates.append(list);
  }
  out["candidates"] = candidates;
  py::dict curves;
  for (std::size_t k = 0; k < fits.chi2.size(); ++k) {
    curves[py::str(fits.templates[k])] =
        py::make_tuple(to_numpy(std::move(fits.z[k])), to_numpy(std::move(fits.chi2[k])));
  }
  out["scan"] = curves;
  py::list of_cameras;
  for (Array2D<float>& m : fits.models) of_cameras.append(to_numpy(std::move(m)));
  out["models"] = of_cameras;
  return out;
}

py::dict read_spectra_file(const std::string& path, bool verify) {
  SpectraFile file = Watch().run(
      [&](const Observer&) { return read_spectra(path, verify ? Verify::kYes : Verify::kNo); });
  py::dict out, cameras;
  for (SpectraFile::Camera& camera : file.cameras) {
    cameras[py::str(camera.name)] = spectra_dict(std::move(camera.spectra));
  }
  out["path"] = file.path;
  out["cameras"] = cameras;
  out["header"] = PyHeader{std::move(file.header)};
  out["fibermap"] = optional_table(to_raw_table(file.fibermap));
  out["exp_fibermap"] = optional_table(to_raw_table(file.exp_fibermap));
  out["scores"] = optional_table(to_raw_table(file.scores));
  return out;
}

py::dict read_redshift_file(const std::string& path, bool verify) {
  RedshiftFile file = Watch().run(
      [&](const Observer&) { return read_redshifts(path, verify ? Verify::kYes : Verify::kNo); });
  py::dict out;
  out["path"] = file.path;
  out["header"] = PyHeader{std::move(file.header)};
  out["redshifts"] = PyTable{to_raw_table(file.redshifts)};
  out["fibermap"] = optional_table(to_raw_table(file.fibermap));
  out["exp_fibermap"] = optional_table(to_raw_table(file.exp_fibermap));
  out["tsnr2"] = optional_table(to_raw_table(file.tsnr2));
  out["candidates"] = optional_table(to_raw_table(file.candidates));
  return out;
}

}  // namespace

void bind_redshift(py::module_& m) {
  m.def("named_lines", &named_lines);
  m.def("fit_redshifts", &fit_redshifts);
  m.def("read_spectra", &read_spectra_file);
  m.def("read_redshifts", &read_redshift_file);
}

}  // namespace fiberloom::python
