// SPDX-License-Identifier: BSD-3-Clause
// Lines "mjd ra dec latitude longitude height" on stdin become barycentric velocities, m/s, on
// stdout.
#include <iomanip>
#include <iostream>

#include "fiberloom/astro/barycentric.hpp"

int main() {
  using namespace fiberloom::astro;
  double mjd = 0;
  Direction toward;
  Site site;
  std::cout << std::fixed << std::setprecision(6);
  while (std::cin >> mjd >> toward.ra_deg >> toward.dec_deg >> site.latitude_deg >>
         site.longitude_deg >> site.height_m) {
    std::cout << barycentric_velocity_m_s(site, toward, mjd) << '\n';
  }
  return 0;
}
