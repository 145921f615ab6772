// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/redshift_file.hpp"

#include <string_view>
#include <utility>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/spectrum/whole_ids.hpp"
#include "loom/base/print.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace {

using fits::FitsReader;
using fits::FitsWriter;
using fits::PixelType;

void write_table(FitsWriter& writer, const char* name, const std::optional<Table>& table) {
  if (table) writer.table(name, to_raw_table(*table));
}

RawTable with_cards(const Table& table, const HeaderCards& header) {
  RawTable raw = to_raw_table(table);
  raw.header.cards.insert(raw.header.cards.end(), header.cards.begin(), header.cards.end());
  return raw;
}

}  // namespace

namespace formats {

RedshiftFile parse_redshifts(const FitsReader& file) {
  RedshiftFile out;
  out.path = file.path();
  out.header = file.hdus().front().user_header();
  const fits::Hdu& hdu = file.require("REDSHIFTS");
  out.redshifts = to_table(file.read_table(hdu));
  for (const char* name : {"TARGETID", "Z", "ZWARN"}) {
    if (out.redshifts.column(name)) continue;
    throw file.error(Status::kMissingKeyword, hdu,
                     std::string("no column ") + name + " of single numbers");
  }
  if (const auto id = lost_digits(out.redshifts, "TARGETID")) {
    throw file.error(Status::kCorrupt, hdu, lost_digits_text(*id));
  }
  out.fibermap = find_table(file, "FIBERMAP");
  out.tsnr2 = find_table(file, "TSNR2");
  out.exp_fibermap = find_table(file, "EXP_FIBERMAP");
  out.candidates = find_table(file, "CANDIDATES");
  const auto check = [&](const std::optional<Table>& table, const char* name) {
    if (!table || table->rows == out.redshifts.rows) return;
    throw file.error(Status::kWrongShape, file.require(name),
                     std::to_string(table->rows) + " rows, expected one for each of " +
                         std::to_string(out.redshifts.rows) + " targets");
  };
  check(out.fibermap, "FIBERMAP");
  check(out.tsnr2, "TSNR2");
  return out;
}

}  // namespace formats

void write_redshifts(const std::string& path, const RedshiftFile& file, Overwrite overwrite,
                     FilesTogether* together) {
  fits::write_fits(
      path, overwrite,
      [&](FitsWriter& writer) {
        writer.primary(file.header);
        writer.table("REDSHIFTS", with_cards(file.redshifts, file.header));
        write_table(writer, "FIBERMAP", file.fibermap);
        write_table(writer, "EXP_FIBERMAP", file.exp_fibermap);
        write_table(writer, "TSNR2", file.tsnr2);
        write_table(writer, "CANDIDATES", file.candidates);
      },
      0, together);
}

RedshiftFile read_redshifts(const std::string& path, Verify verify) {
  return formats::parse_redshifts(FitsReader::open(path, verify));
}

void write_models(const std::string& path, const HeaderCards& header, const Table& redshifts,
                  std::span<const ModelCamera> cameras, Overwrite overwrite,
                  FilesTogether* together) {
  fits::write_fits(
      path, overwrite,
      [&](FitsWriter& writer) {
        writer.primary(header);
        writer.table("REDSHIFTS", with_cards(redshifts, header));
        HeaderCards wave;
        wave.set("BUNIT", "Angstrom");
        for (const ModelCamera& camera : cameras) {
          writer.image(camera.name + "_WAVELENGTH", std::span<const double>(camera.wave),
                       {camera.wave.size()}, PixelType::kFloat64, wave);
          writer.image(camera.name + "_MODEL", camera.models, {camera.wave.size(), redshifts.rows},
                       PixelType::kFloat32);
        }
      },
      0, together);
}

ModelReader::ModelReader(FitsReader file)
    : file_(std::move(file)), redshifts_(formats::parse_redshifts(file_).redshifts) {
  constexpr std::string_view kWave = "_WAVELENGTH";
  for (const fits::Hdu& hdu : file_.hdus()) {
    if (!hdu.name.ends_with(kWave)) continue;
    Camera camera{hdu.name.substr(0, hdu.name.size() - kWave.size()), {}};
    const fits::Hdu& model = file_.require(camera.name + "_MODEL");
    formats::require_image(file_, model, 2);
    camera.wave = formats::read_wave(file_, hdu, model);
    formats::require_increasing(file_, hdu, camera.wave);
    if (model.axes[1] != redshifts_.rows) {
      throw file_.error(Status::kWrongShape, model,
                        std::to_string(model.axes[1]) + " models, expected one for each of " +
                            std::to_string(redshifts_.rows) + " targets");
    }
    if (model.kind == fits::HduKind::kCompressedImage) {
      throw file_.error(Status::kUnsupported, model, "compressed models");
    }
    file_.require_sums(model);
    cameras_.push_back(std::move(camera));
  }
  if (cameras_.empty()) throw file_.error(Status::kMissingHdu, "no HDU {CAMERA}_MODEL");
}

std::vector<double> ModelReader::read(std::size_t camera, std::size_t row) const {
  const Camera& of = cameras_.at(camera);
  std::vector<double> out(of.wave.size());
  if (row >= redshifts_.rows) {
    throw file_.error(Status::kWrongShape, "no model in row " + std::to_string(row));
  }
  file_.read_range<double>(file_.require(of.name + "_MODEL"), row * out.size(), out);
  return out;
}

}  // namespace fiberloom
