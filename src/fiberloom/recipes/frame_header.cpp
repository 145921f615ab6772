// SPDX-License-Identifier: BSD-3-Clause
// The cards that the recipe adds.
#include "fiberloom/recipes/frame_header.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fiberloom/recipes/version.hpp"

namespace fiberloom {
namespace {

std::string numbered(const char* stem, int number) {
  char key[16];
  std::snprintf(key, sizeof key, "%s%02d", stem, number);
  return key;
}

std::int64_t first_fiber(const ExtractOptions& options, const std::optional<RawTable>& fibermap) {
  if (fibermap) {
    if (const auto fiber = lowest_fiber(*fibermap)) return *fiber;
  }
  return options.spec_min;
}

}  // namespace

std::string shorten_filename(const std::string& path) {
  const auto replaced = [&](const std::string& prefix, const char* name) {
    return name + path.substr(prefix.size());
  };
  if (const char* calib = std::getenv("DESI_SPECTRO_CALIB");
      calib != nullptr && path.starts_with(calib)) {
    return replaced(calib, "SPCALIB");
  }
  const char* redux = std::getenv("DESI_SPECTRO_REDUX");
  const char* specprod = std::getenv("SPECPROD");
  if (redux != nullptr && specprod != nullptr) {
    const std::string prefix = std::string(redux) + "/" + specprod;
    if (path.starts_with(prefix)) return replaced(prefix, "SPECPROD");
  }
  return path;
}

void set_dependency(HeaderCards& header, const std::string& name, const std::string& version) {
  for (int i = 0; i < 100; ++i) {
    const auto present = header.text(numbered("DEPNAM", i));
    if (present && *present != name) continue;
    header.set(numbered("DEPNAM", i), name);
    header.set(numbered("DEPVER", i), version);
    return;
  }
}

HeaderCards frame_header(const ExtractJob& job, const PreparedFrame& frame) {
  const FrameInputs& in = frame.in;
  const ExtractOptions& options = frame.options;
  const std::array<double, 3>& wave = frame.grid.range;
  HeaderCards header = in.preproc.header;
  const std::int64_t nspec = fiber_count(options, in.psf->model.nfiber());
  if (frame.grid.heliocor != 1) {
    header.set("HELIOCOR", frame.grid.heliocor, "Barycentric factor applied to wavelengths");
  }
  header.set("NSPEC", nspec, "Number of spectra");
  header.set("WAVEMIN", wave[0], "First wavelength [Angstroms]");
  header.set("WAVEMAX", wave[1], "Last wavelength [Angstroms]");
  header.set("WAVESTEP", wave[2], "Wavelength step size [Angstroms]");
  header.set("SPECTER", std::string("fiberloom ") + std::string(version()), "Extraction code");
  header.set("IN_PSF", shorten_filename(in.psf->path), "Input spectral PSF");
  header.set("IN_IMG", shorten_filename(in.preproc.path));
  set_dependency(header, "fiberloom", std::string(version()));
  if (const auto original = in.psf->header.text("IN_PSF")) header.set("ORIG_PSF", *original);
  header.set("EXMETHOD", job.method == Method::kExact ? "exact" : "patch", "Extraction method");
  header.set("EXGH00", job.psf_options.gh00 == Gh00::kFile ? "file" : "one",
             "GH-0-0 of the PSF: as stored, or 1");
  if (in.psf->model.shape) header.set("EXPSF", in.psf->model.shape->kind(), "Kind of the PSF");
  header.set("EXTAILS", in.psf->model.has_tails ? "on" : "off", "Tails of the PSF");
  header.set("EXMASK", static_cast<std::int64_t>(job.mask_bits), "CCD mask bits that drop a pixel");
  if (options.model_variance) {
    header.set_logical("EXMODVAR", true, "Weights of model and read noise");
  }
  if (options.reject_nsig >= 0) {
    header.set("EXREJECT", options.reject_nsig, "[sigma] pixels farther from the model dropped");
  }
  if (std::string_view(frame.grid.kind) != "linear") {
    header.set("EXGRID", frame.grid.kind, "Wavelength grid; WAVESTEP is its mean step");
  }
  if (!frame.grid.fiber_factor.empty()) {
    header.set_logical("EXFHELIO", true, "HELIOCOR of each fibre applied");
  }
  if (options.oversample > 1) {
    header.set("EXOVERS", static_cast<std::int64_t>(options.oversample),
               "Parts of a bin in the solution, RESOLUTION_FINE");
  }
  if (job.max_leak >= 0) header.set("EXLEAK", job.max_leak, "What a row of RESOLUTION may leak");
  if (moves_traces(job)) {
    header.set("EXSHIFTS", job.trace_shifts, "Degree of the shifts of the PSF's traces");
    if (job.trace_widths) header.set_logical("EXWIDTHS", true, "Widths of spots changed, too");
  }
  if (takes_wings_off(job)) header.set("EXWINGS", job.wings, "[pixels] Reach of wings taken off");
  if (options.decorrelate_fibers) {
    header.set_logical("EXDECORR", true, "Errors of fibres decorrelated, too");
  }
  header.set("FIBERMIN", first_fiber(options, frame.fibermap));
  return header;
}

HeaderCards image_header(HeaderCards header) {
  header.set("BUNIT", "electron");
  return header;
}

}  // namespace fiberloom
