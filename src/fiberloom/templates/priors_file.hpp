// SPDX-License-Identifier: BSD-3-Clause
// Files of what is known of redshifts beforehand, as redrock's --priors takes them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "fiberloom/redshift/prior.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::templates {

using Priors = std::unordered_map<std::int64_t, redshift::Prior>;

/// HDU PRIORS with TARGETID, Z, SIGMA and FUNCTION (gaussian, lorentzien or tophat; that of the
/// first row holds for all). Throws kMissingHdu, kMissingKeyword (a column), kCorrupt: a function
/// of another name, a Z that is no number, a SIGMA that is not positive.
[[nodiscard]] Priors read_priors(const std::string& path);
/// The same on an open file.
[[nodiscard]] Priors parse_priors(const fits::FitsReader& file);

}  // namespace fiberloom::templates
