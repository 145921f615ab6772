// SPDX-License-Identifier: BSD-3-Clause
// A against areas of polygons, A^T against A.
#include "tomoloom/reconstruct/ray_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

#include "loom/base/rng.hpp"
#include "loom/runtime/executors.hpp"

namespace tomoloom {
namespace {

struct Corner {
  double across, along;
};

/// What is left of a polygon where sign (across - at) <= 0.
std::vector<Corner> cut(const std::vector<Corner>& polygon, double at, double sign) {
  std::vector<Corner> out;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Corner a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    const double from = sign * (a.across - at), to = sign * (b.across - at);
    if (from <= 0) out.push_back(a);
    if ((from < 0 && to > 0) || (from > 0 && to < 0)) {
      const double t = from / (from - to);
      out.push_back({a.across + t * (b.across - a.across), a.along + t * (b.along - a.along)});
    }
  }
  return out;
}

/// Area of the pixel (u, v) within bin x: the square's corners in the detector's frame, clipped.
double overlap(const Geometry& geometry, std::size_t angle, double u, double v, double x) {
  const double c = std::cos(geometry.theta[angle]), s = std::sin(geometry.theta[angle]);
  std::vector<Corner> square;
  for (const auto& [du, dv] : {std::array{-.5, -.5}, {.5, -.5}, {.5, .5}, {-.5, .5}}) {
    const double a = u + du, b = v + dv;
    square.push_back({geometry.centre + a * c + b * s, b * c - a * s});
  }
  square = cut(cut(square, x + 0.5, 1), x - 0.5, -1);
  double area = 0;
  for (std::size_t i = 0; i < square.size(); ++i) {
    const Corner a = square[i], b = square[(i + 1) % square.size()];
    area += (a.across * b.along - b.across * a.along) / 2;
  }
  return std::abs(area);
}

Geometry some_geometry(std::size_t columns, std::size_t angles, double centre) {
  Geometry geometry{.columns = columns, .theta = {}, .centre = centre};
  for (std::size_t a = 0; a < angles; ++a) {
    geometry.theta.push_back(std::numbers::pi * static_cast<double>(a) /
                             static_cast<double>(angles));
  }
  geometry.theta.push_back(std::numbers::pi / 4);  // a shadow without a flat top
  geometry.theta.push_back(std::numbers::pi / 2);
  geometry.theta.push_back(4.0);  // beyond the half turn
  return geometry;
}

template <class Real>
std::vector<Real> random_numbers(std::size_t n, std::uint64_t seed) {
  const CounterRng rng(seed, 0);
  std::vector<Real> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = static_cast<Real>(static_cast<double>(rng.block(i)[0]) / 4294967296.0 - 0.5);
  }
  return out;
}

/// <A x, y>, <x, A^T y>, |A x|^2 and |y|^2.
struct Products {
  double left = 0, right = 0, a = 0, b = 0;
  [[nodiscard]] double mismatch() const { return std::abs(left - right) / std::sqrt(a * b); }
};

/// Of random numbers, those of each slice of a group (of a stack, of all in the same place).
template <class Real>
std::array<Products, kRaySlices<Real>> products_of(const Geometry& geometry, Isa isa) {
  constexpr std::size_t kSlices = kRaySlices<Real>;
  const RayPair<Real> pair(geometry, isa);
  const auto x = random_numbers<Real>(pair.slice_size(), 1);
  const auto y = random_numbers<Real>(pair.sinogram_size(), 2);
  std::vector<Real> ax(y.size()), aty(x.size());
  SerialExecutor serial;
  pair.project(x.data(), ax.data(), serial);
  pair.back_project(y.data(), aty.data(), serial);
  std::array<Products, kSlices> out;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto p = static_cast<double>(ax[i]), q = static_cast<double>(y[i]);
    Products& of = out[i % kSlices];
    of.left += p * q;
    of.a += p * p;
    of.b += q * q;
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i % kSlices].right += static_cast<double>(x[i]) * static_cast<double>(aty[i]);
  }
  return out;
}

/// |<A x, y> - <x, A^T y>| in units of |A x| |y|, the largest over the slices of a group.
template <class Real>
double mismatch(const Geometry& geometry, Isa isa) {
  double worst = 0;
  for (const Products& each : products_of<Real>(geometry, isa))
    worst = std::max(worst, each.mismatch());
  return worst;
}

/// The same of all slices together.
template <class Real>
double mismatch_of_all(const Geometry& geometry, Isa isa) {
  Products all;
  for (const Products& each : products_of<Real>(geometry, isa)) {
    all.left += each.left;
    all.right += each.right;
    all.a += each.a;
    all.b += each.b;
  }
  return all.mismatch();
}

TEST(RayPair, ProjectsTheAreaOfEachPixelInEachBin) {
  for (const double centre : {5.0, 3.3}) {
    const Geometry geometry = some_geometry(11, 13, centre);
    const RayPair<double> pair(geometry);
    constexpr std::size_t kSlices = kRaySlices<double>;
    SerialExecutor serial;
    std::vector<double> slice(pair.slice_size()), sinogram(pair.sinogram_size());
    for (const auto& [row, column] : {std::array{5, 5}, {0, 0}, {2, 9}, {10, 3}}) {
      std::fill(slice.begin(), slice.end(), 0);
      const auto pixel = static_cast<std::size_t>(11 * row + column) * kSlices;
      slice[pixel + 3] = 2;  // of slice 3 alone
      pair.project(slice.data(), sinogram.data(), serial);
      for (std::size_t a = 0; a < pair.angles(); ++a) {
        for (std::size_t x = 0; x < 11; ++x) {
          const double want =
              2 * overlap(geometry, a, column - 5.0, 5.0 - row, static_cast<double>(x));
          EXPECT_NEAR(sinogram[(a * 11 + x) * kSlices + 3], want, 1e-13) << a << " " << x;
          EXPECT_EQ(sinogram[(a * 11 + x) * kSlices + 4], 0);
        }
      }
    }
  }
}

TEST(RayPair, IsAMatrixAndItsTranspose) {
  for (const std::size_t columns : {2U, 17U, 40U}) {
    for (const double off : {0.0, 0.37, -static_cast<double>(columns) / 3}) {
      const Geometry geometry =
          some_geometry(columns, 21, (static_cast<double>(columns) - 1) / 2 + off);
      for (const Isa isa : available_isas()) {
        EXPECT_LT(mismatch<double>(geometry, isa), 1e-14) << isa_name(isa) << columns;
        EXPECT_LT(mismatch<float>(geometry, isa), 1e-6) << isa_name(isa) << columns;
      }
    }
  }
}

/// Slices of a stack are pieces of linear functions along the axis.
TEST(RayPair, OfATiltedAxisProjectsEachPixelToTheRowsThatItsRaysCross) {
  constexpr std::size_t kSlices = kRaySlices<double>, kWide = 11;
  for (const double tilt : {0.2, -0.6}) {
    Geometry geometry = some_geometry(kWide, 13, 4.8);
    geometry.tilt = tilt;
    const RayPair<double> pair(geometry);
    const std::size_t groups = pair.stack().groups, all = groups * kSlices;
    ASSERT_GT(groups, 1U);
    SerialExecutor serial;
    std::vector<double> slice(pair.slice_size()), sinogram(pair.sinogram_size());
    for (const auto& [row, column, z] :
         {std::array{5, 5, 20}, {0, 0, 9}, {2, 9, 16}, {10, 3, 15}, {0, 10, 0}}) {
      const auto place = static_cast<std::size_t>(z);
      const auto pixel = static_cast<std::size_t>(11 * row + column);
      std::fill(slice.begin(), slice.end(), 0);
      slice[(place / kSlices * kWide * kWide + pixel) * kSlices + place % kSlices] = 2;
      pair.project(slice.data(), sinogram.data(), serial);
      for (std::size_t a = 0; a < pair.angles(); ++a) {
        const double u = column - 5.0, v = 5.0 - row, theta = geometry.theta[a];
        const double down = (v * std::cos(theta) - u * std::sin(theta)) * std::sin(tilt);
        for (std::size_t x = 0; x < kWide; ++x) {
          const double area = overlap(geometry, a, u, v, static_cast<double>(x));
          for (std::size_t r = 0; r < all; ++r) {
            // the last slice has the first one behind it
            const double apart =
                std::remainder(static_cast<double>(r) - z - down, static_cast<double>(all));
            const double want = 2 * area * std::max(0.0, 1 - std::abs(apart)) / std::cos(tilt);
            ASSERT_NEAR(sinogram[((a * groups + r / kSlices) * kWide + x) * kSlices + r % kSlices],
                        want, 1e-12)
                << a << " " << x << " " << r;
          }
        }
      }
    }
  }
}

TEST(RayPair, OfATiltedAxisIsAMatrixAndItsTranspose) {
  for (const double tilt : {1e-3, 0.1, -0.7}) {
    Geometry geometry = some_geometry(17, 21, 7.7);
    geometry.tilt = tilt;
    for (const Isa isa : available_isas()) {
      EXPECT_LT(mismatch_of_all<double>(geometry, isa), 1e-14) << isa_name(isa) << tilt;
      EXPECT_LT(mismatch_of_all<float>(geometry, isa), 1e-6) << isa_name(isa) << tilt;
    }
  }
}

TEST(RayPair, DoesNotDependOnThreads) {
  const RayPair<float> pair(some_geometry(37, 50, 18.2));
  const auto x = random_numbers<float>(pair.slice_size(), 3);
  std::vector<float> one(pair.sinogram_size()), three(one), back(x.size()), more(x.size());
  SerialExecutor serial;
  const auto threads = make_executor(3);
  pair.project(x.data(), one.data(), serial);
  pair.project(x.data(), three.data(), *threads);
  EXPECT_EQ(three, one);
  pair.back_project(one.data(), back.data(), serial);
  pair.back_project(one.data(), more.data(), *threads);
  EXPECT_EQ(more, back);
}

}  // namespace
}  // namespace tomoloom
