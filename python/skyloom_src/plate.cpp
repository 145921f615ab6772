// SPDX-License-Identifier: BSD-3-Clause
// What turns with a half-wave plate, of rows of arrays: harmonics that are taken out, demodulated
// streams.
#include <algorithm>
#include <optional>
#include <vector>

#include "bindings.hpp"
#include "loom/runtime/executors.hpp"
#include "skyloom/filters/demodulate.hpp"
#include "skyloom/filters/harmonics.hpp"

namespace skyloom::python {
namespace {

void require_rows(const std::vector<std::size_t>& rows, const py::array& of) {
  for (const std::size_t row : rows) {
    if (row >= extent(of, 0)) throw py::value_error("rows: expected those of the array");
  }
}

/// Calls use(i) for all rows, some at a time.
template <class Use>
void over_rows(std::size_t n, std::size_t threads, const Use& use) {
  const auto executor = make_executor(threads);
  const std::size_t at_once = 4 * executor->concurrency();
  for (std::size_t begin = 0; begin < n; begin += at_once) {
    look_for_signals();
    executor->run(std::min(at_once, n - begin), [&](std::size_t i) { use(begin + i); });
  }
}

/// From `rows` of the values; flags [row][sample] in the order of `rows`. Those of them, counted
/// in that order, that could not be fitted.
std::vector<std::size_t> subtract_harmonics(Doubles values, const std::vector<std::size_t>& rows,
                                            const Input<std::uint8_t>& flags, const Doubles& angles,
                                            std::size_t harmonics, std::size_t trend, bool detrend,
                                            std::size_t threads) {
  const std::size_t samples = extent(values, 1);
  require_shape(values, {0, samples}, "values");
  require_shape(flags, {rows.size(), samples}, "flags");
  require_shape(angles, {samples}, "angles");
  require_rows(rows, values);
  double* const to = values.mutable_data();
  std::vector<std::uint8_t> failed(rows.size(), 0), all(flags.data(), flags.data() + flags.size());
  HarmonicTemplate options{.harmonics = harmonics, .trend = trend};
  options.detrend = detrend;
  const std::span<const double> turns(angles.data(), samples);
  {
    const py::gil_scoped_release release;
    const HarmonicFilter filter(options, turns, std::vector<Stretch>{{0, samples}});
    over_rows(rows.size(), threads, [&](std::size_t i) {
      const bool done = filter.subtract(0, {to + rows[i] * samples, samples},
                                        {all.data() + i * samples, samples});
      failed[i] = done ? 0 : 1;
    });
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < failed.size(); ++i) {
    if (failed[i] != 0) out.push_back(i);
  }
  return out;
}

/// [row][slow, cosine, sine][kept sample] of signals and carriers [row][sample]; taps from the
/// middle outward.
Doubles demodulate(const Doubles& signals, const Doubles& cosines, const Doubles& sines,
                   const std::vector<double>& low_pass, const std::vector<double>& band_pass,
                   std::size_t skip, std::size_t threads) {
  const std::size_t n = extent(signals, 0), samples = extent(signals, 1);
  require_shape(signals, {0, samples}, "signals");
  require_shape(cosines, {n, samples}, "cosines");
  require_shape(sines, {n, samples}, "sines");
  if (low_pass.empty() || band_pass.empty() || skip == 0) {
    throw py::value_error("taps: expected some of each filter, and samples that are kept");
  }
  const Demodulator demodulator(low_pass, band_pass, skip);
  const std::size_t kept = demodulator.kept(samples);
  Doubles out({static_cast<py::ssize_t>(n), py::ssize_t{3}, static_cast<py::ssize_t>(kept)});
  double* const to = out.mutable_data();
  const py::gil_scoped_release release;
  over_rows(n, threads, [&](std::size_t i) {
    const auto row = [&](const Doubles& of) {
      return std::span<const double>(of.data() + i * samples, samples);
    };
    const auto stream = [&](std::size_t k) {
      return std::span<double>(to + (3 * i + k) * kept, kept);
    };
    DemodulationWork work;
    demodulator.apply(row(signals), {row(cosines), row(sines)}, work,
                      {stream(0), stream(1), stream(2)});
  });
  return out;
}

}  // namespace

void add_plate(py::module_& m) {
  m.def("subtract_harmonics", &subtract_harmonics, py::arg().noconvert(), py::arg(), py::arg(),
        py::arg(), py::arg(), py::arg(), py::arg(), py::arg());
  m.def("demodulate", &demodulate);
  m.attr("most_harmonics") = kMostHarmonics;
  m.attr("most_plate_trend") = kMostPlateTrend;
}

}  // namespace skyloom::python
