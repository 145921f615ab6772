// SPDX-License-Identifier: BSD-3-Clause
// Two frames side by side, or a frame and its truth.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/recipes/compare_frames.hpp"
#include "fiberloom/recipes/compare_truth.hpp"

namespace fiberloom::python {
namespace {

/// With the number of its first fibre, where nothing else says it.
FrameFile to_numbered_frame(const py::dict& f) {
  FrameFile frame = to_frame(f);
  if (!frame.fibermap && !frame.header.has("FIBERMIN")) {
    frame.header.set("FIBERMIN", frame.spec_min);
  }
  return frame;
}

py::list bins(const std::vector<BinName>& list) {
  py::list out;
  for (const BinName& bin : list) out.append(py::make_tuple(bin.fiber, bin.wave_aa));
  return out;
}

py::dict compare(const py::dict& a, const py::dict& b, std::uint32_t mask_bits, std::size_t list) {
  const FrameFile first = to_numbered_frame(a), second = to_numbered_frame(b);
  const FrameComparison c = compare_frames(first, second, {mask_bits, list});
  py::dict out;
  out["nspec"] = c.nspec;
  out["nwave"] = c.nwave;
  out["good"] = c.good;
  py::dict below;
  for (std::size_t t = 0; t < FrameComparison::kThresholds.size(); ++t) {
    below[py::float_(FrameComparison::kThresholds[t])] = c.pulls_below[t];
  }
  out["pulls_below"] = below;
  out["max_pull"] = c.max_pull;
  out["max_pull_at"] = py::make_tuple(c.max_pull_at.fiber, c.max_pull_at.wave_aa);
  out["max_ivar"] = c.max_ivar;
  out["max_ivar_at"] = py::make_tuple(c.max_ivar_at.fiber, c.max_ivar_at.wave_aa);
  out["max_resolution"] = c.max_resolution;
  out["masked_a"] = c.masked_a;
  out["masked_b"] = c.masked_b;
  out["only_a"] = c.only_a;
  out["only_b"] = c.only_b;
  out["list_only_a"] = bins(c.list_only_a);
  out["list_only_b"] = bins(c.list_only_b);
  out["mask_difference"] = c.mask_difference();
  return out;
}

py::dict row_dict(const TruthComparison::Row& row) {
  using namespace py::literals;
  return py::dict("name"_a = row.name, "bins"_a = row.pulls.count(), "mean"_a = row.pulls.mean(),
                  "width"_a = row.pulls.width(), "beyond_5"_a = row.pulls.beyond_5());
}

py::dict compare_with_truth(const py::dict& frame, const std::string& truth,
                            std::uint32_t mask_bits, int bundlesize) {
  const TruthComparison c =
      compare_truth(to_numbered_frame(frame), read_truth(truth), {mask_bits, 0}, bundlesize);
  py::list brightness, bundles;
  for (const auto& row : c.by_brightness) brightness.append(row_dict(row));
  for (const auto& row : c.by_bundle) bundles.append(row_dict(row));
  py::dict out;
  out["nspec"] = c.nspec;
  out["nwave"] = c.nwave;
  out["masked"] = c.masked;
  out["all"] = row_dict(c.all);
  out["by_brightness"] = brightness;
  out["by_bundle"] = bundles;
  return out;
}

}  // namespace

void bind_compare(py::module_& m) {
  m.def("compare", &compare);
  m.def("compare_truth", &compare_with_truth);
}

}  // namespace fiberloom::python
