// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/output_files.hpp"

namespace fiberloom {
namespace {

using Field = loom::OptionField;

constexpr const char* kFiles = "Files";
constexpr const char* kTargets = "Which targets";
constexpr const char* kMethod = "Method";
constexpr const char* kArchetypes = "Archetypes";

constexpr loom::Word<RedshiftMethod> kMethods[] = {{"fast", RedshiftMethod::kFast},
                                                   {"exact", RedshiftMethod::kExact},
                                                   {"redrock", RedshiftMethod::kRedrock}};

[[noreturn]] void expected(const char* what) { throw Error(Status::kUsage, what); }

/// Between commas, blanks left out.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out{""};
  for (const char c : text) {
    if (c == ',') {
      out.emplace_back();
    } else if (c != ' ') {
      out.back() += c;
    }
  }
  return out;
}

template <class T>
T parse(const std::string& part, const char* what) {
  T value{};
  const char* const first = part.data() + (part.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || part.empty()) expected(what);
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) expected(what);
  }
  return value;
}

/// What stands for no choice among targets.
constexpr const char* kAllTargets = "all";

Field ids_field(std::vector<std::int64_t>& ids) {
  const auto set = [to = &ids](const std::string& text) {
    to->clear();
    if (text == kAllTargets) return;
    for (const std::string& part : parts_of(text)) {
      to->push_back(parse<std::int64_t>(part, "integers with commas between them"));
    }
  };
  const auto get = [from = &ids] {
    std::string text;
    for (const std::int64_t id : *from) {
      if (!text.empty()) text += ',';
      text += std::to_string(id);
    }
    return text.empty() ? kAllTargets : text;
  };
  return loom::TextField{set, get};
}

Field count_field(std::optional<std::size_t>& count) {
  const auto set = [to = &count](const std::string& text) {
    to->reset();
    if (text != kAllTargets) *to = parse<std::size_t>(text, "an integer, 0 or more");
  };
  const auto get = [from = &count] { return *from ? std::to_string(**from) : kAllTargets; };
  return loom::TextField{set, get};
}

Field grid_field(redshift::GridRule& rule) {
  const auto set = [to = &rule](const std::string& text) {
    const std::vector<std::string> parts = parts_of(text);
    const char* const what = "zmin,zmax,dz";
    if (parts.size() != 3) expected(what);
    *to = {parse<double>(parts[0], what), parse<double>(parts[1], what),
           parse<double>(parts[2], what)};
  };
  const auto get = [from = &rule] {
    return print("%.17g,%.17g,%.17g", from->low, from->high, from->step);
  };
  return loom::TextField{set, get};
}

Field shares_field(std::array<double, 3>& shares) {
  const auto set = [to = &shares](const std::string& text) {
    const char* const what = "three numbers above 0: galaxies,quasars,stars";
    const std::vector<std::string> parts = parts_of(text);
    if (parts.size() != to->size()) expected(what);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const double share = parse<double>(parts[k], what);
      if (!(share > 0 && share < 1e30)) expected(what);
      (*to)[k] = share;
    }
  };
  const auto get = [from = &shares] {
    return print("%.17g,%.17g,%.17g", (*from)[0], (*from)[1], (*from)[2]);
  };
  return loom::TextField{set, get};
}

Field per_camera_field(PerCamera& choice) {
  const auto set = [to = &choice](const std::string& text) {
    if (text != "True" && text != "False") expected("True or False");
    *to = text == "True" ? PerCamera::kYes : PerCamera::kNo;
  };
  const auto get = [from = &choice]() -> std::string {
    return *from == PerCamera::kDefault ? "default" : *from == PerCamera::kYes ? "on" : "off";
  };
  return loom::TextField{set, get, {"True", "False"}};
}

const RedshiftOptionRow kRows[] = {
    {.key = "templates",
     .names = "-t,--templates",
     .group = kFiles,
     .text = "template files, a list of them (.txt) or a folder; default: $RR_TEMPLATE_DIR, else a "
             "small built-in set",
     .field = [](RedshiftJob& j) -> Field { return &j.templates; },
     .decides_numbers = false},
    {.key = "archetypes",
     .names = "--archetypes",
     .group = kFiles,
     .text = "archetype file or folder: they say in the end what an object is",
     .field = [](RedshiftJob& j) -> Field { return &j.archetypes; },
     .decides_numbers = false},
    {.key = "priors",
     .names = "--priors",
     .group = kFiles,
     .text = "what is known of redshifts: HDU PRIORS with TARGETID, FUNCTION, Z, SIGMA",
     .field = [](RedshiftJob& j) -> Field { return &j.priors; },
     .decides_numbers = false},
    {.key = "chi2_scan",
     .names = "--chi2-scan",
     .group = kFiles,
     .text = "take the scan from a details file instead of making it",
     .field = [](RedshiftJob& j) -> Field { return &j.chi2_scan; },
     .decides_numbers = false},
    {.key = "targetids",
     .names = "--targetids",
     .group = kTargets,
     .text = "only these, with commas",
     .field = [](RedshiftJob& j) -> Field { return ids_field(j.target_ids); },
     .value = "ID,ID..."},
    {.key = "mintarget",
     .names = "--mintarget",
     .group = kTargets,
     .text = "first target of each file, counted from 0",
     .field = [](RedshiftJob& j) -> Field { return count_field(j.first_target); },
     .value = "N"},
    {.key = "ntargets",
     .names = "-n,--ntargets",
     .group = kTargets,
     .text = "so many targets of each file",
     .field = [](RedshiftJob& j) -> Field { return count_field(j.ntargets); },
     .value = "N"},
    {.key = "allspec",
     .names = "--allspec",
     .group = kTargets,
     .text = "exposures each on their own instead of their coadd",
     .field = [](RedshiftJob& j) -> Field { return &j.options.all_spectra; }},
    {.key = "cosmics_nsig",
     .names = "--cosmics-nsig",
     .group = kTargets,
     .text = "with --method redrock: threshold of cosmic rays in a coadd, sigma; 0: none",
     .field = [](RedshiftJob& j) -> Field { return &j.options.cosmics_nsig; },
     .interval = at_least(0),
     .shows_default = true},
    {.key = "negflux_nsig",
     .names = "--negflux-nsig",
     .group = kTargets,
     .text = "pixels so far below 0 are dropped, sigma; 0 or less: none are",
     .field = [](RedshiftJob& j) -> Field { return &j.options.negflux_nsig; },
     .shows_default = true},
    {.key = "resolution_sigma",
     .names = "--resolution-sigma",
     .group = kTargets,
     .text = "of spectra without RESOLUTION and SIGMA: width of a Gaussian, Angstrom; 0: none",
     .field = [](RedshiftJob& j) -> Field { return &j.options.sigma_aa; },
     .interval = between(0.0, 1000.0),
     .shows_default = true},
    {.key = "skymask",
     .names = "--no-skymask",
     .group = kTargets,
     .text = "keep 5572-5582 and 9792-9795 Angstrom, where the sky is brightest",
     .field = [](RedshiftJob& j) -> Field { return &j.options.mask_sky; },
     .flag_clears = true},
    {.key = "subtract_sky",
     .names = "--keep-sky-residual",
     .group = kTargets,
     .text = "do not fit and subtract what is left of the sky's lines, all too strong or all "
             "shifted",
     .field = [](RedshiftJob& j) -> Field { return &j.options.subtract_sky; },
     .flag_clears = true},
    {.key = "sky_continuum",
     .names = "--no-sky-continuum",
     .group = kTargets,
     .text = "give what is left of the sky's continuum no amplitude a camera in the likelihood; "
             "it has one, as wide as OBJTYPE SKY of the same files shows, but never with "
             "--archetypes, --chi2-scan and --least-coverage",
     .field = [](RedshiftJob& j) -> Field { return &j.options.sky_continuum; },
     .flag_clears = true},
    {.key = "use_andmask",
     .names = "--use-andmask",
     .group = kTargets,
     .text = "of SDSS's spectra: drop pixels with any bit in ANDMASK, not only those without ivar",
     .field = [](RedshiftJob& j) -> Field { return &j.options.use_and_mask; }},
    {.key = "use_frames",
     .names = "--use-frames",
     .group = kTargets,
     .text = "of SDSS's plates: the exposures (spCFrame files beside the spPlate) instead of their "
             "coadd",
     .field = [](RedshiftJob& j) -> Field { return &j.options.use_frames; }},
    {.key = "thing_id",
     .names = "--no-thing-id",
     .group = kTargets,
     .text = "of several spPlate files: keep the plates' targets apart, though photoPosPlate files "
             "beside them know which are one THING_ID",
     .field = [](RedshiftJob& j) -> Field { return &j.options.use_thing_id; },
     .flag_clears = true},
    {.key = "method",
     .names = "--method",
     .group = kMethod,
     .text = "fast: a scan by products of matrices, then each fibre's own resolution; exact: that "
             "everywhere; redrock: its rules to the letter",
     .field = [](RedshiftJob& j) -> Field {
       return loom::word_field(&j.options.method, kMethods);
     }},
    {.key = "evidence",
     .names = "--no-evidence",
     .group = kMethod,
     .text = "no probabilities, line fluxes and cuts: redrock's columns alone, ranked by chi2",
     .field = [](RedshiftJob& j) -> Field { return &j.options.evidence; },
     .flag_clears = true},
    {.key = "type_shares",
     .names = "--type-shares",
     .group = kMethod,
     .text = "how common galaxies, quasars and stars are among the targets, as PROBABILITY takes "
             "them beforehand; default: 1,1,1",
     .field = [](RedshiftJob& j) -> Field { return shares_field(j.options.type_shares); },
     .value = "G,Q,S"},
    {.key = "candidates",
     .names = "--candidates",
     .group = kMethod,
     .text = "rows of each target in the table CANDIDATES; 0: no such table",
     .field = [](RedshiftJob& j) -> Field { return &j.options.candidates; },
     .value = "N",
     .interval = between(0, 100),
     .shows_default = true},
    {.key = "nminima",
     .names = "--nminima",
     .group = kMethod,
     .text = "minima kept of each spectral type; default: 3, with --archetypes 9",
     .field = [](RedshiftJob& j) -> Field { return &j.options.minima; },
     .value = "N",
     .interval = at_least(1)},
    {.key = "zminfit_npoints",
     .names = "--zminfit-npoints",
     .group = kMethod,
     .text = "with --method redrock: samples around each minimum",
     .field = [](RedshiftJob& j) -> Field { return &j.options.fine_points; },
     .interval = at_least(3),
     .shows_default = true},
    {.key = "least_coverage",
     .names = "--least-coverage",
     .group = kMethod,
     .text = "share of the pixels that a template has to reach at a redshift; on the others the "
             "smoothed spectrum stands for it",
     .field = [](RedshiftJob& j) -> Field { return &j.options.least_coverage; },
     .value = "SHARE",
     .interval = between(0.1, 1.0),
     .shows_default = true},
    {.key = "zscan_galaxy",
     .names = "--zscan-galaxy",
     .group = kMethod,
     .text = "for galaxy templates without redshifts of their own: step in log10(1 + z); default: "
             "-0.005,1.7,3e-4",
     .field = [](RedshiftJob& j) -> Field { return grid_field(j.options.grids.galaxy); },
     .value = "ZMIN,ZMAX,DZ"},
    {.key = "zscan_qso",
     .names = "--zscan-qso",
     .group = kMethod,
     .text = "the same for quasars; default: 0.05,6.0,5e-4",
     .field = [](RedshiftJob& j) -> Field { return grid_field(j.options.grids.qso); },
     .value = "ZMIN,ZMAX,DZ"},
    {.key = "zscan_star",
     .names = "--zscan-star",
     .group = kMethod,
     .text = "the same for stars, step in z; default: -0.002,0.00201,4e-5",
     .field = [](RedshiftJob& j) -> Field { return grid_field(j.options.grids.star); },
     .value = "ZMIN,ZMAX,DZ"},
    {.key = "archetype_legendre_degree",
     .names = "--archetype-legendre-degree",
     .group = kArchetypes,
     .text = "Legendre terms beside an archetype",
     .field = [](RedshiftJob& j) -> Field { return &j.options.legendre_terms; },
     .interval = between(0, 10),
     .shows_default = true},
    {.key = "archetype_legendre_percamera",
     .names = "--archetype-legendre-percamera",
     .group = kArchetypes,
     .text = "terms of each camera; default: True where there are several",
     .field = [](RedshiftJob& j) -> Field {
       return per_camera_field(j.options.legendre_percamera);
     }},
    {.key = "archetype_legendre_prior",
     .names = "--archetype-legendre-prior",
     .group = kArchetypes,
     .text = "sigma of the terms of each camera; 0 or less: none",
     .field = [](RedshiftJob& j) -> Field { return &j.options.legendre_prior; },
     .shows_default = true},
    {.key = "archetype_nnearest",
     .names = "--archetype-nnearest",
     .group = kArchetypes,
     .text = "so many of the best archetypes are then fitted together",
     .field = [](RedshiftJob& j) -> Field { return &j.options.nearest; },
     .value = "N",
     .interval = at_least(2)},
    {.key = "archetypes_everywhere",
     .names = "--archetypes-everywhere",
     .group = kArchetypes,
     .text = "try archetypes at every redshift, not only at minima of templates: seconds a target",
     .field = [](RedshiftJob& j) -> Field { return &j.options.archetypes_everywhere; }},
    {.key = "archetypes_no_legendre",
     .names = "--archetypes-no-legendre",
     .group = kArchetypes,
     .text = "archetypes alone",
     .field = [](RedshiftJob& j) -> Field { return &j.options.no_legendre; }},
};

}  // namespace

std::span<const RedshiftOptionRow> redshift_option_rows() { return kRows; }

std::string redshift_method_name(RedshiftMethod method) {
  return kMethods[static_cast<std::size_t>(method)].text;
}

std::string redshift_options_text(const RedshiftJob& job) {
  RedshiftJob copy = job;
  std::string text;
  for (const RedshiftOptionRow& row : kRows) {
    if (!row.decides_numbers) continue;
    if (!text.empty()) text += ' ';
    text += row.key;
    text += '=';
    // Receipts have said on and off from the first.
    const std::string value = loom::field_text(row.field(copy));
    text += value == "true" ? "on" : value == "false" ? "off" : value;
  }
  return text;
}

void validate(const RedshiftJob& job) {
  const auto usage = [](const std::string& what) { throw Error(Status::kUsage, what); };
  if (job.inputs.empty()) usage("no input: give -i");
  if (job.output.empty() && job.details.empty()) {
    usage("no output: give -o, or --details");  // as redrock: a model alone is none
  }
  for (const char* hdf5 : {".h5", ".hdf5"}) {
    if (!loom::has_ending(job.output, hdf5)) continue;
    usage("-o " + job.output + ": redshifts are FITS, expected .fits; --details writes HDF5");
  }
  if (loom::has_ending(job.details, ".fits")) {
    usage("--details " + job.details + ": details are HDF5, expected .h5");
  }
  if (!job.target_ids.empty() && (job.first_target || job.ntargets)) {
    usage("--targetids, and a range of targets (--mintarget, --ntargets): give one of them");
  }
  if (job.ntargets && *job.ntargets == 0) usage("--ntargets 0: expected 1 or more");
  if (job.options.archetypes_everywhere && job.archetypes.empty()) {
    usage("--archetypes-everywhere: expected --archetypes too");
  }
  if (job.options.archetypes_everywhere && job.options.method == RedshiftMethod::kRedrock) {
    usage("--archetypes-everywhere: --method redrock looks at minima of templates alone");
  }
  if (job.options.use_frames && !job.model.empty()) {
    usage("--use-frames: no --model, since each fibre has wavelengths of its own");
  }
  if (!(std::abs(job.options.negflux_nsig) < 1e30)) usage("--negflux-nsig: expected a number");
  if (!std::isfinite(job.options.legendre_prior)) {
    usage("--archetype-legendre-prior: expected a number");
  }
}

}  // namespace fiberloom
