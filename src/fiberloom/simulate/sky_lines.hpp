// SPDX-License-Identifier: BSD-3-Clause
// The night sky's emission lines. Wavelengths are real; strengths are typical, in one arbitrary
// unit. Must not know of cameras.
#pragma once

#include <string>
#include <vector>

namespace fiberloom {

struct SkyLine {
  double wave_aa = 0;   ///< vacuum
  double strength = 0;  ///< photons, arbitrary unit ([OI] 5577 has 190)
  std::string name;     ///< "OH 8-3 P1(2.5)", "[OI]"
};

/// Vacuum wavelength of an air wavelength and back (Edlen 1953 as in Morton 1991), Angstrom, above
/// 2000. Their round trip closes to 1e-6 Angstrom.
[[nodiscard]] double air_to_vacuum(double air_aa) noexcept;
[[nodiscard]] double vacuum_to_air(double vacuum_aa) noexcept;

/// Meinel bands of OH, P, Q and R branches, from the term values of X2Pi v = 0..9; a Lambda doublet
/// is one line. Lines with less than `weakest` are left out. Unsorted.
[[nodiscard]] std::vector<SkyLine> oh_lines(double weakest);

/// The atmospheric band b-X (0-1) of O2, 8600-8740 Angstrom, from term values. Unsorted.
[[nodiscard]] std::vector<SkyLine> o2_lines(double weakest);

/// Lines of atoms: airglow, twilight and aurora, and street lamps. Unsorted.
[[nodiscard]] std::vector<SkyLine> atomic_lines();

/// All lines from 3500 to 10000 Angstrom, sorted by wavelength.
[[nodiscard]] std::vector<SkyLine> night_sky_lines();

}  // namespace fiberloom
