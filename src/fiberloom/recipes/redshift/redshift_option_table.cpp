// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using Field = RedshiftOptionField;

constexpr const char* kFiles = "Files";
constexpr const char* kTargets = "Which targets";
constexpr const char* kMethod = "Method";
constexpr const char* kArchetypes = "Archetypes";

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
     .field = [](RedshiftJob& j) -> Field { return &j.target_ids; },
     .value = "ID,ID..."},
    {.key = "mintarget",
     .names = "--mintarget",
     .group = kTargets,
     .text = "first target of each file, counted from 0",
     .field = [](RedshiftJob& j) -> Field { return &j.first_target; },
     .value = "N"},
    {.key = "ntargets",
     .names = "-n,--ntargets",
     .group = kTargets,
     .text = "so many targets of each file",
     .field = [](RedshiftJob& j) -> Field { return &j.ntargets; },
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
     .text = "pixels so far below 0 are dropped, sigma",
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
     .names = "--subtract-sky-residual",
     .group = kTargets,
     .text = "fit and subtract what is left of the sky's lines, all too strong or all shifted",
     .field = [](RedshiftJob& j) -> Field { return &j.options.subtract_sky; }},
    {.key = "use_andmask",
     .names = "--use-andmask",
     .group = kTargets,
     .text = "of SDSS's spectra: drop pixels with any bit in ANDMASK, not only those without ivar",
     .field = [](RedshiftJob& j) -> Field { return &j.options.use_and_mask; }},
    {.key = "method",
     .names = "--method",
     .group = kMethod,
     .text = "fast: a scan by products of matrices, then each fibre's own resolution; exact: that "
             "everywhere; redrock: its rules to the letter",
     .field = [](RedshiftJob& j) -> Field { return &j.options.method; }},
    {.key = "evidence",
     .names = "--no-evidence",
     .group = kMethod,
     .text = "no probabilities, line fluxes and cuts: redrock's columns alone, ranked by chi2",
     .field = [](RedshiftJob& j) -> Field { return &j.options.evidence; },
     .flag_clears = true},
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
     .field = [](RedshiftJob& j) -> Field { return &j.options.grids.galaxy; },
     .value = "ZMIN,ZMAX,DZ"},
    {.key = "zscan_qso",
     .names = "--zscan-qso",
     .group = kMethod,
     .text = "the same for quasars; default: 0.05,6.0,5e-4",
     .field = [](RedshiftJob& j) -> Field { return &j.options.grids.qso; },
     .value = "ZMIN,ZMAX,DZ"},
    {.key = "zscan_star",
     .names = "--zscan-star",
     .group = kMethod,
     .text = "the same for stars, step in z; default: -0.002,0.00201,4e-5",
     .field = [](RedshiftJob& j) -> Field { return &j.options.grids.star; },
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
     .field = [](RedshiftJob& j) -> Field { return &j.options.legendre_percamera; }},
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

[[noreturn]] void fail(const RedshiftOptionRow& row, const std::string& text,
                       const std::string& expected) {
  throw Error(Status::kUsage, row.long_name() + " " + text + ": expected " + expected);
}

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
T parse(const RedshiftOptionRow& row, const std::string& text, const std::string& part,
        const char* expected) {
  T value{};
  const char* const first = part.data() + (part.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || part.empty()) {
    fail(row, text, expected);
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) fail(row, text, expected);
  }
  return value;
}

void check_interval(const RedshiftOptionRow& row, const std::string& text, double value) {
  if (row.interval && !row.interval->contains(value)) {
    fail(row, text, "a number " + row.interval->words());
  }
}

/// Visits every kind of member.
struct Setter {
  const RedshiftOptionRow& row;
  const std::string& text;
  void operator()(bool* to) const {
    if (text != "true" && text != "false") fail(row, text, "true or false");
    *to = text == "true";
  }
  void operator()(int* to) const {
    *to = parse<int>(row, text, text, "an integer");
    check_interval(row, text, *to);
  }
  void operator()(double* to) const {
    *to = parse<double>(row, text, text, "a number");
    check_interval(row, text, *to);
  }
  void operator()(std::string* to) const { *to = text; }
  void operator()(std::vector<std::string>* to) const { to->push_back(text); }
  void operator()(std::vector<std::int64_t>* to) const {
    to->clear();
    for (const std::string& part : parts_of(text)) {
      to->push_back(parse<std::int64_t>(row, text, part, "integers with commas between them"));
    }
  }
  void operator()(std::optional<std::size_t>* to) const {
    *to = parse<std::size_t>(row, text, text, "an integer, 0 or more");
  }
  void operator()(RedshiftMethod* to) const {
    const auto& words = redshift_methods();
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) fail(row, text, "fast, exact or redrock");
    *to = static_cast<RedshiftMethod>(found - words.begin());
  }
  void operator()(PerCamera* to) const {
    if (text != "True" && text != "False") fail(row, text, "True or False");
    *to = text == "True" ? PerCamera::kYes : PerCamera::kNo;
  }
  void operator()(redshift::GridRule* to) const {
    const std::vector<std::string> parts = parts_of(text);
    const char* const expected = "zmin,zmax,dz";
    if (parts.size() != 3) fail(row, text, expected);
    *to = {parse<double>(row, text, parts[0], expected),
           parse<double>(row, text, parts[1], expected),
           parse<double>(row, text, parts[2], expected)};
  }
};

/// A member as receipts have it: all digits of a number.
struct Teller {
  std::string operator()(const bool* v) const { return *v ? "on" : "off"; }
  std::string operator()(const int* v) const { return std::to_string(*v); }
  std::string operator()(const double* v) const { return print("%.17g", *v); }
  std::string operator()(const std::string* v) const { return *v; }
  std::string operator()(const std::vector<std::string>* v) const { return listed(*v); }
  std::string operator()(const std::vector<std::int64_t>* v) const {
    std::vector<std::string> all;
    for (const std::int64_t id : *v) all.push_back(std::to_string(id));
    return listed(all);
  }
  std::string operator()(const std::optional<std::size_t>* v) const {
    return *v ? std::to_string(**v) : "all";
  }
  std::string operator()(const RedshiftMethod* v) const { return redshift_method_name(*v); }
  std::string operator()(const PerCamera* v) const {
    return *v == PerCamera::kDefault ? "default" : *v == PerCamera::kYes ? "on" : "off";
  }
  std::string operator()(const redshift::GridRule* v) const {
    return print("%.17g,%.17g,%.17g", v->low, v->high, v->step);
  }

 private:
  static std::string listed(const std::vector<std::string>& all) {
    std::string text;
    for (const std::string& one : all) text += (text.empty() ? "" : ",") + one;
    return text.empty() ? "all" : text;
  }
};

}  // namespace

std::string RedshiftOptionRow::long_name() const {
  const std::string all(names);
  const std::size_t start = all.find("--");
  return all.substr(start, all.find(',', start) - start);
}

std::span<const RedshiftOptionRow> redshift_option_rows() { return kRows; }

void set_redshift_option(const RedshiftOptionRow& row, RedshiftJob& job, const std::string& text) {
  std::visit(Setter{row, text}, row.field(job));
}

const std::vector<std::string>& redshift_methods() {
  static const std::vector<std::string> words{"fast", "exact", "redrock"};
  return words;
}

std::string redshift_method_name(RedshiftMethod method) {
  return redshift_methods()[static_cast<std::size_t>(method)];
}

std::string redshift_options_text(const RedshiftJob& job) {
  RedshiftJob copy = job;
  std::string text;
  for (const RedshiftOptionRow& row : kRows) {
    if (!row.decides_numbers) continue;
    if (!text.empty()) text += ' ';
    text += row.key;
    text += '=';
    text += std::visit(Teller{}, row.field(copy));
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
    if (!job.output.ends_with(hdf5)) continue;
    usage("-o " + job.output + ": redshifts are FITS, expected .fits; --details writes HDF5");
  }
  if (job.details.ends_with(".fits")) {
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
  if (!(std::abs(job.options.negflux_nsig) < 1e30)) usage("--negflux-nsig: expected a number");
}

}  // namespace fiberloom
