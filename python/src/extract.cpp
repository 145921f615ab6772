// SPDX-License-Identifier: BSD-3-Clause
// Extraction of one frame: arrays to arrays, and file to file.
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/astro/barycentric.hpp"
#include "fiberloom/recipes/device_choice.hpp"
#include "fiberloom/recipes/extract_frame.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"
#include "fiberloom/recipes/frame_steps.hpp"
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

/// None, a number, or an array [npix_y][npix_x].
ReadNoise to_readnoise(const py::handle& value) {
  ReadNoise noise;
  if (value.is_none()) return noise;
  if (!py::isinstance<py::array>(value)) {
    noise.all_e = value.cast<double>();
    return noise;
  }
  const auto map = to_matrix<double>(py::cast<Input<double>>(value), "readnoise");
  noise.by_pixel = Array2D<float>(map.rows(), map.cols());
  double sum = 0, n = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    const double v = map.data()[i];
    noise.by_pixel.data()[i] = static_cast<float>(v);
    if (!(v > 0 && v < ReadNoise::kMost)) continue;
    sum += v;
    n += 1;
  }
  noise.all_e = n > 0 ? sum / n : 0;
  return noise;
}

py::dict bundle_dict(const BundleReport& b) {
  using namespace py::literals;
  return py::dict(
      "first_fiber"_a = b.first_fiber, "nfiber"_a = b.nfiber, "half_bandwidth"_a = b.half_bandwidth,
      "cg_iterations"_a = b.cg_iterations, "poles"_a = b.poles, "kappa"_a = b.kappa,
      "bound_sigma"_a = b.bound_sigma, "solve_sigma"_a = b.solve_sigma,
      "seam_sigma"_a = b.seam_sigma, "windows"_a = b.windows, "unconstrained"_a = b.unconstrained,
      "refinements"_a = b.refinements, "rejected"_a = b.rejected, "unfit_fibers"_a = b.unfit_fibers,
      "chi2"_a = b.chi2, "pixels"_a = b.pixels, "parameters"_a = b.parameters,
      "psferr_seen"_a = b.seen_psferr, "bright_pixels"_a = b.bright_pixels);
}

py::object realisations_dict(const std::optional<RealisationReport>& r) {
  using namespace py::literals;
  if (!r) return py::none();
  return py::dict("draws"_a = r->draws, "bins"_a = r->bins, "mean_pull"_a = r->mean,
                  "mean_pull_error"_a = r->mean_error, "width"_a = r->width,
                  "most_biased_bin"_a = r->most_biased, "correlation_with_bins"_a = r->lags,
                  "correlation_with_next_fiber"_a = r->fibers,
                  "correlation_error"_a = r->correlation_error,
                  "resolution_rms_sigma"_a = r->resolution_rms,
                  "resolution_largest_sigma"_a = r->resolution_most);
}

/// [n][2]: row and column.
py::array pixel_list(const std::vector<CcdPixel>& pixels) {
  Array2D<std::int32_t> out(pixels.size(), 2);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    out(i, 0) = pixels[i].row;
    out(i, 1) = pixels[i].column;
  }
  return to_numpy(std::move(out));
}

py::list bundle_list(const std::vector<BundleReport>& bundles) {
  py::list out;
  for (const BundleReport& b : bundles) out.append(bundle_dict(b));
  return out;
}

/// A value of Python as the member of an option; words by their place.
struct Take {
  py::handle value;

  void operator()(Verify& to) const { to = value.cast<bool>() ? Verify::kYes : Verify::kNo; }
  void operator()(Method& to) const { to = word(to); }
  void operator()(Gh00& to) const { to = word(to); }
  template <class T>
  void operator()(T& to) const {
    to = value.cast<T>();
  }

 private:
  template <class Word>
  [[nodiscard]] Word word(const Word& to) const {
    const auto words = option_words(&to);
    const auto found = std::find(words.begin(), words.end(), value.cast<std::string>());
    if (found == words.end()) throw py::value_error("a word that is no option's");
    return static_cast<Word>(found - words.begin());
  }
};

/// Options that the Python layer has checked, by their keys; the others keep their defaults.
ExtractJob to_job(const py::dict& o) {
  ExtractJob job;
  each_extract_option(job, [&](const ExtractOptionRow& row, auto& member) {
    if (o.contains(row.key)) Take{o[row.key]}(member);
  });
  return job;
}

/// What Python checks a value by: the kind of an option's member, its words or range.
struct Describe {
  py::dict operator()(bool value) const { return kind("flag", py::cast(value)); }
  py::dict operator()(Verify value) const { return kind("flag", py::cast(value == Verify::kYes)); }
  py::dict operator()(const WaveTriple&) const { return kind("wave", py::none()); }
  py::dict operator()(double value) const { return kind("number", py::cast(value)); }
  py::dict operator()(const Method& value) const { return word(value); }
  py::dict operator()(const Gh00& value) const { return word(value); }
  template <class Integer>
  py::dict operator()(Integer value) const {
    py::dict row = kind("integer", py::cast(value));
    row["low"] = std::numeric_limits<Integer>::min();
    row["high"] = std::numeric_limits<Integer>::max();
    return row;
  }

 private:
  static py::dict kind(const char* name, const py::object& initial) {
    using namespace py::literals;
    return py::dict("kind"_a = name, "default"_a = initial);
  }
  template <class Word>
  static py::dict word(const Word& value) {
    const auto words = option_words(&value);
    py::dict row = kind("word", py::cast(words[static_cast<std::size_t>(value)]));
    row["words"] = py::tuple(py::cast(words));
    return row;
  }
};

/// The option table, by key. Of an integer the ends of its range are themselves allowed.
py::dict option_table() {
  py::dict table;
  const ExtractJob initial;
  each_extract_option(initial, [&](const ExtractOptionRow& option, const auto& value) {
    py::dict row = Describe{}(value);
    if (option.interval) {
      const Interval& range = *option.interval;
      if (row.contains("high")) {
        row["low"] = static_cast<long>(range.low) + (range.open ? 1 : 0);
        if (std::isfinite(range.high)) row["high"] = static_cast<long>(range.high);
      } else {
        row["low"] = range.low;
        row["high"] = range.high;
      }
    }
    row["odd"] = option.odd;
    row["unit"] = option.unit;
    row["none"] = option.negative_is_unset;
    table[option.key] = row;
  });
  return table;
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
                 const py::object& mask, const Input<double>& wave, const py::dict& given,
                 std::size_t threads, const py::object& progress) {
  CcdFrame ccd{to_pixels(image, "image"), to_pixels(ivar, "ivar")};
  ccd.readnoise = to_readnoise(given["readnoise"]);
  const auto bits = to_optional_matrix<std::uint32_t>(mask, "mask");
  const ExtractJob job = to_job(given);
  ExtractOptions options = engine_options(job);
  options.wave = to_vector<double>(wave, "wave");
  options.want_model = given["model"].cast<bool>();
  if (!given["fiber_wave"].is_none())
    options.fiber_wave = to_matrix<double>(given["fiber_wave"].cast<Input<double>>(), "wave");
  const DeviceChoice choice = to_device(given);
  Watch watch(progress);
  ExtractResult result = watch.run([&](const Observer& observer) {
    warn_of_bad_pixels(apply_mask(ccd, bits, job.mask_bits), observer);
    const auto executor = make_executor(threads);
    // Opened for one call: what a card's memory holds is nobody's when the call is over.
    const Engine engine = open_engine(choice, job.method, observer);
    ExtractResult out = engine.extract(ccd, psf.file->model, options, *executor, observer);
    settle_diagonals(job, out);
    return out;
  });
  const DeviceReport report = std::move(result.device);
  py::dict out = result_dict(std::move(result));
  const bool by_device = !report.device.empty() && report.failure.empty();
  out["device"] = by_device ? py::object(py::str(report.device)) : py::object(py::none());
  return out;
}

/// By parameter: terms P_i(fibre) P_k(wavelength) with their pixels and errors; None: not seen.
py::object traces_dict(const TraceReport& traces) {
  using namespace py::literals;
  if (traces.degree < 0) return py::none();
  py::list chi2;
  for (const TraceRound& round : traces.rounds) chi2.append(round.chi2);
  py::dict out("degree"_a = traces.degree, "settled"_a = traces.settled, "chi2"_a = chi2);
  const std::vector<TraceTerm> terms = trace_terms(traces.degree);
  for (std::size_t p = 0; p < kTraceParameters; ++p) {
    const TraceFit& fit = traces.parameters[p];
    py::list rows;
    for (std::size_t t = 0; t < fit.coef.size(); ++t)
      rows.append(
          py::make_tuple(terms[t].i, terms[t].k, fit.coef[t], std::sqrt(fit.covariance(t, t))));
    out[kTraceParameterNames[p]] = fit.measured() ? py::object(rows) : py::object(py::none());
  }
  return out;
}

py::object wings_dict(const WingReport& wings) {
  using namespace py::literals;
  if (wings.reach == 0) return py::none();
  return py::dict("reach"_a = wings.reach, "rounds"_a = wings.rounds,
                  "last_change_sigma"_a = wings.last_sigma, "share_of_light"_a = wings.share,
                  "most_electrons"_a = wings.most_e);
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
                  "cosmic"_a = s.cosmic, "rejected"_a = s.rejected,
                  "realisations"_a = realisations_dict(s.realisations),
                  "trace_shifts"_a = traces_dict(s.traces), "wings"_a = wings_dict(s.wings),
                  "device_failure"_a = s.by_cpu.failure, "bundles"_a = bundle_list(s.bundles));
}

py::dict extract_file(const py::dict& files, bool overwrite, const py::dict& given,
                      std::size_t threads, const py::object& progress) {
  ExtractJob job = to_job(given);
  job.image = files["image"].cast<std::string>();
  job.psf = files["psf"].cast<std::string>();
  job.output = files["output"].cast<std::string>();
  job.fibermap = files["fibermap"].cast<std::string>();
  job.wave_file = files["wave_file"].cast<std::string>();
  job.realisations = given["realisations"].cast<int>();
  job.model = files["model"].cast<std::string>();
  job.residual = files["residual"].cast<std::string>();
  job.pixmask = files["pixmask"].cast<std::string>();
  job.shifted_psf = files["shifted_psf"].cast<std::string>();
  const DeviceChoice choice = to_device(given);
  job.overwrite = overwrite ? Overwrite::kYes : Overwrite::kNo;
  Watch watch(progress);
  Engine engine;
  py::dict out = summary_dict(watch.run([&](const Observer& observer) {
    engine = open_engine(choice, job.method, observer);
    const auto executor = make_executor(threads);
    return fiberloom::extract_frame(job, engine, *executor, observer);
  }));
  const DeviceEngine* device = engine.device();
  const bool by_device = device != nullptr && out["device_failure"].cast<std::string>().empty();
  out["device"] = by_device ? py::object(py::str(device->info().name)) : py::object(py::none());
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

py::dict result_dict(ExtractResult&& r) {
  py::dict out = spectra_dict(std::move(r));
  out["specmin"] = r.spec_min;
  out["chi2pix"] = to_numpy(std::move(r.chi2pix));
  out["xflux"] = to_numpy(std::move(r.xflux));
  out["pixmask_fraction"] = to_numpy(std::move(r.pixmask_fraction));
  out["rejected"] = r.rejected_fraction.empty() ? py::object(py::none()) : pixel_list(r.rejected);
  out["model"] = r.model.empty() ? py::object(py::none()) : to_numpy(std::move(r.model));
  out["fine_resolution"] =
      r.fine_resolution.empty() ? py::object(py::none()) : to_numpy(std::move(r.fine_resolution));
  out["fiber_correlation"] = r.fiber_correlation.empty() ? py::object(py::none())
                                                         : to_numpy(std::move(r.fiber_correlation));
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
  m.attr("extract_options") = option_table();
}

}  // namespace fiberloom::python
