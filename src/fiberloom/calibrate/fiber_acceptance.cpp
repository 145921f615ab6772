// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/calibrate/fiber_acceptance.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "fiberloom/calibrate/medians.hpp"
#include "fiberloom/spectrum/sky_fibers.hpp"
#include "loom/base/median.hpp"

namespace fiberloom::calibrate {
namespace {

/// The interval that a number lies in, or is nearest to, and how far it is along it.
struct Between {
  std::size_t node = 0;
  double share = 0;
  Between(const std::vector<double>& nodes, double at) {
    const auto above = std::upper_bound(nodes.begin() + 1, nodes.end() - 1, at);
    node = static_cast<std::size_t>(above - nodes.begin()) - 1;
    share = (at - nodes[node]) / (nodes[node + 1] - nodes[node]);
  }
};

/// Of the table [rows][columns] from `first` on.
double bilinear(const std::vector<double>& table, std::size_t first, std::size_t columns,
                const Between& row, const Between& column) {
  const auto along = [&](std::size_t r) {
    const double* here = table.data() + first + r * columns + column.node;
    return here[0] + column.share * (here[1] - here[0]);
  };
  const double below = along(row.node);
  return below + row.share * (along(row.node + 1) - below);
}

double as_share(double value) { return std::clamp(value, 0.0, 1.0); }

/// Of a table [radius][sigma][offset].
double of_galaxy(const FiberAcceptance& a, const std::vector<double>& table, double radius_as,
                 double sigma_um, double offset_um) {
  const Between size(a.radius, radius_as), row(a.sigma, sigma_um), column(a.offset, offset_um);
  const std::size_t plane = a.sigma.size() * a.offset.size();
  const double below = bilinear(table, size.node * plane, a.offset.size(), row, column);
  const double above = bilinear(table, (size.node + 1) * plane, a.offset.size(), row, column);
  return as_share(below + size.share * (above - below));
}

}  // namespace

double caught_of_point(const FiberAcceptance& a, double sigma_um, double offset_um) {
  return as_share(bilinear(a.point, 0, a.offset.size(), Between(a.sigma, sigma_um),
                           Between(a.offset, offset_um)));
}

double caught_of_disk(const FiberAcceptance& a, double radius_as, double sigma_um,
                      double offset_um) {
  return of_galaxy(a, a.disk, radius_as, sigma_um, offset_um);
}

double caught_of_bulge(const FiberAcceptance& a, double radius_as, double sigma_um,
                       double offset_um) {
  return of_galaxy(a, a.bulge, radius_as, sigma_um, offset_um);
}

double sigma_of_share(const FiberAcceptance& a, double share_of_point) {
  std::vector<double> shares;
  const std::vector<double> sigmas(a.sigma.rbegin(), a.sigma.rend());
  for (std::size_t i = a.sigma.size(); i-- > 0;) shares.push_back(a.point[i * a.offset.size()]);
  return interpolate(shares, sigmas, share_of_point);
}

double plate_scale(const FocalPlane& plane, double x_mm, double y_mm) {
  const double r2 = x_mm * x_mm + y_mm * y_mm;
  const auto square = [&](std::size_t i) { return plane.radius[i] * plane.radius[i]; };
  const auto scale = [&](std::size_t i) { return std::sqrt(plane.radial[i] * plane.azimuth[i]); };
  std::size_t k = 0;  // of the two nodes about it the first
  while (k + 2 < plane.radius.size() && square(k + 1) <= r2) ++k;
  if (plane.radius.size() < 2) return scale(0);
  return interpolate(std::array{square(k), square(k + 1)}, std::array{scale(k), scale(k + 1)}, r2);
}

std::optional<FiberPlaces> fiber_places(const Table& fibermap) {
  auto x = fibermap.column("FIBER_X"), y = fibermap.column("FIBER_Y");
  if (!x || !y) return std::nullopt;
  const std::vector<double> none(fibermap.rows, 0.0);
  const std::vector<double> dx = fibermap.column("DELTA_X").value_or(none);
  const std::vector<double> dy = fibermap.column("DELTA_Y").value_or(none);
  FiberPlaces out{std::move(*x), std::move(*y), {}};
  constexpr double kMicronOfMm = 1000;
  for (std::size_t f = 0; f < fibermap.rows; ++f) {
    if (!std::isfinite(out.x[f]) || !std::isfinite(out.y[f])) out.x[f] = out.y[f] = 0;
    const double off = std::hypot(dx[f], dy[f]) * kMicronOfMm;
    out.offset.push_back(std::isfinite(off) ? off : 0);
  }
  return out;
}

std::optional<std::vector<double>> flat_to_psf_flux(const Table& fibermap, const FocalPlane& plane,
                                                    double seeing_fwhm_as) {
  const std::optional<FiberPlaces> places = fiber_places(fibermap);
  if (!places) return std::nullopt;
  const std::vector<bool> on_sky = sky_fibers(fibermap).value_or(std::vector<bool>(fibermap.rows));
  constexpr double kLeastShare = 0.01;
  std::vector<double> out, known;
  for (std::size_t f = 0; f < fibermap.rows; ++f) {
    if (on_sky[f]) {
      out.push_back(1);
      continue;
    }
    const double scale = plate_scale(plane, places->x[f], places->y[f]);
    const double share =
        caught_of_point(plane.acceptance, sigma_of_fwhm(seeing_fwhm_as) * scale, places->offset[f]);
    // a lamp's light grows with the area of the sky that a fibre sees
    out.push_back(share > kLeastShare ? 1 / (share * scale * scale) : 0);
    if (out.back() > 0) known.push_back(out.back());
  }
  if (known.empty()) return out;
  const double middle = median_of(known);
  for (std::size_t f = 0; f < out.size(); ++f) {
    if (!on_sky[f]) out[f] /= middle;
  }
  return out;
}

std::optional<std::vector<double>> psf_to_fiber_flux(const Table& fibermap, const FocalPlane& plane,
                                                     double seeing_fwhm_as) {
  const std::optional<FiberPlaces> places = fiber_places(fibermap);
  if (!places) return std::nullopt;
  constexpr double kMostRadius = 2, kLeastShare = 0.01;
  constexpr double kFiber = 1.5, kSeeing = 1;  // arc seconds, of the imaging's fibre fluxes
  constexpr double kCaughtOfPoint = 0.789;     // there, of a seeing that is a Gaussian
  const auto types = fibermap.text_column("MORPHTYPE");
  const auto radii = fibermap.column("SHAPE_R");
  const FiberAcceptance& a = plane.acceptance;
  const double nominal = sigma_of_fwhm(kSeeing) * plane.fiber_um / kFiber;
  const double norm = kCaughtOfPoint / caught_of_point(a, nominal, 0);
  std::vector<double> out;
  for (std::size_t f = 0; f < fibermap.rows; ++f) {
    const double sigma =
        sigma_of_fwhm(seeing_fwhm_as) * plate_scale(plane, places->x[f], places->y[f]);
    const double offset = places->offset[f], point = caught_of_point(a, sigma, offset);
    const bool extended = types && (*types)[f] != "PSF";
    const double known = radii && std::isfinite((*radii)[f]) ? (*radii)[f] : 0;
    const double radius = std::min(known, kMostRadius);
    const double now = extended ? caught_of_disk(a, radius, sigma, offset) : point;
    const double there =
        extended ? caught_of_disk(a, radius, nominal, 0) : caught_of_point(a, nominal, 0);
    const double factor = point * norm * there / now;  // tables may say anything
    out.push_back(now > kLeastShare && std::isfinite(factor) ? factor : 0);
  }
  return out;
}

}  // namespace fiberloom::calibrate
