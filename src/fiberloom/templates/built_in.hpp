// SPDX-License-Identifier: BSD-3-Clause
// A small set of templates made from textbook physics, for whoever has none: good enough for a
// demonstration and for tests, not for a survey.
#pragma once

#include "fiberloom/redshift/grid.hpp"
#include "fiberloom/redshift/template.hpp"

namespace fiberloom::templates {

/// What the headers of its files say, and what `Template::version` is.
inline constexpr const char* kBuiltInVersion = "physics-1";

/// GALAXY (6 vectors), QSO (5), STAR of subtypes HOT, SUN and COOL (4 each):
/// - stars: black bodies with Balmer lines and jump, lines of metals, bands of TiO by temperature;
/// - galaxies: sums of a young, a middle-aged and an old population, nebular lines with the ratios
///   of case B and of the atoms, dust over all;
/// - quasars: a broken power law with broad lines whose strengths vary together, and iron.
/// Principal components of a few dozen such spectra, their coefficients kept. Always the same
/// numbers; some 0.1 s. Throws kUsage for rules that are none.
[[nodiscard]] redshift::TemplateSet built_in_set(const redshift::GridRules& rules = {});

}  // namespace fiberloom::templates
