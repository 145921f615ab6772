// SPDX-License-Identifier: BSD-3-Clause
// What the fuzzers and the replay test feed with bytes: each parser from memory. An Error is an
// answer; anything else that comes out (another exception, a signal, a sanitizer) is a defect.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fiberloom::fuzz {

using Bytes = std::vector<std::uint8_t>;
using Target = void (*)(std::span<const std::uint8_t>);

void fuzz_preproc(std::span<const std::uint8_t> bytes);
void fuzz_psf(std::span<const std::uint8_t> bytes);
void fuzz_frame(std::span<const std::uint8_t> bytes);
/// DESI's and SDSS's.
void fuzz_spectra(std::span<const std::uint8_t> bytes);
/// Files of redshifts, of their models, and of what is known of them beforehand.
void fuzz_redshifts(std::span<const std::uint8_t> bytes);
/// Fibre flats, skies, standard stars, grids of stellar models, flux calibrations, and tables of
/// desimodel.
void fuzz_calibration(std::span<const std::uint8_t> bytes);
/// Passbands, and texts of desimodel.
void fuzz_passband(std::span<const std::uint8_t> bytes);
/// Wavelength grids, as text and as FITS.
void fuzz_wave(std::span<const std::uint8_t> bytes);
/// Templates and archetypes.
void fuzz_template(std::span<const std::uint8_t> bytes);
void fuzz_gunzip(std::span<const std::uint8_t> bytes);

/// Small valid files to start from, made by the writers.
struct Seed {
  std::string name;
  Target target;
  Bytes bytes;
};
[[nodiscard]] std::vector<Seed> seeds();

}  // namespace fiberloom::fuzz
