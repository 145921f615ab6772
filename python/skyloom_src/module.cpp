// SPDX-License-Identifier: BSD-3-Clause
// skyloom._core: arrays in, arrays out. Private: python/skyloom/*.py checks arguments and
// documents; here they only become the library's types. This file: errors, noise, focal planes.
#include <algorithm>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "loom/base/error.hpp"
#include "loom/base/work_pool.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/simd/isa.hpp"
#include "python/shared/errors.hpp"
#include "skyloom/noise/noise_stream.hpp"
#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/random/name_uid.hpp"
#include "skyloom/recipes/version.hpp"
#include "skyloom/status.hpp"

namespace skyloom::python {
namespace {

py::tuple noise_psd(double net, double fmin, double fknee, double slope, double rate) {
  const NoisePsd model =
      analytic_psd({.net = net, .fmin_hz = fmin, .fknee_hz = fknee, .slope = slope}, rate, "this");
  return py::make_tuple(py::array_t<double>(py::cast(model.frequency_hz)),
                        py::array_t<double>(py::cast(model.psd)));
}

/// Streams of spectra that are given at the same frequencies: [stream][sample].
py::array simulate_noise(const std::vector<double>& frequencies, const Doubles& psds, double rate,
                         std::int64_t first, std::size_t samples, const StreamName& name,
                         const std::vector<std::uint64_t>& detectors, std::size_t threads) {
  const std::size_t n = detectors.size(), each = frequencies.size();
  const std::size_t spectra = extent(psds, 0);
  require_shape(psds, {0, each}, "psd");
  if (spectra != n && spectra != 1) {
    throw py::value_error("psd: expected one for all detectors, or one for each");
  }
  Doubles out({static_cast<py::ssize_t>(n), static_cast<py::ssize_t>(samples)});
  double* const to = out.mutable_data();
  const py::gil_scoped_release release;
  const NoiseMaker maker(samples, first);
  std::vector<std::vector<double>> amplitudes;
  for (std::size_t s = 0; s < spectra; ++s) {
    const double* const row = psds.data() + s * each;
    amplitudes.push_back(stream_amplitudes({frequencies, {row, row + each}}, rate, maker.length(),
                                           "stream " + std::to_string(s)));
  }
  const auto executor = make_executor(threads);
  const std::size_t pairs = (n + 1) / 2, at_once = 4 * executor->concurrency();
  WorkPool<NoiseWork> works;
  for (std::size_t begin = 0; begin < pairs; begin += at_once) {
    look_for_signals();
    executor->run(std::min(at_once, pairs - begin), [&](std::size_t i) {
      std::vector<NoiseStream> streams;
      for (std::size_t d = 2 * (begin + i); d < std::min(n, 2 * (begin + i) + 2); ++d) {
        StreamName own = name;
        own.detector = detectors[d];
        streams.push_back({own, amplitudes[spectra == 1 ? 0 : d], {to + d * samples, samples}});
      }
      auto work = works.borrow();
      maker.make(streams, *work);
    });
  }
  return out;
}

py::object exception_of(const Error& error) {
  return loom::python::make_error("skyloom._errors", error.what(), error.exit_code(),
                                  std::string(exit_code_name(error.status())));
}

}  // namespace

py::dict detectors_of(const FocalPlane& plane) {
  const auto n = static_cast<py::ssize_t>(plane.detectors.size());
  Doubles places({n, py::ssize_t{4}}), gamma(n), leakage(n);
  py::list names, uids;
  for (std::size_t d = 0; d < plane.detectors.size(); ++d) {
    const Detector& detector = plane.detectors[d];
    const double place[] = {detector.place.x, detector.place.y, detector.place.z, detector.place.w};
    std::copy_n(place, 4, places.mutable_data() + 4 * d);
    gamma.mutable_data()[d] = detector.gamma;
    leakage.mutable_data()[d] = detector.leakage;
    names.append(detector.name);
    uids.append(detector.uid);
  }
  py::dict out;
  out["names"] = names;
  out["quats"] = places;
  out["gamma"] = gamma;
  out["leakage"] = leakage;
  out["uids"] = uids;
  return out;
}

}  // namespace skyloom::python

PYBIND11_MODULE(_core, m) {
  namespace py = pybind11;
  using namespace skyloom;
  using namespace skyloom::python;
  m.doc() = "Skyloom's engine. Private: use the package `skyloom`.";
  loom::python::translate_errors<&exception_of>();
  m.attr("version") = std::string(version());
  m.def("isa", [] { return std::string(isa_name(loom::active_isa())); });
  m.def("default_threads", &loom::default_thread_count);
  m.def("name_uid", [](const std::string& name) { return name_uid(name); });
  m.def("noise_psd", &noise_psd);
  m.def("simulate_noise", [](const std::vector<double>& frequencies, const Doubles& psds,
                             double rate, std::int64_t first, std::size_t samples,
                             std::uint64_t realization, std::uint64_t telescope,
                             std::uint64_t component, std::uint64_t observation,
                             const std::vector<std::uint64_t>& detectors, std::size_t threads) {
    return simulate_noise(frequencies, psds, rate, first, samples,
                          {realization, telescope, component, observation, 0}, detectors, threads);
  });
  m.def("hexagon", [](std::size_t pixels, double width, double leakage, double rate) {
    return detectors_of(
        hexagon({.pixels = pixels, .width_deg = width, .rate_hz = rate, .leakage = leakage}));
  });
  add_pointing(m);
  add_maps(m);
  add_plate(m);
  add_joint(m);
  add_simulation(m);
}
