// SPDX-License-Identifier: BSD-3-Clause
// extract_exact() with the knobs that only tests turn.
#pragma once

#include "fiberloom/extract/exact/bundle.hpp"

namespace fiberloom::exact {

[[nodiscard]] ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, const Tuning& tuning, Isa isa,
                                    Executor& executor, const Observer& observer, Tracer* tracer);

// What the engines of a frame share, whoever computes its bundles.

/// Relative to the median diagonal; positive (and a warning) on grids finer than the pixels carry.
[[nodiscard]] double weak_prior(const PsfModel& psf, const ExtractOptions& options,
                                const Observer& observer);
/// A result of the right shape.
[[nodiscard]] ExtractResult empty_result(const PsfModel& psf, const ExtractOptions& options);
/// Fractional error of the PSF that chi2 allows for.
[[nodiscard]] double psferr_of(const PsfModel& psf, const ExtractOptions& options);
/// Bundles whose equations were not solved to the tolerance: a warning, with how far it came; where
/// that is no solution at all its bins leave as bins without information do, and a warning says so.
/// Call it before set_spectral_mask().
void settle_unsolved(const ExtractOptions& options, const Observer& observer,
                     ExtractResult& result);
/// Strips overlap where bundles are close: adding them in order makes the image independent of
/// threads.
[[nodiscard]] Array2D<float> join_models(const std::vector<ModelStrip>& strips,
                                         const PsfModel& psf);
/// What is left to do once the rows of all bundles are there: what has no solution or no pixels
/// goes, the model is joined, RESOLUTION becomes what was asked for, bins get their masks.
void finish_frame(const PsfModel& psf, const ExtractOptions& options,
                  const std::vector<ModelStrip>& models, Executor& executor,
                  const Observer& observer, ExtractResult& result);

}  // namespace fiberloom::exact
