// SPDX-License-Identifier: BSD-3-Clause
// Which columns of a map are I, Q and U, by what they are called. Knows no files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "skyloom/foundation.hpp"

namespace skyloom {

/// Is a column called I, Q or U? In letters of either case, alone or with something behind that
/// does not begin with a letter ("U_STOKES", "Q-POLARISATION").
[[nodiscard]] bool is_stokes(const std::string& name, char letter);

/// With blanks between.
[[nodiscard]] std::string names_in_words(const std::vector<std::string>& names);

struct StokesColumns {
  std::size_t i = 0;
  std::optional<std::size_t> q = {}, u = {};  ///< none: a map of I alone
};

/// By name, wherever they stand. Where neither Q nor U is named: of a first column that is called I
/// or a temperature the map is one of I alone, whatever stands behind it (HITS, II_COV, N_OBS);
/// else the first three columns are I, Q, U, or a single one is I. None: nothing tells.
[[nodiscard]] std::optional<StokesColumns> stokes_columns(const std::vector<std::string>& names);

}  // namespace skyloom
