// SPDX-License-Identifier: BSD-3-Clause
// extract_exact() with the knobs that only tests turn.
#pragma once

#include "fiberloom/extract/exact/bundle.hpp"

namespace fiberloom::exact {

[[nodiscard]] ExtractResult extract(const CcdFrame& ccd, const PsfModel& psf,
                                    const ExtractOptions& options, const Tuning& tuning, Isa isa,
                                    Executor& executor, const Observer& observer, Tracer* tracer);

}  // namespace fiberloom::exact
