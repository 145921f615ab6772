// SPDX-License-Identifier: BSD-3-Clause
// What the files of skyloom._core share: arrays as they come from Python, signals.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "skyloom/pointing/focal_plane.hpp"

namespace skyloom::python {

namespace py = pybind11;

/// C order, native bytes: what the Python layer hands over.
template <class T>
using Input = py::array_t<T, py::array::c_style>;
using Doubles = Input<double>;

inline std::size_t extent(const py::array& a, int axis) {
  return static_cast<std::size_t>(a.shape(axis));
}

template <class T>
std::span<const T> values(const Input<T>& a) {
  return {a.data(), static_cast<std::size_t>(a.size())};
}

/// Throws ValueError unless `a` has this shape; 0: any length.
inline void require_shape(const py::array& a, std::initializer_list<std::size_t> shape,
                          const char* name) {
  bool fits = static_cast<std::size_t>(a.ndim()) == shape.size();
  int axis = 0;
  for (const std::size_t n : shape) {
    fits = fits && (n == 0 || extent(a, axis) == n);
    ++axis;
  }
  if (!fits) throw py::value_error(std::string(name) + ": an array of another shape");
}

/// Between pieces of work, which hold no lock: shall a signal's exception end it?
inline void look_for_signals() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// names, quats, gamma, leakage, uids of its detectors.
py::dict detectors_of(const FocalPlane& plane);

void add_pointing(py::module_& m);
void add_joint(py::module_& m);
void add_maps(py::module_& m);
void add_plate(py::module_& m);
void add_simulation(py::module_& m);

}  // namespace skyloom::python
