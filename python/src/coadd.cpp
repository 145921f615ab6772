// SPDX-License-Identifier: BSD-3-Clause
// Coadds of spectra that are arrays.
#include "fiberloom/calibrate/coadd.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.hpp"
#include "calibration.hpp"
#include "fiberloom/calibrate/resample.hpp"
#include "fiberloom/recipes/coadd/coadd_option_table.hpp"
#include "fiberloom/recipes/redshift/exposure_status.hpp"
#include "fiberloom/recipes/redshift/tables_of_targets.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

using Targets = std::vector<std::vector<std::size_t>>;
using Cameras = std::vector<std::pair<std::string, Spectra>>;

/// Camera by camera; what has been summed is let go of.
std::vector<Spectra> sum_cameras(const CoaddJob& job, Cameras& given, const Targets& targets,
                                 Executor& executor, std::size_t& cosmics) {
  std::vector<Spectra> out;
  for (auto& [name, spectra] : given) {
    calibrate::Coadd sum = calibrate::coadd_exposures(spectra, targets, band_of_camera(name),
                                                      {.cosmic_nsig = job.cosmic_nsig}, executor);
    cosmics += sum.cosmics;
    spectra = {};
    out.push_back(std::move(sum));
  }
  if (!job.across_cameras || out.size() < 2) return out;
  return {calibrate::coadd_cameras(out)};
}

/// All cameras at once, on the grid that is asked for.
std::vector<Spectra> resample(const CoaddJob& job, const Cameras& given, const Targets& targets,
                              Executor& executor, std::size_t& cosmics) {
  std::vector<calibrate::ResampledCamera> cameras;
  double first = given.front().second.wave.front(), last = first;
  for (const auto& [name, spectra] : given) {
    cameras.push_back({&spectra, band_of_camera(name)});
    last = std::max(last, spectra.wave.back());
  }
  calibrate::Coadd sum =
      calibrate::resample_exposures(cameras, targets, stepped_wave_grid(job.grid, first, last),
                                    {.cosmic_nsig = job.cosmic_nsig}, executor);
  cosmics = sum.cosmics;
  return {std::move(sum)};
}

/// `cameras` in the order of their wavelengths; `options` by the keys of the option table.
py::dict coadd(const std::vector<std::pair<std::string, py::dict>>& cameras, const Targets& targets,
               const std::vector<std::pair<std::string, std::string>>& options,
               std::size_t threads) {
  CoaddJob job;
  for (const auto& [key, text] : options) loom::set_option(coadd_option_rows(), job, key, text);
  check_options(job);
  Cameras given;
  for (const auto& [name, d] : cameras) given.emplace_back(name, to_spectra(d));
  const std::optional<Table> fibermap = given.front().second.fibermap;
  std::size_t cosmics = 0;
  std::vector<Spectra> sums = Watch().run([&](const Observer&) {
    const auto executor = make_executor(threads);
    return job.grid.wanted() ? resample(job, given, targets, *executor, cosmics)
                             : sum_cameras(job, given, targets, *executor, cosmics);
  });
  py::dict out;
  py::list spectra;
  for (Spectra& s : sums) spectra.append(spectra_dict(std::move(s)));
  out["spectra"] = spectra;
  out["cosmics"] = cosmics;
  out["fibermap"] = py::none();
  out["exp_fibermap"] = py::none();
  if (fibermap && fibermap->find("TARGETID") != nullptr) {
    CoaddedFibermap tables = coadd_fibermap(*fibermap, targets);
    out["fibermap"] = PyTable{to_raw_table(tables.targets)};
    out["exp_fibermap"] = PyTable{to_raw_table(tables.exposures)};
  }
  return out;
}

}  // namespace

void bind_coadd(py::module_& m) { m.def("coadd", &coadd); }

}  // namespace fiberloom::python
