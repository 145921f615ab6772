// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fits/fits_name.hpp"

#include "loom/files/output_files.hpp"

namespace loom::fits {

bool is_fits_name(std::string_view name) noexcept {
  return has_ending(name, ".fits") || has_ending(name, ".fits.gz") || has_ending(name, ".fits.fz");
}

std::string without_fits_ending(std::string_view name) {
  for (const std::string_view ending : {".gz", ".fz", ".fits"}) {
    if (has_ending(name, ending)) name.remove_suffix(ending.size());
  }
  return std::string(name);
}

}  // namespace loom::fits
