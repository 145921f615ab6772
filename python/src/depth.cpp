// SPDX-License-Identifier: BSD-3-Clause
// How deep an exposure went, on arrays.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "calibration.hpp"
#include "corrections.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

/// `noise`: read noise of each bin's pixels; None: as the header and the PSF say.
DepthFacts to_facts(const Spectra& spectra, const py::dict& more) {
  const auto header = more["header"].cast<PyHeader>();
  DepthFacts out{more["camera"].cast<std::string>(),
                 fibers_of_spectrograph(spectra, more["specmin"].cast<int>()),
                 {},
                 guide_shares_of(header.cards)};
  if (more["noise"].is_none()) {
    const PsfHandle psf = more["psf"].cast<const PyPsf&>().file;
    out.read_noise = read_noise_of("frame: header", header.cards, spectra.wave, out.fibers, *psf);
  } else {
    out.read_noise = to_matrix<double>(more["noise"].cast<Input<double>>(), "read_noise");
  }
  return out;
}

py::dict depth(const py::dict& frame, const py::dict& corrections, const std::string& desimodel,
               const py::dict& more) {
  const Spectra raw = to_spectra(frame);
  const Corrections steps = to_corrections(corrections);
  const DepthFacts facts = to_facts(raw, more);
  calibrate::Depth found = Watch().run([&](const Observer&) {
    Spectra calibrated = raw;
    steps.apply(calibrated);
    return measure_depth({raw, *steps.flat, *steps.sky, *steps.flux}, calibrated, facts, desimodel);
  });
  py::dict out, by_kind;
  for (auto& [kind, values] : found.snr2) by_kind[py::str(kind)] = to_numpy(std::move(values));
  out["tsnr2"] = by_kind;
  out["read_noise_scale"] = found.read_noise_scale;
  return out;
}

}  // namespace

void bind_depth(py::module_& m) { m.def("depth", &depth); }

}  // namespace fiberloom::python
