// SPDX-License-Identifier: BSD-3-Clause
// fiberloom._core: the module and how the library's errors become Python's.
#include <pybind11/pybind11.h>

#include "bindings.hpp"
#include "calibration.hpp"
#include "fiberloom/extract/extract.hpp"
#include "fiberloom/recipes/version.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/simd/isa.hpp"
#include "python/shared/errors.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

py::object exception_of(const Error& error) {
  return loom::python::make_error("fiberloom._errors", error.what(), error.exit_code(),
                                  std::string(exit_code_name(error.status())),
                                  error.system_error());
}

}  // namespace
}  // namespace fiberloom::python

PYBIND11_MODULE(_core, m) {
  namespace py = pybind11;
  using namespace fiberloom;
  using namespace fiberloom::python;
  m.doc() = "Fiberloom's engine. Private: use the package `fiberloom`.";
  loom::python::translate_errors<&exception_of>();
  m.attr("version") = std::string(version());
  m.def("isa", [] { return std::string(isa_name(active_isa())); });
  m.def("default_threads", &default_thread_count);
  m.def("executor_kind", [] { return std::string(executor_kind()); });
  py::module_::import("atexit").attr("register")(py::cpp_function(&Watch::end_all));
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         py::cpp_function(&Watch::forget_all));
  bind_headers(m);
  bind_psf(m);
  bind_extract(m);
  bind_files(m);
  bind_simulate(m);
  bind_compare(m);
  bind_redshift(m);
  bind_catalogue(m);
  bind_calibration(m);
  bind_coadd(m);
  bind_depth(m);
}
