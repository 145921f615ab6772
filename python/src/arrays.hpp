// SPDX-License-Identifier: BSD-3-Clause
// numpy arrays <-> the library's arrays. Results go out without a copy: a capsule keeps the C++
// array alive. Inputs are copied, since engines sanitise them and callers' arrays may be read-only.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::python {

namespace py = pybind11;

/// What the Python layer hands over: C order, native bytes. Anything else never gets here.
template <class T>
using Input = py::array_t<T, py::array::c_style | py::array::forcecast>;

/// Moves `owner` to the heap; the numpy array that is returned looks into it.
template <class Owner>
py::array to_numpy(Owner&& owner, std::vector<py::ssize_t> shape) {
  using Held = std::remove_cvref_t<Owner>;
  auto* held = new Held(std::forward<Owner>(owner));
  const py::capsule keeper(held, [](void* p) { delete static_cast<Held*>(p); });
  using T = std::remove_cvref_t<decltype(*held->data())>;
  return py::array_t<T>(std::move(shape), held->data(), keeper);
}

template <class T>
py::array to_numpy(Array2D<T>&& a) {
  const auto rows = static_cast<py::ssize_t>(a.rows()), cols = static_cast<py::ssize_t>(a.cols());
  return to_numpy(std::move(a), std::vector<py::ssize_t>{rows, cols});
}
template <class T>
py::array to_numpy(Array3D<T>&& a) {
  std::vector<py::ssize_t> shape{static_cast<py::ssize_t>(a.planes()),
                                 static_cast<py::ssize_t>(a.rows()),
                                 static_cast<py::ssize_t>(a.cols())};
  return to_numpy(std::move(a), std::move(shape));
}
template <class T>
py::array to_numpy(std::vector<T>&& a) {
  const auto n = static_cast<py::ssize_t>(a.size());
  return to_numpy(std::move(a), std::vector<py::ssize_t>{n});
}

inline void require_dimensions(const py::array& a, py::ssize_t n, const char* name) {
  if (a.ndim() != n) {
    throw py::value_error(std::string(name) + ": expected " + std::to_string(n) +
                          " dimensions, got " + std::to_string(a.ndim()));
  }
}

template <class T>
Array2D<T> to_matrix(const Input<T>& a, const char* name) {
  require_dimensions(a, 2, name);
  Array2D<T> out(static_cast<std::size_t>(a.shape(0)), static_cast<std::size_t>(a.shape(1)));
  std::copy_n(a.data(), a.size(), out.data());
  return out;
}

/// None gives an empty matrix.
template <class T>
Array2D<T> to_optional_matrix(const py::object& a, const char* name) {
  return a.is_none() ? Array2D<T>() : to_matrix<T>(py::cast<Input<T>>(a), name);
}

template <class T>
Array3D<T> to_cube(const Input<T>& a, const char* name) {
  require_dimensions(a, 3, name);
  Array3D<T> out(static_cast<std::size_t>(a.shape(0)), static_cast<std::size_t>(a.shape(1)),
                 static_cast<std::size_t>(a.shape(2)));
  std::copy_n(a.data(), a.size(), out.data());
  return out;
}

template <class T>
std::vector<T> to_vector(const Input<T>& a, const char* name) {
  require_dimensions(a, 1, name);
  return {a.data(), a.data() + a.size()};
}

/// What a camera's spectra are made of, from the names that the Python side gives them.
template <class Camera>
void take_arrays(const py::dict& d, Camera& out) {
  out.wave = to_vector<double>(d["wave"].cast<Input<double>>(), "wave");
  out.flux = to_matrix<double>(d["flux"].cast<Input<double>>(), "flux");
  out.ivar = to_matrix<double>(d["ivar"].cast<Input<double>>(), "ivar");
  out.mask = to_optional_matrix<std::uint32_t>(d["mask"], "mask");
  if (d["resolution"].is_none()) return;
  out.resolution = to_cube<float>(d["resolution"].cast<Input<float>>(), "resolution");
}

}  // namespace fiberloom::python
