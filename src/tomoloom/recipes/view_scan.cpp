// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/view_scan.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/page/page.hpp"
#include "tomoloom/recipes/compare_volumes.hpp"
#include "tomoloom/recipes/inspect_file.hpp"
#include "tomoloom/recipes/recon_block.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/recon_setup.hpp"
#include "tomoloom/recipes/slice_plan.hpp"
#include "tomoloom/recipes/view_plane.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

/// Slices of many axes are smaller than the planes: eleven of them weigh 3 MB.
constexpr std::size_t kMostAxisSide = 320;

/// What made a volume.
struct Making {
  ReconJob job;
  double axis = 0;  ///< column of the detector
};

Making making_of(const ViewJob& view) {
  Making making;
  const auto rows = recon_option_rows();
  std::size_t known = 0;
  double lean = 0;
  bool has_axis = false;
  for (const auto& fact : inspect_file(view.volume, view.group).facts) {
    const std::string &name = fact.first, &value = fact.second;
    const auto number = [&, &text = value](double& to) {
      const char* const end = text.data() + text.size();
      return std::from_chars(text.data(), end, to).ptr == end;
    };
    if (name == "axis") has_axis = number(making.axis);
    if (name == "axis_lean") (void)number(lean);
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return name == r.key; });
    if (row == rows.end() || !row->decides_numbers) continue;
    set_option(*row, making.job, value);
    ++known;
  }
  if (!has_axis || known == 0) {
    throw Error(
        kScanMismatch,
        view.volume + ": --scan: expected a volume that says how it was made, as recon's do");
  }
  making.job.scan = view.scan.scan;
  making.job.flats = view.scan.flats;
  making.job.darks = view.scan.darks;
  if (lean != 0 && !making.job.centre_last) {
    making.job.centre = making.axis - lean / 2;
    making.job.centre_last = making.axis + lean / 2;
  }
  making.job.search = AxisSearch::kNone;
  return making;
}

/// The axes' columns of the detector, the volume's in the middle; those beyond the window's
/// `columns` are left out.
std::vector<double> axes_around(const Making& making, const ViewScan& scan, std::size_t columns) {
  std::vector<double> axes;
  const auto half = static_cast<double>(scan.axes / 2);
  for (std::size_t i = 0; i < scan.axes; ++i) {
    const double axis = making.axis + (static_cast<double>(i) - half) * scan.step;
    const double at = making.job.window.to_window(axis);
    if (at >= 0 && at <= static_cast<double>(columns) - 1) axes.push_back(axis);
  }
  return axes;
}

/// One row's line integrals [angle][column], as they were for the volume.
LargeVector<float> sinogram_of(ReconSetup& setup, Executor& executor, const Observer& observer) {
  setup.open_rows(setup.blocks());
  RawBlock raw;
  LargeVector<float> integrals;
  read_block(setup.source(), setup.summary().first_row, 1, observer, raw);
  (void)prepare_block(setup.rest(), setup.frames().layout(), raw, executor, integrals);
  return integrals;
}

Json slices_json(const Making& making, const ScanLayout& layout,
                 const LargeVector<float>& integrals, const std::vector<double>& axes,
                 Executor& executor, const Observer& observer) {
  const std::size_t n = layout.columns;
  ReconJob how = making.job;
  if (takes_weights(how.filter.filter)) how.filter.weights = layout.filter;
  Json out = Json::array();
  std::vector<float> slice(n * n);
  for (const double axis : axes) {
    const SlicePlan plan = plan_slices(how,
                                       {.columns = n,
                                        .theta = radians(layout),
                                        .centre = how.window.to_window(axis),
                                        .weight = layout.weight},
                                       executor);
    SliceEngine(plan).reconstruct(
        {.data = integrals.data(), .slices = 1, .angle_stride = n, .slice_stride = n},
        {.data = slice.data(), .slice_stride = n * n, .row_stride = n}, executor,
        [&](std::size_t) { stop_if_asked(observer); });
    finish_slices(how, n, slice, executor);
    Plane plane(n, n, kMostAxisSide);
    plane.set(slice);
    Json one = plane.json("slice", "axis");
    one["axis"] = axis;
    out.push_back(std::move(one));
    if (observer.progress) observer.progress("axes", out.size(), axes.size());
  }
  return out;
}

}  // namespace

Json scan_json(const ViewJob& job, std::size_t slice, Executor& executor,
               const Observer& observer) {
  Making making = making_of(job);
  ReconJob& how = making.job;
  const std::size_t bin = how.window.bin, row = (how.first_row / bin + slice) * bin;
  how.first_row = row;
  how.end_row = row + bin;
  ReconSetup setup(how, executor, observer);
  const ScanLayout& layout = setup.summary().layout;
  const bool half = how.acquisition == Acquisition::kHalf;
  const std::size_t width = open_slices(job.volume, job.group)->layout().columns;
  if (!half && width != layout.columns) {
    throw Error(kScanMismatch,
                print("%s: rows of %zu columns, the volume %s has slices of %zu",
                      layout.path.c_str(), layout.columns, job.volume.c_str(), width));
  }
  const LargeVector<float> integrals = sinogram_of(setup, executor, observer);
  Plane sinogram(layout.angles, layout.columns);
  sinogram.set(integrals);
  const std::string name = std::filesystem::path(job.scan.scan).filename().string();
  Json out{{"name", page::to_utf8(name)},
           {"row", row},
           {"axis", making.axis},
           {"axis_in_row", how.window.to_window(making.axis)},
           {"sinogram", sinogram.json("sinogram", "scan")},
           {"axes", Json::array()}};
  // half: slices are wider, and the axis decides how wide; tilted: they are not of one row alone
  if (half || how.tilt_deg != 0) return out;
  out["axes"] = slices_json(making, layout, integrals,
                            axes_around(making, job.scan, layout.columns), executor, observer);
  return out;
}

}  // namespace tomoloom
