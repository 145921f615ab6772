// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/mapping/plain_system.hpp"

#include <utility>

namespace skyloom {
namespace {

std::size_t baselines_of(const PlainStream& stream) {
  const std::size_t n = stream.pixels.size();
  return stream.step == 0 ? 1 : (n + stream.step - 1) / stream.step;
}

std::size_t index_of(Pixel pixel) { return static_cast<std::size_t>(pixel); }

}  // namespace

template <class Use>
void PlainSystem::over_samples(const Use& use) const {
  std::size_t first = 0;
  for (std::size_t s = 0; s < streams_.size(); ++s) {
    const PlainStream& stream = streams_[s];
    for (std::size_t i = 0; i < stream.pixels.size(); ++i) {
      if (!stream.flags.empty() && stream.flags[i] != 0) continue;
      use(s, i, first + (stream.step == 0 ? 0 : i / stream.step));
    }
    first += baselines_of(stream);
  }
}

PlainSystem::PlainSystem(const Healpix& sky, std::vector<PlainStream> streams,
                         const SolveOptions& options)
    : sky_(sky), streams_(std::move(streams)) {
  std::vector<Symmetric3> weights(static_cast<std::size_t>(sky.pixels()));
  std::size_t baselines = 0;
  std::vector<double> lengths;
  for (const PlainStream& stream : streams_) {
    const std::size_t n = baselines_of(stream);
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t all = stream.pixels.size();
      lengths.push_back(static_cast<double>(
          stream.step == 0 ? all : std::min(stream.step, all - k * stream.step)));
    }
    baselines += n;
  }
  over_samples([&](std::size_t s, std::size_t i, std::size_t) {
    const PlainStream& stream = streams_[s];
    Symmetric3& to = weights[index_of(stream.pixels[i])];
    const double w = stream.weight, q = stream.q[i], u = stream.u[i];
    to.ii += w;
    to.iq += w * q;
    to.iu += w * u;
    to.qq += w * q * q;
    to.qu += w * q * u;
    to.uu += w * u * u;
  });
  inverses_.reserve(weights.size());
  for (const Symmetric3& m : weights) inverses_.push_back(invert(m, options.least_reciprocal));
  std::vector<double> good(baselines, 0.0);
  over_samples([&](std::size_t s, std::size_t i, std::size_t b) {
    if (inverses_[index_of(streams_[s].pixels[i])].inverse.ii > 0) good[b] += 1;
  });
  good_.resize(baselines);
  for (std::size_t b = 0; b < baselines; ++b) {
    good_[b] = good[b] > options.good_fraction * lengths[b] ? 1 : 0;
  }
}

double PlainSystem::value(std::size_t stream, std::size_t sample, std::size_t baseline,
                          std::span<const double> a) const {
  return a.empty() ? streams_[stream].signal[sample] : (good_[baseline] != 0 ? a[baseline] : 0);
}

std::vector<Stokes> PlainSystem::binned(std::span<const double> a) const {
  std::vector<Stokes> z(inverses_.size());
  over_samples([&](std::size_t s, std::size_t i, std::size_t b) {
    const PlainStream& stream = streams_[s];
    const double d = stream.weight * value(s, i, b, a);
    Stokes& to = z[index_of(stream.pixels[i])];
    to.i += d;
    to.q += d * stream.q[i];
    to.u += d * stream.u[i];
  });
  for (std::size_t p = 0; p < z.size(); ++p) z[p] = inverses_[p].inverse * z[p];
  return z;
}

std::vector<double> PlainSystem::projected(std::span<const double> a) const {
  const std::vector<Stokes> m = binned(a);
  std::vector<double> out(good_.size(), 0.0);
  over_samples([&](std::size_t s, std::size_t i, std::size_t b) {
    const PlainStream& stream = streams_[s];
    const std::size_t p = index_of(stream.pixels[i]);
    if (good_[b] == 0 || !(inverses_[p].inverse.ii > 0)) return;
    const double seen = m[p].i + stream.q[i] * m[p].q + stream.u[i] * m[p].u;
    out[b] += stream.weight * (value(s, i, b, a) - seen);
  });
  return out;
}

std::vector<Stokes> PlainSystem::map(std::span<const double> a) const {
  std::vector<Stokes> m = binned({});
  if (a.empty()) return m;
  const std::vector<Stokes> offsets = binned(a);
  for (std::size_t p = 0; p < m.size(); ++p) {
    m[p] = {m[p].i - offsets[p].i, m[p].q - offsets[p].q, m[p].u - offsets[p].u};
  }
  return m;
}

}  // namespace skyloom
