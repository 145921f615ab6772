// SPDX-License-Identifier: BSD-3-Clause
// Bins that leave without a result: how they look, and why they are there, in words.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/extract/extract.hpp"

namespace fiberloom {

/// Row s of the result becomes one without information; pixmask_fraction stays.
void blank_fiber(ExtractResult& result, std::size_t s);
/// The same of a single bin, whose row of R becomes the identity's; chi2pix stays.
void blank_bin(ExtractResult& result, std::size_t s, std::size_t j);

/// "3, 7-9" of increasing numbers, at most a few ranges of them.
[[nodiscard]] std::string number_ranges(const std::vector<int>& numbers);

/// Bins (row, column of the result) that had light on good pixels and yet no result, in bundles
/// that were solved.
struct ResultBin {
  std::size_t s = 0, j = 0;
};
[[nodiscard]] std::vector<ResultBin> not_computed_bins(const ExtractResult& result);

/// Why fibres are without a single good bin, in one line: a PSF that is not finite, too narrow, off
/// the CCD, no good pixel. Empty where every fibre has a good bin; costs nothing then.
[[nodiscard]] std::string empty_fibers_text(const PsfModel& psf, const ExtractResult& result);

/// The end of an extraction: blanks what is not_computed_bins() as a whole, rows of R included, and
/// warns, once each, of bundles whose bound says little, of bins that could not be computed, of
/// empty fibres and of bins where the PSF is too narrow. Call it before set_spectral_mask().
void settle_missing(const PsfModel& psf, const ExtractOptions& options, const Observer& observer,
                    ExtractResult& result);

}  // namespace fiberloom
