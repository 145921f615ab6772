// SPDX-License-Identifier: BSD-3-Clause
// Pointing as arrays: a satellite's boresight, pixels and weights of detectors.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/pointing/expand.hpp"

namespace skyloom::python {
namespace {

constexpr std::size_t kChunk = 4096;  // samples whose pointing is at hand

Doubles satellite(double spin_minutes, double spin_angle, double precession_minutes,
                  double precession_angle, double year_days, double rate, std::int64_t first,
                  std::size_t samples) {
  const Boresight boresight = satellite_boresight({.spin_minutes = spin_minutes,
                                                   .spin_angle_deg = spin_angle,
                                                   .precession_minutes = precession_minutes,
                                                   .precession_angle_deg = precession_angle,
                                                   .year_days = year_days},
                                                  rate, first, samples);
  Doubles out({static_cast<py::ssize_t>(samples), py::ssize_t{4}});
  double* const to = out.mutable_data();
  for (std::size_t i = 0; i < samples; ++i) {
    for (std::size_t k = 0; k < 4; ++k) to[4 * i + k] = boresight(k, i);
  }
  return out;
}

/// How detectors look: `rows` of quaternions, one a detector (all the same row: the boresight).
struct Look {
  Doubles quaternions;  ///< [row][sample][4]
  std::vector<std::size_t> rows;
  Doubles places;                        ///< [detector][4]
  std::vector<double> leakages, gammas;  ///< of each detector
  std::vector<double> plate;             ///< rad of each sample; empty: there is none
  std::vector<std::pair<std::size_t, std::size_t>> ranges;  ///< of samples, [first, end)
  std::size_t threads = 0;

  [[nodiscard]] std::size_t samples() const { return extent(quaternions, 1); }
  void check() const {
    const std::size_t n = rows.size();
    require_shape(quaternions, {0, 0, 4}, "quaternions");
    require_shape(places, {n, 4}, "quats");
    const bool few = std::any_of(rows.begin(), rows.end(),
                                 [&](std::size_t r) { return r >= extent(quaternions, 0); });
    const bool apart = std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
      return range.first > range.second || range.second > samples();
    });
    if (few || apart || leakages.size() != n || gammas.size() != n ||
        (!plate.empty() && plate.size() != samples())) {
      throw py::value_error("detectors and samples: numbers that do not fit");
    }
  }
};

/// Calls use(detector, first sample, pointing) for pieces of all ranges of all detectors.
template <class Use>
void over_pieces(const Look& look, std::int64_t nside, const Use& use) {
  const Healpix sky(nside);
  const auto executor = make_executor(look.threads);
  const std::size_t at_once = 4 * executor->concurrency();
  for (std::size_t begin = 0; begin < look.rows.size(); begin += at_once) {
    look_for_signals();
    executor->run(std::min(at_once, look.rows.size() - begin), [&](std::size_t task) {
      const std::size_t d = begin + task;
      const double* const place = look.places.data() + 4 * d;
      const Detector detector{.place = {place[0], place[1], place[2], place[3]},
                              .gamma = look.gammas[d],
                              .leakage = look.leakages[d]};
      const double* const from = look.quaternions.data() + 4 * look.samples() * look.rows[d];
      Boresight piece(look.plate.empty() ? kBoresightRows : kPlateRows, kChunk);
      std::vector<Pixel> pixels(kChunk);
      std::vector<double> q(kChunk), u(kChunk);
      for (const auto& [low, high] : look.ranges) {
        for (std::size_t first = low; first < high; first += kChunk) {
          const std::size_t n = std::min(kChunk, high - first);
          for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < 4; ++k) piece(k, i) = from[4 * (first + i) + k];
            if (!look.plate.empty()) set_plate(piece, i, look.plate[first + i]);
          }
          const Pointing pointing{{pixels.data(), n}, {q.data(), n}, {u.data(), n}};
          expand_pointing(piece, 0, detector, sky, pointing);
          use(d, first, pointing);
        }
      }
    });
  }
}

/// Into rows of [row][sample].
template <class Number>
void fill_pixels(const Look& look, std::int64_t nside, bool nested, py::array_t<Number> out,
                 const std::vector<std::size_t>& out_rows) {
  look.check();
  require_shape(out, {0, look.samples()}, "pixels");
  Number* const to = out.mutable_data();
  const std::size_t samples = look.samples();
  const Healpix sky(nside);
  const py::gil_scoped_release release;
  over_pieces(look, nside, [&](std::size_t d, std::size_t first, const Pointing& pointing) {
    Number* const row = to + out_rows[d] * samples + first;
    for (std::size_t i = 0; i < pointing.pixels.size(); ++i) {
      row[i] = nested ? pointing.pixels[i] : sky.to_ring(pointing.pixels[i]);
    }
  });
}

/// Into rows of [row][sample][I, Q, U] (or Q, U alone).
template <class Number>
void fill_weights(const Look& look, const std::vector<double>& calibrations, double sign_u,
                  py::array_t<Number> out, const std::vector<std::size_t>& out_rows) {
  look.check();
  const std::size_t columns = extent(out, 2), samples = look.samples();
  require_shape(out, {0, samples, columns}, "weights");
  if (columns < 2 || columns > 3) throw py::value_error("weights: expected QU or IQU");
  Number* const to = out.mutable_data();
  const py::gil_scoped_release release;
  over_pieces(look, 1, [&](std::size_t d, std::size_t first, const Pointing& pointing) {
    const double cal = calibrations[d];
    Number* row = to + (out_rows[d] * samples + first) * columns;
    for (std::size_t i = 0; i < pointing.pixels.size(); ++i, row += columns) {
      if (columns == 3) row[0] = static_cast<Number>(cal);
      row[columns - 2] = static_cast<Number>(cal * pointing.q[i]);
      row[columns - 1] = static_cast<Number>(cal * sign_u * pointing.u[i]);
    }
  });
}

/// Into rows of [row][sample][4]: the boresight's quaternions times each detector's.
void fill_quaternions(const Look& look, Doubles out, const std::vector<std::size_t>& out_rows) {
  look.check();
  const std::size_t samples = look.samples();
  require_shape(out, {0, samples, 4}, "quaternions");
  double* const to = out.mutable_data();
  const py::gil_scoped_release release;
  make_executor(look.threads)->run(look.rows.size(), [&](std::size_t d) {
    const double* const place = look.places.data() + 4 * d;
    const Quaternion own{place[0], place[1], place[2], place[3]};
    const double* const from = look.quaternions.data() + 4 * samples * look.rows[d];
    for (const auto& [low, high] : look.ranges) {
      for (std::size_t i = low; i < high; ++i) {
        const double* const b = from + 4 * i;
        const Quaternion q = Quaternion{b[0], b[1], b[2], b[3]} * own;
        const double found[] = {q.x, q.y, q.z, q.w};
        std::copy_n(found, 4, to + 4 * (out_rows[d] * samples + i));
      }
    }
  });
}

/// RING numbers of all pixels, in NESTED order.
Input<std::int64_t> ring_numbers(std::int64_t pixels) {
  const Healpix sky(nside_of(pixels));
  Input<std::int64_t> out(static_cast<py::ssize_t>(pixels));
  std::int64_t* const to = out.mutable_data();
  for (std::int64_t i = 0; i < pixels; ++i) to[i] = sky.to_ring(static_cast<Pixel>(i));
  return out;
}

}  // namespace

void add_pointing(py::module_& m) {
  m.def("satellite", &satellite);
  m.def("ring_numbers", &ring_numbers);
  py::class_<Look>(m, "Look").def(py::init(
      [](const Doubles& quaternions, std::vector<std::size_t> rows, const Doubles& places,
         std::vector<double> leakages, std::vector<double> gammas, std::vector<double> plate,
         std::vector<std::pair<std::size_t, std::size_t>> ranges, std::size_t threads) {
        return Look{
            quaternions,      std::move(rows),   places, std::move(leakages), std::move(gammas),
            std::move(plate), std::move(ranges), threads};
      }));
  m.def("fill_pixels", &fill_pixels<std::int64_t>, py::arg(), py::arg(), py::arg(),
        py::arg().noconvert(), py::arg());
  m.def("fill_pixels", &fill_pixels<std::int32_t>, py::arg(), py::arg(), py::arg(),
        py::arg().noconvert(), py::arg());
  m.def("fill_weights", &fill_weights<double>, py::arg(), py::arg(), py::arg(),
        py::arg().noconvert(), py::arg());
  m.def("fill_weights", &fill_weights<float>, py::arg(), py::arg(), py::arg(),
        py::arg().noconvert(), py::arg());
  m.def("fill_quaternions", &fill_quaternions, py::arg(), py::arg().noconvert(), py::arg());
}

}  // namespace skyloom::python
