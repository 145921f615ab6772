// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/job_options.hpp"

#include <charconv>

#include "fiberloom/cli/command.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {

void add_problem_options(Options& options, ExtractJob& job, std::string& wavelength,
                         const char* wave_default) {
  ExtractOptions& o = job.options;
  options.group("What to extract");
  options.add("-w,--wavelength,--wave", &wavelength,
              std::string("wmin,wmax,dw in Angstrom; default: ") + wave_default);
  options.flag("--barycentric-correction", &job.barycentric,
               "wavelengths at the barycentre of the solar system: extract on the grid divided by "
               "1 + v/c, write HELIOCOR");
  options.add("-s,--specmin", &o.spec_min, "first fibre, counted from 0", {.shows_default = true});
  options.add("-n,--nspec", &o.nspec, "number of fibres; default: all from --specmin",
              {.interval = above(0)});
  options.add("--bundlesize", &o.bundle_size, "fibres a bundle; 0: the PSF's BUNDLE row",
              {.interval = at_least(0), .shows_default = true});
  options.add("--psferr", &o.psferr,
              "fractional PSF error in chi2pix; default: PSFERR of the PSF, else 0.01",
              {.interval = at_least(0)});
  options.add("--mask-bits", &job.mask_bits, "bits of the CCD MASK that drop a pixel",
              {.shows_default = true});
  add_verify_option(options, job.verify);
  options.add("--ndiag", &o.ndiag, "stored diagonals of the resolution matrix, odd",
              {.shows_default = true});
  options.choice<Gh00>("--gh00", &job.psf_options.gh00,
                       {{"file", Gh00::kFile}, {"one", Gh00::kOne}},
                       "GH-0-0 of the PSF: as stored (as the peers do), or 1");
  options.flag("--psf-tails", &job.psf_options.tails, "use the PSF's Lorentzian tails");
}

void add_method_options(Options& options, ExtractJob& job) {
  PatchOptions& p = job.options.patch;
  options.group("Method");
  options.choice<Method>("--method", &job.method,
                         {{"exact", Method::kExact}, {"patch", Method::kPatch}},
                         "whole bundles without seams, or the peers' divide and conquer");
  options.add("-r,--regularize", &job.options.regularize, "ridge on the flux, 1/electron",
              {.interval = at_least(0), .shows_default = true});
  options.add("--tolerance", &job.options.tolerance,
              "exact only: bound on a bin's numerical error, in units of its sigma",
              {.interval = between(kLeastTolerance, kMostTolerance), .shows_default = true});
  const auto add = [&](const char* name, OptionSlot slot, const char* text) {
    options.add(name, std::move(slot), std::string("patch only: ") + text,
                {.interval = at_least(0), .shows_default = true});
  };
  add("--nsubbundles", &p.nsubbundles, "parts of a bundle");
  add("--nwavestep", &p.nwavestep, "wavelengths a patch");
  add("--wavepad", &p.wavepad, "padding bins at both ends");
  add("--wavepad-frac", &p.wavepad_frac, "further padding, fraction of a spot");
  add("--pixpad-frac", &p.pixpad_frac, "padding pixels, fraction of a spot");
}

std::array<double, 3> parse_wavelength(const std::string& text) {
  std::array<double, 3> values{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, values[i]);
    const bool separated = i + 1 == values.size() ? next == end : next != end && *next == ',';
    if (error != std::errc() || !separated) {
      throw Error(Status::kUsage, "--wavelength " + text + ": expected wmin,wmax,dw");
    }
    at = next + 1;
  }
  return values;
}

}  // namespace fiberloom::cli
