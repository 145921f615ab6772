// SPDX-License-Identifier: BSD-3-Clause
// tomoloom._core: arrays in, arrays out. Private: python/tomoloom/*.py checks arguments and
// documents; here they only become the library's types.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "loom/runtime/thread_count.hpp"
#include "loom/simd/isa.hpp"
#include "python/shared/errors.hpp"
#include "tomoloom/prepare/circle.hpp"
#include "tomoloom/prepare/inpaint.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/outlier.hpp"
#include "tomoloom/prepare/phase.hpp"
#include "tomoloom/prepare/rings.hpp"
#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/prepare/stripe_search.hpp"
#include "tomoloom/recipes/idle_options.hpp"
#include "tomoloom/recipes/recon_arrays.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/version.hpp"
#include "tomoloom/reconstruct/centre.hpp"
#include "tomoloom/reconstruct/project.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom::python {
namespace {

namespace py = pybind11;

/// C order, native bytes: what the Python layer hands over.
template <class T>
using Input = py::array_t<T, py::array::c_style>;
using Floats = Input<float>;

std::size_t extent(const py::array& a, int axis) { return static_cast<std::size_t>(a.shape(axis)); }

void require_dimensions(const py::array& a, int n, const char* name) {
  if (a.ndim() != n) {
    throw py::value_error(std::string(name) + ": expected " + std::to_string(n) +
                          " dimensions, got " + std::to_string(a.ndim()));
  }
}

/// Between pieces of work, which hold no lock: shall a signal's exception end it?
void look_for_signals() {
  const py::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

/// A job with these options, by their names on the command line.
ReconJob job_of(const py::dict& options) {
  ReconJob job;
  for (const auto& [key, value] : options) {
    const auto name = key.cast<std::string>();
    set_option(recon_option_rows(), job, name, value.cast<std::string>());
  }
  return job;
}

/// Options that change nothing: each as its key, the key of what it belongs to, and what that is.
std::vector<std::vector<std::string>> idle_options_of(const py::dict& options) {
  std::vector<std::vector<std::string>> out;
  for (const IdleOption& one : find_idle_options(job_of(options))) {
    out.push_back({one.key, one.of, one.state});
  }
  return out;
}

template <class Counts>
py::array normalize_frames(const Input<Counts>& counts, const Floats& flat, const Floats& dark,
                           bool logarithm, std::size_t threads) {
  require_dimensions(counts, 3, "projections");
  const std::size_t frames = extent(counts, 0), pixels = extent(counts, 1) * extent(counts, 2);
  if (static_cast<std::size_t>(flat.size()) != pixels ||
      static_cast<std::size_t>(dark.size()) != pixels) {
    throw py::value_error("flat, dark: expected frames of the projections' rows and columns");
  }
  Floats out({counts.shape(0), counts.shape(1), counts.shape(2)});
  float* const to = out.mutable_data();
  const Counts* const from = counts.data();
  const Gain gain = make_gain({flat.data(), pixels}, {dark.data(), pixels});
  const py::gil_scoped_release release;
  make_executor(threads)->run(frames, [&](std::size_t f) {
    normalize(std::span<const Counts>(from + f * pixels, pixels), gain,
              logarithm ? Logarithm::kMinusLog : Logarithm::kNone, {to + f * pixels, pixels});
  });
  return out;
}

/// Sinograms of [angle][row][column], one a task.
template <class Use>
void each_sinogram(Floats& data, std::size_t threads, const Use& use) {
  require_dimensions(data, 3, "projections");
  const std::size_t angles = extent(data, 0), rows = extent(data, 1), columns = extent(data, 2);
  float* const values = data.mutable_data();
  const py::gil_scoped_release release;
  const auto executor = make_executor(threads);
  const std::size_t at_once = 4 * executor->concurrency();
  for (std::size_t first = 0; first < rows; first += at_once) {
    look_for_signals();
    executor->run(std::min(at_once, rows - first), [&](std::size_t i) {
      use(SinogramView{.data = values + (first + i) * columns,
                       .angles = angles,
                       .columns = columns,
                       .stride = rows * columns});
    });
  }
}

void remove_stripes(Floats data, const py::dict& options, std::size_t threads) {
  const StripeChoice choice = job_of(options).stripe;
  each_sinogram(data, threads, [&](const SinogramView& s) { remove_stripe(s, choice); });
}

void remove_outliers(Floats data, float dif, std::size_t size, std::size_t threads) {
  each_sinogram(data, threads, [&](const SinogramView& s) { (void)remove_outlier(s, dif, size); });
}

StackShape shape_of(const py::array& a) {
  require_dimensions(a, 3, "projections");
  return {.angles = extent(a, 0), .rows = extent(a, 1), .columns = extent(a, 2)};
}

py::array stripe_weights_of(const Floats& data, std::size_t size, std::size_t radius,
                            std::size_t threads) {
  const StackShape shape = shape_of(data);
  Floats out({data.shape(0), data.shape(1), data.shape(2)});
  const std::span<float> weights(out.mutable_data(), shape.size());
  const py::gil_scoped_release release;
  stripe_weights({data.data(), shape.size()}, shape, {.size = size, .radius = radius}, weights,
                 *make_executor(threads));
  return out;
}

py::array stripe_mask_of(const Floats& data, double threshold, std::size_t length,
                         std::size_t depth, std::size_t columns, double sensitivity,
                         std::size_t threads) {
  const StackShape shape = shape_of(data);
  Input<bool> out({data.shape(0), data.shape(1), data.shape(2)});
  const std::span<bool> mask(out.mutable_data(), shape.size());
  const py::gil_scoped_release release;
  stripe_mask({data.data(), shape.size()}, shape,
              {.threshold = threshold,
               .min_length = length,
               .min_depth = depth,
               .min_width = columns,
               .sensitivity = sensitivity},
              mask, *make_executor(threads));
  return out;
}

/// [plane][row][column] in place.
void inpaint_array(Floats data, const Input<bool>& mask, const std::string& kind, std::size_t reach,
                   std::size_t passes, std::uint64_t seed, bool by_planes, std::size_t threads) {
  require_dimensions(data, 3, "array");
  if (mask.size() != data.size()) throw py::value_error("mask: expected the shape of the array");
  const InpaintShape shape{
      .planes = extent(data, 0), .rows = extent(data, 1), .columns = extent(data, 2)};
  const InpaintChoice choice{.kind = kind == "mean"     ? Inpaint::kMean
                                     : kind == "median" ? Inpaint::kMedian
                                                        : Inpaint::kRandom,
                             .reach = reach,
                             .passes = passes,
                             .seed = seed};
  const std::span<float> values(data.mutable_data(), shape.size());
  const std::span<const bool> marked(mask.data(), shape.size());
  const py::gil_scoped_release release;
  (by_planes ? inpaint_planes : inpaint)(values, marked, shape, choice, *make_executor(threads),
                                         loom::active_isa());
}

/// Projections [angle][row][column] in place, two at a time.
void retrieve_phase(Floats data, const py::dict& options, std::size_t threads) {
  require_dimensions(data, 3, "transmissions");
  const PhaseChoice choice = job_of(options).phase;
  const std::size_t angles = extent(data, 0), rows = extent(data, 1), columns = extent(data, 2);
  const std::size_t pixels = rows * columns;
  const std::span<float> values(data.mutable_data(), angles * pixels);
  const py::gil_scoped_release release;
  const auto executor = make_executor(threads);
  PhaseFilter filter(choice, rows, columns);
  for (std::size_t a = 0; a < angles; a += 2) {
    look_for_signals();
    const auto one = values.subspan(a * pixels, pixels);
    const auto other = values.subspan(a * pixels + pixels).first(a + 1 < angles ? pixels : 0);
    filter.run({.first_in = one, .second_in = other, .first_out = one, .second_out = other}, 0,
               rows, *executor);
  }
}

/// [angle][row][column], or with sinograms [row][angle][column].
struct Stack {
  std::size_t angles, columns;
  StackView view;
  Stack(const Floats& data, bool sinograms) {
    require_dimensions(data, 3, "projections");
    columns = extent(data, 2);
    angles = extent(data, sinograms ? 1 : 0);
    const std::size_t rows = extent(data, sinograms ? 0 : 1);
    view = {.data = data.data(),
            .slices = rows,
            .angle_stride = sinograms ? columns : rows * columns,
            .slice_stride = sinograms ? angles * columns : columns};
  }
};

void require_angles(const Stack& stack, const std::vector<double>& theta) {
  if (theta.size() != stack.angles) {
    throw py::value_error("theta: expected one angle for every projection, got " +
                          std::to_string(theta.size()) + " for " + std::to_string(stack.angles));
  }
}

py::array recon(const Floats& data, const std::vector<double>& theta,
                const std::vector<double>& centres, const std::vector<double>& filter_weights,
                const std::vector<std::size_t>& block_order, bool sinograms,
                const py::dict& options, std::size_t threads) {
  const Stack stack(data, sinograms);
  require_angles(stack, theta);
  ReconJob job = job_of(options);
  job.filter.weights = filter_weights;
  job.block_order = block_order;
  const auto n = static_cast<py::ssize_t>(stack.columns);
  Floats out({static_cast<py::ssize_t>(stack.view.slices), n, n});
  const std::span<float> slices(out.mutable_data(), static_cast<std::size_t>(out.size()));
  const py::gil_scoped_release release;
  reconstruct_arrays(job, stack.view, stack.columns, theta, centres, slices,
                     *make_executor(threads), look_for_signals);
  return out;
}

/// Line integrals [angle][row][column], or with sinograms [row][angle][column], of slices
/// [row][n][n].
py::array project(const Floats& volume, const std::vector<double>& theta,
                  const std::vector<double>& centres, std::size_t columns, bool sinograms,
                  std::size_t threads) {
  require_dimensions(volume, 3, "volume");
  const std::size_t rows = extent(volume, 0), n = extent(volume, 2);
  if (extent(volume, 1) != n) throw py::value_error("volume: expected as many rows as columns");
  if (centres.size() != 1 && centres.size() != rows) {
    throw py::value_error("center: expected one, or one for each row");
  }
  const auto angles = static_cast<py::ssize_t>(theta.size()), count = volume.shape(0);
  Floats out(
      {sinograms ? count : angles, sinograms ? angles : count, static_cast<py::ssize_t>(columns)});
  const LinesView lines{.data = out.mutable_data(),
                        .angle_stride = sinograms ? columns : rows * columns,
                        .slice_stride = sinograms ? theta.size() * columns : columns};
  const float* const data = volume.data();
  const py::gil_scoped_release release;
  const auto executor = make_executor(threads);
  const auto centre_of = [&](std::size_t row) { return centres[centres.size() == 1 ? 0 : row]; };
  for (std::size_t row = 0; row < rows;) {
    std::size_t end = row + 1;
    while (end < rows && centre_of(end) == centre_of(row)) ++end;
    LinesView own = lines;
    own.data += row * lines.slice_stride;
    project_slices({.columns = columns, .theta = theta, .centre = centre_of(row)},
                   {.data = data + row * n * n, .count = end - row, .size = n}, own, *executor,
                   look_for_signals);
    row = end;
  }
  return out;
}

std::optional<double> centre(const Floats& data, const std::vector<double>& theta, bool sinograms,
                             double low, double high, bool pairs, std::size_t threads) {
  const Stack stack(data, sinograms);
  require_angles(stack, theta);
  const py::gil_scoped_release release;
  return pairs ? find_centre_of_pairs(stack.view, stack.columns, theta, low, high)
               : find_centre(stack.view, stack.columns, theta, low, high, *make_executor(threads));
}

void mask(Floats slices, double ratio, float value) {
  require_dimensions(slices, 3, "slices");
  const std::size_t n = extent(slices, 2), size = n * n;
  if (extent(slices, 1) != n) throw py::value_error("slices: expected as many rows as columns");
  for (std::size_t s = 0; s < extent(slices, 0); ++s) {
    mask_circle({slices.mutable_data() + s * size, size}, n, ratio, value);
  }
}

void rings(Floats slices, double row, double column, std::size_t width, double threshold,
           double arc_deg, std::size_t threads) {
  require_dimensions(slices, 3, "slices");
  const std::size_t n = extent(slices, 2), size = n * n;
  if (extent(slices, 1) != n) throw py::value_error("slices: expected as many rows as columns");
  float* const data = slices.mutable_data();
  const std::size_t count = extent(slices, 0);
  const py::gil_scoped_release release;
  make_executor(threads)->run(count, [&](std::size_t s) {
    remove_rings({data + s * size, size}, n, row, column,
                 {.width = width, .threshold = threshold, .arc_deg = arc_deg});
  });
}

py::object exception_of(const Error& error) {
  return loom::python::make_error("tomoloom._errors", error.what(), error.exit_code(),
                                  std::string(exit_code_name(error.status())));
}

}  // namespace
}  // namespace tomoloom::python

PYBIND11_MODULE(_core, m) {
  namespace py = pybind11;
  using namespace tomoloom;
  using namespace tomoloom::python;
  m.doc() = "Tomoloom's engine. Private: use the package `tomoloom`.";
  loom::python::translate_errors<&exception_of>();
  m.attr("version") = std::string(version());
  m.def("isa", [] { return std::string(isa_name(loom::active_isa())); });
  m.def("default_threads", &loom::default_thread_count);
  m.def("normalize_counts", &normalize_frames<std::uint16_t>);
  m.def("normalize_floats", &normalize_frames<float>);
  m.def("remove_stripes", &remove_stripes, py::arg().noconvert(), py::arg(), py::arg());
  m.def("remove_outliers", &remove_outliers, py::arg().noconvert(), py::arg(), py::arg(),
        py::arg());
  m.def("stripe_weights", &stripe_weights_of);
  m.def("stripe_mask", &stripe_mask_of);
  m.def("striped_columns", [](const std::vector<double>& factors, double snr) {
    return striped_columns(factors, snr);
  });
  m.def("inpaint", &inpaint_array, py::arg().noconvert(), py::arg(), py::arg(), py::arg(),
        py::arg(), py::arg(), py::arg(), py::arg());
  m.def("retrieve_phase", &retrieve_phase, py::arg().noconvert(), py::arg(), py::arg());
  m.def("recon", &recon);
  m.def("project", &project);
  m.def("idle_options", &idle_options_of);
  m.def("find_centre", &centre);
  m.def("mask", &mask, py::arg().noconvert(), py::arg(), py::arg());
  m.def("remove_rings", &rings, py::arg().noconvert(), py::arg(), py::arg(), py::arg(), py::arg(),
        py::arg(), py::arg());
  py::list filters;
  for (const FilterName& filter : filter_names()) filters.append(std::string(filter.name));
  m.attr("filters") = filters;
}
