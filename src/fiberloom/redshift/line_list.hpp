// SPDX-License-Identifier: BSD-3-Clause
// Spectral lines by name: what is measured (lines.hpp) and what pictures mark. The only place of
// their wavelengths beside those that templates are made of.
#pragma once

#include <array>

namespace fiberloom::redshift {

/// Vacuum, at rest, Angstrom.
namespace line {
inline constexpr double kMgIi2796 = 2796.35, kMgIi2803 = 2803.53, kOii3727 = 3727.09,
                        kOii3730 = 3729.88, kHBeta = 4862.68, kOiii4960 = 4960.30,
                        kOiii5008 = 5008.24, kNii6550 = 6549.86, kHAlpha = 6564.61,
                        kNii6585 = 6585.27;
}  // namespace line

enum class LineKind { kEmission, kAbsorption, kBoth };

struct NamedLine {
  const char* name;
  double wave_aa;
  LineKind kind;
};

/// By wavelength. A blend that no spectrum of the field resolves is one.
inline constexpr std::array kNamedLines{
    NamedLine{"Lyβ", 1025.72, LineKind::kBoth},
    NamedLine{"O VI", 1033.82, LineKind::kEmission},
    NamedLine{"Lyα", 1215.67, LineKind::kBoth},
    NamedLine{"N V", 1240.81, LineKind::kEmission},
    NamedLine{"Si IV", 1399.8, LineKind::kBoth},
    NamedLine{"C IV", 1549.06, LineKind::kBoth},
    NamedLine{"He II", 1640.42, LineKind::kEmission},
    NamedLine{"Al III", 1857.4, LineKind::kBoth},
    NamedLine{"C III]", 1908.73, LineKind::kEmission},
    NamedLine{"Fe II", 2382.76, LineKind::kAbsorption},
    NamedLine{"Fe II", 2600.17, LineKind::kAbsorption},
    NamedLine{"Mg II", line::kMgIi2796, LineKind::kBoth},
    NamedLine{"Mg II", line::kMgIi2803, LineKind::kBoth},
    NamedLine{"Mg I", 2852.96, LineKind::kAbsorption},
    NamedLine{"[Ne V]", 3426.84, LineKind::kEmission},
    NamedLine{"[O II]", line::kOii3727, LineKind::kEmission},
    NamedLine{"[O II]", line::kOii3730, LineKind::kEmission},
    NamedLine{"[Ne III]", 3869.86, LineKind::kEmission},
    NamedLine{"K", 3934.78, LineKind::kAbsorption},
    NamedLine{"H", 3969.59, LineKind::kAbsorption},
    NamedLine{"Hδ", 4102.89, LineKind::kBoth},
    NamedLine{"G", 4305.61, LineKind::kAbsorption},
    NamedLine{"Hγ", 4341.68, LineKind::kBoth},
    NamedLine{"[O III]", 4364.44, LineKind::kEmission},
    NamedLine{"Hβ", line::kHBeta, LineKind::kBoth},
    NamedLine{"[O III]", line::kOiii4960, LineKind::kEmission},
    NamedLine{"[O III]", line::kOiii5008, LineKind::kEmission},
    NamedLine{"Mg b", 5176.63, LineKind::kAbsorption},
    NamedLine{"He I", 5877.25, LineKind::kEmission},
    NamedLine{"Na D", 5894.57, LineKind::kAbsorption},
    NamedLine{"[O I]", 6302.05, LineKind::kEmission},
    NamedLine{"[N II]", line::kNii6550, LineKind::kEmission},
    NamedLine{"Hα", line::kHAlpha, LineKind::kBoth},
    NamedLine{"[N II]", line::kNii6585, LineKind::kEmission},
    NamedLine{"[S II]", 6718.29, LineKind::kEmission},
    NamedLine{"[S II]", 6732.67, LineKind::kEmission},
    NamedLine{"Ca II", 8500.36, LineKind::kAbsorption},
    NamedLine{"Ca II", 8544.44, LineKind::kAbsorption},
    NamedLine{"Ca II", 8664.52, LineKind::kAbsorption},
    NamedLine{"[S III]", 9071.1, LineKind::kEmission},
    NamedLine{"[S III]", 9533.2, LineKind::kEmission},
};

}  // namespace fiberloom::redshift
