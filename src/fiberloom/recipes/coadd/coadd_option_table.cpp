// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/coadd/coadd_option_table.hpp"

namespace fiberloom {
namespace {

using Field = loom::OptionField;

const CoaddOptionRow kRows[] = {
    {.key = "infile",
     .names = "-i,--infile",
     .text = "files of spectra with the same cameras",
     .field = [](CoaddJob& j) -> Field { return &j.inputs; },
     .value = "SPECTRA",
     .required = true,
     .decides_numbers = false},
    {.key = "outfile",
     .names = "-o,--outfile",
     .text = "coadd to write",
     .field = [](CoaddJob& j) -> Field { return &j.output; },
     .value = "COADD",
     .required = true,
     .decides_numbers = false},
    {.key = "coadd_cameras",
     .names = "--coadd-cameras",
     .text = "one spectrum of all cameras",
     .field = [](CoaddJob& j) -> Field { return &j.across_cameras; }},
    {.key = "nsig",
     .names = "--nsig",
     .text = "cosmic rays of three exposures or more are left out beyond, sigma; 0: none",
     .field = [](CoaddJob& j) -> Field { return &j.cosmic_nsig; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "healpix",
     .names = "--healpix",
     .text =
         "of targets in these pixels alone (nested), from as many tiles as there are; none: of all",
     .field = [](CoaddJob& j) -> Field { return &j.pixels.numbers; },
     .value = "PIXEL,..."},
    {.key = "nside",
     .names = "--nside",
     .text = "of these pixels",
     .field = [](CoaddJob& j) -> Field { return &j.pixels.nside; },
     .interval = between(1, 1048576),
     .shows_default = true},
    {.key = "lin_step",
     .names = "--lin-step",
     .text = "one spectrum of all cameras, resampled to steps of this, Angstrom",
     .field = [](CoaddJob& j) -> Field { return &j.grid.lin_step; },
     .interval = above(0)},
    {.key = "log10_step",
     .names = "--log10-step",
     .text = "the same, to steps of this in log10 of the wavelength",
     .field = [](CoaddJob& j) -> Field { return &j.grid.log10_step; },
     .interval = above(0)},
    {.key = "wave_min",
     .names = "--wave-min",
     .text = "first bin of the new grid, Angstrom; default: that of the spectra",
     .field = [](CoaddJob& j) -> Field { return &j.grid.wave_min; },
     .interval = above(0)},
    {.key = "wave_max",
     .names = "--wave-max",
     .text = "no bin of the new grid beyond this, Angstrom; default: the last of the spectra",
     .field = [](CoaddJob& j) -> Field { return &j.grid.wave_max; },
     .interval = above(0)},
};

}  // namespace

std::span<const CoaddOptionRow> coadd_option_rows() { return kRows; }

}  // namespace fiberloom
