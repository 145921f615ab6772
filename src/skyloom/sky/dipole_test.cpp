// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/sky/dipole.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace skyloom {
namespace {

constexpr Direction kOrbital{-13.51618153, -24.6769224, -10.69770302}, kSolar{-20, 240, -275};

/// The z axis of a quaternion.
Direction look_of(double x, double y, double z, double w) {
  return {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)};
}

TEST(Dipole, IsThePeers) {
  // TOAST 3.0.6: toast.dipole.dipole() of these velocities: of the Earth, of the Sun, of both
  const struct {
    Direction look;
    double orbital, solar, total;
  } peer[] = {
      {look_of(0.10259783520851541, 0.20519567041703082, 0.3077935056255462, 0.9233805168766387),
       -0.00012718184137439683, -0.002454923316837423, -0.0025817940954981039},
      {look_of(0.8006407690254357, -0.48038446141526137, 0.32025630761017426, 0.16012815380508713),
       0.00015475543166804605, 0.0005610462750916252, 0.00071594765529377289},
      {look_of(-0.693103280083672, 0.09901475429766743, 0.5940885257860046, 0.3960590171906697),
       -5.9925034499273006e-05, 0.0015398959780198571, 0.0014799854727745004}};
  for (const auto& at : peer) {
    EXPECT_NEAR(dipole_kelvin(at.look, kOrbital), at.orbital, 1e-14);
    EXPECT_NEAR(dipole_kelvin(at.look, kSolar), at.solar, 1e-14);
    EXPECT_NEAR(dipole_kelvin(at.look, added_velocity(kSolar, kOrbital)), at.total, 1e-14);
  }
}

TEST(Dipole, OfAVelocityThatIsNoneIsNone) {
  EXPECT_EQ(dipole_kelvin({0, 0, 1}, {0, 0, 0}), 0);
  const Direction same = added_velocity({0, 0, 0}, kOrbital);
  EXPECT_EQ(same.x, kOrbital.x);
  // nothing is faster than light
  const Direction most = added_velocity({0.9 * kLightKmS, 0, 0}, {0.9 * kLightKmS, 0, 0});
  EXPECT_NEAR(most.x / kLightKmS, 1.8 / 1.81, 1e-14);
}

}  // namespace
}  // namespace skyloom
