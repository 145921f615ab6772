// SPDX-License-Identifier: BSD-3-Clause
// FITS files: images, PSFs and frames, in and out.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/recipes/compare_frames.hpp"
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
  const PsfReadOptions options{gh00 == "one" ? Gh00::kOne : Gh00::kFile, tails, to_verify(verify)};
  return {std::make_shared<const PsfFile>(
      Watch().run([&](const Observer&) { return read_psf(path, options); }))};
}

FrameFile to_frame_file(const py::dict& f) {
  FrameFile frame;
  ExtractResult& r = frame.result;
  r.wave = to_vector<double>(f["wave"].cast<Input<double>>(), "wave");
  r.spec_min = f["specmin"].cast<int>();
  r.flux = to_matrix<double>(f["flux"].cast<Input<double>>(), "flux");
  r.ivar = to_matrix<double>(f["ivar"].cast<Input<double>>(), "ivar");
  r.mask = to_optional_matrix<std::uint32_t>(f["mask"], "mask");
  if (r.mask.empty()) r.mask = Array2D<std::uint32_t>(r.flux.rows(), r.flux.cols(), 0U);
  r.chi2pix = to_optional_matrix<double>(f["chi2pix"], "chi2pix");
  if (!f["resolution"].is_none()) {
    r.resolution = to_cube<float>(f["resolution"].cast<Input<float>>(), "resolution");
  }
  if (!f["header"].is_none()) frame.header = f["header"].cast<const PyHeader&>().cards;
  if (!f["fibermap"].is_none()) frame.fibermap = f["fibermap"].cast<const PyTable&>().table;
  return frame;
}

}  // namespace

py::dict result_dict(FrameData&& f) {
  py::dict out;
  out["path"] = f.path;
  const std::vector<std::int64_t> fibers = fiber_numbers(f.fibermap, f.header, f.flux.rows());
  out["fibers"] = fibers;
  out["wave"] = to_numpy(std::move(f.wave));
  out["flux"] = to_numpy(std::move(f.flux));
  out["ivar"] = to_numpy(std::move(f.ivar));
  out["mask"] = f.mask.empty() ? py::object(py::none()) : to_numpy(std::move(f.mask));
  out["resolution"] = f.resolution ? to_numpy(std::move(*f.resolution)) : py::object(py::none());
  out["chi2pix"] = f.chi2pix ? to_numpy(std::move(*f.chi2pix)) : py::object(py::none());
  out["header"] = PyHeader{std::move(f.header)};
  out["fibermap"] = optional_table(std::move(f.fibermap));
  return out;
}

void bind_files(py::module_& m) {
  m.def("read_image", &read_image);
  m.def("read_psf", &read_psf_file);
  m.def("read_frame", [](const std::string& path, bool verify) {
    return result_dict(
        Watch().run([&](const Observer&) { return read_frame(path, to_verify(verify)); }));
  });
  m.def("write_frame", [](const std::string& path, const py::dict& f, bool scores, bool overwrite) {
    FrameFile frame = to_frame_file(f);
    frame.scores = scores;
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
