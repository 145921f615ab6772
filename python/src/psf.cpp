// SPDX-License-Identifier: BSD-3-Clause
// The PSF: traces, spots, and the forward model with its transpose.
#include <pybind11/stl.h>

#include <cmath>
#include <map>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/psf/forward_model.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

using Series = std::tuple<double, double, Input<double>>;

const PsfModel& model(const PyPsf& psf) { return psf.file->model; }

/// Value of a series for each fibre and wavelength, [n][m].
py::array evaluate(const LegendreSeries& series, const std::vector<int>& fibers,
                   const std::vector<double>& wave) {
  Array2D<double> out(fibers.size(), wave.size());
  for (std::size_t i = 0; i < fibers.size(); ++i) {
    for (std::size_t j = 0; j < wave.size(); ++j) {
      out(i, j) = series(static_cast<std::size_t>(fibers[i]), wave[j]);
    }
  }
  return to_numpy(std::move(out));
}

const LegendreSeries& series_of(const PsfModel& psf, const std::string& name) {
  const std::map<std::string, const LegendreSeries*> all{
      {"x", &psf.x}, {"y", &psf.y}, {"sigma_x", &psf.sigma_x}, {"sigma_y", &psf.sigma_y}};
  const auto found = all.find(name);
  if (found == all.end()) throw py::key_error(name);
  return *found->second;
}

struct Stamps {
  Buffer<double> value;
  Array2D<int> y0, x0;
};

/// Spots of the kernel cut out of their frames; zero where the spot misses the CCD.
Stamps make_stamps(const PsfModel& psf, const std::vector<int>& fibers,
                   const std::vector<double>& wave, Executor& executor) {
  const SpotPlan plan = make_spot_plan(psf, wave);
  const SpotKernel kernel = spot_kernels(active_isa()).spots;
  const std::size_t n = fibers.size(), m = wave.size();
  const auto nx = static_cast<std::size_t>(plan.nx), ny = static_cast<std::size_t>(plan.ny);
  Stamps out{Buffer<double>(n * m * ny * nx, 0.0), Array2D<int>(n, m, 0), Array2D<int>(n, m, 0)};
  executor.run(n, [&](std::size_t i) {
    const FiberTrace trace = trace_fiber(plan, fibers[i]);
    Buffer<double> tile(kLanes * plan.spot_size());
    for (std::size_t j = 0; j < m; ++j) {
      if (j % kLanes == 0)
        make_spots(kernel, plan, fibers[i], static_cast<int>(j), trace, tile.data());
      out.y0(i, j) = trace.y0[j];
      out.x0(i, j) = trace.x0[j];
      if (!trace.live[j]) continue;
      const double* spot = tile.data() + (j % kLanes) * plan.spot_size() +
                           static_cast<std::size_t>(trace.x0[j] - trace.frame[j]);
      double* to = out.value.data() + (i * m + j) * ny * nx;
      for (std::size_t r = 0; r < ny; ++r) {
        std::copy_n(spot + r * static_cast<std::size_t>(plan.stride), nx, to + r * nx);
      }
    }
  });
  return out;
}

py::tuple spots(const PyPsf& psf, const std::vector<int>& fibers, const std::vector<double>& wave,
                std::size_t threads) {
  const auto executor = make_executor(threads);
  Stamps stamps = Watch().run_here(
      [&](const Observer&) { return make_stamps(model(psf), fibers, wave, *executor); });
  const std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(fibers.size()),
                                       static_cast<py::ssize_t>(wave.size()), model(psf).stamp_ny(),
                                       model(psf).stamp_nx()};
  return py::make_tuple(to_numpy(std::move(stamps.value), shape), to_numpy(std::move(stamps.y0)),
                        to_numpy(std::move(stamps.x0)));
}

View2D<const double> view(const Input<double>& a, const char* name) {
  require_dimensions(a, 2, name);
  const auto rows = static_cast<std::size_t>(a.shape(0)),
             cols = static_cast<std::size_t>(a.shape(1));
  return {a.data(), rows, cols, cols};
}

py::dict all_series(const PsfModel& psf) {
  py::dict out;
  const auto add = [&](const std::string& name, const LegendreSeries& s) {
    if (!s.coef.empty()) {
      out[py::str(name)] =
          py::make_tuple(s.wave_min, s.wave_max, to_numpy(Array2D<double>(s.coef)));
    }
  };
  add("X", psf.x);
  add("Y", psf.y);
  add("GHSIGX", psf.sigma_x);
  add("GHSIGY", psf.sigma_y);
  for (std::size_t k = 0; k < psf.gh.size(); ++k) {
    const auto n = static_cast<std::size_t>(psf.gh_deg_x) + 1;
    add("GH-" + std::to_string(k % n) + "-" + std::to_string(k / n), psf.gh[k]);
  }
  add("TAILAMP", psf.tails.amp);
  add("TAILCORE", psf.tails.core);
  add("TAILXSCA", psf.tails.xscale);
  add("TAILYSCA", psf.tails.yscale);
  add("TAILINDE", psf.tails.index);
  return out;
}

py::dict numbers(const PsfModel& p) {
  using namespace py::literals;
  const char* kind = p.shape ? p.shape->kind() : "GAUSS-HERMITE";
  return py::dict("kind"_a = kind, "npix_x"_a = p.npix_x, "npix_y"_a = p.npix_y,
                  "hsize_x"_a = p.hsize_x, "hsize_y"_a = p.hsize_y, "stamp_nx"_a = p.stamp_nx(),
                  "stamp_ny"_a = p.stamp_ny(), "gh_deg_x"_a = p.gh_deg_x, "gh_deg_y"_a = p.gh_deg_y,
                  "psferr"_a = p.psferr, "tails"_a = p.has_tails, "fiber_min"_a = p.fiber_min,
                  "bundle"_a = p.bundle, "status"_a = p.status);
}

LegendreSeries to_series(const std::map<std::string, Series>& all, const std::string& name,
                         std::size_t nfiber) {
  const auto found = all.find(name);
  if (found == all.end()) throw Error(Status::kMissingKeyword, "PSF: no parameter " + name);
  const auto& [wave_min, wave_max, coef] = found->second;
  LegendreSeries s{wave_min, wave_max, to_matrix<double>(coef, name.c_str())};
  if (!(wave_max > wave_min)) {
    throw Error(Status::kCorrupt, "PSF: the wavelength domain of " + name + " is no range");
  }
  if (s.coef.cols() < 1 || s.coef.rows() < 1 || (nfiber > 0 && s.coef.rows() != nfiber)) {
    throw Error(Status::kWrongShape, "PSF: " + name + " has " + std::to_string(s.coef.rows()) +
                                         " fibres, expected " + std::to_string(nfiber));
  }
  for (std::size_t i = 0; i < s.coef.size(); ++i) {
    if (!std::isfinite(s.coef.data()[i])) {
      throw Error(Status::kCorrupt, "PSF: " + name + " holds a coefficient that is not finite");
    }
  }
  return s;
}

/// `header` decides the default range of wavelengths.
PyPsf from_series(const std::map<std::string, Series>& all, const py::dict& n,
                  const std::string& path, const PyHeader& header) {
  PsfFile file{path, {}, header.cards};
  PsfModel& p = file.model;
  const auto integer = [&](const char* key, int low, int high) {
    const int value = n[key].cast<int>();
    if (value < low || value > high) {
      throw Error(Status::kCorrupt, std::string("PSF: ") + key + " is " + std::to_string(value));
    }
    return value;
  };
  p.npix_x = integer("npix_x", 1, 100000);
  p.npix_y = integer("npix_y", 1, 100000);
  p.hsize_x = integer("hsize_x", 1, 200);
  p.hsize_y = integer("hsize_y", 1, 200);
  p.gh_deg_x = integer("gh_deg_x", 0, 20);
  p.gh_deg_y = integer("gh_deg_y", 0, 20);
  p.psferr = n["psferr"].cast<double>();
  p.has_tails = n["tails"].cast<bool>();
  p.fiber_min = n["fiber_min"].cast<int>();
  p.bundle = n["bundle"].cast<std::vector<int>>();
  p.status = n["status"].cast<std::vector<int>>();
  p.x = to_series(all, "X", 0);
  const std::size_t nfiber = p.x.coef.rows();
  p.y = to_series(all, "Y", nfiber);
  p.sigma_x = to_series(all, "GHSIGX", nfiber);
  p.sigma_y = to_series(all, "GHSIGY", nfiber);
  for (int j = 0; j <= p.gh_deg_y; ++j) {
    for (int i = 0; i <= p.gh_deg_x; ++i) {
      p.gh.push_back(to_series(all, "GH-" + std::to_string(i) + "-" + std::to_string(j), nfiber));
    }
  }
  if (p.has_tails || all.count("TAILAMP") != 0) {
    p.tails = {to_series(all, "TAILAMP", nfiber), to_series(all, "TAILCORE", nfiber),
               to_series(all, "TAILXSCA", nfiber), to_series(all, "TAILYSCA", nfiber),
               to_series(all, "TAILINDE", nfiber)};
  }
  for (const auto* list : {&p.bundle, &p.status}) {
    if (!list->empty() && list->size() != nfiber) {
      throw Error(Status::kWrongShape, "PSF: bundle or status has another number of fibres");
    }
  }
  return {std::make_shared<const PsfFile>(std::move(file))};
}

}  // namespace

void bind_psf(py::module_& m) {
  py::class_<PyPsf>(m, "Psf")
      .def_property_readonly("nfiber", [](const PyPsf& p) { return model(p).nfiber(); })
      .def_property_readonly("path", [](const PyPsf& p) { return p.file->path; })
      .def_property_readonly("header", [](const PyPsf& p) { return PyHeader{p.file->header}; })
      .def_property_readonly("wave_range",
                             [](const PyPsf& p) {
                               const auto key = [&](const char* name, double other) {
                                 return p.file->header.number(name).value_or(other);
                               };
                               return py::make_tuple(key("WAVEMIN", model(p).sigma_x.wave_min),
                                                     key("WAVEMAX", model(p).sigma_x.wave_max));
                             })
      .def("numbers", [](const PyPsf& p) { return numbers(model(p)); })
      .def("series", [](const PyPsf& p) { return all_series(model(p)); })
      .def_static("from_series", &from_series)
      .def("evaluate",
           [](const PyPsf& p, const std::string& name, const std::vector<int>& fibers,
              const std::vector<double>& wave) {
             return evaluate(series_of(model(p), name), fibers, wave);
           })
      .def("spots", &spots);

  py::class_<ForwardModel>(m, "ForwardModel")
      .def(py::init([](const PyPsf& psf, const Input<double>& wave, int specmin, int nspec) {
        return ForwardModel(model(psf), to_vector<double>(wave, "wave"), specmin, nspec);
      }))
      .def_property_readonly("nfiber", &ForwardModel::nfiber)
      .def_property_readonly("nwave", &ForwardModel::nwave)
      .def_property_readonly("npix_y", &ForwardModel::npix_y)
      .def_property_readonly("npix_x", &ForwardModel::npix_x)
      .def("project",
           [](const ForwardModel& a, const Input<double>& flux, std::size_t threads) {
             const auto executor = make_executor(threads);
             const auto electrons = view(flux, "flux");
             return to_numpy(Watch().run(
                 [&](const Observer& o) { return a.project(electrons, *executor, o); }));
           })
      .def("adjoint", [](const ForwardModel& a, const Input<double>& image, std::size_t threads) {
        const auto executor = make_executor(threads);
        const auto pixels = view(image, "image");
        return to_numpy(
            Watch().run([&](const Observer& o) { return a.adjoint(pixels, *executor, o); }));
      });
}

}  // namespace fiberloom::python
