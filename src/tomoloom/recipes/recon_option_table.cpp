// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_option_table.hpp"

#include <charconv>
#include <cmath>

#include "loom/base/print.hpp"

namespace tomoloom {
namespace {

using ReconRow = OptionRow<ReconJob>;
using Field = OptionField;

constexpr Word<InputKind> kInputs[] = {{"counts", InputKind::kCounts},
                                       {"transmissions", InputKind::kTransmissions},
                                       {"integrals", InputKind::kIntegrals}};
constexpr Word<Averaging> kAveragings[] = {{"mean", Averaging::kMean},
                                           {"median", Averaging::kMedian}};
constexpr Word<Stripe> kStripes[] = {
    {"none", Stripe::kNone},       {"sf", Stripe::kSf},
    {"ti", Stripe::kTi},           {"fw", Stripe::kFw},
    {"sorting", Stripe::kSorting}, {"filtering", Stripe::kFiltering},
    {"fitting", Stripe::kFitting}, {"interpolation", Stripe::kInterpolation},
    {"large", Stripe::kLarge},     {"dead", Stripe::kDead},
    {"all", Stripe::kAll}};
constexpr Word<StackKind> kStacks[] = {{"projections", StackKind::kProjections},
                                       {"sinograms", StackKind::kSinograms}};
constexpr Word<VolumeFormat> kFormats[] = {{"hdf5", VolumeFormat::kHdf5},
                                           {"tiff", VolumeFormat::kTiff}};
constexpr Word<Acquisition> kAcquisitions[] = {{"full", Acquisition::kFull},
                                               {"half", Acquisition::kHalf}};
constexpr Word<Phase> kPhases[] = {
    {"none", Phase::kNone}, {"paganin", Phase::kPaganin}, {"tomopy", Phase::kTomopy}};
constexpr Word<Method> kMethods[] = {{"exact", Method::kExact},
                                     {"gridrec", Method::kGridrec},
                                     {"fbp", Method::kFbp},
                                     {"sirt", Method::kSirt},
                                     {"cgls", Method::kCgls},
                                     {"mlem", Method::kMlem},
                                     {"osem", Method::kOsem},
                                     {"tv", Method::kTv},
                                     {"tikh", Method::kTikh},
                                     {"grad", Method::kGrad},
                                     {"pml_quad", Method::kPmlQuad},
                                     {"pml_hybrid", Method::kPmlHybrid},
                                     {"ospml_quad", Method::kOspmlQuad},
                                     {"ospml_hybrid", Method::kOspmlHybrid},
                                     {"bart", Method::kBart}};

[[noreturn]] void expected(const char* what) { throw Error(Status::kUsage, what); }

/// The whole of a text as a number.
template <class Number>
bool parse(std::string_view text, Number& value) {
  const auto [rest, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  return bad == std::errc() && rest == text.data() + text.size();
}

Field rows_field(ReconJob& job) {
  return TextField{[&job](const std::string& text) {
                     if (text == "all") {
                       job.first_row = 0;
                       job.end_row.reset();
                       return;
                     }
                     const std::size_t colon = text.find(':');
                     std::size_t first = 0, end = 0;
                     const std::string_view all(text);
                     if (colon == std::string::npos || !parse(all.substr(0, colon), first) ||
                         !parse(all.substr(colon + 1), end)) {
                       expected("FIRST:END, such as 100:132");
                     }
                     job.first_row = first;
                     job.end_row = end;
                   },
                   [&job] {
                     if (!job.end_row) return std::string("all");
                     return std::to_string(job.first_row) + ":" + std::to_string(*job.end_row);
                   }};
}

Field centre_field(ReconJob& job) {
  return TextField{[&job](const std::string& text) {
                     job.search = text == "auto"    ? AxisSearch::kTurn
                                  : text == "pairs" ? AxisSearch::kPairs
                                                    : AxisSearch::kNone;
                     job.centre.reset();
                     job.centre_last.reset();
                     if (job.search != AxisSearch::kNone || text == "middle") return;
                     const std::size_t colon = std::min(text.find(':'), text.size());
                     const std::string_view all(text);
                     double first = 0, last = 0;
                     const bool leans = colon < text.size();
                     if (!parse(all.substr(0, colon), first) || !std::isfinite(first) ||
                         (leans && (!parse(all.substr(colon + 1), last) || !std::isfinite(last)))) {
                       expected(
                           "a column, such as 515.4, those of the first and the last row, such as "
                           "515.4:517, or middle, auto or pairs");
                     }
                     job.centre = first;
                     if (leans) job.centre_last = last;
                   },
                   [&job] {
                     if (job.search == AxisSearch::kTurn) return std::string("auto");
                     if (job.search == AxisSearch::kPairs) return std::string("pairs");
                     if (!job.centre) return std::string("middle");
                     const std::string first = print("%.17g", *job.centre);
                     return job.centre_last ? print("%s:%.17g", first.c_str(), *job.centre_last)
                                            : first;
                   }};
}

Field filter_field(ReconJob& job) {
  WordField field;
  for (const FilterName& name : filter_names()) field.words.emplace_back(name.name);
  field.set = [&job](std::size_t i) { job.filter.filter = filter_names()[i].filter; };
  field.get = [&job] {
    std::size_t i = 0;
    while (filter_names()[i].filter != job.filter.filter) ++i;
    return i;
  };
  return field;
}

const ReconRow kReconRows[] = {
    {.key = "group",
     .names = "--group",
     .group = kScanOptions,
     .text = "group of the scan: exchange, exchange1 ...",
     .field = [](ReconJob& j) -> Field { return &j.group; },
     .shows_default = true},
    {.key = "stack",
     .names = "--stack",
     .group = kScanOptions,
     .text = "what the images of a TIFF stack are",
     .field = [](ReconJob& j) -> Field { return word_field(&j.stack, kStacks); }},
    {.key = "flats",
     .names = "--flats",
     .group = kScanOptions,
     .text = "flats of a TIFF stack, a folder or a file of many pages",
     .field = [](ReconJob& j) -> Field { return &j.flats; },
     .value = "STACK",
     .decides_numbers = false},
    {.key = "darks",
     .names = "--darks",
     .group = kScanOptions,
     .text = "its darks",
     .field = [](ReconJob& j) -> Field { return &j.darks; },
     .value = "STACK",
     .decides_numbers = false},
    {.key = "theta",
     .names = "--theta",
     .group = kScanOptions,
     .text = "angles in degrees: FIRST:LAST, both included, or a text file of them; default: what "
             "the scan says",
     .field = [](ReconJob& j) -> Field { return &j.theta; },
     .value = "FIRST:LAST|FILE"},
    {.key = "rows",
     .names = "--rows",
     .group = kScanOptions,
     .text = "rows FIRST to END - 1 of the projections; default: all",
     .field = rows_field,
     .value = "FIRST:END"},
    {.key = "input",
     .names = "--input",
     .group = kPreparationOptions,
     .text = "what the numbers are; of counts flats and darks are used",
     .field = [](ReconJob& j) -> Field { return word_field(&j.input, kInputs); }},
    {.key = "averaging",
     .names = "--averaging",
     .group = kPreparationOptions,
     .text = "of flats and of darks",
     .field = [](ReconJob& j) -> Field { return word_field(&j.averaging, kAveragings); }},
    {.key = "outlier",
     .names = "--outlier",
     .group = kPreparationOptions,
     .text = "zingers: transmissions so far above the median around them become it; 0: none",
     .field = [](ReconJob& j) -> Field { return &j.outlier; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "outlier_size",
     .names = "--outlier-size",
     .group = kPreparationOptions,
     .text = "angles and columns of that median",
     .field = [](ReconJob& j) -> Field { return &j.outlier_size; },
     .value = "N",
     .interval = between(2, 99),
     .shows_default = true},
    {.key = "phase",
     .names = "--phase",
     .group = kPreparationOptions,
     .text = "retrieve the phase of transmissions, of a body of one material at one distance: "
             "paganin; tomopy: with the numbers of its retrieve_phase",
     .field = [](ReconJob& j) -> Field { return word_field(&j.phase.method, kPhases); }},
    {.key = "phase_energy",
     .names = "--phase-energy",
     .group = kPreparationOptions,
     .text = "of the beam, keV",
     .field = [](ReconJob& j) -> Field { return &j.phase.energy_kev; },
     .interval = between(1e-3, 1e6),
     .shows_default = true},
    {.key = "phase_distance",
     .names = "--phase-distance",
     .group = kPreparationOptions,
     .text = "from the body to the detector, cm",
     .field = [](ReconJob& j) -> Field { return &j.phase.distance_cm; },
     .interval = between(0, 1e9),
     .shows_default = true},
    {.key = "phase_pixel",
     .names = "--phase-pixel",
     .group = kPreparationOptions,
     .text = "size of the detector's pixel, cm",
     .field = [](ReconJob& j) -> Field { return &j.phase.pixel_cm; },
     .interval = between(1e-9, 100),
     .shows_default = true},
    {.key = "phase_alpha",
     .names = "--phase-alpha",
     .group = kPreparationOptions,
     .text = "TomoPy's regularization, beta / (4 pi^2 delta) of the body's material: smaller is "
             "smoother",
     .field = [](ReconJob& j) -> Field { return &j.phase.alpha; },
     .interval = between(1e-12, 1e12),
     .shows_default = true},
    {.key = "phase_delta_beta",
     .names = "--phase-delta-beta",
     .group = kPreparationOptions,
     .text = "delta / beta of the material, in place of alpha; 0: as alpha says",
     .field = [](ReconJob& j) -> Field { return &j.phase.delta_beta; },
     .interval = between(0, 1e12),
     .shows_default = true},
    {.key = "phase_unpadded",
     .names = "--phase-unpadded",
     .group = kPreparationOptions,
     .text = "tomopy: projections are not padded (pad=False)",
     .field = [](ReconJob& j) -> Field { return &j.phase.unpadded; }},
    {.key = "stripe",
     .names = "--stripe",
     .group = kPreparationOptions,
     .text = "how to remove stripes, which become rings; TomoPy's by name",
     .field = [](ReconJob& j) -> Field { return word_field(&j.stripe.method, kStripes); }},
    {.key = "stripe_size",
     .names = "--stripe-size",
     .group = kPreparationOptions,
     .text = "columns of the running mean (sf) or median; 0: as TomoPy",
     .field = [](ReconJob& j) -> Field { return &j.stripe.size; },
     .value = "N",
     .interval = between(0, 10000),
     .shows_default = true},
    {.key = "stripe_large_size",
     .names = "--stripe-large-size",
     .group = kPreparationOptions,
     .text = "of the median that finds large stripes, of all; 0: as TomoPy",
     .field = [](ReconJob& j) -> Field { return &j.stripe.large_size; },
     .value = "N",
     .interval = between(0, 10000),
     .shows_default = true},
    {.key = "stripe_snr",
     .names = "--stripe-snr",
     .group = kPreparationOptions,
     .text = "interpolation, large, dead, all: greater is less sensitive",
     .field = [](ReconJob& j) -> Field { return &j.stripe.snr; },
     .interval = above(0),
     .shows_default = true},
    {.key = "stripe_drop",
     .names = "--stripe-drop",
     .group = kPreparationOptions,
     .text = "interpolation, large: fraction of ranks that do not count",
     .field = [](ReconJob& j) -> Field { return &j.stripe.drop_ratio; },
     .interval = between(0, 0.8),
     .shows_default = true},
    {.key = "stripe_sigma",
     .names = "--stripe-sigma",
     .group = kPreparationOptions,
     .text = "fw, filtering: width in frequencies; 0: as TomoPy",
     .field = [](ReconJob& j) -> Field { return &j.stripe.sigma; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "stripe_sigma_x",
     .names = "--stripe-sigma-x",
     .group = kPreparationOptions,
     .text = "fitting: width in frequencies along the row",
     .field = [](ReconJob& j) -> Field { return &j.stripe.sigma_x; },
     .interval = above(0),
     .shows_default = true},
    {.key = "stripe_sigma_y",
     .names = "--stripe-sigma-y",
     .group = kPreparationOptions,
     .text = "fitting: and along angles",
     .field = [](ReconJob& j) -> Field { return &j.stripe.sigma_y; },
     .interval = above(0),
     .shows_default = true},
    {.key = "stripe_order",
     .names = "--stripe-order",
     .group = kPreparationOptions,
     .text = "fitting: degree of the polynomial",
     .field = [](ReconJob& j) -> Field { return &j.stripe.order; },
     .value = "N",
     .interval = between(0, 20),
     .shows_default = true},
    {.key = "stripe_alpha",
     .names = "--stripe-alpha",
     .group = kPreparationOptions,
     .text = "ti: damping",
     .field = [](ReconJob& j) -> Field { return &j.stripe.alpha; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "stripe_blocks",
     .names = "--stripe-blocks",
     .group = kPreparationOptions,
     .text = "ti: blocks of angles; 0: all together",
     .field = [](ReconJob& j) -> Field { return &j.stripe.blocks; },
     .value = "N",
     .interval = between(0, 10000),
     .shows_default = true},
    {.key = "stripe_level",
     .names = "--stripe-level",
     .group = kPreparationOptions,
     .text = "fw: levels of wavelets; 0: as many as fit",
     .field = [](ReconJob& j) -> Field { return &j.stripe.level; },
     .value = "N",
     .interval = between(0, 20),
     .shows_default = true},
    {.key = "method",
     .names = "--method",
     .group = kReconstructionOptions,
     .text = "exact: right in value; gridrec: the numbers of TomoPy's gridrec; fbp: filtered back "
             "projection of square pixels, slow; the others iterate, for few angles",
     .field = [](ReconJob& j) -> Field { return word_field(&j.method, kMethods); }},
    {.key = "filter",
     .names = "--filter",
     .group = kReconstructionOptions,
     .text = "as TomoPy names them",
     .field = filter_field},
    {.key = "filter_cutoff",
     .names = "--filter-cutoff",
     .group = kReconstructionOptions,
     .text = "cycles a pixel, of hann, hamming, parzen, butterworth",
     .field = [](ReconJob& j) -> Field { return &j.filter.cutoff; },
     .interval = between(1e-3, 100),
     .shows_default = true},
    {.key = "filter_order",
     .names = "--filter-order",
     .group = kReconstructionOptions,
     .text = "of butterworth",
     .field = [](ReconJob& j) -> Field { return &j.filter.order; },
     .interval = between(0.1, 100),
     .shows_default = true},
    {.key = "iterations",
     .names = "--iterations",
     .group = kReconstructionOptions,
     .text = "of the methods that iterate",
     .field = [](ReconJob& j) -> Field { return &j.iterations; },
     .interval = between(1, 100000),
     .shows_default = true},
    {.key = "blocks",
     .names = "--blocks",
     .group = kReconstructionOptions,
     .text = "osem, ospml_quad, ospml_hybrid, bart: blocks of angles, one after the other in each "
             "iteration",
     .field = [](ReconJob& j) -> Field { return &j.blocks; },
     .value = "N",
     .interval = between(1, 100000),
     .shows_default = true},
    {.key = "reg_par",
     .names = "--reg-par",
     .group = kReconstructionOptions,
     .text = "tv: what the sum of differences between pixels counts beside half the squared "
             "residual; tikh: what squared values count beside the squared residual; pml_..., "
             "ospml_...: what differences between neighbours count beside the likelihood; grad: "
             "length of a step, 0: found",
     .field = [](ReconJob& j) -> Field { return &j.reg_par; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "reg_edge",
     .names = "--reg-edge",
     .group = kReconstructionOptions,
     .text = "pml_hybrid, ospml_hybrid: differences beyond this are edges, which cost less",
     .field = [](ReconJob& j) -> Field { return &j.reg_edge; },
     .interval = above(0),
     .shows_default = true},
    {.key = "center",
     .names = "--center",
     .group = kReconstructionOptions,
     .text =
         "column that the axis is projected to; FIRST:LAST: those of the detector's first and "
         "last row, where the axis leans; middle: of the row (default); auto: found in the scan; "
         "pairs: found in projections half a turn apart",
     .field = centre_field,
     .value = "COLUMN|FIRST:LAST|middle|auto|pairs"},
    {.key = "acquisition",
     .names = "--acquisition",
     .group = kReconstructionOptions,
     .text = "half: over a whole turn, with the axis (--center COLUMN) near an end of the row; "
             "slices are "
             "as wide as both halves together",
     .field = [](ReconJob& j) -> Field { return word_field(&j.acquisition, kAcquisitions); }},
    {.key = "ring_width",
     .names = "--ring-width",
     .group = kReconstructionOptions,
     .text = "rings up to so many pixels wide are removed from slices; 0: none",
     .field = [](ReconJob& j) -> Field { return &j.rings.width; },
     .value = "N",
     .interval = between(0, 1000),
     .shows_default = true},
    {.key = "ring_threshold",
     .names = "--ring-threshold",
     .group = kReconstructionOptions,
     .text = "what differs by more from what is beside it is no ring; 0: no bound",
     .field = [](ReconJob& j) -> Field { return &j.rings.threshold; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "ring_angle",
     .names = "--ring-angle",
     .group = kReconstructionOptions,
     .text = "degrees; what is shorter than twice that along its circle is no ring",
     .field = [](ReconJob& j) -> Field { return &j.rings.arc_deg; },
     .interval = between(0, 180),
     .shows_default = true},
    {.key = "format",
     .names = "--format",
     .group = kReconstructionOptions,
     .text = "of the volume: one HDF5 file, or a folder of TIFF images",
     .field = [](ReconJob& j) -> Field { return word_field(&j.format, kFormats); },
     .decides_numbers = false},
    {.key = "mask",
     .names = "--mask",
     .group = kReconstructionOptions,
     .text = "radius of what is shown in half widths of a slice; 0: all",
     .field = [](ReconJob& j) -> Field { return &j.mask; },
     .interval = between(0, 2),
     .shows_default = true},
};

}  // namespace

std::span<const ReconRow> recon_option_rows() { return kReconRows; }

}  // namespace tomoloom
