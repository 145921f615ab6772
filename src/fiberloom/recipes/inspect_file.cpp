// SPDX-License-Identifier: BSD-3-Clause
// One small function for each kind of file.
#include "fiberloom/recipes/inspect_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "fiberloom/ccd/pixel_mask.hpp"
#include "fiberloom/formats/calibration_file.hpp"
#include "fiberloom/formats/file_tables.hpp"
#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/recipes/template_tools.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string percent(std::size_t part, std::size_t whole) {
  const double p =
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return print("%zu of %zu (%.3f %%)", part, whole, p);
}

void header_facts(const HeaderCards& header, Facts& facts) {
  for (const char* key :
       {"CAMERA", "NIGHT", "EXPID", "FLAVOR", "EXPTIME", "SPECTER", "EXMETHOD", "HELIOCOR"}) {
    if (const auto value = header.text(key)) facts.emplace_back(key, *value);
  }
}

void grid_facts(const std::vector<double>& wave, Facts& facts,
                const std::string& name = "wavelengths") {
  if (wave.empty()) return;
  const double step = wave.size() < 2 ? 0.0 : wave[1] - wave[0];
  facts.emplace_back(name, print("%.3f to %.3f Angstrom, step %.4f, %zu bins", wave.front(),
                                 wave.back(), step, wave.size()));
}

/// What flux and ivar of spectra lack. `where`: "" or " of B", after each name.
void bin_facts(const Spectra& spectra, Facts& facts, const std::string& where = "") {
  std::size_t no_ivar = 0, not_finite = 0;
  for (std::size_t i = 0; i < spectra.flux.size(); ++i) {
    const double flux = spectra.flux.data()[i], ivar = spectra.ivar.data()[i];
    no_ivar += !(ivar > 0);
    not_finite += !std::isfinite(flux) || !std::isfinite(ivar);
  }
  facts.emplace_back("bins" + where + " with ivar 0", percent(no_ivar, spectra.flux.size()));
  facts.emplace_back("bins" + where + " not finite", percent(not_finite, spectra.flux.size()));
}

std::string rows_fact(const std::optional<Table>& table) {
  return table ? print("%zu rows", table->rows) : std::string("none");
}

Facts preproc_facts(const std::string& path) {
  PreprocFile file = read_preproc(path, Verify::kNo);
  Facts facts;
  header_facts(file.header, facts);
  facts.emplace_back("CCD",
                     print("%zu x %zu pixels", file.ccd.image.cols(), file.ccd.image.rows()));
  if (file.readnoise) facts.emplace_back("read noise", print("%.3f electrons", *file.readnoise));
  facts.emplace_back("fibermap",
                     file.fibermap ? print("%zu rows", file.fibermap->rows) : std::string("none"));
  std::size_t flagged = 0;
  for (std::size_t i = 0; i < file.mask.size(); ++i) flagged += file.mask.data()[i] != 0;
  if (!file.mask.empty()) facts.emplace_back("MASK set", percent(flagged, file.mask.size()));
  const MaskCounts counts = apply_mask(file.ccd, file.mask);
  facts.emplace_back("pixels not used", percent(counts.bad(), counts.pixels));
  facts.emplace_back("bad values", print("%zu NaN ivar, %zu negative ivar, %zu NaN image, %zu wild",
                                         counts.nan_ivar, counts.negative_ivar, counts.nan_image,
                                         counts.wild_ivar + counts.wild_image));
  return facts;
}

Facts psf_facts(const std::string& path) {
  const PsfFile file = read_psf(path, {.verify = Verify::kNo});
  const PsfModel& psf = file.model;
  Facts facts;
  header_facts(file.header, facts);
  facts.emplace_back("CCD", print("%d x %d pixels", psf.npix_x, psf.npix_y));
  facts.emplace_back("fibres", print("%d, first is %d", psf.nfiber(), psf.fiber_min));
  facts.emplace_back("trace range", print("%.2f to %.2f Angstrom", psf.x.wave_min, psf.x.wave_max));
  facts.emplace_back("shape range",
                     print("%.2f to %.2f Angstrom", psf.sigma_x.wave_min, psf.sigma_x.wave_max));
  const std::string spot = print("%d x %d pixels, ", psf.stamp_nx(), psf.stamp_ny());
  facts.emplace_back("spot", spot + (psf.shape ? psf.shape->kind()
                                               : print("Gauss-Hermite degrees %d, %d", psf.gh_deg_x,
                                                       psf.gh_deg_y)));
  const double middle = 0.5 * (psf.sigma_x.wave_min + psf.sigma_x.wave_max);
  double low[2] = {1e30, 1e30}, high[2] = {0, 0};
  for (std::size_t f = 0; f < psf.x.coef.rows(); ++f) {
    const double sigma[2] = {psf.sigma_x(f, middle), psf.sigma_y(f, middle)};
    for (int k = 0; k < 2; ++k)
      low[k] = std::min(low[k], sigma[k]), high[k] = std::max(high[k], sigma[k]);
  }
  facts.emplace_back(
      "sigma at " + print("%.0f", middle),
      print("x %.3f to %.3f, y %.3f to %.3f pixels", low[0], high[0], low[1], high[1]));
  const double step = (psf.y(0, middle + 1) - psf.y(0, middle - 1)) / 2;
  if (step > 0) facts.emplace_back("dispersion", print("%.4f Angstrom a pixel", 1 / step));
  facts.emplace_back("psferr", print("%g", psf.psferr));
  const auto bad =
      std::count_if(psf.status.begin(), psf.status.end(), [](int s) { return s != 0; });
  if (!psf.status.empty()) facts.emplace_back("fibres with STATUS", print("%td", bad));
  return facts;
}

Facts frame_facts(const std::string& path) {
  const FrameFile frame = read_frame(path, Verify::kNo);
  Facts facts;
  header_facts(frame.header, facts);
  facts.emplace_back("spectra", print("%zu", frame.flux.rows()));
  grid_facts(frame.wave, facts);
  if (!frame.resolution.empty()) {
    facts.emplace_back("resolution", print("%zu diagonals", frame.resolution.rows()));
  }
  facts.emplace_back("fibermap", rows_fact(frame.fibermap));
  std::size_t bits[3] = {0, 0, 0};
  for (std::size_t i = 0; i < frame.mask.size(); ++i) {
    const std::uint32_t m = frame.mask.data()[i];
    bits[0] += (m & kSomeBadPix) != 0, bits[1] += (m & kAllBadPix) != 0;
    bits[2] += (m & kBad2dFit) != 0;
  }
  bin_facts(frame, facts);
  if (!frame.mask.empty()) {
    facts.emplace_back("SOMEBADPIX", percent(bits[0], frame.mask.size()));
    facts.emplace_back("ALLBADPIX", percent(bits[1], frame.mask.size()));
    facts.emplace_back("BAD2DFIT", percent(bits[2], frame.mask.size()));
  }
  return facts;
}

Facts spectra_facts(const std::string& path) {
  const SpectraFile file = read_spectra(path, Verify::kNo);
  Facts facts;
  for (const char* key : {"SURVEY", "PROGRAM", "TILEID", "SPGRP", "SPGRPVAL", "HPXPIXEL"}) {
    if (const auto value = file.header.text(key)) facts.emplace_back(key, *value);
  }
  facts.emplace_back("spectra", print("%zu", file.nspec()));
  for (const SpectraFile::Camera& camera : file.cameras) {
    const Spectra& spectra = camera.spectra;
    grid_facts(spectra.wave, facts, "wavelengths of " + camera.name);
    facts.emplace_back("resolution of " + camera.name,
                       spectra.resolution.empty()
                           ? std::string("none")
                           : print("%zu diagonals", spectra.resolution.rows()));
    bin_facts(spectra, facts, " of " + camera.name);
    std::size_t flagged = 0;
    for (std::size_t i = 0; i < spectra.mask.size(); ++i) flagged += spectra.mask.data()[i] != 0;
    if (!spectra.mask.empty()) {
      facts.emplace_back("MASK of " + camera.name, percent(flagged, spectra.mask.size()));
    }
  }
  facts.emplace_back("fibermap", rows_fact(file.fibermap));
  if (file.exp_fibermap) facts.emplace_back("exposures", rows_fact(file.exp_fibermap));
  facts.emplace_back("scores", file.scores ? print("%zu columns", file.scores->columns.size())
                                           : std::string("none"));
  return facts;
}

Facts truth_facts(const std::string& path) {
  const TruthFile truth = read_truth(path, Verify::kNo);
  Facts facts;
  facts.emplace_back("spectra", print("%zu", truth.flux.rows()));
  grid_facts(truth.wave, facts);
  return facts;
}

Facts redshift_facts(const std::string& path) {
  const RedshiftFile file = read_redshifts(path, Verify::kNo);
  const Table& table = file.redshifts;
  Facts facts;
  for (const char* key :
       {"RRVER", "RRMETHOD", "SURVEY", "PROGRAM", "TILEID", "SPGRP", "SPGRPVAL"}) {
    if (const auto value = file.header.text(key)) facts.emplace_back(key, *value);
  }
  std::string templates;
  for (int i = 0; i < 100; ++i) {
    const auto name = file.header.text(print("TEMNAM%02d", i));
    if (!name) break;
    templates += (i == 0 ? "" : ", ") + *name;
  }
  if (!templates.empty()) facts.emplace_back("templates", templates);
  facts.emplace_back("redshifts", print("%zu targets", table.rows));
  std::map<std::string, std::size_t> types;
  if (const auto names = table.text_column("SPECTYPE")) {
    for (const std::string& name : *names) ++types[name];
  }
  std::string text;
  for (const auto& [name, n] : types) {
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(n);
  }
  if (!text.empty()) facts.emplace_back("types", text);
  const auto zwarn = *table.integers("ZWARN", -1);
  const auto sure = std::count(zwarn.begin(), zwarn.end(), 0);
  facts.emplace_back("ZWARN 0", percent(static_cast<std::size_t>(sure), table.rows));
  const auto z = *table.column("Z");
  if (!z.empty()) {
    const auto [low, high] = std::minmax_element(z.begin(), z.end());
    facts.emplace_back("Z", print("%.6f to %.6f", *low, *high));
  }
  facts.emplace_back("fibermap", rows_fact(file.fibermap));
  if (file.exp_fibermap) facts.emplace_back("exposures", rows_fact(file.exp_fibermap));
  return facts;
}

Facts template_facts(const std::string& path) {
  const std::string line = describe_templates({path}).front();  // begins with the file's name
  return {{"holds", line.substr(line.find(": ") + 2)}};
}

/// What calibrations have in common: their bins, and in how many of them nothing is known.
Facts calibration_facts(const HeaderCards& header, const std::vector<double>& wave,
                        const Array2D<double>& ivar) {
  Facts facts;
  header_facts(header, facts);
  facts.emplace_back("spectra", print("%zu", ivar.rows()));
  grid_facts(wave, facts);
  std::size_t none = 0;
  for (std::size_t i = 0; i < ivar.size(); ++i) none += !(ivar.data()[i] > 0);
  facts.emplace_back("bins with ivar 0", percent(none, ivar.size()));
  return facts;
}

Facts flat_facts(const std::string& path) {
  const FiberFlatFile file = read_fiber_flat(path, Verify::kNo);
  Facts facts = calibration_facts(file.header, file.wave, file.ivar);
  facts.emplace_back("fibermap", rows_fact(file.fibermap));
  return facts;
}

Facts sky_facts(const std::string& path) {
  const SkyFile file = read_sky(path, Verify::kNo);
  return calibration_facts(file.header, file.wave, file.ivar);
}

Facts flux_calibration_facts(const std::string& path) {
  const FluxCalibrationFile file = read_flux_calibration(path, Verify::kNo);
  return calibration_facts(file.header, file.wave, file.ivar);
}

Facts star_facts(const std::string& path) {
  const StandardStarFile file = read_standard_stars(path, Verify::kNo);
  Facts facts;
  header_facts(file.header, facts);
  facts.emplace_back("stars", print("%zu", file.flux.rows()));
  grid_facts(file.wave, facts);
  return facts;
}

/// What the reader of a kind says; null where none reads it whole.
Facts (*facts_of(FileKind kind))(const std::string&) {
  switch (kind) {
    case FileKind::kTemplate:
    case FileKind::kArchetypes:
      return template_facts;
    case FileKind::kRedshifts:
      return redshift_facts;
    case FileKind::kFiberFlat:
      return flat_facts;
    case FileKind::kFluxCalibration:
      return flux_calibration_facts;
    case FileKind::kSky:
      return sky_facts;
    case FileKind::kStandardStars:
      return star_facts;
    case FileKind::kFrame:
      return frame_facts;
    case FileKind::kTruth:
      return truth_facts;
    case FileKind::kCoadd:
    case FileKind::kSpectra:
      return spectra_facts;
    case FileKind::kPreproc:
      return preproc_facts;
    case FileKind::kPsf:
      return psf_facts;
    case FileKind::kQuality:
    case FileKind::kStellarModels:
    case FileKind::kOther:
      break;
  }
  return nullptr;
}

std::string checksum_fact(const std::vector<HduSummary>& hdus, Verify verify) {
  const auto n =
      std::count_if(hdus.begin(), hdus.end(), [](const auto& h) { return h.signed_data; });
  const auto bad =
      std::count_if(hdus.begin(), hdus.end(), [](const auto& h) { return !h.fault.empty(); });
  const std::string have = print("%td of %zu HDUs have them", n, hdus.size());
  if (n == 0) return "none";
  if (verify == Verify::kNo) return have + ", not compared";
  return have + (bad == 0 ? ", all good" : print(", %td do not match", bad));
}

}  // namespace

FileReport inspect_file(const std::string& path, Verify verify) {
  FileReport report;
  report.path = path;
  report.hdus = list_hdus(path, verify);
  // The readers need not compare again; of a damaged file they are not asked.
  const bool sound = std::all_of(report.hdus.begin(), report.hdus.end(),
                                 [](const HduSummary& hdu) { return hdu.fault.empty(); });
  FileKind kind = kind_of(report.hdus);
  const auto facts = facts_of(kind);
  if (sound && facts != nullptr) report.facts = facts(path);
  if (sound && kind == FileKind::kOther) {
    try {  // old PSFs have no names; anything else is only listed
      report.facts = psf_facts(path);
      kind = FileKind::kPsf;
    } catch (const Error&) {
    }
  }
  report.kind = name_of(kind);
  report.facts.emplace_back("checksums", checksum_fact(report.hdus, verify));
  return report;
}

}  // namespace fiberloom
