// SPDX-License-Identifier: BSD-3-Clause
// Maps of arrays, and arrays of a simulated satellite or of scans from the ground.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "loom/base/error.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/recipes/map_option_table.hpp"
#include "skyloom/recipes/schedule_option_table.hpp"
#include "skyloom/recipes/simulate_option_table.hpp"
#include "skyloom/recipes/simulation.hpp"
#include "skyloom/recipes/solve_maps.hpp"
#include "skyloom/tod/array_tod.hpp"
#include "skyloom/tod/simulated_tod.hpp"

namespace skyloom::python {
namespace {

template <class Job>
Job job_of(std::span<const OptionRow<Job>> rows, const py::dict& options) {
  Job job;
  for (const auto& [key, value] : options) {
    const auto name = py::cast<std::string>(key);
    for (const std::string& text : py::cast<std::vector<std::string>>(value)) {
      set_option(rows, job, name, text);
    }
  }
  return job;
}

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

/// Pixels of all hit tiles in growing order: where each stands. Those of a flat grid are numbered
/// row by row.
struct Place {
  Pixel pixel;
  std::size_t hit_tile, number;
};

std::vector<Place> places_of(const SolvedMaps& maps, const SkyGrid& grid) {
  std::vector<Place> out;
  const auto tiles = maps.system->hit_tiles();
  for (std::size_t h = 0; h < tiles.size(); ++h) {
    const auto tile = static_cast<std::size_t>(tiles[h]);
    const auto pixels = maps.sums.whole.tile(tile);
    for (std::size_t p = 0; p < pixels.size(); ++p) {
      Pixel pixel = maps.sums.whole.tiles().pixel(tile, pixels[p].place);
      if (const WcsGrid* const flat = grid.wcs()) {
        const GridCell at = grid.cell(pixel);
        pixel = static_cast<Pixel>(at.row * flat->columns + at.column);
      }
      out.push_back({pixel, h, p});
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

void put_sums(const SolvedMaps& maps, const MapJob& job, const std::vector<Place>& places,
              py::dict& out) {
  const std::size_t n = places.size();
  const auto rows = static_cast<py::ssize_t>(n);
  Input<std::int64_t> pixels(rows), hits(rows);
  Doubles rcond(rows), invcov({py::ssize_t{6}, rows}), cov({py::ssize_t{6}, rows});
  Doubles signal({py::ssize_t{3}, rows});
  const auto tiles = maps.system->hit_tiles();
  for (std::size_t i = 0; i < n; ++i) {
    const auto tile = static_cast<std::size_t>(tiles[places[i].hit_tile]);
    const PixelSums& at = maps.sums.whole.tile(tile)[places[i].number];
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
           {"left_baselines", s.left_baselines}}) {
    out[name] = count;
  }
  return out;
}

py::dict make_maps(const py::list& observed, const py::dict& options, std::size_t threads) {
  const auto job = job_of(map_option_rows(), options);
  if (job.split.by != SplitBy::kNothing) throw py::value_error("split: not with arrays");
  std::vector<ArrayObservation> observations;
  for (const py::handle& one : observed) {
    observations.push_back(one.cast<const Observed&>().data());
  }
  std::vector<std::string> warnings;
  Observer observer;
  observer.message = [&](LogLevel level, const std::string& text) {
    if (level == LogLevel::kWarning) warnings.push_back(text);
  };
  observer.stop_requested = [] {
    look_for_signals();
    return false;
  };
  std::unique_ptr<SolvedMaps> maps;
  std::vector<Place> places;
  TileMaps binned, destriped;
  {
    const py::gil_scoped_release release;
    const auto executor = make_executor(threads);
    maps = solve_maps(ArrayTod(std::move(observations)), job, *executor, observer);
    places = places_of(*maps, grid_of(job));
    binned = maps->system->maps(nullptr, *executor);
    if (!job.binned_only) {
      destriped = maps->summary.gls ? std::move(maps->gls)
                                    : maps->system->maps(&maps->solution.x, *executor);
    }
  }
  py::dict out;
  put_sums(*maps, job, places, out);
  out["binned"] = stokes_of(places, binned);
  if (!job.binned_only) out["destriped"] = stokes_of(places, destriped);
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

/// `sky`: [pixel, NESTED][I, Q, U], or none of them.
std::shared_ptr<const SkyMap> sky_of(const Input<float>& sky) {
  if (sky.size() == 0) return nullptr;
  require_shape(sky, {0, 3}, "sky");
  auto out = std::make_shared<SkyMap>();
  out->pixels = Healpix(nside_of(static_cast<std::int64_t>(extent(sky, 0))));
  const auto from = values(sky);
  out->values.assign(from.begin(), from.end());
  return out;
}

py::dict observation_of(const SimulatedTod& source, std::size_t number, std::size_t threads) {
  const Observation& about = source.observation(number);
  const std::size_t n = about.samples, detectors = about.plane.detectors.size();
  Doubles signal({static_cast<py::ssize_t>(detectors), static_cast<py::ssize_t>(n)});
  Doubles quaternions({static_cast<py::ssize_t>(n), py::ssize_t{4}});
  double* const to = signal.mutable_data();
  const Boresight boresight = source.boresight(number);
  {
    const py::gil_scoped_release release;
    const auto executor = make_executor(threads);
    source.prepare(number, boresight, *executor, {});
    const std::size_t pairs = (detectors + 1) / 2, at_once = 4 * executor->concurrency();
    for (std::size_t begin = 0; begin < pairs; begin += at_once) {
      look_for_signals();
      executor->run(std::min(at_once, pairs - begin), [&](std::size_t i) {
        const std::size_t first = 2 * (begin + i),
                          count = std::min<std::size_t>(2, detectors - first);
        std::vector<std::uint8_t> flags(2 * n);
        Signal signals[2];
        for (std::size_t d = 0; d < count; ++d) {
          signals[d] = {{to + (first + d) * n, n}, {flags.data() + d * n, n}};
        }
        source.read(number, boresight, first, {signals, count});
      });
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < 4; ++k) quaternions.mutable_data()[4 * i + k] = boresight(k, i);
  }
  py::list weights, noise;
  for (std::size_t d = 0; d < detectors; ++d) {
    weights.append(sample_weight(about.plane.detectors[d], about.plane.rate_hz));
    const NoisePsd psd = source.noise(number, d);
    noise.append(py::make_tuple(psd.frequency_hz, psd.psd));
  }
  py::dict out;
  out["weights"] = weights;
  out["noise"] = noise;
  out["name"] = about.name;
  out["start"] = about.start_s;
  out["signal"] = signal;
  out["boresight"] = quaternions;
  if (const auto motion = source.motion(number)) {
    Input<std::uint8_t> flags(static_cast<py::ssize_t>(n), motion->flags.data());
    out["shared_flags"] = flags;
    out["shared_mask"] = kSharedMask;
    if (!about.stretches.empty()) {
      py::list intervals;
      for (const Stretch& one : about.stretches) {
        intervals.append(py::make_tuple(one.first, one.end));
      }
      out["intervals"] = intervals;
    }
  }
  if (has_plate(boresight)) {
    out["hwp_angle"] = Doubles(static_cast<py::ssize_t>(n), boresight.row(kPlateAngle));
  }
  return out;
}

/// `files`: schedule, schedule_text, focal_plane, where they are there; `ground`: a map of the
/// horizon as `sky` is one.
py::dict simulate(const Input<float>& sky, const py::dict& options, const py::dict& files,
                  const Input<float>& ground, std::size_t threads) {
  auto job = job_of(simulate_option_rows(), options);
  const auto file = [&](const char* name) {
    return files.contains(name) ? files[name].cast<std::string>() : std::string();
  };
  job.schedule = file("schedule");
  job.focal_plane = file("focal_plane");
  if (const std::string text = file("schedule_text"); !text.empty()) {
    job.simulation.schedule =
        std::make_shared<const GroundSchedule>(parse_schedule(text, "schedule"));
  }
  job.simulation.ground.map = sky_of(ground);
  const SimulatedTod source(simulation_of(job), sky_of(sky));
  py::dict out;
  py::list observations;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    observations.append(observation_of(source, i, threads));
  }
  out["observations"] = observations;
  out["rate"] = job.simulation.plane.rate_hz;
  out["detectors"] = detectors_of(source.observation(0).plane);
  return out;
}

std::string schedule(const py::dict& options) {
  const auto job = job_of(schedule_option_rows(), options);
  const py::gil_scoped_release release;
  Observer observer;
  observer.stop_requested = [] {
    look_for_signals();
    return false;
  };
  return schedule_text(make_schedule(job, observer));
}

template <class Job>
py::list keys_of(std::span<const OptionRow<Job>> rows) {
  py::list keys;
  for (const auto& row : rows) keys.append(std::string(row.key));
  return keys;
}

}  // namespace

void add_maps(py::module_& m) {
  py::class_<Observed>(m, "Observed")
      .def(py::init<const std::string&, const Doubles&, double>())
      .def("set_plate", &Observed::set_plate)
      .def("set_masks", &Observed::set_masks)
      .def("set_shared_flags", &Observed::set_shared_flags)
      .def("set_stretches", &Observed::set_stretches)
      .def("add_doubles", &Observed::add<double>)
      .def("add_floats", &Observed::add<float>)
      .def("set_flags", &Observed::set_flags)
      .def("set_noise", &Observed::set_noise);
  m.def("make_maps", &make_maps);
  m.def("simulate", &simulate);
  m.def("schedule", &schedule);
  m.attr("map_options") = keys_of(map_option_rows());
  m.attr("simulate_options") = keys_of(simulate_option_rows());
  m.attr("schedule_options") = keys_of(schedule_option_rows());
}

}  // namespace skyloom::python
