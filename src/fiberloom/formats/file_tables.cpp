// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/file_tables.hpp"

#include <algorithm>
#include <string_view>

#include "fiberloom/formats/from_reader.hpp"

namespace fiberloom {
namespace {

FileKind kind_of(const fits::FitsReader& file) {
  const fits::Hdu* redshifts = file.find("REDSHIFTS");  // an image in a template
  if (redshifts != nullptr && redshifts->kind == fits::HduKind::kTable) return FileKind::kRedshifts;
  if (file.find("FIBERQA") != nullptr) return FileKind::kQuality;
  if (file.find("FLUX") != nullptr && file.find("WAVELENGTH") != nullptr) return FileKind::kFrame;
  const auto& hdus = file.hdus();
  const bool cameras = std::any_of(hdus.begin(), hdus.end(), [](const fits::Hdu& hdu) {
    return std::string_view(hdu.name).ends_with("_FLUX");
  });
  if (!cameras) return FileKind::kOther;
  return file.find("EXP_FIBERMAP") != nullptr ? FileKind::kCoadd : FileKind::kSpectra;
}

}  // namespace

FileTables read_file_tables(const std::string& path, Verify verify) {
  const fits::FitsReader file = fits::FitsReader::open(path, verify);
  FileTables out;
  out.path = file.path();
  out.kind = kind_of(file);
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
