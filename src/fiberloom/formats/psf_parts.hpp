// SPDX-License-Identifier: BSD-3-Clause
// What the readers of the kinds of PSF share. Internal to formats/.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include "fiberloom/formats/formats.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::formats {

/// The HDU of the first name that is there; null: none.
[[nodiscard]] const fits::Hdu* find_any(const fits::FitsReader& file,
                                        std::initializer_list<const char*> names);
/// The keyword from the first HDU (null ones are passed over) that has it.
[[nodiscard]] std::optional<std::string> text_of(std::initializer_list<const fits::Hdu*> hdus,
                                                 const char* key);
[[nodiscard]] std::optional<double> number_of(std::initializer_list<const fits::Hdu*> hdus,
                                              const char* key);
/// Images of both traces, of as many fibres, into the model.
void read_traces(const fits::FitsReader& file, const fits::Hdu& xtrace, const fits::Hdu& ytrace,
                 PsfModel& model);
/// CCD size and PSFERR of the first of these that has them.
void read_ccd_keywords(const fits::FitsReader& file, const fits::Hdu& hdu,
                       std::initializer_list<const fits::Hdu*> others, PsfModel& model);
/// FIBERMIN and FIBERMAX, where they are there, against the number of fibres.
void check_fibers(const fits::FitsReader& file, const fits::Hdu& hdu, const PsfModel& model);
/// Switches off fibres whose coefficients hold a NaN or Inf (a failed fit): sigma 0 makes the spot
/// zero, so that the fibre's bins carry no information and its neighbours stay sound.
void switch_off_bad_fibers(const fits::FitsReader& file, const fits::Hdu& hdu, PsfModel& model);
/// The same of fibres whose STATUS is not 0: those without a fit.
void switch_off_unfit_fibers(PsfModel& model);

/// The PSF where its PSFTYPE is GAUSS-HERMITE2, SPOTGRID, MONOSPOT or PCA-PIX; nullopt of others.
[[nodiscard]] std::optional<PsfFile> parse_shaped_psf(const fits::FitsReader& file);

}  // namespace fiberloom::formats
