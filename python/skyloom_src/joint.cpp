// SPDX-License-Identifier: BSD-3-Clause
// Templates of polynomials, azimuth and plate that are fitted together, taken out of rows of
// arrays.
#include "skyloom/filters/joint.hpp"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/filters/polynomial.hpp"

namespace skyloom::python {
namespace {

/// From `rows` of the values; flags [row][sample] in the order of `rows`, to which those of samples
/// are added that could not be fitted. `step`: of the ground, samples. `left_out`: a sample whose
/// bin has no template. `given`: of each row further templates, [template][sample]; none, or one
/// for each. How many stretches of each row could not.
std::vector<std::size_t> subtract_joint(
    Doubles values, const std::vector<std::size_t>& rows, Input<std::uint8_t> flags,
    const std::vector<std::pair<std::size_t, std::size_t>>& stretches, const Doubles& azimuth,
    const Doubles& angles, std::optional<std::size_t> polynomial,
    std::optional<std::size_t> ground_order, double ground_bins, bool split, double step,
    std::size_t drift, std::optional<std::size_t> left_out, std::size_t harmonics,
    const std::vector<Doubles>& given, double rcond, std::size_t threads) {
  const std::size_t samples = extent(values, 1);
  require_shape(values, {0, samples}, "values");
  require_shape(flags, {rows.size(), samples}, "flags");
  for (const Doubles* each : {&azimuth, &angles}) {
    if (each->size() > 0) require_shape(*each, {samples}, "azimuth, angles");
  }
  if (!given.empty() && given.size() != rows.size()) {
    throw py::value_error("given: expected templates for each row");
  }
  for (const Doubles& each : given) require_shape(each, {0, samples}, "given");
  for (const std::size_t row : rows) {
    if (row >= extent(values, 0)) throw py::value_error("rows: expected those of the array");
  }
  JointWishes wishes{.polynomial = polynomial};
  wishes.ground = {.order = ground_order,
                   .bin_deg = ground_bins,
                   .split = split,
                   .step = step,
                   .drift = drift,
                   .left_out = left_out};
  if (left_out && *left_out >= samples) throw py::value_error("left_out: expected a sample");
  wishes.plate.harmonics = harmonics;
  std::vector<Stretch> of;
  for (const auto& [first, end] : stretches) {
    if (first >= end || end > samples || (!of.empty() && first < of.back().end)) {
      throw py::value_error("stretches: expected samples [first, end), growing and apart");
    }
    of.push_back({first, end});
  }
  // of one row at a time, for all threads to look at without Python
  std::vector<std::span<const double>> templates;
  for (const Doubles& each : given) templates.push_back(python::values(each));
  double* const to = values.mutable_data();
  std::uint8_t* const marks = flags.mutable_data();
  std::vector<std::size_t> failed(rows.size(), 0);
  {
    const py::gil_scoped_release release;
    const JointFilter filter({.on = true, .least_reciprocal = rcond}, wishes,
                             {azimuth.data(), static_cast<std::size_t>(azimuth.size())},
                             {angles.data(), static_cast<std::size_t>(angles.size())}, of);
    const auto executor = make_executor(threads);
    executor->run(rows.size(), [&](std::size_t i) {
      std::vector<std::vector<double>> own;
      for (std::size_t at = 0; i < templates.size() && at < templates[i].size(); at += samples) {
        const auto one = templates[i].subspan(at, samples);
        own.emplace_back(one.begin(), one.end());
      }
      failed[i] = filter.subtract({to + rows[i] * samples, samples}, {marks + i * samples, samples},
                                  std::move(own));
    });
  }
  return failed;
}

}  // namespace

void add_joint(py::module_& m) {
  m.def("subtract_joint", &subtract_joint, py::arg().noconvert(), py::arg(), py::arg().noconvert(),
        py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg(),
        py::arg(), py::arg(), py::arg(), py::arg(), py::arg(), py::arg());
  m.attr("most_polynomial") = kMostPolynomial;
  m.attr("most_ground_order") = kMostGroundOrder;
}

}  // namespace skyloom::python
