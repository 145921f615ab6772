// SPDX-License-Identifier: BSD-3-Clause
// Exit codes of fiberloom's own, beside the foundation's (loom/base/error.hpp), and what all of
// them mean here.
#pragma once

#include <string_view>

#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom {

// The numbers are a contract: never renumber.
inline constexpr Status kNotCovered{20};    ///< the PSF does not cover the wavelength grid
inline constexpr Status kSizeMismatch{21};  ///< IMAGE and PSF (or two HDUs) disagree about the size
inline constexpr Status kFiberRange{22};    ///< --specmin/--nspec outside the fibres of the PSF
inline constexpr Status kBadTemplate{80};   ///< a template file that is foreign or makes no sense
/// Templates do not cover the spectra at the redshifts asked for.
inline constexpr Status kTemplateRange{81};

// Of catalogues.
inline constexpr Status kBadQuery{82};      ///< SQL that is wrong, or may not be run
inline constexpr Status kNewerSchema{83};   ///< a catalogue that a newer program has made
inline constexpr Status kCatalogueBusy{84}; ///< somebody else holds its lock for too long
inline constexpr Status kServerGone{85};    ///< a database server does not answer, or no longer does

/// status_name(), in fiberloom's words where it has its own.
[[nodiscard]] inline std::string_view exit_code_name(Status status) noexcept {
  if (status == kNotCovered) return "PSF does not cover the wavelength grid";
  if (status == kSizeMismatch) return "sizes of IMAGE, IVAR, MASK or PSF disagree";
  if (status == kFiberRange) return "fibre range outside the PSF";
  if (status == kBadTemplate) return "template file foreign or wrong";
  if (status == kTemplateRange) return "templates do not cover the spectra";
  if (status == kBadQuery) return "query wrong, refused or too long";
  if (status == kNewerSchema) return "catalogue of a newer program";
  if (status == kCatalogueBusy) return "catalogue locked by others";
  if (status == kServerGone) return "database server does not answer";
  if (status == Status::kDifferent) return "compare: beyond the limits";
  if (status == Status::kSomeFailed) return "many frames or files: some failed or are missing";
  return status_name(status);
}

}  // namespace fiberloom
