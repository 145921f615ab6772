// SPDX-License-Identifier: BSD-3-Clause
#include "corrections.hpp"

#include "arrays.hpp"
#include "fiberloom/calibrate/fiber_flat.hpp"
#include "fiberloom/calibrate/flux_calibration.hpp"
#include "fiberloom/calibrate/sky.hpp"
#include "fiberloom/calibrate/usable.hpp"

namespace fiberloom::python {
namespace {

/// With what all of them have.
template <class Step>
Step begun(const py::dict& d) {
  Step out;
  out.wave = to_vector<double>(d["wave"].cast<Input<double>>(), "wave");
  out.ivar = to_matrix<double>(d["ivar"].cast<Input<double>>(), "ivar");
  out.mask = to_matrix<std::uint32_t>(d["mask"].cast<Input<std::uint32_t>>(), "mask");
  return out;
}

FiberFlat to_flat(const py::dict& d) {
  auto out = begun<FiberFlat>(d);
  out.flat = to_matrix<double>(d["flat"].cast<Input<double>>(), "flat");
  return out;
}

SkyModel to_sky(const py::dict& d) {
  auto out = begun<SkyModel>(d);
  out.flux = to_matrix<double>(d["flux"].cast<Input<double>>(), "flux");
  out.stat_ivar = to_optional_matrix<double>(d["stat_ivar"], "stat_ivar");
  out.throughput = to_vector<double>(d["throughput"].cast<Input<double>>(), "throughput");
  return out;
}

FluxCalibration to_flux(const py::dict& d) {
  auto out = begun<FluxCalibration>(d);
  out.calib = to_matrix<double>(d["calib"].cast<Input<double>>(), "calib");
  out.deconvolved = to_vector<double>(d["deconvolved"].cast<Input<double>>(), "deconvolved");
  out.flat_to_psf = to_vector<double>(d["flat_to_psf"].cast<Input<double>>(), "flat_to_psf");
  return out;
}

}  // namespace

void Corrections::apply(Spectra& to) const {
  if (flat) calibrate::apply_fiber_flat(to, *flat, heliocor);
  if (sky) calibrate::subtract_sky(to, *sky, band);
  if (flux) calibrate::apply_flux_calibration(to, *flux);
  calibrate::drop_what_is_no_number(to);
}

Corrections to_corrections(const py::dict& d) {
  Corrections out;
  if (!d["fiberflat"].is_none()) out.flat = to_flat(d["fiberflat"].cast<py::dict>());
  if (!d["sky"].is_none()) out.sky = to_sky(d["sky"].cast<py::dict>());
  if (!d["fluxcalib"].is_none()) out.flux = to_flux(d["fluxcalib"].cast<py::dict>());
  out.heliocor = d["heliocor"].cast<double>();
  out.band = d["camera"].cast<std::string>().at(0);
  return out;
}

}  // namespace fiberloom::python
