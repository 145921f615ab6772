// SPDX-License-Identifier: BSD-3-Clause
// The parts of the extension module fiberloom._core. It is private: python/fiberloom/*.py checks
// arguments and documents; here they only become the library's types.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string>

#include "fiberloom/extract/extract.hpp"
#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/device_choice.hpp"
#include "loom/base/executor.hpp"

namespace fiberloom::python {

namespace py = pybind11;

/// Psf of Python: shared, since operators keep it.
using PsfHandle = std::shared_ptr<const PsfFile>;
struct PyPsf {
  PsfHandle file;
};
/// FITS cards and tables that travel from file to file.
struct PyHeader {
  HeaderCards cards;
};
struct PyTable {
  RawTable table;
};

[[nodiscard]] py::dict result_dict(ExtractResult&& result);
/// wave, flux, ivar, mask, resolution: what every dict of spectra has; None where there is none.
[[nodiscard]] py::dict spectra_dict(Spectra&& spectra);
/// A frame as Python hands it over.
[[nodiscard]] FrameFile to_frame(const py::dict& frame);
[[nodiscard]] py::object optional_table(std::optional<RawTable>&& table);

/// backend, gpu_memory (0: most of what is free) and on_device_error, checked before.
[[nodiscard]] DeviceChoice to_device(const py::dict& given);

void bind_headers(py::module_& m);
void bind_psf(py::module_& m);
void bind_extract(py::module_& m);
void bind_files(py::module_& m);
void bind_simulate(py::module_& m);
void bind_compare(py::module_& m);
void bind_redshift(py::module_& m);
void bind_catalogue(py::module_& m);

}  // namespace fiberloom::python
