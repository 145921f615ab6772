// SPDX-License-Identifier: BSD-3-Clause
// Maps of arrays.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "job_options.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/sky/template_map.hpp"
#include "skyloom/tod/array_tod.hpp"

namespace skyloom::python {
namespace {

/// An observation as views of arrays, which it keeps alive.
class Observed {
 public:
  Observed(const std::string& name, const Doubles& boresight, double rate) : boresight_(boresight) {
    require_shape(boresight, {0, 4}, "boresight");
    Observation& about = data_.about;
    about.name = name;
    about.samples = extent(boresight, 0);
    about.plane.rate_hz = rate;
    data_.boresight = values(boresight_);
  }
  void set_plate(const Doubles& angles) {
    kept_.append(angles);
    data_.plate = values(angles);
  }
  void set_azimuth(const Doubles& angles) {
    kept_.append(angles);
    data_.azimuth = values(angles);
  }
  void set_masks(int detector, int shared) {
    data_.detector_mask = static_cast<std::uint8_t>(detector);
    data_.shared_mask = static_cast<std::uint8_t>(shared);
  }
  void set_shared_flags(const Input<std::uint8_t>& flags) {
    kept_.append(flags);
    data_.shared_flags = values(flags);
  }
  void set_stretches(const std::vector<std::pair<std::size_t, std::size_t>>& stretches) {
    for (const auto& [first, end] : stretches) {
      if (first >= end || end > data_.about.samples) {
        throw py::value_error("intervals: expected samples [first, end) of the observation");
      }
      data_.about.stretches.push_back({first, end});
    }
  }
  template <class Number>
  void add(const std::string& name, const std::array<double, 4>& place, double gamma,
           double leakage, double weight, const Input<Number>& signal) {
    // a sample's weight is 1 / (NET^2 rate)
    const double net = 1 / std::sqrt(weight * data_.about.plane.rate_hz);
    if (!is_sound_net(net)) throw py::value_error("weights: expected numbers above 0");
    data_.about.plane.detectors.push_back({.name = name,
                                           .place = {place[0], place[1], place[2], place[3]},
                                           .gamma = gamma,
                                           .leakage = leakage,
                                           .noise = {.net = net}});
    kept_.append(signal);
    data_.detectors.push_back({.signal = values(signal)});
  }
  /// Of the detector that was added last.
  void set_flags(const Input<std::uint8_t>& flags) {
    kept_.append(flags);
    data_.detectors.back().flags = values(flags);
  }
  void set_noise(std::vector<double> frequencies, std::vector<double> psd) {
    if (frequencies.size() != psd.size()) throw py::value_error("psd: expected one a frequency");
    data_.detectors.back().noise = {std::move(frequencies), std::move(psd)};
  }
  [[nodiscard]] const ArrayObservation& data() const { return data_; }

 private:
  Doubles boresight_;
  py::list kept_;
  ArrayObservation data_;
};

/// Pixels that were hit, in growing order: where each stands in the maps of all data, and its sums.
/// Those of a flat grid are numbered row by row.
struct Place {
  Pixel pixel;
  std::size_t hit_tile, number;
  const PixelSums* sums;
};

/// `sums`: of all data, or of a part.
std::vector<Place> places_of(const SolvedMaps& maps, const SkySums& sums, const SkyGrid& grid) {
  std::vector<Place> out;
  const auto tiles = maps.system->hit_tiles();
  for (std::size_t h = 0; h < tiles.size(); ++h) {
    const auto tile = static_cast<std::size_t>(tiles[h]);
    const auto pixels = maps.sums.whole.tile(tile);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      const auto at = sums.find(tile, pixels[p].place);
      if (!at) continue;
      Pixel pixel = maps.sums.whole.tiles().pixel(tile, pixels[p].place);
      if (const WcsGrid* const flat = grid.wcs()) {
        const GridCell cell = grid.cell(pixel);
        pixel = static_cast<Pixel>(cell.row * flat->columns + cell.column);
      }
      out.push_back({pixel, h, p, &sums.tile(tile)[*at]});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const Place& a, const Place& b) { return a.pixel < b.pixel; });
  return out;
}

Doubles stokes_of(const std::vector<Place>& places, const TileMaps& tiles) {
  const std::size_t n = places.size();
  Doubles out({py::ssize_t{3}, static_cast<py::ssize_t>(n)});
  double* const to = out.mutable_data();
  for (std::size_t i = 0; i < n; ++i) {
    const Stokes& value = tiles[places[i].hit_tile][places[i].number];
    to[i] = value.i;
    to[n + i] = value.q;
    to[2 * n + i] = value.u;
  }
  return out;
}

void put(const Symmetric3& m, double* to, std::size_t stride) {
  const double six[] = {m.ii, m.iq, m.iu, m.qq, m.qu, m.uu};
  for (std::size_t k = 0; k < 6; ++k) to[k * stride] = six[k];
}

void put_sums(const MapJob& job, const std::vector<Place>& places, py::dict& out) {
  const std::size_t n = places.size();
  const auto rows = static_cast<py::ssize_t>(n);
  Input<std::int64_t> pixels(rows), hits(rows);
  Doubles rcond(rows), invcov({py::ssize_t{6}, rows}), cov({py::ssize_t{6}, rows});
  Doubles signal({py::ssize_t{3}, rows});
  for (std::size_t i = 0; i < n; ++i) {
    const PixelSums& at = *places[i].sums;
    const Conditioned found = invert(at.weights, job.solve.least_reciprocal);
    pixels.mutable_data()[i] = places[i].pixel;
    hits.mutable_data()[i] = at.hits;
    rcond.mutable_data()[i] = found.reciprocal;
    put(at.weights, invcov.mutable_data() + i, n);
    put(found.inverse, cov.mutable_data() + i, n);
    const double three[] = {at.signal.i, at.signal.q, at.signal.u};
    for (std::size_t k = 0; k < 3; ++k) signal.mutable_data()[k * n + i] = three[k];
  }
  out["pixels"] = pixels;
  out["hits"] = hits;
  out["rcond"] = rcond;
  out["invcov"] = invcov;
  out["cov"] = cov;
  out["noise_weighted"] = signal;
}

py::dict counts_of(const MapSummary& s) {
  py::dict out;
  for (const auto& [name, count] : std::initializer_list<std::pair<const char*, std::size_t>>{
           {"samples", s.samples},
           {"good", s.good},
           {"flagged", s.flagged},
           {"not_finite", s.not_finite},
           {"unfitted_stretches", s.unfitted},
           {"glitch_samples", s.glitches},
           {"gaps", s.gaps},
           {"runs", s.runs},
           {"hit_pixels", s.hit_pixels},
           {"cut_pixels", s.cut_pixels},
           {"cut_samples", s.cut_samples},
           {"baselines", s.baselines},
           {"left_baselines", s.left_baselines},
           {"recalled_iterations", s.recalled},
           {"planned_bytes", s.planned_bytes}}) {
    out[name] = count;
  }
  return out;
}

/// Maps of all data, or of a part of them.
struct Made {
  std::vector<Place> places;
  TileMaps binned, destriped;

  [[nodiscard]] py::dict dict(const MapJob& job) const {
    py::dict out;
    put_sums(job, places, out);
    out["binned"] = stokes_of(places, binned);
    if (!job.binned_only) out["destriped"] = stokes_of(places, destriped);
    return out;
  }
};

/// All data first, then each part.
std::vector<Made> made_of(SolvedMaps& maps, const MapJob& job, Executor& executor) {
  const SkyGrid grid = grid_of(job);
  std::vector<Made> out(1);
  out[0].places = places_of(maps, maps.sums.whole, grid);
  out[0].binned = maps.system->maps(nullptr, executor);
  if (!job.binned_only) {
    out[0].destriped =
        maps.summary.gls ? std::move(maps.gls) : maps.system->maps(&maps.solution.x, executor);
  }
  for (std::size_t part = 0; part < maps.sums.parts.size(); ++part) {
    const SkySums& sums = maps.sums.parts[part];
    const double least = job.solve.least_reciprocal;
    out.push_back({.places = places_of(maps, sums, grid),
                   .binned = maps.system->part_maps(sums, nullptr, least, executor),
                   .destriped = {}});
    if (!job.binned_only) out.back().destriped = part_map(maps, part, job, executor);
  }
  return out;
}

/// Columns of a map, NESTED; nothing: no such.
std::shared_ptr<const TemplateMap> templates_of(const std::vector<Input<float>>& columns) {
  if (columns.empty()) return nullptr;
  auto out = std::make_shared<TemplateMap>();
  out->pixels = Healpix(nside_of(static_cast<std::int64_t>(columns.front().size())));
  for (const Input<float>& column : columns) {
    require_shape(column, {static_cast<std::size_t>(out->pixels.pixels())}, "deproject");
    out->columns.emplace_back(column.data(), column.data() + column.size());
  }
  return out;
}

std::vector<Input<float>> template_columns(const std::string& path, std::size_t columns) {
  std::vector<Input<float>> out;
  for (const std::vector<float>& column : read_template_map(path, columns).columns) {
    out.emplace_back(static_cast<py::ssize_t>(column.size()), column.data());
  }
  return out;
}

/// `templates`: columns of a map that are deprojected. `memory`: bytes, 0: no bound.
py::dict make_maps(const py::list& observed, const py::dict& options,
                   const std::vector<Input<float>>& templates, std::uint64_t memory,
                   std::size_t threads) {
  auto job = job_of(map_option_rows(), options);
  job.filters.deproject = templates_of(templates);
  job.memory = memory;
  std::vector<ArrayObservation> observations;
  for (const py::handle& one : observed) {
    observations.push_back(one.cast<const Observed&>().data());
  }
  std::vector<std::string> warnings;
  std::mutex mutex;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    const std::lock_guard lock(mutex);
    if (level == LogLevel::kWarning) warnings.push_back(text);
  };
  observer.stop_requested = [] {
    look_for_signals();
    return false;
  };
  std::unique_ptr<SolvedMaps> maps;
  std::vector<Made> made;
  {
    const py::gil_scoped_release release;
    const auto executor = make_executor(threads);
    maps = solve_maps(ArrayTod(std::move(observations)), job, *executor, observer);
    made = made_of(*maps, job, *executor);
    write_observation_matrix(std::move(maps->matrix), job, *executor, observer, nullptr, nullptr);
    remove_checkpoints(*maps, job);
  }
  py::dict out = made[0].dict(job);
  py::list parts;
  for (std::size_t i = 1; i < made.size(); ++i) parts.append(made[i].dict(job));
  out["parts"] = parts;
  out["offsets"] =
      Doubles(static_cast<py::ssize_t>(maps->solution.x.size()), maps->solution.x.data());
  const auto firsts = maps->system->first_baselines();
  out["first_offsets"] = std::vector<std::size_t>(firsts.begin(), firsts.end());
  out["residuals"] = maps->summary.residuals;
  out["converged"] = maps->summary.converged;
  out["counts"] = counts_of(maps->summary);
  if (job.wcs) out["shape"] = std::vector<std::size_t>{job.wcs->rows, job.wcs->columns};
  out["warnings"] = warnings;
  return out;
}

}  // namespace

void add_maps(py::module_& m) {
  py::class_<Observed>(m, "Observed")
      .def(py::init<const std::string&, const Doubles&, double>())
      .def("set_plate", &Observed::set_plate)
      .def("set_azimuth", &Observed::set_azimuth)
      .def("set_masks", &Observed::set_masks)
      .def("set_shared_flags", &Observed::set_shared_flags)
      .def("set_stretches", &Observed::set_stretches)
      .def("add_doubles", &Observed::add<double>)
      .def("add_floats", &Observed::add<float>)
      .def("set_flags", &Observed::set_flags)
      .def("set_noise", &Observed::set_noise);
  m.def("make_maps", &make_maps);
  m.def("template_columns", &template_columns);
  m.attr("map_options") = keys_of(map_option_rows());
}

}  // namespace skyloom::python
