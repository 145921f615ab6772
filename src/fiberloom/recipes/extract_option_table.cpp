// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/extract_option_table.hpp"

#include <algorithm>
#include <map>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

using Field = ExtractOptionField;

constexpr const char* kFiles = "Files";
constexpr const char* kProblem = "What to extract";
constexpr const char* kMethod = "Method";

const ExtractOptionRow kRows[] = {
    {.key = "scores",
     .names = "--no-scores",
     .group = kFiles,
     .unit = "",
     .text = "write no SCORES",
     .field = [](ExtractJob& j) -> Field { return &j.scores; },
     .flag_clears = true,
     .receipt = {12, "scores"}},
    {.key = "wavelength",
     .names = "-w,--wavelength,--wave",
     .group = kProblem,
     .unit = "Angstrom",
     .text = "wmin,wmax,dw in Angstrom",
     .field = [](ExtractJob& j) -> Field { return &j.wave; },
     .receipt = {.place = 2, .key = "wave", .if_changed = true}},
    {.key = "wave_log10",
     .names = "--wave-log10",
     .group = kProblem,
     .unit = "",
     .text = "dw of --wavelength is a step of log10 of the wavelength",
     .field = [](ExtractJob& j) -> Field { return &j.wave_log10; },
     .receipt = {.place = 31, .key = "wave_log10", .if_changed = true}},
    {.key = "barycentric_correction",
     .names = "--barycentric-correction",
     .group = kProblem,
     .unit = "",
     .text = "wavelengths at the barycentre of the solar system: extract on the grid divided by "
             "1 + v/c, write HELIOCOR",
     .field = [](ExtractJob& j) -> Field { return &j.barycentric; },
     .receipt = {.place = 3, .key = "barycentric", .if_changed = true}},
    {.key = "barycentric_fibers",
     .names = "--barycentric-fibers",
     .group = kProblem,
     .unit = "",
     .text = "with --barycentric-correction: the factor of each fibre's own direction (TARGET_RA, "
             "TARGET_DEC of FIBERMAP) in the solution itself, HDU FIBER_HELIOCOR",
     .field = [](ExtractJob& j) -> Field { return &j.barycentric_fibers; },
     .only = Method::kExact,
     .receipt = {.place = 32, .key = "barycentric_fibers", .if_changed = true}},
    {.key = "specmin",
     .names = "-s,--specmin",
     .group = kProblem,
     .unit = "",
     .text = "first fibre, counted from 0",
     .field = [](ExtractJob& j) -> Field { return &j.options.spec_min; },
     .shows_default = true,
     .receipt = {4, "fibres"}},
    {.key = "nspec",
     .names = "-n,--nspec",
     .group = kProblem,
     .unit = "",
     .text = "number of fibres; default: all from --specmin",
     .field = [](ExtractJob& j) -> Field { return &j.options.nspec; },
     .interval = above(0),
     .negative_is_unset = true,
     .receipt = {4, "fibres", '+'}},
    {.key = "bundlesize",
     .names = "--bundlesize",
     .group = kProblem,
     .unit = "",
     .text = "fibres a bundle; 0: the PSF's BUNDLE row",
     .field = [](ExtractJob& j) -> Field { return &j.options.bundle_size; },
     .interval = at_least(0),
     .shows_default = true,
     .receipt = {5, "bundle"}},
    {.key = "psferr",
     .names = "--psferr",
     .group = kProblem,
     .unit = "",
     .text = "fractional PSF error in chi2pix; default: PSFERR of the PSF, else 0.01",
     .field = [](ExtractJob& j) -> Field { return &j.options.psferr; },
     .interval = at_least(0),
     .negative_is_unset = true,
     .receipt = {6, "psferr"}},
    {.key = "mask_bits",
     .names = "--mask-bits",
     .group = kProblem,
     .unit = "",
     .text = "bits of the CCD MASK that drop a pixel",
     .field = [](ExtractJob& j) -> Field { return &j.mask_bits; },
     .shows_default = true,
     .receipt = {9, "mask"}},
    {.key = "verify",
     .names = "--no-verify",
     .group = kProblem,
     .unit = "",
     .text = "do not compare the checksums of inputs (CHECKSUM, DATASUM), where they have them",
     .field = [](ExtractJob& j) -> Field { return &j.verify; },
     .flag_clears = true},
    {.key = "ndiag",
     .names = "--ndiag",
     .group = kProblem,
     .unit = "",
     .text = "stored diagonals of the resolution matrix, odd",
     .field = [](ExtractJob& j) -> Field { return &j.options.ndiag; },
     .odd = true,
     .shows_default = true,
     .receipt = {8, "ndiag"}},
    {.key = "max_leak",
     .names = "--max-leak",
     .group = kProblem,
     .unit = "",
     .text =
         "instead of --ndiag as many diagonals, 49 at most, as leave no more than this of a row "
         "out (one row in 1000 may leak more)",
     .field = [](ExtractJob& j) -> Field { return &j.max_leak; },
     .interval = between(1e-8, 0.5),
     .negative_is_unset = true,
     .receipt = {.place = 33, .key = "max_leak", .if_changed = true}},
    {.key = "gh00",
     .names = "--gh00",
     .group = kProblem,
     .unit = "",
     .text = "GH-0-0 of the PSF: as stored (as the peers do), or 1",
     .field = [](ExtractJob& j) -> Field { return &j.psf_options.gh00; },
     .receipt = {10, "gh00"}},
    {.key = "psf_tails",
     .names = "--psf-tails",
     .group = kProblem,
     .unit = "",
     .text = "use the PSF's Lorentzian tails",
     .field = [](ExtractJob& j) -> Field { return &j.psf_options.tails; },
     .receipt = {11, "tails"}},
    {.key = "psf_status",
     .names = "--psf-status",
     .group = kProblem,
     .unit = "",
     .text = "leave out fibres that have no fit: those whose STATUS in the PSF is not 0",
     .field = [](ExtractJob& j) -> Field { return &j.psf_options.status; },
     .receipt = {.place = 18, .key = "psf_status", .if_changed = true}},
    {.key = "method",
     .names = "--method",
     .group = kMethod,
     .unit = "",
     .text = "whole bundles without seams, or the peers' divide and conquer",
     .field = [](ExtractJob& j) -> Field { return &j.method; },
     .receipt = {1, "method"}},
    {.key = "regularize",
     .names = "-r,--regularize",
     .group = kMethod,
     .unit = "1/electron",
     .text = "ridge on the flux, 1/electron",
     .field = [](ExtractJob& j) -> Field { return &j.options.regularize; },
     .interval = at_least(0),
     .shows_default = true,
     .receipt = {7, "ridge"}},
    {.key = "tolerance",
     .names = "--tolerance",
     .group = kMethod,
     .unit = "sigma",
     .text = "bound on a bin's numerical error, in units of its sigma",
     .field = [](ExtractJob& j) -> Field { return &j.options.tolerance; },
     .interval = kToleranceRange,
     .shows_default = true,
     .only = Method::kExact,
     .receipt = {13, "tolerance"}},
    {.key = "max_iterations",
     .names = "--max-iterations",
     .group = kMethod,
     .unit = "",
     .text = "bound on the iterations of a bundle's solve; a handful is usual",
     .field = [](ExtractJob& j) -> Field { return &j.options.max_iterations; },
     .interval = kIterationRange,
     .shows_default = true,
     .only = Method::kExact,
     .receipt = {.place = 15, .key = "iterations", .if_changed = true}},
    {.key = "model_variance",
     .names = "--model-variance",
     .group = kMethod,
     .unit = "",
     .text = "weights from the model image and the read noise instead of IVAR (whose zeros stay); "
             "needs RDNOISE or READNOISE",
     .field = [](ExtractJob& j) -> Field { return &j.options.model_variance; },
     .only = Method::kExact,
     .receipt = {.place = 16, .key = "model_variance", .if_changed = true}},
    {.key = "reject",
     .names = "--reject",
     .group = kMethod,
     .unit = "sigma",
     .text = "drop pixels so many sigma from the model, with its own variance and --psferr, and "
             "solve again; default: none; needs RDNOISE or READNOISE",
     .field = [](ExtractJob& j) -> Field { return &j.options.reject_nsig; },
     .interval = kRejectRange,
     .negative_is_unset = true,
     .only = Method::kExact,
     .receipt = {.place = 17, .key = "reject", .if_changed = true}},
    {.key = "oversample",
     .names = "--oversample",
     .group = kMethod,
     .unit = "",
     .text = "solve on bins so many times narrower and average them: light between the centres of "
             "bins is described, HDU RESOLUTION_FINE; 2 takes some 30 times as long",
     .field = [](ExtractJob& j) -> Field { return &j.options.oversample; },
     .interval = kOversampleRange,
     .shows_default = true,
     .receipt = {.place = 34, .key = "oversample", .if_changed = true}},
    {.key = "decorrelate_fibers",
     .names = "--decorrelate-fibers",
     .group = kMethod,
     .unit = "",
     .text = "errors uncorrelated between the fibres of a bundle, too ('noise' decorrelation), not "
             "only within each fibre",
     .field = [](ExtractJob& j) -> Field { return &j.options.decorrelate_fibers; },
     .receipt = {.place = 30, .key = "decorrelate_fibers", .if_changed = true}},
    {.key = "nsubbundles",
     .names = "--nsubbundles",
     .group = kMethod,
     .unit = "",
     .text = "parts of a bundle",
     .field = [](ExtractJob& j) -> Field { return &j.options.patch.nsubbundles; },
     .interval = at_least(1),
     .shows_default = true,
     .only = Method::kPatch,
     .receipt = {14, "patch"}},
    {.key = "nwavestep",
     .names = "--nwavestep",
     .group = kMethod,
     .unit = "",
     .text = "wavelengths a patch",
     .field = [](ExtractJob& j) -> Field { return &j.options.patch.nwavestep; },
     .interval = at_least(1),
     .shows_default = true,
     .only = Method::kPatch,
     .receipt = {14, "patch", ','}},
    {.key = "wavepad",
     .names = "--wavepad",
     .group = kMethod,
     .unit = "",
     .text = "padding bins at both ends",
     .field = [](ExtractJob& j) -> Field { return &j.options.patch.wavepad; },
     .interval = at_least(0),
     .shows_default = true,
     .only = Method::kPatch,
     .receipt = {14, "patch", ','}},
    {.key = "wavepad_frac",
     .names = "--wavepad-frac",
     .group = kMethod,
     .unit = "",
     .text = "further padding, fraction of a spot",
     .field = [](ExtractJob& j) -> Field { return &j.options.patch.wavepad_frac; },
     .interval = at_least(0),
     .shows_default = true,
     .only = Method::kPatch,
     .receipt = {14, "patch", ','}},
    {.key = "pixpad_frac",
     .names = "--pixpad-frac",
     .group = kMethod,
     .unit = "",
     .text = "padding pixels, fraction of a spot",
     .field = [](ExtractJob& j) -> Field { return &j.options.patch.pixpad_frac; },
     .interval = at_least(0),
     .shows_default = true,
     .only = Method::kPatch,
     .receipt = {14, "patch", ','}},
};

/// A member as receipts have it: all digits of a number.
std::string text_of(bool value) { return value ? "on" : "off"; }
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(std::uint32_t value) { return std::to_string(value); }
std::string text_of(double value) { return print("%.17g", value); }
std::string text_of(Method value) { return option_words(&value)[static_cast<std::size_t>(value)]; }
std::string text_of(Gh00 value) { return option_words(&value)[static_cast<std::size_t>(value)]; }
std::string text_of(Verify value) { return text_of(value == Verify::kYes); }
std::string text_of(const WaveTriple& wave) {
  if (!wave) return text_of(false);
  return text_of((*wave)[0]) + "," + text_of((*wave)[1]) + "," + text_of((*wave)[2]);
}

struct Entry {
  std::string key;
  std::vector<std::string> names;
  std::string value;
  bool if_changed = false;
  std::optional<Method> only;
};

/// By place.
std::map<int, Entry> entries_of(const ExtractJob& job) {
  std::map<int, Entry> entries;
  each_extract_option(job, [&](const ExtractOptionRow& row, const auto& value) {
    if (row.receipt.key == nullptr) return;
    Entry& entry = entries[row.receipt.place];
    if (!entry.names.empty()) entry.value += row.receipt.join;
    entry.key = row.receipt.key;
    entry.names.push_back(row.long_name());
    entry.value += text_of(value);
    entry.if_changed = row.receipt.if_changed;
    entry.only = row.only;
  });
  return entries;
}

/// "--specmin and --nspec", "--a, --b or --c".
std::string listed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    text += (!last ? ", " : names.size() == 2 ? " and " : " or ") + names[i];
  }
  return text;
}

}  // namespace

std::string ExtractOptionRow::long_name() const {
  const std::string all(names);
  const std::size_t start = all.find("--");
  return all.substr(start, all.find(',', start) - start);
}

std::string ExtractOptionRow::help() const {
  return (only ? text_of(*only) + " only: " : std::string()) + text;
}

bool ExtractOptionRow::in_job_file() const {
  ExtractJob job;
  return !std::holds_alternative<WaveTriple*>(field(job));
}

std::span<const ExtractOptionRow> extract_option_rows() { return kRows; }

const ExtractOptionRow& extract_option_row(std::string_view key) {
  for (const ExtractOptionRow& row : kRows) {
    if (row.key == key) return row;
  }
  throw Error(Status::kInternal, "there is no option " + std::string(key));
}

std::vector<std::string> option_words(const Method*) { return {"exact", "patch"}; }
std::vector<std::string> option_words(const Gh00*) { return {"file", "one"}; }

std::string options_text(const ExtractJob& job) {
  std::map<int, Entry> initial = entries_of({});
  std::string text;
  for (const auto& [place, entry] : entries_of(job)) {
    if (entry.only && *entry.only != job.method) continue;
    if (entry.if_changed && entry.value == initial[place].value) continue;
    text += (text.empty() ? "" : " ") + entry.key + "=" + entry.value;
  }
  return text;
}

std::vector<OptionsEntry> options_entries() {
  std::vector<OptionsEntry> list;
  for (const auto& [place, entry] : entries_of({})) {
    list.push_back({entry.key, listed(entry.names), entry.value});
  }
  return list;
}

void validate(const ExtractJob& job) {
  validate(job.options);
  each_extract_option(job, [](const ExtractOptionRow& row, const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
      const auto number = static_cast<double>(value);
      if (!row.interval || row.interval->contains(number)) return;
      if (row.negative_is_unset && number < 0) return;
      throw Error(Status::kUsage, print("%s %g: expected a number %s", row.key, number,
                                        row.interval->words().c_str()));
    }
  });
}

}  // namespace fiberloom
