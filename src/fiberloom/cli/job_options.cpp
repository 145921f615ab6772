// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/job_options.hpp"

#include <CLI/CLI.hpp>
#include <charconv>

#include "fiberloom/cli/choice.hpp"
#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/limits.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {

void add_problem_options(CLI::App& app, ExtractJob& job, std::string& wavelength,
                         const char* wave_default) {
  const auto group = "What to extract";
  ExtractOptions& o = job.options;
  app.add_option("-w,--wavelength,--wave", wavelength,
                 std::string("wmin,wmax,dw in Angstrom; default: ") + wave_default)
      ->group(group);
  app.add_flag("--barycentric-correction", job.barycentric,
               "wavelengths at the barycentre of the solar system: extract on the grid divided by "
               "1 + v/c, write HELIOCOR")
      ->group(group);
  app.add_option("-s,--specmin", o.spec_min, "first fibre, counted from 0")
      ->capture_default_str()
      ->group(group);
  app.add_option("-n,--nspec", o.nspec, "number of fibres; default: all from --specmin")
      ->check(positive())
      ->group(group);
  app.add_option("--bundlesize", o.bundle_size, "fibres a bundle; 0: the PSF's BUNDLE row")
      ->check(at_least_zero())
      ->capture_default_str()
      ->group(group);
  app.add_option("--psferr", o.psferr,
                 "fractional PSF error in chi2pix; default: PSFERR of the PSF, else 0.01")
      ->check(at_least_zero())
      ->group(group);
  app.add_option("--mask-bits", job.mask_bits, "bits of the CCD MASK that drop a pixel")
      ->capture_default_str()
      ->group(group);
  add_verify_option(app, job.verify, group);
  app.add_option("--ndiag", o.ndiag, "stored diagonals of the resolution matrix, odd")
      ->capture_default_str()
      ->group(group);
  add_choice<Gh00>(app, "--gh00", job.psf_options.gh00,
                   {{"file", Gh00::kFile}, {"one", Gh00::kOne}},
                   "GH-0-0 of the PSF: as stored (as the peers do), or 1")
      ->group(group);
  app.add_flag("--psf-tails", job.psf_options.tails, "use the PSF's Lorentzian tails")
      ->group(group);
}

void add_method_options(CLI::App& app, ExtractJob& job) {
  const auto group = "Method";
  PatchOptions& p = job.options.patch;
  add_choice<Method>(app, "--method", job.method,
                     {{"exact", Method::kExact}, {"patch", Method::kPatch}},
                     "whole bundles without seams, or the peers' divide and conquer")
      ->group(group);
  app.add_option("-r,--regularize", job.options.regularize, "ridge on the flux, 1/electron")
      ->check(at_least_zero())
      ->capture_default_str()
      ->group(group);
  app.add_option("--tolerance", job.options.tolerance,
                 "exact only: bound on a bin's numerical error, in units of its sigma")
      ->check(between(kLeastTolerance, kMostTolerance))
      ->capture_default_str()
      ->group(group);
  const auto add = [&](const char* name, auto& value, const char* text) {
    app.add_option(name, value, std::string("patch only: ") + text)
        ->check(at_least_zero())
        ->capture_default_str()
        ->group(group);
  };
  add("--nsubbundles", p.nsubbundles, "parts of a bundle");
  add("--nwavestep", p.nwavestep, "wavelengths a patch");
  add("--wavepad", p.wavepad, "padding bins at both ends");
  add("--wavepad-frac", p.wavepad_frac, "further padding, fraction of a spot");
  add("--pixpad-frac", p.pixpad_frac, "padding pixels, fraction of a spot");
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
