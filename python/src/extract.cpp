// SPDX-License-Identifier: BSD-3-Clause
// Extraction of one frame: arrays to arrays, and file to file.
#include <pybind11/stl.h>

#include <map>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/astro/barycentric.hpp"
#include "fiberloom/recipes/device_choice.hpp"
#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/runtime/executors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

PixelArray to_pixels(const py::array& a, const char* name) {
  if (py::isinstance<py::array_t<float>>(a)) {
    return PixelArray(to_matrix<float>(py::cast<Input<float>>(a), name));
  }
  return PixelArray(to_matrix<double>(py::cast<Input<double>>(a), name));
}

py::dict bundle_dict(const BundleReport& b) {
  using namespace py::literals;
  return py::dict("first_fiber"_a = b.first_fiber, "nfiber"_a = b.nfiber,
                  "half_bandwidth"_a = b.half_bandwidth, "cg_iterations"_a = b.cg_iterations,
                  "poles"_a = b.poles, "kappa"_a = b.kappa, "bound_sigma"_a = b.bound_sigma,
                  "solve_sigma"_a = b.solve_sigma, "seam_sigma"_a = b.seam_sigma,
                  "windows"_a = b.windows, "unconstrained"_a = b.unconstrained);
}

py::list bundle_list(const std::vector<BundleReport>& bundles) {
  py::list out;
  for (const BundleReport& b : bundles) out.append(bundle_dict(b));
  return out;
}

/// Options that the Python layer has checked, by their names there.
ExtractOptions to_options(const py::dict& o) {
  ExtractOptions options;
  options.spec_min = o["specmin"].cast<int>();
  options.nspec = o["nspec"].cast<int>();
  options.bundle_size = o["bundlesize"].cast<int>();
  options.psferr = o["psferr"].cast<double>();
  options.regularize = o["regularize"].cast<double>();
  options.ndiag = o["ndiag"].cast<int>();
  options.tolerance = o["tolerance"].cast<double>();
  options.want_model = o["model"].cast<bool>();
  options.patch.nsubbundles = o["nsubbundles"].cast<int>();
  options.patch.nwavestep = o["nwavestep"].cast<int>();
  options.patch.wavepad = o["wavepad"].cast<int>();
  options.patch.wavepad_frac = o["wavepad_frac"].cast<double>();
  options.patch.pixpad_frac = o["pixpad_frac"].cast<double>();
  return options;
}

Method to_method(const py::dict& o) {
  return o["method"].cast<std::string>() == "patch" ? Method::kPatch : Method::kExact;
}

DeviceChoice to_device(const py::dict& o) {
  static const std::map<std::string, Backend> kBackends{{"auto", Backend::kAuto},
                                                        {"cpu", Backend::kCpu},
                                                        {"cuda", Backend::kCuda},
                                                        {"emulate", Backend::kEmulate}};
  DeviceChoice choice;
  choice.backend = kBackends.at(o["backend"].cast<std::string>());
  choice.memory_gb = o["gpu_memory"].cast<double>();
  choice.options.on_error = o["on_device_error"].cast<std::string>() == "cpu"
                                ? OnDeviceError::kCpu
                                : OnDeviceError::kFail;
  return choice;
}

void warn_of_bad_pixels(const MaskCounts& counts, const Observer& observer) {
  const auto complain = [&](std::size_t n, const char* what) {
    if (n > 0) {
      observer.warn(std::to_string(n) + " pixels with " + what + " are taken as masked");
    }
  };
  complain(counts.nan_ivar, "NaN or infinite ivar");
  complain(counts.negative_ivar, "negative ivar");
  complain(counts.nan_image, "NaN or infinite image");
  const std::string wild = wild_pixels_text(counts);
  if (!wild.empty()) observer.warn(wild);
}

py::dict extract(const py::array& image, const py::array& ivar, const PyPsf& psf,
                 const py::object& mask, std::uint32_t mask_bits, const Input<double>& wave,
                 const py::dict& given, std::size_t threads, const py::object& progress) {
  CcdFrame ccd{to_pixels(image, "image"), to_pixels(ivar, "ivar")};
  const auto bits = to_optional_matrix<std::uint32_t>(mask, "mask");
  ExtractOptions options = to_options(given);
  options.wave = to_vector<double>(wave, "wave");
  const Method method = to_method(given);
  const DeviceChoice choice = to_device(given);
  DeviceReport report;
  Watch watch(progress);
  py::dict out = result_dict(watch.run([&](const Observer& observer) {
    warn_of_bad_pixels(apply_mask(ccd, bits, mask_bits), observer);
    const auto executor = make_executor(threads);
    // Opened for one call: what a card's memory holds is nobody's when the call is over.
    if (const auto device = open_device(choice, method, observer)) {
      return device->extract(ccd, psf.file->model, options, *executor, observer, nullptr, &report);
    }
    const auto engine = method == Method::kExact ? extract_exact : extract_patch;
    return engine(ccd, psf.file->model, options, *executor, observer, nullptr);
  }));
  const bool by_device = !report.device.empty() && report.failure.empty();
  out["device"] = by_device ? py::object(py::str(report.device)) : py::object(py::none());
  return out;
}

py::dict summary_dict(const ExtractSummary& s) {
  using namespace py::literals;
  const auto seconds = [](const StageTime& t) {
    return py::dict("wall_s"_a = t.wall_s, "cpu_s"_a = t.cpu_s);
  };
  return py::dict("image"_a = s.image, "psf"_a = s.psf, "output"_a = s.output,
                  "read"_a = seconds(s.read), "compute"_a = seconds(s.compute),
                  "write"_a = seconds(s.write), "specmin"_a = s.spec_min, "nspec"_a = s.nspec,
                  "nwave"_a = s.nwave, "wavelength"_a = s.wave, "heliocor"_a = s.heliocor,
                  "some_bad"_a = s.some_bad, "all_bad"_a = s.all_bad, "bad_fit"_a = s.bad_fit,
                  "device_failure"_a = s.by_cpu.failure, "bundles"_a = bundle_list(s.bundles));
}

py::dict extract_file(const py::dict& files, const std::optional<std::array<double, 3>>& wave,
                      bool barycentric, std::uint32_t mask_bits, const std::string& gh00,
                      bool tails, bool verify, bool scores, bool overwrite, const py::dict& given,
                      std::size_t threads, const py::object& progress) {
  ExtractJob job;
  job.image = files["image"].cast<std::string>();
  job.psf = files["psf"].cast<std::string>();
  job.output = files["output"].cast<std::string>();
  job.fibermap = files["fibermap"].cast<std::string>();
  job.model = files["model"].cast<std::string>();
  job.residual = files["residual"].cast<std::string>();
  job.wave = wave;
  job.method = to_method(given);
  job.options = to_options(given);
  job.barycentric = barycentric;
  job.mask_bits = mask_bits;
  job.psf_options = {gh00 == "one" ? Gh00::kOne : Gh00::kFile, tails};
  job.verify = verify ? Verify::kYes : Verify::kNo;
  job.scores = scores;
  const DeviceChoice choice = to_device(given);
  job.overwrite = overwrite ? Overwrite::kYes : Overwrite::kNo;
  Watch watch(progress);
  py::dict out = summary_dict(watch.run([&](const Observer& observer) {
    job.device = open_device(choice, job.method, observer);
    const auto executor = make_executor(threads);
    return fiberloom::extract_frame(job, *executor, observer);
  }));
  const bool by_device = job.device != nullptr && out["device_failure"].cast<std::string>().empty();
  out["device"] = by_device ? py::object(py::str(job.device->info().name)) : py::object(py::none());
  return out;
}

/// The mask of fibres that were extracted apart: its bit 7 compares them with each other.
py::array spectral_mask(const Input<double>& ivar, const Input<double>& chi2pix,
                        const Input<double>& pixmask_fraction) {
  ExtractResult whole;
  whole.ivar = to_matrix<double>(ivar, "ivar");
  whole.chi2pix = to_matrix<double>(chi2pix, "chi2pix");
  whole.pixmask_fraction = to_matrix<double>(pixmask_fraction, "pixmask_fraction");
  whole.flux = Array2D<double>(whole.ivar.rows(), whole.ivar.cols(), 0.0);
  set_spectral_mask(whole);
  return to_numpy(std::move(whole.mask));
}

}  // namespace

py::dict result_dict(ExtractResult&& r) {
  py::dict out;
  out["wave"] = to_numpy(std::move(r.wave));
  out["specmin"] = r.spec_min;
  out["flux"] = to_numpy(std::move(r.flux));
  out["ivar"] = to_numpy(std::move(r.ivar));
  out["mask"] = to_numpy(std::move(r.mask));
  out["resolution"] = to_numpy(std::move(r.resolution));
  out["chi2pix"] = to_numpy(std::move(r.chi2pix));
  out["xflux"] = to_numpy(std::move(r.xflux));
  out["pixmask_fraction"] = to_numpy(std::move(r.pixmask_fraction));
  out["model"] = r.model.empty() ? py::object(py::none()) : to_numpy(std::move(r.model));
  out["bundles"] = bundle_list(r.bundles);
  return out;
}

void bind_extract(py::module_& m) {
  m.def("extract", &extract);
  m.def("extract_file", &extract_file);
  m.def("spectral_mask", &spectral_mask);
  m.def("linear_wave_grid", [](double wmin, double wmax, double dw) {
    return to_numpy(linear_wave_grid(wmin, wmax, dw));
  });
  m.def("barycentric_factor", [](double ra_deg, double dec_deg, double mjd) {
    return astro::barycentric_factor(astro::kKittPeak, {ra_deg, dec_deg}, mjd);
  });
  m.attr("default_mask_bits") = kDefaultMaskBits;
}

}  // namespace fiberloom::python
