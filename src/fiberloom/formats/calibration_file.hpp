// SPDX-License-Identifier: BSD-3-Clause
// Fibre flats and skies as desispec keeps them (docs/fiberloom/formats.md).
#pragma once

#include <string>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/spectrum/calibration.hpp"

namespace fiberloom {

/// HDUs FIBERFLAT, IVAR, MASK, MEANSPEC, WAVELENGTH, FIBERMAP.
struct FiberFlatFile : FiberFlat {
  std::string path;    ///< that was read
  HeaderCards header;  ///< of FIBERFLAT
};
/// Throws kMissingHdu, kWrongShape, kCorrupt where wavelengths do not increase.
[[nodiscard]] FiberFlatFile read_fiber_flat(const std::string& path, Verify verify = Verify::kYes);
/// float32, as desispec; wavelengths float64 so that a frame's are found again. As write_frame
/// otherwise. kInternal where shapes differ.
void write_fiber_flat(const std::string& path, const FiberFlatFile& file, Overwrite overwrite);

/// HDUs SKY, IVAR, MASK, WAVELENGTH, STATIVAR, THRPUTCORR.
struct SkyFile : SkyModel {
  std::string path;
  HeaderCards header;  ///< of SKY
};
/// As read_fiber_flat; what stands after WAVELENGTH need not be there.
[[nodiscard]] SkyFile read_sky(const std::string& path, Verify verify = Verify::kYes);
void write_sky(const std::string& path, const SkyFile& file, Overwrite overwrite);

}  // namespace fiberloom
