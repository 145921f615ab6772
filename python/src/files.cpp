// SPDX-License-Identifier: BSD-3-Clause
// FITS files: images, PSFs and frames, in and out.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/recipes/compare_frames.hpp"
#include "fiberloom/spectrum/scores.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

Overwrite to_overwrite(bool yes) { return yes ? Overwrite::kYes : Overwrite::kNo; }

py::array pixels_to_numpy(PixelArray&& a) {
  return std::visit([](auto& values) -> py::array { return to_numpy(std::move(values)); },
                    a.data());
}

Verify to_verify(bool yes) { return yes ? Verify::kYes : Verify::kNo; }

py::dict read_image(const std::string& path, bool verify) {
  PreprocFile file =
      Watch().run([&](const Observer&) { return read_preproc(path, to_verify(verify)); });
  py::dict out;
  out["path"] = file.path;
  out["image"] = pixels_to_numpy(std::move(file.ccd.image));
  out["ivar"] = pixels_to_numpy(std::move(file.ccd.ivar));
  out["mask"] = file.mask.empty() ? py::object(py::none()) : to_numpy(std::move(file.mask));
  out["header"] = PyHeader{std::move(file.header)};
  out["fibermap"] = optional_table(std::move(file.fibermap));
  out["readnoise"] = file.readnoise;
  return out;
}

PyPsf read_psf_file(const std::string& path, const std::string& gh00, bool tails, bool verify) {
  const PsfReadOptions options{.gh00 = gh00 == "one" ? Gh00::kOne : Gh00::kFile,
                               .tails = tails,
                               .verify = to_verify(verify)};
  return {std::make_shared<const PsfFile>(
      Watch().run([&](const Observer&) { return read_psf(path, options); }))};
}

/// Resolutions of files come as float64, as they always have.
Array3D<double> widened(const Array3D<float>& a) {
  Array3D<double> out(a.planes(), a.rows(), a.cols());
  std::copy(a.data(), a.data() + a.size(), out.data());
  return out;
}

template <class A>
py::object or_none(A&& array) {
  return array.empty() ? py::object(py::none()) : to_numpy(std::forward<A>(array));
}

/// A matrix of each spectrum, or none.
Array3D<float> to_optional_cube(const py::dict& f, const char* name) {
  if (f[name].is_none()) return {};
  return to_cube<float>(f[name].cast<Input<float>>(), name);
}

py::dict frame_dict(FrameFile&& f) {
  const auto fibers = fiber_numbers(f.fibermap, f.header, f.nspec());
  const py::object resolution =
      f.resolution.empty() ? py::object(py::none()) : to_numpy(widened(f.resolution));
  py::dict out = spectra_dict(std::move(f));
  out["resolution"] = resolution;
  out["path"] = f.path;
  out["fibers"] = fibers;
  out["chi2pix"] = f.chi2pix.empty() ? py::object(py::none()) : to_numpy(std::move(f.chi2pix));
  out["header"] = PyHeader{std::move(f.header)};
  out["fibermap"] = optional_table(to_raw_table(f.fibermap));
  out["fiber_wave"] = or_none(std::move(f.fiber_wave));
  out["fiber_heliocor"] = or_none(std::move(f.fiber_heliocor));
  out["fine_resolution"] = or_none(std::move(f.fine_resolution));
  out["fiber_correlation"] = or_none(std::move(f.fiber_correlation));
  return out;
}

}  // namespace

py::dict spectra_dict(Spectra&& s) {
  py::dict out;
  out["wave"] = to_numpy(std::move(s.wave));
  out["flux"] = to_numpy(std::move(s.flux));
  out["ivar"] = to_numpy(std::move(s.ivar));
  out["mask"] = or_none(std::move(s.mask));
  out["resolution"] = or_none(std::move(s.resolution));
  return out;
}

FrameFile to_frame(const py::dict& f) {
  FrameFile frame;
  frame.wave = to_vector<double>(f["wave"].cast<Input<double>>(), "wave");
  frame.flux = to_matrix<double>(f["flux"].cast<Input<double>>(), "flux");
  frame.ivar = to_matrix<double>(f["ivar"].cast<Input<double>>(), "ivar");
  frame.mask = to_optional_matrix<std::uint32_t>(f["mask"], "mask");
  frame.chi2pix = to_optional_matrix<double>(f["chi2pix"], "chi2pix");
  frame.spec_min = f["specmin"].cast<int>();
  frame.resolution = to_optional_cube(f, "resolution");
  frame.fine_resolution = to_optional_cube(f, "fine_resolution");
  frame.fiber_correlation = to_optional_cube(f, "fiber_correlation");
  frame.fiber_wave = to_optional_matrix<double>(f["fiber_wave"], "fiber_wave");
  if (!f["fiber_heliocor"].is_none()) {
    frame.fiber_heliocor =
        to_vector<double>(f["fiber_heliocor"].cast<Input<double>>(), "fiber_heliocor");
  }
  if (!f["header"].is_none()) frame.header = f["header"].cast<const PyHeader&>().cards;
  if (!f["fibermap"].is_none()) {
    frame.fibermap = to_table(f["fibermap"].cast<const PyTable&>().table);
  }
  return frame;
}

void bind_files(py::module_& m) {
  m.def("read_image", &read_image);
  m.def("read_psf", &read_psf_file);
  m.def("read_frame", [](const std::string& path, bool verify) {
    return frame_dict(
        Watch().run([&](const Observer&) { return read_frame(path, to_verify(verify)); }));
  });
  m.def("write_frame", [](const std::string& path, const py::dict& f, bool scores, bool overwrite) {
    FrameFile frame = to_frame(f);
    if (scores) frame.scores = frame_scores(frame);
    Watch().run([&](const Observer&) {
      write_frame(path, frame, to_overwrite(overwrite));
      return 0;
    });
  });
  m.def("write_psf", [](const std::string& path, const PyPsf& psf, bool overwrite) {
    Watch().run([&](const Observer&) {
      write_psf(path, *psf.file, to_overwrite(overwrite));
      return 0;
    });
  });
  m.def("write_image", [](const std::string& path, const py::dict& f, bool overwrite) {
    PreprocFile file;
    file.ccd.image = PixelArray(to_matrix<float>(f["image"].cast<Input<float>>(), "image"));
    file.ccd.ivar = PixelArray(to_matrix<float>(f["ivar"].cast<Input<float>>(), "ivar"));
    file.mask = to_optional_matrix<std::uint32_t>(f["mask"], "mask");
    if (file.mask.empty()) {
      file.mask = Array2D<std::uint32_t>(file.ccd.image.rows(), file.ccd.image.cols(), 0U);
    }
    if (!f["header"].is_none()) file.header = f["header"].cast<const PyHeader&>().cards;
    if (!f["fibermap"].is_none()) file.fibermap = f["fibermap"].cast<const PyTable&>().table;
    file.readnoise = f["readnoise"].cast<std::optional<double>>();
    Watch().run([&](const Observer&) {
      write_preproc(path, file, to_overwrite(overwrite));
      return 0;
    });
  });
}

}  // namespace fiberloom::python
