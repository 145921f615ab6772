// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/read_option_table.hpp"

namespace skyloom {
namespace {

const OptionRow<StoredOptions> kReadRows[] = {
    {.key = "signal",
     .names = "--signal",
     .group = kReadOptions,
     .text = "what is mapped: a data set of detdata/",
     .field = [](StoredOptions& j) -> OptionField { return &j.signal; },
     .value = "NAME",
     .shows_default = true},
    {.key = "det_flags",
     .names = "--det-flags",
     .group = kReadOptions,
     .text = "flags of detectors: a data set of detdata/",
     .field = [](StoredOptions& j) -> OptionField { return &j.detector_flags; },
     .value = "NAME",
     .shows_default = true},
    {.key = "shared_flags",
     .names = "--shared-flags",
     .group = kReadOptions,
     .text = "flags of all detectors: a data set of shared/",
     .field = [](StoredOptions& j) -> OptionField { return &j.shared_flags; },
     .value = "NAME",
     .shows_default = true},
    {.key = "det_mask",
     .names = "--det-mask",
     .group = kReadOptions,
     .text = "bits of detector flags that cut",
     .field = [](StoredOptions& j) -> OptionField { return &j.detector_mask; },
     .value = "BITS",
     .interval = between(0, 255),
     .shows_default = true},
    {.key = "shared_mask",
     .names = "--shared-mask",
     .group = kReadOptions,
     .text = "bits of shared flags that cut",
     .field = [](StoredOptions& j) -> OptionField { return &j.shared_mask; },
     .value = "BITS",
     .interval = between(0, 255),
     .shows_default = true},
    {.key = "intervals",
     .names = "--intervals",
     .group = kReadOptions,
     .text = "only what lies in them, polynomials over each: a data set of intervals/",
     .field = [](StoredOptions& j) -> OptionField { return &j.intervals; },
     .value = "NAME"},
    {.key = "boresight",
     .names = "--boresight",
     .group = kReadOptions,
     .text = "quaternions: a data set of shared/",
     .field = [](StoredOptions& j) -> OptionField { return &j.boresight; },
     .value = "NAME",
     .shows_default = true},
    {.key = "noise_model",
     .names = "--noise-model",
     .group = kReadOptions,
     .text = "weights of detectors: a group of metadata/",
     .field = [](StoredOptions& j) -> OptionField { return &j.noise_model; },
     .value = "NAME",
     .shows_default = true},
};

}  // namespace

std::span<const OptionRow<StoredOptions>> read_option_rows() { return kReadRows; }

}  // namespace skyloom
