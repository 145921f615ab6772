// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/horizon.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "skyloom/ground/erfa_time.hpp"

namespace skyloom {
namespace {

constexpr int kAberrationRounds = 3, kBendingRounds = 3;  // each gains four digits

Direction to_direction(const double v[3]) { return {v[0], v[1], v[2]}; }

void normalise(double v[3]) {
  double length = 0;
  eraPn(v, &length, v);
}

/// What is natural direction `from`, as an observer that moves sees it; and back.
void aberrate(const double from[3], const double velocity[3], double sun_au, double bm1,
              double to[3]) {
  double natural[3] = {from[0], from[1], from[2]},
         moving[3] = {velocity[0], velocity[1], velocity[2]};
  eraAb(natural, moving, sun_au, bm1, to);
}
void bend(const double from[3], const double from_sun[3], double sun_au, double to[3]) {
  double source[3] = {from[0], from[1], from[2]}, sun[3] = {from_sun[0], from_sun[1], from_sun[2]};
  eraLdsun(source, sun, sun_au, to);
}

/// The direction that `forward` turns into `target`, by subtracting what it adds.
template <class Forward>
void undo(const Forward& forward, const double target[3], int rounds, double out[3]) {
  double shift[3] = {0, 0, 0}, ahead[3];
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < 3; ++k) out[k] = target[k] - shift[k];
    normalise(out);
    forward(out, ahead);
    for (int k = 0; k < 3; ++k) shift[k] = ahead[k] - out[k];
  }
  for (int k = 0; k < 3; ++k) out[k] = target[k] - shift[k];
  normalise(out);
}

Quaternion mixed(const Quaternion& a, const Quaternion& b, double share) {
  const double cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  const double sign = cosine < 0 ? -1 : 1;
  const double angle = std::acos(std::min(1.0, std::fabs(cosine)));
  double left = 1 - share, right = share;
  if (angle > 1e-9) {
    left = std::sin(left * angle) / std::sin(angle);
    right = std::sin(right * angle) / std::sin(angle);
  }
  right *= sign;
  return normalised({left * a.x + right * b.x, left * a.y + right * b.y, left * a.z + right * b.z,
                     left * a.w + right * b.w});
}

}  // namespace

Direction horizon_direction(const HorizonPlace& place) noexcept {
  const double flat = std::cos(place.elevation);
  return {flat * std::cos(place.azimuth), -flat * std::sin(place.azimuth),
          std::sin(place.elevation)};
}

HorizonPlace horizon_place(const Direction& direction) noexcept {
  const double azimuth = std::atan2(-direction.y, direction.x);
  return {azimuth < 0 ? azimuth + 2 * std::numbers::pi : azimuth,
          std::atan2(direction.z, std::hypot(direction.x, direction.y))};
}

double angle_between(const Direction& a, const Direction& b) noexcept {
  const double x = a.y * b.z - a.z * b.y, y = a.z * b.x - a.x * b.z, z = a.x * b.y - a.y * b.x;
  return std::atan2(std::sqrt(x * x + y * y + z * z), a.x * b.x + a.y * b.y + a.z * b.z);
}

Direction rotated(const Quaternion& q, const Direction& v) noexcept {
  const double tx = 2 * (q.y * v.z - q.z * v.y), ty = 2 * (q.z * v.x - q.x * v.z),
               tz = 2 * (q.x * v.y - q.y * v.x);
  return {v.x + q.w * tx + q.y * tz - q.z * ty, v.y + q.w * ty + q.z * tx - q.x * tz,
          v.z + q.w * tz + q.x * ty - q.y * tx};
}

Quaternion quaternion_of(const Direction& x, const Direction& y, const Direction& z) noexcept {
  // the largest of the four squares decides the branch, so that no digit is lost
  const double trace = x.x + y.y + z.z;
  Quaternion q;
  if (trace >= std::max({x.x, y.y, z.z})) {
    q = {y.z - z.y, z.x - x.z, x.y - y.x, 1 + trace};
  } else if (x.x >= y.y && x.x >= z.z) {
    q = {1 + x.x - y.y - z.z, x.y + y.x, x.z + z.x, y.z - z.y};
  } else if (y.y >= z.z) {
    q = {x.y + y.x, 1 - x.x + y.y - z.z, y.z + z.y, z.x - x.z};
  } else {
    q = {x.z + z.x, y.z + z.y, 1 - x.x - y.y + z.z, x.y - y.x};
  }
  return normalised(q);
}

Quaternion along_great_circle(const Direction& a, const Direction& b) noexcept {
  // sin and cos of half the angle: (a x b, 1 + a . b), normalised
  return normalised({a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x,
                     1 + a.x * b.x + a.y * b.y + a.z * b.z});
}

std::string fault_of(const Site& site) {
  if (std::fabs(site.latitude_deg) <= 90 && std::fabs(site.longitude_deg) <= 360 &&
      std::fabs(site.height_m) < 1e5) {
    return {};
  }
  return print(
      "site at latitude %g, longitude %g degrees, height %g m: expected a place on the "
      "Earth",
      site.latitude_deg, site.longitude_deg, site.height_m);
}

Horizon::Horizon(const Site& site, double first_time, double last_time, double node_step_s)
    : site_(site) {
  if (!(first_time >= kFirstTime && last_time <= kLastTime && first_time <= last_time)) {
    throw Error(Status::kUsage, print("times from %.17g to %.17g: expected Unix times of 1960 to "
                                      "2100",
                                      first_time, last_time));
  }
  const std::string fault = fault_of(site);
  if (!fault.empty()) throw Error(Status::kUsage, fault);
  first_ = first_time;
  const double count = std::ceil((last_time - first_time) / node_step_s);
  const std::size_t steps = std::max<std::size_t>(1, static_cast<std::size_t>(count));
  step_ = std::max(1e-3, (last_time - first_time) / static_cast<double>(steps));
  for (std::size_t i = 0; i <= steps; ++i) {
    nodes_.push_back(node(first_time + static_cast<double>(i) * step_));
  }
}

Horizon::Node Horizon::node(double time) const {
  constexpr double kNoAir = 0, kWavelength = 1;  // refraction is not asked for
  eraASTROM at;
  double equation_of_origins = 0;
  const JulianDate utc = utc_date(time);
  // +1, a "dubious year": leap seconds that nobody knows yet
  const int status =
      eraApco13(utc.day, utc.part, site_.ut1_minus_utc_s, site_.longitude_deg * ERFA_DD2R,
                site_.latitude_deg * ERFA_DD2R, site_.height_m, site_.pole_x_arcsec * ERFA_DAS2R,
                site_.pole_y_arcsec * ERFA_DAS2R, kNoAir, kNoAir, kNoAir, kWavelength, &at,
                &equation_of_origins);
  if (status < 0) throw Error(Status::kInternal, print("ERFA takes no Unix time %.17g", time));
  Node out{};
  Direction axes[3];
  const double places[3][2] = {
      {0, ERFA_DPI / 2}, {-ERFA_DPI / 2, ERFA_DPI / 2}, {0, 0}};  // azimuth, from the zenith
  for (int k = 0; k < 3; ++k) {
    double ra = 0, dec = 0, cirs[3], gcrs[3];
    eraAtoiq("A", places[k][0], places[k][1], &at, &ra, &dec);
    eraS2c(ra, dec, cirs);
    eraTrxp(at.bpn, cirs, gcrs);
    axes[k] = to_direction(gcrs);
  }
  out.turn = quaternion_of(axes[0], axes[1], axes[2]);
  std::copy(at.v, at.v + 3, out.velocity);
  std::copy(at.eh, at.eh + 3, out.from_sun);
  out.sun_au = at.em;
  out.bm1 = at.bm1;
  const JulianDate tt = terrestrial_date(time);
  double earth_sun[2][3], earth[2][3];
  eraEpv00(tt.day, tt.part, earth_sun, earth);
  for (int k = 0; k < 3; ++k) out.from_earth[k] = at.eb[k] - earth[0][k];
  return out;
}

Horizon::Node Horizon::between(double time) const {
  const double place =
      std::clamp((time - first_) / step_, 0.0, static_cast<double>(nodes_.size() - 1));
  const std::size_t i = std::min(static_cast<std::size_t>(place), nodes_.size() - 2);
  const double share = place - static_cast<double>(i);
  const Node &a = nodes_[i], &b = nodes_[i + 1];
  Node out = a;
  out.turn = mixed(a.turn, b.turn, share);
  for (int k = 0; k < 3; ++k) {
    out.velocity[k] += share * (b.velocity[k] - a.velocity[k]);
    out.from_sun[k] += share * (b.from_sun[k] - a.from_sun[k]);
    out.from_earth[k] += share * (b.from_earth[k] - a.from_earth[k]);
  }
  out.sun_au += share * (b.sun_au - a.sun_au);
  out.bm1 += share * (b.bm1 - a.bm1);
  normalise(out.from_sun);
  return out;
}

Quaternion Horizon::to_sky(double time, const Quaternion& from_horizon) const {
  const Node at = between(time);
  const Quaternion proper = at.turn * from_horizon;
  const Direction z = rotated(proper, {0, 0, 1});
  const double seen[3] = {z.x, z.y, z.z};
  double natural[3], source[3];
  undo([&](const double* from, double* to) { aberrate(from, at.velocity, at.sun_au, at.bm1, to); },
       seen, kAberrationRounds, natural);
  undo([&](const double* from, double* to) { bend(from, at.from_sun, at.sun_au, to); }, natural,
       kBendingRounds, source);
  return along_great_circle(z, to_direction(source)) * proper;
}

HorizonPlace Horizon::seen(const Node& at, const double natural[3]) {
  double proper[3];
  aberrate(natural, at.velocity, at.sun_au, at.bm1, proper);
  const Quaternion back{-at.turn.x, -at.turn.y, -at.turn.z, at.turn.w};
  return horizon_place(rotated(back, to_direction(proper)));
}

HorizonPlace Horizon::place(double time, const Direction& icrs) const {
  const Node at = between(time);
  const double source[3] = {icrs.x, icrs.y, icrs.z};
  double natural[3];
  bend(source, at.from_sun, at.sun_au, natural);
  return seen(at, natural);
}

HorizonPlace Horizon::sun(double time) const {
  const Node at = between(time);
  const double to_sun[3] = {-at.from_sun[0], -at.from_sun[1], -at.from_sun[2]};
  return seen(at, to_sun);
}

HorizonPlace Horizon::moon(double time) const {
  const Node at = between(time);
  const JulianDate tt = terrestrial_date(time);
  double moon[2][3], to_moon[3];
  eraMoon98(tt.day, tt.part, moon);
  for (int k = 0; k < 3; ++k) to_moon[k] = moon[0][k] - at.from_earth[k];
  normalise(to_moon);
  return seen(at, to_moon);
}

}  // namespace skyloom
