// SPDX-License-Identifier: BSD-3-Clause
// The library's errors as exceptions of a package: what the extensions of all programs share.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

#include "loom/base/error.hpp"

namespace loom::python {

/// Calls `make_error` of the package's module of errors.
template <class... Values>
pybind11::object make_error(const char* module, const Values&... values) {
  return pybind11::module_::import(module).attr("make_error")(values...);
}

/// An error that a call throws becomes what `make` returns, an exception of the package.
template <pybind11::object (*make)(const Error&)>
void translate_errors() {
  pybind11::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const pybind11::object made = make(error);
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
    }
  });
}

}  // namespace loom::python
