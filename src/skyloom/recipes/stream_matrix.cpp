// SPDX-License-Identifier: BSD-3-Clause
// A detector's part of the observation matrix, and its way between ranks.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "loom/base/error.hpp"
#include "skyloom/filters/joint.hpp"
#include "skyloom/noise/noise_model.hpp"
#include "skyloom/recipes/obs_matrix.hpp"

namespace skyloom {
namespace {

/// Numbers in a row of bytes, and back.
class Packer {
 public:
  template <class T>
  void put(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::uint64_t n = values.size();
    add(&n, sizeof n);
    add(values.data(), n * sizeof(T));
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add(const void* from, std::size_t n) {
    const auto* const bytes = static_cast<const std::byte*>(from);
    bytes_.insert(bytes_.end(), bytes, bytes + n);
  }
  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& bytes) : bytes_(bytes) {}
  [[nodiscard]] bool more() const { return at_ < bytes_.size(); }
  template <class T>
  [[nodiscard]] std::vector<T> get() {
    std::uint64_t n = 0;
    take(&n, sizeof n);
    std::vector<T> out(n);
    take(out.data(), n * sizeof(T));
    return out;
  }

 private:
  void take(void* to, std::size_t n) {
    if (n > 0) std::memcpy(to, bytes_.data() + at_, n);
    at_ += n;
  }
  const std::vector<std::byte>& bytes_;
  std::size_t at_ = 0;
};

std::vector<std::byte> packed(const StreamMatrix& of) {
  Packer to;
  to.put(std::vector<double>{of.weight});
  to.put(of.pixels);
  to.put(of.counts);
  to.put(std::vector<std::uint64_t>{of.factors.size()});
  for (const PixelFactor& factor : of.factors) {
    to.put(factor.pixels);
    to.put(std::vector<std::uint64_t>{factor.rank});
    to.put(factor.rows);
  }
  return to.take();
}

StreamMatrix unpacked(Unpacker& from) {
  StreamMatrix out;
  out.weight = from.get<double>().front();
  out.pixels = from.get<Pixel>();
  out.counts = from.get<Symmetric3>();
  out.factors.resize(from.get<std::uint64_t>().front());
  for (PixelFactor& factor : out.factors) {
    factor.pixels = from.get<std::uint32_t>();
    factor.rank = from.get<std::uint64_t>().front();
    factor.rows = from.get<double>();
  }
  return out;
}

}  // namespace

StreamMatrix stream_matrix(const TodSource& source, std::size_t number, const Boresight& boresight,
                           std::size_t place, const Signal& signal, const SkyGrid& grid,
                           SamplePointing& pointing) {
  const Observation& observation = source.observation(number);
  const Detector& detector = observation.plane.detectors[place];
  const std::size_t n = observation.samples;
  StreamMatrix out;
  out.weight = sample_weight(detector, observation.plane.rate_hz);
  std::vector<std::uint8_t> good = good_samples(signal.values, signal.flags);
  const auto [templates, fit] =
      source.joint(number)->fit(good, source.own_templates(number, boresight, place));
  if (!fit->fitted() || !(out.weight > 0)) return out;
  std::vector<Pixel> pixels(n);
  std::vector<double> q(n), u(n);
  pointing.over(boresight, detector, grid, 0, n, [&](std::size_t first, const Pointing& at) {
    std::copy(at.pixels.begin(), at.pixels.end(),
              pixels.begin() + static_cast<std::ptrdiff_t>(first));
    std::copy(at.q.begin(), at.q.end(), q.begin() + static_cast<std::ptrdiff_t>(first));
    std::copy(at.u.begin(), at.u.end(), u.begin() + static_cast<std::ptrdiff_t>(first));
  });
  for (std::size_t i = 0; i < n; ++i) {
    if (good[i] == 0) continue;
    if (pixels[i] < 0) {  // the filter sees what no column of the matrix stands for
      throw Error(Status::kUsage, observation.name + ", " + detector.name +
                                      ": samples outside --wcs, which --obs-matrix has no place "
                                      "for: expected a grid that holds all of them");
    }
    out.pixels.push_back(pixels[i]);
  }
  std::sort(out.pixels.begin(), out.pixels.end());
  out.pixels.erase(std::unique(out.pixels.begin(), out.pixels.end()), out.pixels.end());
  out.counts.resize(out.pixels.size());
  std::vector<std::uint32_t> numbers(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (good[i] == 0) continue;
    const auto at = std::lower_bound(out.pixels.begin(), out.pixels.end(), pixels[i]);
    numbers[i] = static_cast<std::uint32_t>(at - out.pixels.begin());
    out.counts[numbers[i]] += Symmetric3{1, q[i], u[i], q[i] * q[i], q[i] * u[i], u[i] * u[i]};
  }
  out.factors = pixel_factors(*templates, *fit, {numbers, q, u, good}, out.pixels.size());
  return out;
}

void gather_streams(std::vector<StreamMatrix>& streams, RankCompany& company) {
  std::vector<std::byte> mine;
  if (!company.first()) {
    for (StreamMatrix& of : streams) {
      const std::vector<std::byte> one = packed(of);
      mine.insert(mine.end(), one.begin(), one.end());
      of = {};
    }
    streams.clear();
  }
  company.collect(std::move(mine), [&](const std::vector<std::byte>& bytes) {
    Unpacker from(bytes);
    while (from.more()) streams.push_back(unpacked(from));
  });
}

}  // namespace skyloom
