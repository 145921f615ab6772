// SPDX-License-Identifier: BSD-3-Clause
// Atomic lines (air wavelengths as tabulated by NIST) and the whole list.
#include "fiberloom/simulate/sky_lines.hpp"

#include <algorithm>
#include <array>

namespace fiberloom {
namespace {

struct AtomicLine {
  double air_aa, strength;
  const char* name;
};

constexpr std::array<AtomicLine, 81> kAtomicLines{{
    // mercury and sodium lamps of the cities
    {3650.153, 0.30, "HgI"},
    {3654.836, 0.10, "HgI"},
    {3663.279, 0.10, "HgI"},
    {4046.563, 1.20, "HgI"},
    {4077.831, 0.10, "HgI"},
    {4358.328, 2.50, "HgI"},
    {4916.068, 0.05, "HgI"},
    {5460.735, 4.00, "HgI"},
    {5769.598, 0.80, "HgI"},
    {5790.663, 0.80, "HgI"},
    {4978.541, 0.15, "NaI"},
    {4982.813, 0.30, "NaI"},
    {5148.838, 0.10, "NaI"},
    {5153.402, 0.20, "NaI"},
    {5682.633, 0.60, "NaI"},
    {5688.205, 1.00, "NaI"},
    {6154.225, 0.30, "NaI"},
    {6160.747, 0.50, "NaI"},
    {8183.256, 0.70, "NaI"},
    {8194.824, 1.00, "NaI"},
    // sodium and potassium of the mesosphere
    {5889.951, 40.0, "NaI"},
    {5895.924, 22.0, "NaI"},
    {7664.899, 0.40, "KI"},
    {7698.965, 1.00, "KI"},
    // oxygen: the red and green lines, and the cascade of its recombination
    {5577.339, 190., "[OI]"},
    {6300.304, 128., "[OI]"},
    {6363.776, 41.0, "[OI]"},
    {6391.733, 0.02, "[OI]"},
    {3947.293, 0.05, "OI"},
    {4368.242, 0.05, "OI"},
    {5329.681, 0.03, "OI"},
    {5330.741, 0.05, "OI"},
    {5435.775, 0.03, "OI"},
    {5436.860, 0.04, "OI"},
    {5554.832, 0.04, "OI"},
    {5555.004, 0.05, "OI"},
    {5958.386, 0.08, "OI"},
    {5958.584, 0.08, "OI"},
    {6046.438, 0.20, "OI"},
    {6155.986, 0.10, "OI"},
    {6156.778, 0.15, "OI"},
    {6158.187, 0.20, "OI"},
    {6453.602, 0.06, "OI"},
    {6454.444, 0.10, "OI"},
    {6455.977, 0.15, "OI"},
    {7001.922, 0.15, "OI"},
    {7002.230, 0.20, "OI"},
    {7254.154, 0.30, "OI"},
    {7254.448, 0.40, "OI"},
    {7771.944, 1.40, "OI"},
    {7774.166, 1.00, "OI"},
    {7775.388, 0.60, "OI"},
    {8446.247, 0.60, "OI"},
    {8446.359, 1.00, "OI"},
    {8446.758, 1.20, "OI"},
    {9262.670, 0.50, "OI"},
    {9266.006, 0.70, "OI"},
    // nitrogen
    {5197.902, 0.60, "[NI]"},
    {5200.257, 0.90, "[NI]"},
    {7423.641, 0.02, "NI"},
    {7442.298, 0.05, "NI"},
    {7468.312, 0.08, "NI"},
    {8216.336, 0.03, "NI"},
    {8223.128, 0.03, "NI"},
    {8680.282, 0.10, "NI"},
    {8683.403, 0.05, "NI"},
    {8703.247, 0.02, "NI"},
    {8711.703, 0.03, "NI"},
    {8718.837, 0.02, "NI"},
    // heads of the first negative system of N2+, twilight and aurora
    {3914.400, 0.15, "N2+"},
    {4278.100, 0.05, "N2+"},
    {4709.200, 0.02, "N2+"},
    // the geocorona, helium and O+ of the twilight
    {6562.800, 1.20, "HI"},
    {4861.333, 0.10, "HI"},
    {4340.472, 0.05, "HI"},
    {3888.646, 0.10, "HeI"},
    {5875.621, 0.02, "HeI"},
    {7318.920, 0.03, "[OII]"},
    {7319.990, 0.08, "[OII]"},
    {7329.670, 0.05, "[OII]"},
    {7330.730, 0.05, "[OII]"},
}};

double refractive_index(double vacuum_aa) noexcept {
  const double s2 = 1e8 / (vacuum_aa * vacuum_aa);
  return 1.0 + 6.4328e-5 + 2.94981e-2 / (146.0 - s2) + 2.5540e-4 / (41.0 - s2);
}

}  // namespace

double vacuum_to_air(double vacuum_aa) noexcept { return vacuum_aa / refractive_index(vacuum_aa); }

double air_to_vacuum(double air_aa) noexcept {
  double vacuum = air_aa * refractive_index(air_aa);
  for (int i = 0; i < 3; ++i) vacuum = air_aa * refractive_index(vacuum);
  return vacuum;
}

std::vector<SkyLine> atomic_lines() {
  std::vector<SkyLine> lines;
  for (const AtomicLine& l : kAtomicLines) {
    lines.push_back({air_to_vacuum(l.air_aa), l.strength, l.name});
  }
  return lines;
}

std::vector<SkyLine> night_sky_lines() {
  constexpr double weakest = 0.005;
  std::vector<SkyLine> lines = atomic_lines();
  for (const auto& more : {oh_lines(weakest), o2_lines(weakest)}) {
    lines.insert(lines.end(), more.begin(), more.end());
  }
  std::erase_if(lines, [](const SkyLine& l) { return l.wave_aa < 3500 || l.wave_aa > 10000; });
  std::sort(lines.begin(), lines.end(), [](const SkyLine& a, const SkyLine& b) {
    return a.wave_aa != b.wave_aa ? a.wave_aa < b.wave_aa : a.name < b.name;
  });
  return lines;
}

}  // namespace fiberloom
