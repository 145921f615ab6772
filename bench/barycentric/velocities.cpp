// SPDX-License-Identifier: BSD-3-Clause
// Lines "mjd ra dec" on stdin become barycentric velocities at Kitt Peak, m/s, on stdout.
#include <iomanip>
#include <iostream>

#include "fiberloom/astro/barycentric.hpp"

int main() {
  using namespace fiberloom::astro;
  double mjd = 0;
  Direction toward;
  std::cout << std::fixed << std::setprecision(6);
  while (std::cin >> mjd >> toward.ra_deg >> toward.dec_deg) {
    std::cout << barycentric_velocity_m_s(kKittPeak, toward, mjd) << '\n';
  }
  return 0;
}
