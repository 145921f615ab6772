// SPDX-License-Identifier: BSD-3-Clause
// What desimodel's folder (DESIMODEL: files lie in data/ below it) knows of DESI: its focal plane,
// its spectrographs' noise, and the templates by which the depth of an exposure is told.
#pragma once

#include <string>
#include <vector>

#include "fiberloom/foundation.hpp"
#include "fiberloom/spectrum/instrument.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom {

/// All below throw kNotFound; kMissingHdu, kMissingKeyword, kWrongShape, kCorrupt of what is none
/// of that.

/// throughput/galsim-fiber-acceptance.fits, focalplane/platescale.txt and the fibres' diameters of
/// desi.yaml.
[[nodiscard]] FocalPlane read_focal_plane(const std::string& desimodel);

/// specpsf/nea/masternea_CAMERA.fits.
[[nodiscard]] NoiseArea read_noise_area(const std::string& desimodel, const std::string& camera);

/// tsnr/tsnr-ensemble-KIND.fits, all there are, by name: of 'b', 'r' or 'z'.
[[nodiscard]] std::vector<SnrTemplate> read_snr_templates(const std::string& desimodel, char band);

/// Those files of a camera, as far as they are there.
[[nodiscard]] std::vector<std::string> desimodel_files(const std::string& desimodel,
                                                       const std::string& camera);

namespace formats {

/// The same of files that are open already, in memory perhaps.
[[nodiscard]] FiberAcceptance parse_acceptance(const fits::FitsReader& file);
[[nodiscard]] NoiseArea parse_noise_area(const fits::FitsReader& file);
/// Its kind is empty: the file's name says it.
[[nodiscard]] SnrTemplate parse_snr_template(const fits::FitsReader& file, char band);

/// focalplane/platescale.txt: radius in column 1, the scales in columns 7 and 8. `label` stands for
/// the path in messages, here and below.
void parse_plate_scale(const std::string& text, const std::string& label, FocalPlane& out);
/// diameter_um and diameter_arcsec of `fibers:` in desi.yaml.
void parse_fiber_size(const std::string& text, const std::string& label, FocalPlane& out);

}  // namespace formats
}  // namespace fiberloom
