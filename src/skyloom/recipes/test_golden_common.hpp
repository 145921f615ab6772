// SPDX-License-Identifier: BSD-3-Clause
// Made with TOAST 3.0.6: CommonModeNoise(fmin 1e-5 Hz, fknee 1 Hz, alpha 2, NET 80e-6, realization
// 3, center 0.7, width 0.2) and SimNoise(realization 3) of a hexagon of 7 pixels (NET 50e-6, fmin
// 1e-5 Hz, fknee 0.05 Hz, alpha 1), telescope "satellite", observation and session
// "satellite_000001", 240 samples at 8 Hz from time 0: couplings, and every 60th sample.
#pragma once

#include <cstddef>

namespace skyloom {

struct GoldenCommon {
  std::size_t detector;
  double coupling;
  double noise[4];
};

/// A stream for all detectors.
inline constexpr GoldenCommon kGoldenOfAll[] = {
    {0,
     0.8177525856299637,
     {-0.0015033236592507473, 0.0004357026282493828, 0.0004695638465547887,
      -0.0004343696123385576}},
    {1,
     0.4842433681292234,
     {-0.0011197139606273715, 0.00019098606144066175, -2.9778370281028873e-05,
      -0.00031362492542004596}},
    {7,
     0.5118338173713746,
     {-0.0008923489607845483, 0.0002786219934489463, 0.00017744213883107165,
      -6.726579732771302e-05}}};

/// focalplane_key "pixel".
inline constexpr GoldenCommon kGoldenByPixel[] = {
    {0,
     1.1024588155070751,
     {-0.0007760238689026506, -0.0009585150069795572, 0.0001209908185562007,
      0.0012668980312316553}},
    {1,
     0.5555263236764896,
     {-0.0006187882657239611, -0.0005292134159382278, -0.00023520549461471458,
      0.0005737469935302346}},
    {7,
     0.48470171932914097,
     {0.0012990096635213035, 0.0009011059486958703, -0.0010582838331517478,
      -0.000389379454567929}}};

/// The same with static_coupling.
inline constexpr GoldenCommon kGoldenFixed[] = {{0,
                                                 0.9233952167565754,
                                                 {-0.0006467628397177468, -0.0007645539630423144,
                                                  0.00012280364689719957, 0.0010459763182305163}},
                                                {1,
                                                 0.8827277927139532,
                                                 {-0.0008549859012776077, -0.0008836368663500263,
                                                  -0.00023851806121354666, 0.000977435456962526}},
                                                {7,
                                                 0.5269796870233037,
                                                 {0.0014069959816030598, 0.0009663228612273463,
                                                  -0.001147648943415802, -0.0004360976348879589}}};

}  // namespace skyloom
