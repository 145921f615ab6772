// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/file_tables.hpp"

#include <algorithm>
#include <string_view>

#include "fiberloom/formats/from_reader.hpp"

namespace fiberloom {
namespace {

/// HDUs that all files of a kind have; {CAMERA}_FLUX where a name begins with "_".
struct KindMarks {
  FileKind kind;
  const char* name;
  std::vector<std::string_view> hdus;
};

/// The first that fits: what another kind has besides stands before it.
const std::vector<KindMarks>& all_marks() {
  static const std::vector<KindMarks> marks{
      {FileKind::kArchetypes, "archetypes", {"ARCHETYPES"}},
      {FileKind::kTemplate, "template", {"BASIS_VECTORS"}},  // may have an image REDSHIFTS
      {FileKind::kRedshifts, "redshifts", {"REDSHIFTS"}},
      {FileKind::kFiberFlat, "fibre flat", {"FIBERFLAT"}},
      {FileKind::kFluxCalibration, "flux calibration", {"FLUXCALIB"}},
      {FileKind::kQuality, "quality of an exposure", {"FIBERQA"}},
      {FileKind::kFrame, "frame", {"FLUX", "IVAR"}},
      {FileKind::kStandardStars, "standard stars", {"FLUX", "WAVELENGTH", "FIBERS"}},
      {FileKind::kStellarModels, "stellar models", {"FLUX", "WAVELENGTH", "MODELS"}},
      {FileKind::kStellarModels,
       "stellar models",
       {"FLUX", "WAVELENGTH", "METADATA"}},                 // desispec's
      {FileKind::kTruth, "truth", {"FLUX", "WAVELENGTH"}},  // of a night it has a SKY too
      {FileKind::kSky, "sky", {"SKY", "IVAR"}},
      {FileKind::kCoadd, "coadd", {"_FLUX", "_WAVELENGTH", "EXP_FIBERMAP"}},
      {FileKind::kSpectra, "spectra", {"_FLUX", "_WAVELENGTH"}},
      {FileKind::kPreproc, "preproc image", {"IVAR"}},
      {FileKind::kPsf, "PSF", {"XTRACE"}},
      {FileKind::kPsf, "PSF", {"PSF"}},
      {FileKind::kOther, "FITS file", {}}};
  return marks;
}

}  // namespace

FileKind kind_of(std::span<const HduSummary> hdus) {
  const auto has = [&](std::string_view mark) {
    return std::any_of(hdus.begin(), hdus.end(), [&](const HduSummary& hdu) {
      return mark.front() == '_' ? hdu.name.ends_with(mark) : hdu.name == mark;
    });
  };
  const auto fits = [&](const KindMarks& m) { return std::ranges::all_of(m.hdus, has); };
  return std::ranges::find_if(all_marks(), fits)->kind;  // the last one fits all
}

const char* name_of(FileKind kind) {
  return std::ranges::find(all_marks(), kind, &KindMarks::kind)->name;
}

FileTables read_file_tables(const std::string& path, Verify verify) {
  const fits::FitsReader file = fits::FitsReader::open(path, verify);
  FileTables out;
  out.path = file.path();
  out.kind = kind_of(formats::summarise(file));
  const fits::Hdu* of_header = &file.hdus().front();
  if (out.kind == FileKind::kQuality) of_header = file.find("FIBERQA");
  if (out.kind == FileKind::kFrame) {
    of_header = file.find("FLUX");
    if (of_header->axes.size() == 2) out.nspec = of_header->axes[1];
  }
  out.header = of_header->user_header();
  out.fibermap = formats::find_table(file, "FIBERMAP");
  for (const fits::Hdu& hdu : file.hdus()) out.names.push_back(hdu.name);
  if (out.kind == FileKind::kRedshifts) return out;  // read_redshifts() has the others
  out.exp_fibermap = formats::find_table(file, "EXP_FIBERMAP");
  out.scores = formats::find_table(file, "SCORES");
  out.petals = formats::find_table(file, "PETALQA");
  return out;
}

}  // namespace fiberloom
