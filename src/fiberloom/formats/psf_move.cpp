// SPDX-License-Identifier: BSD-3-Clause
// A PSF file with its traces and widths changed and all else as it was: the HDUs of the traces, or
// rows X and Y of the table, and rows GHSIGX and GHSIGY.
#include <algorithm>
#include <array>
#include <optional>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/psf_parts.hpp"
#include "fiberloom/formats/psf_table.hpp"
#include "loom/files/byte_order.hpp"
#include "loom/fits/fits_writer.hpp"

namespace fiberloom {
namespace formats {
namespace {

using fits::FitsReader;
using fits::Hdu;

/// What is added to the coefficients of a series, [nfiber][ncoef].
Array2D<double> added(const LegendreSeries& before, const LegendreSeries& after) {
  Array2D<double> out = after.coef;
  for (std::size_t f = 0; f < before.coef.rows(); ++f) {
    for (std::size_t k = 0; k < before.coef.cols(); ++k) {
      const double change = after.coef(f, k) - before.coef(f, k);
      out(f, k) = change == change ? change : 0.0;  // NaN: a fibre without traces
    }
  }
  return out;
}

class MovedPsf {
 public:
  MovedPsf(const FitsReader& file, const TraceChange& change, const HeaderCards& notes)
      : file_(file), notes_(notes), before_(parse_psf(file, {}).model) {
    after_ = changed_psf(before_, change);
    x_ = find_any(file, {"XTRACE", "XCOEF", "XCOEFF"});
    y_ = find_any(file, {"YTRACE", "YCOEF", "YCOEFF"});
    table_ = file.find("PSF");
    for (const Hdu& hdu : file.hdus()) {
      if (table_ == nullptr && hdu.kind == fits::HduKind::kTable) table_ = &hdu;
    }
    for (std::size_t p = 0; p < kTraceParameters; ++p) changes_[p] = !change.coef[p].empty();
  }

  void write(fits::FitsWriter& writer) const {
    const Hdu* noted = x_ != nullptr && before_.shape ? x_ : table_;  // where its keywords are
    for (const Hdu& hdu : file_.hdus()) {
      HeaderCards header = hdu.user_header();
      if (&hdu == noted) add_notes(header);
      if (&hdu == x_ || &hdu == y_) {
        write_trace(writer, hdu, header);
      } else if (hdu.kind == fits::HduKind::kTable) {
        write_table(writer, hdu, header);
      } else if (hdu.is_image()) {
        write_image(writer, hdu, header);
      } else if (hdu.number == 0) {
        writer.primary(header);
      } else {
        throw file_.error(Status::kUnsupported, hdu, "an HDU of a kind that cannot be copied");
      }
    }
  }

 private:
  void add_notes(HeaderCards& header) const {
    for (const std::string& card : notes_.cards) {
      const std::string key = fits::card_keyword(card);
      header.remove(key);
      header.cards.push_back(card);
    }
  }

  void write_trace(fits::FitsWriter& writer, const Hdu& hdu, const HeaderCards& header) const {
    std::vector<double> pixels(hdu.pixels());
    file_.read_pixels<double>(hdu, {pixels.data(), pixels.size()});
    const LegendreSeries &before = &hdu == x_ ? before_.x : before_.y,
                         &after = &hdu == x_ ? after_.x : after_.y;
    const Array2D<double> change = added(before, after);
    const std::size_t had = before.coef.cols(), has = change.cols(), n = change.rows();
    std::vector<double> moved(n * has, 0.0);
    for (std::size_t f = 0; f < n; ++f) {
      for (std::size_t k = 0; k < has; ++k)
        moved[f * has + k] = (k < had ? pixels[f * had + k] : 0.0) + change(f, k);
    }
    writer.image(hdu.name, std::span<const double>(moved), {has, n}, fits::PixelType::kFloat64,
                 header);
  }

  void write_image(fits::FitsWriter& writer, const Hdu& hdu, const HeaderCards& header) const {
    std::vector<double> pixels(hdu.pixels());
    file_.read_pixels<double>(hdu, {pixels.data(), pixels.size()});
    const bool whole = hdu.bscale == 1 && hdu.bzero == 0;
    const fits::PixelType type = whole && hdu.bitpix == 16   ? fits::PixelType::kInt16
                                 : whole && hdu.bitpix == 32 ? fits::PixelType::kInt32
                                 : hdu.bitpix == -32         ? fits::PixelType::kFloat32
                                                             : fits::PixelType::kFloat64;
    writer.image(hdu.name, std::span<const double>(pixels), hdu.axes, type, header);
  }

  void write_table(fits::FitsWriter& writer, const Hdu& hdu, const HeaderCards& header) const {
    RawTable table = file_.read_table(hdu);
    table.header = header;
    if (&hdu == table_) {
      if (x_ == nullptr) {
        add_row(hdu, table, "X", TraceParameter::kX, before_.x, after_.x);
        add_row(hdu, table, "Y", TraceParameter::kY, before_.y, after_.y);
      }
      add_row(hdu, table, "GHSIGX", TraceParameter::kSigmaX, before_.sigma_x, after_.sigma_x);
      add_row(hdu, table, "GHSIGY", TraceParameter::kSigmaY, before_.sigma_y, after_.sigma_y);
    }
    writer.table(hdu.name, table);
  }

  /// Adds to COEFF of the row of a parameter, where it changes.
  void add_row(const Hdu& hdu, RawTable& table, const std::string& name, TraceParameter parameter,
               const LegendreSeries& before, const LegendreSeries& after) const {
    if (!changes_[static_cast<std::size_t>(parameter)]) return;
    const auto names = table.text_column("PARAM");
    const auto coeff = fits::find_column(table, "COEFF");
    const Array2D<double> change = added(before, after);
    const std::size_t had = coeff ? coeff->repeat / change.rows() : 0;
    const std::size_t row =
        names ? static_cast<std::size_t>(std::find(names->begin(), names->end(), name) -
                                         names->begin())
              : table.rows;
    if (row == table.rows || !coeff || coeff->type != 'D' || had < change.cols()) {
      throw file_.error(Status::kUnsupported, hdu,
                        "row " + name + " has no room for " + std::to_string(change.cols()) +
                            " coefficients of a fibre; a lower degree would have");
    }
    std::uint8_t* cell = table.data.data() + row * table.row_bytes + coeff->offset;
    for (std::size_t f = 0; f < change.rows(); ++f) {
      for (std::size_t k = 0; k < change.cols(); ++k) {
        std::uint8_t* at = cell + (f * had + k) * sizeof(double);
        store_be(at, load_be<double>(at) + change(f, k));
      }
    }
  }

  const FitsReader& file_;
  const HeaderCards& notes_;
  PsfModel before_, after_;
  const Hdu *x_ = nullptr, *y_ = nullptr, *table_ = nullptr;
  std::array<bool, kTraceParameters> changes_{};
};

}  // namespace
}  // namespace formats

void write_moved_psf(const std::string& path, const std::string& source, Verify verify,
                     const TraceChange& change, const HeaderCards& notes, Overwrite overwrite,
                     FilesTogether* together) {
  const fits::FitsReader file = fits::FitsReader::open(source, verify);
  const formats::MovedPsf moved(file, change, notes);
  fits::write_fits(
      path, overwrite, [&](fits::FitsWriter& writer) { moved.write(writer); }, 0, together);
}

}  // namespace fiberloom
