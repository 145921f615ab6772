// SPDX-License-Identifier: BSD-3-Clause
// What the name of a file says: whether it is one of FITS, whatever it is packed in. Letters of
// either case: who writes NAME.FITS.GZ means no other kind.
#pragma once

#include <string>
#include <string_view>

namespace loom::fits {

/// *.fits, *.fits.gz, *.fits.fz.
[[nodiscard]] bool is_fits_name(std::string_view name) noexcept;

/// "a" of a.fits, a.fits.gz, a.fits.fz; other names as they are, but for .gz and .fz.
[[nodiscard]] std::string without_fits_ending(std::string_view name);

}  // namespace loom::fits
