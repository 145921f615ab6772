// SPDX-License-Identifier: BSD-3-Clause
// Rows of recon's option table: how slices are made.
#include <cmath>

#include "loom/base/print.hpp"
#include "tomoloom/recipes/recon_option_parts.hpp"

namespace tomoloom {
namespace {

constexpr Word<VolumeFormat> kFormats[] = {
    {"hdf5", VolumeFormat::kHdf5}, {"tiff", VolumeFormat::kTiff}, {"zarr", VolumeFormat::kZarr}};
constexpr Word<Acquisition> kAcquisitions[] = {{"full", Acquisition::kFull},
                                               {"half", Acquisition::kHalf}};
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
                                     {"bart", Method::kBart},
                                     {"art", Method::kArt}};

constexpr Word<Backend> kBackends[] = {{"auto", Backend::kAuto},
                                       {"cpu", Backend::kCpu},
                                       {"cuda", Backend::kCuda},
                                       {"emulate", Backend::kEmulate}};
constexpr Word<Gram> kGrams[] = {{"rays", Gram::kRays}, {"fft", Gram::kFft}};

struct SearchWord {
  AxisSearch search;
  const char* word;
};
constexpr SearchWord kSearches[] = {{AxisSearch::kTurn, "auto"},
                                    {AxisSearch::kPairs, "pairs"},
                                    {AxisSearch::kLean, "fit"},
                                    {AxisSearch::kEntropy, "entropy"}};

void set_centre(ReconJob& job, const std::string& text) {
  job.search = AxisSearch::kNone;
  job.centre.reset();
  job.centre_last.reset();
  for (const SearchWord& each : kSearches) {
    if (text == each.word) job.search = each.search;
  }
  if (job.search != AxisSearch::kNone || text == "middle") return;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view all(text);
  double first = 0, last = 0;
  const bool leans = colon < text.size();
  if (!parse(all.substr(0, colon), first) || !std::isfinite(first) ||
      (leans && (!parse(all.substr(colon + 1), last) || !std::isfinite(last)))) {
    expected(
        "a column, such as 515.4, those of the first and the last row, such as 515.4:517, or "
        "middle, auto, fit, entropy or pairs");
  }
  job.centre = first;
  if (leans) job.centre_last = last;
}

Field centre_field(ReconJob& job) {
  return TextField{[&job](const std::string& text) { set_centre(job, text); },
                   [&job] {
                     for (const SearchWord& each : kSearches) {
                       if (job.search == each.search) return std::string(each.word);
                     }
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

const ReconRow kMethodRows[] = {
    {.key = "method",
     .names = "--method",
     .group = kReconstructionOptions,
     .text = "exact: right in value; gridrec: the numbers of TomoPy's gridrec; fbp: filtered back "
             "projection of square pixels, slow; the others iterate, for few angles",
     .field = [](ReconJob& j) -> Field { return word_field(&j.method, kMethods); }},
    {.key = "filter",
     .names = "--filter",
     .group = kReconstructionOptions,
     .text = "as TomoPy names them; custom: --filter-weights; custom2d: the same for each angle",
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
    {.key = "filter_weights",
     .names = "--filter-weights",
     .group = kReconstructionOptions,
     .text =
         "a text file with what each frequency of a padded line is multiplied by, ramp included, "
         "from 0 to below half a cycle a pixel; of custom2d one set after the other, in the "
         "order of the projections",
     .field = [](ReconJob& j) -> Field { return &j.filter_weights; },
     .value = "FILE"},
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
    {.key = "gram",
     .names = "--gram",
     .group = kReconstructionOptions,
     .text =
         "sirt, cgls, tikh, grad, tv: what is applied in each iteration; rays: a projection and "
         "its transpose; fft: both as one convolution, of projections by frequencies, for a "
         "body that is seen whole",
     .field = [](ReconJob& j) -> Field { return word_field(&j.gram, kGrams); }},
    {.key = "center",
     .names = "--center",
     .group = kReconstructionOptions,
     .text =
         "column that the axis is projected to; FIRST:LAST: those of the detector's first and "
         "last row, where the axis leans; middle: of the row (default); auto: found in the scan; "
         "fit: the same in bands of rows, with a line through them; entropy: where the middle "
         "slice has the fewest different values; pairs: found in projections half a turn apart",
     .field = centre_field,
     .value = "COLUMN|FIRST:LAST|middle|auto|fit|entropy|pairs"},
    {.key = "tilt",
     .names = "--tilt",
     .group = kReconstructionOptions,
     .text =
         "degrees that the axis is tilted along the beam, with --method exact, fbp, sirt, bart, "
         "cgls, tikh, grad or tv; positive: what lies further along the beam is seen further down",
     .field = [](ReconJob& j) -> Field { return &j.tilt_deg; },
     .interval = between(-45, 45),
     .shows_default = true},
    {.key = "centers",
     .names = "--centers",
     .group = kReconstructionOptions,
     .text = "a text file with a number for each row of the detector: the column that the row sees "
             "the axis in, in place of --center",
     .field = [](ReconJob& j) -> Field { return &j.centres; },
     .value = "FILE"},
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
    {.key = "backend",
     .names = "--backend",
     .group = kReconstructionOptions,
     .text =
         "where phases are retrieved, and exact and gridrec computed: a card (NVIDIA) where one is "
         "there; emulate: the card's algorithm on the CPU, slow, for tests",
     .field = [](ReconJob& j) -> Field { return word_field(&j.backend, kBackends); },
     .value = "auto|cpu|cuda",
     .decides_numbers = false},
    {.key = "format",
     .names = "--format",
     .group = kReconstructionOptions,
     .text = "of the volume: one HDF5 file, a folder of TIFF images, or a folder in OME-Zarr's "
             "layout, which -o NAME.zarr asks for too",
     .field = [](ReconJob& j) -> Field { return word_field(&j.format, kFormats); },
     .decides_numbers = false},
    {.key = "zarr_level",
     .names = "--zarr-level",
     .group = kReconstructionOptions,
     .text = "of zlib, that chunks of OME-Zarr are packed with; 0: they are not",
     .field = [](ReconJob& j) -> Field { return &j.zarr_level; },
     .interval = between(0, 9),
     .shows_default = true,
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

std::span<const ReconRow> method_option_rows() { return kMethodRows; }

}  // namespace tomoloom
