// SPDX-License-Identifier: BSD-3-Clause
// The inner polynomial of the inverse error function (Giles, "Approximating the erfinv function",
// 2011, table for double precision), 99.9 % of all numbers.
#pragma once

namespace skyloom::lane {

/// erfinv(x) / x for w = -log(1 - x^2) below 6.25.
template <class Number>
[[gnu::always_inline]] inline Number inner_inverse_erf_ratio(Number w) {
  const Number t = w - Number(3.125);
  Number p(-3.6444120640178196996e-21);
  p = p * t + Number(-1.685059138182016589e-19);
  p = p * t + Number(1.2858480715256400167e-18);
  p = p * t + Number(1.115787767802518096e-17);
  p = p * t + Number(-1.333171662854620906e-16);
  p = p * t + Number(2.0972767875968561637e-17);
  p = p * t + Number(6.6376381343583238325e-15);
  p = p * t + Number(-4.0545662729752068639e-14);
  p = p * t + Number(-8.1519341976054721522e-14);
  p = p * t + Number(2.6335093153082322977e-12);
  p = p * t + Number(-1.2975133253453532498e-11);
  p = p * t + Number(-5.4154120542946279317e-11);
  p = p * t + Number(1.051212273321532285e-09);
  p = p * t + Number(-4.1126339803469836976e-09);
  p = p * t + Number(-2.9070369957882005086e-08);
  p = p * t + Number(4.2347877827932403518e-07);
  p = p * t + Number(-1.3654692000834678645e-06);
  p = p * t + Number(-1.3882523362786468719e-05);
  p = p * t + Number(0.0001867342080340571352);
  p = p * t + Number(-0.00074070253416626697512);
  p = p * t + Number(-0.0060336708714301490533);
  p = p * t + Number(0.24015818242558961693);
  return p * t + Number(1.6536545626831027356);
}

}  // namespace skyloom::lane
