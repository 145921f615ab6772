// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_option_table.hpp"

#include <vector>

#include "tomoloom/recipes/recon_option_parts.hpp"

namespace tomoloom {

std::span<const ReconRow> recon_option_rows() {
  static const std::vector<ReconRow> rows = [] {
    std::vector<ReconRow> all;
    for (const auto part : {scan_option_rows(), preparation_option_rows(), method_option_rows()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return rows;
}

}  // namespace tomoloom
