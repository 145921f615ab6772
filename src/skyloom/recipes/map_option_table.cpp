// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/map_option_table.hpp"

#include <charconv>

#include "loom/base/print.hpp"
#include "skyloom/filters/deglitch.hpp"
#include "skyloom/filters/ground.hpp"
#include "skyloom/filters/harmonics.hpp"
#include "skyloom/filters/polynomial.hpp"

namespace skyloom {
namespace {

constexpr Word<Ordering> kOrderings[] = {{"nested", Ordering::kNested}, {"ring", Ordering::kRing}};
constexpr Word<MapMethod> kMethods[] = {{"destripe", MapMethod::kDestripe},
                                        {"gls", MapMethod::kGls}};
constexpr Word<Preconditioner> kPreconditioners[] = {{"banded", Preconditioner::kBanded},
                                                     {"diagonal", Preconditioner::kDiagonal}};
constexpr Word<Backend> kBackends[] = {{"auto", Backend::kAuto},
                                       {"cpu", Backend::kCpu},
                                       {"cuda", Backend::kCuda},
                                       {"emulate", Backend::kEmulate}};
constexpr Word<MapFormat> kFormats[] = {{"fits", MapFormat::kFits}, {"hdf5", MapFormat::kHdf5}};
constexpr Word<MapType> kTypes[] = {{"float32", MapType::kFloat32}, {"float64", MapType::kFloat64}};

/// "none" or an order.
OptionField order_field(std::optional<std::size_t>* member, std::size_t most) {
  return TextField{
      .set =
          [member, most](const std::string& text) {
            std::size_t order = 0;
            const auto [end, fault] =
                std::from_chars(text.data(), text.data() + text.size(), order);
            if (text == "none") return member->reset();
            if (fault != std::errc() || end != text.data() + text.size() || order > most) {
              throw Error(Status::kUsage, print("none, or 0 to %zu", most));
            }
            *member = order;
          },
      .get = [member] { return *member ? std::to_string(**member) : std::string("none"); }};
}

std::string wcs_text(const std::optional<WcsGrid>& grid) {
  if (!grid) return "none";
  const double cell = grid->cell_deg;
  return print("%s:%.17g,%.17g,%.17g,%.17g,%.17g",
               grid->projection == Projection::kTan ? "tan" : "car", grid->middle.lon_deg,
               grid->middle.lat_deg, cell * static_cast<double>(grid->columns),
               cell * static_cast<double>(grid->rows), cell);
}

const OptionRow<MapJob> kMapRows[] = {
    {.key = "nside",
     .names = "--nside",
     .group = kMapOptions,
     .text = "resolution of the maps, a power of two to 8192",
     .field = [](MapJob& j) -> OptionField { return &j.nside; },
     .value = "N",
     .interval = between(1, 8192),
     .shows_default = true},
    {.key = "wcs",
     .names = "--wcs",
     .group = kMapOptions,
     .text = "maps on a flat grid instead: car: or tan:LON,LAT,WIDTH,HEIGHT,CELL in degrees; none",
     .field = [](MapJob& j) -> OptionField {
       MapJob* const job = &j;
       return TextField{.set =
                            [job](const std::string& text) {
                              job->wcs.reset();
                              if (text != "none") job->wcs = wcs_grid_of(text);
                            },
                        .get = [job] { return wcs_text(job->wcs); }};
     },
     .value = "GRID"},
    {.key = "step",
     .names = "--step",
     .group = kMapOptions,
     .text = "seconds of a baseline; 0: an observation",
     .field = [](MapJob& j) -> OptionField { return &j.step_s; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "method",
     .names = "--method",
     .group = kMapOptions,
     .text = "of the map: an offset for each baseline, or weights by the noise spectra (maximum "
             "likelihood)",
     .field = [](MapJob& j) -> OptionField { return word_field(&j.method, kMethods); }},
    {.key = "correlation",
     .names = "--correlation",
     .group = kMapOptions,
     .text = "of --method gls: seconds over which samples know of each other's noise",
     .field = [](MapJob& j) -> OptionField { return &j.correlation_s; },
     .interval = between(0, 1e6),
     .shows_default = true},
    {.key = "binned_only",
     .names = "--binned-only",
     .group = kMapOptions,
     .text = "no destriped map",
     .field = [](MapJob& j) -> OptionField { return &j.binned_only; }},
    {.key = "prior",
     .names = "--prior",
     .group = kMapOptions,
     .text = "the detectors' noise spectra tell how offsets follow one another",
     .field = [](MapJob& j) -> OptionField { return &j.prior; }},
    {.key = "deglitch",
     .names = "--deglitch",
     .group = kMapOptions,
     .text = "samples so many widths of the noise from the median around them are flagged; 0: none",
     .field = [](MapJob& j) -> OptionField { return &j.filters.deglitch.sigmas; },
     .interval = between(0, 1e6),
     .shows_default = true},
    {.key = "deglitch_window",
     .names = "--deglitch-window",
     .group = kMapOptions,
     .text = "samples that this median is of",
     .field = [](MapJob& j) -> OptionField { return &j.filters.deglitch.window; },
     .value = "N",
     .interval = between(kLeastDeglitchWindow, 100'001),
     .shows_default = true},
    {.key = "deglitch_radius",
     .names = "--deglitch-radius",
     .group = kMapOptions,
     .text = "samples on either side of a glitch that are flagged as well",
     .field = [](MapJob& j) -> OptionField { return &j.filters.deglitch.radius; },
     .value = "N",
     .interval = between(0, 1e6),
     .shows_default = true},
    {.key = "hwp_harmonics",
     .names = "--hwp-harmonics",
     .group = kMapOptions,
     .text =
         "so many harmonics of a half-wave plate's angle are taken out of each detector; 0: none",
     .field = [](MapJob& j) -> OptionField { return &j.filters.plate.harmonics; },
     .value = "N",
     .interval = between(0, kMostHarmonics),
     .shows_default = true},
    {.key = "hwp_trend",
     .names = "--hwp-trend",
     .group = kMapOptions,
     .text = "order of the polynomial of time that is fitted beside them, and stays",
     .field = [](MapJob& j) { return order_field(&j.filters.plate.trend, kMostPlateTrend); },
     .value = "N",
     .shows_default = true},
    {.key = "hwp_drift",
     .names = "--hwp-drift",
     .group = kMapOptions,
     .text = "their amplitudes may grow or fall evenly",
     .field = [](MapJob& j) -> OptionField { return &j.filters.plate.drift; }},
    {.key = "hwp_detrend",
     .names = "--hwp-detrend",
     .group = kMapOptions,
     .text = "the polynomial beside them is taken out as well",
     .field = [](MapJob& j) -> OptionField { return &j.filters.plate.detrend; }},
    {.key = "demodulate",
     .names = "--demodulate",
     .group = kMapOptions,
     .text = "I, Q and U of each detector by what is slow of it, and what goes with four times the "
             "angle of a half-wave plate (after glitches and the plate's harmonics, before other "
             "filters)",
     .field = [](MapJob& j) -> OptionField { return &j.demodulation.on; }},
    {.key = "demod_cut",
     .names = "--demod-cut",
     .group = kMapOptions,
     .text = "highest frequency of these streams, in turns of the plate",
     .field = [](MapJob& j) -> OptionField { return &j.demodulation.cut; },
     .interval = between(0.05, 2),
     .shows_default = true},
    {.key = "demod_skip",
     .names = "--demod-skip",
     .group = kMapOptions,
     .text = "of so many samples one is kept",
     .field = [](MapJob& j) -> OptionField { return &j.demodulation.skip; },
     .value = "N",
     .interval = between(1, 10'000),
     .shows_default = true},
    {.key = "ground_order",
     .names = "--ground-order",
     .group = kMapOptions,
     .text = "of the polynomial of azimuth that is taken out of each detector in each observation",
     .field = [](MapJob& j) { return order_field(&j.filters.ground.order, kMostGroundOrder); },
     .value = "N"},
    {.key = "ground_bins",
     .names = "--ground-bins",
     .group = kMapOptions,
     .text = "instead of it what bins of azimuth have in common, so many degrees wide; 0: none",
     .field = [](MapJob& j) -> OptionField { return &j.filters.ground.bin_deg; },
     .interval = between(0, 360)},
    {.key = "ground_trend",
     .names = "--ground-trend",
     .group = kMapOptions,
     .text = "order of the polynomial of time that is fitted beside the ground, and stays",
     .field = [](MapJob& j) { return order_field(&j.filters.ground.trend, kMostGroundOrder); },
     .value = "N",
     .shows_default = true},
    {.key = "ground_split",
     .names = "--ground-split",
     .group = kMapOptions,
     .text = "sweeps to growing and to falling azimuths have each their own ground",
     .field = [](MapJob& j) -> OptionField { return &j.filters.ground.split; }},
    {.key = "ground_step",
     .names = "--ground-step",
     .group = kMapOptions,
     .text = "of --joint: seconds after which there are templates of azimuth anew; 0: never",
     .field = [](MapJob& j) -> OptionField { return &j.filters.ground_step_s; },
     .interval = between(0, 1e9)},
    {.key = "ground_drift",
     .names = "--ground-drift",
     .group = kMapOptions,
     .text = "of --joint with --ground-bins: order of the polynomial of time by which what a bin "
             "of azimuth has may change",
     .field = [](MapJob& j) -> OptionField { return &j.filters.ground.drift; },
     .value = "N",
     .interval = between(0, kMostGroundOrder)},
    {.key = "poly_order",
     .names = "--poly-order",
     .group = kMapOptions,
     .text = "of the polynomial that is taken out of each detector in each observation",
     .field = [](MapJob& j) { return order_field(&j.filters.polynomial, kMostPolynomial); },
     .value = "N"},
    {.key = "joint",
     .names = "--joint",
     .group = kMapOptions,
     .text = "harmonics of the plate, ground and polynomials are fitted together, in one solution "
             "for each detector and observation; without trends beside them",
     .field = [](MapJob& j) -> OptionField { return &j.filters.joint.on; }},
    {.key = "joint_rcond",
     .names = "--joint-rcond",
     .group = kMapOptions,
     .text =
         "where the reciprocal condition number of that fit is lower, what is hardly determined "
         "is not fitted; -X: where it is below X, the detector is left out",
     .field = [](MapJob& j) -> OptionField { return &j.filters.joint.least_reciprocal; },
     .interval = between(-1, 1),
     .shows_default = true},
    {.key = "deproject",
     .names = "--deproject",
     .group = kMapOptions,
     .text = "of --joint: what each detector sees of the columns of this HEALPix map (such as a "
             "sky of I and its derivatives) is fitted and taken out as well",
     .field = [](MapJob& j) -> OptionField { return &j.deproject; },
     .value = "MAP"},
    {.key = "deproject_columns",
     .names = "--deproject-columns",
     .group = kMapOptions,
     .text = "so many of them, the first ones",
     .field = [](MapJob& j) -> OptionField { return &j.deproject_columns; },
     .value = "N",
     .interval = between(1, 64),
     .shows_default = true},
    {.key = "obs_matrix",
     .names = "--obs-matrix",
     .group = kMapOptions,
     .text = "the matrix that makes the binned map of --joint from a map without noise, as "
             "scipy.sparse loads it",
     .field = [](MapJob& j) -> OptionField { return &j.obs_matrix; },
     .value = "FILE.npz",
     .decides_numbers = false},
    {.key = "obs_matrix_weighted",
     .names = "--obs-matrix-weighted",
     .group = kMapOptions,
     .text = "it makes that map times the inverse covariance of each pixel",
     .field = [](MapJob& j) -> OptionField { return &j.obs_matrix_weighted; }},
    {.key = "common_mode",
     .names = "--common-mode",
     .group = kMapOptions,
     .text = "the mean of all detectors at a sample is taken out of each (after polynomials)",
     .field = [](MapJob& j) -> OptionField { return &j.filters.common_mode; }},
    {.key = "split",
     .names = "--split",
     .group = kMapOptions,
     .text = "maps of parts beside the whole: none, detectors, observations (every other one) or "
             "time=N",
     .field = [](MapJob& j) -> OptionField {
       SplitOptions* const member = &j.split;
       return TextField{.set = [member](const std::string& text) { *member = split_of(text); },
                        .get = [member] { return split_text(*member); }};
     },
     .value = "HOW"},
    {.key = "rcond",
     .names = "--rcond",
     .group = kMapOptions,
     .text = "pixels whose reciprocal condition number is lower are cut",
     .field = [](MapJob& j) -> OptionField { return &j.solve.least_reciprocal; },
     .interval = between(0, 0.5),
     .shows_default = true},
    {.key = "good_fraction",
     .names = "--good-fraction",
     .group = kMapOptions,
     .text = "a baseline with no more good samples has no offset",
     .field = [](MapJob& j) -> OptionField { return &j.solve.good_fraction; },
     .interval = between(0, 1),
     .shows_default = true},
    {.key = "tolerance",
     .names = "--tolerance",
     .group = kMapOptions,
     .text = "of the residual of the offsets, relative",
     .field = [](MapJob& j) -> OptionField { return &j.limits.tolerance; },
     .interval = between(0, 1),
     .shows_default = true},
    {.key = "iterations",
     .names = "--iterations",
     .group = kMapOptions,
     .text = "at most",
     .field = [](MapJob& j) -> OptionField { return &j.limits.iterations; },
     .value = "N",
     .interval = between(1, 1e6),
     .shows_default = true},
    {.key = "backend",
     .names = "--backend",
     .group = kMapOptions,
     .text = "what points and compresses samples and takes the steps of the offsets' solver: a "
             "card (NVIDIA; auto: where there is one); emulate: the card's algorithm on the CPU, "
             "slow, for tests",
     .field = [](MapJob& j) -> OptionField { return word_field(&j.backend, kBackends); }},
    {.key = "preconditioner",
     .names = "--preconditioner",
     .group = kMapOptions,
     .text = "of the offsets: with a band of the prior, or the diagonal alone",
     .field = [](MapJob& j) -> OptionField {
       return word_field(&j.preconditioner, kPreconditioners);
     }},
    {.key = "checkpoint",
     .names = "--checkpoint",
     .group = kMapOptions,
     .text = "where the iterations are kept meanwhile: a run that was ended goes on from there",
     .field = [](MapJob& j) -> OptionField { return &j.checkpoint; },
     .value = "FILE",
     .decides_numbers = false},
    {.key = "checkpoint_seconds",
     .names = "--checkpoint-seconds",
     .group = kMapOptions,
     .text = "between two times that they are written; 0: after each one",
     .field = [](MapJob& j) -> OptionField { return &j.checkpoint_seconds; },
     .interval = at_least(0),
     .shows_default = true,
     .decides_numbers = false},
    {.key = "ordering",
     .names = "--ordering",
     .group = kMapOptions,
     .text = "of pixels in the files",
     .field = [](MapJob& j) -> OptionField { return word_field(&j.ordering, kOrderings); }},
    {.key = "type",
     .names = "--type",
     .group = kMapOptions,
     .text = "of numbers in the files",
     .field = [](MapJob& j) -> OptionField { return word_field(&j.type, kTypes); }},
    {.key = "format",
     .names = "--format",
     .group = kMapOptions,
     .text =
         "of the files: FITS as healpy has them, or HDF5 as TOAST has them, which has no room for "
         "what was not hit",
     .field = [](MapJob& j) -> OptionField { return word_field(&j.format, kFormats); }},
    {.key = "partial",
     .names = "--partial",
     .group = kMapOptions,
     .text = "files have only the pixels that were hit, with their numbers (HEALPix), as healpy's "
             "partial maps",
     .field = [](MapJob& j) -> OptionField { return &j.partial; }},
};

}  // namespace

std::span<const OptionRow<MapJob>> map_option_rows() { return kMapRows; }

}  // namespace skyloom
