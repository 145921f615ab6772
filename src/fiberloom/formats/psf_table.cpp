// SPDX-License-Identifier: BSD-3-Clause
// Rows of the PSF table to Legendre series.
#include "fiberloom/formats/psf_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fiberloom::formats {
namespace {

constexpr int kMaxFibers = 100000;
constexpr std::size_t kMaxCoef = 200;

/// "( 2, 500)" -> {2, 500}; empty when it is no list of numbers.
std::vector<std::size_t> parse_dim(const std::string& dim) {
  std::vector<std::size_t> out;
  const char* p = dim.data();
  const char* end = p + dim.size();
  while (p != end) {
    if (*p < '0' || *p > '9') {
      ++p;
      continue;
    }
    std::size_t value = 0;
    const auto [next, error] = std::from_chars(p, end, value);
    if (error != std::errc{}) return {};
    out.push_back(value);
    p = next;
  }
  return out;
}

std::string quoted(const fits::Hdu& hdu, const std::string& key) {
  return key + " is " + hdu.header.text(key).value_or("missing");
}

}  // namespace

Domain require_domain(const fits::FitsReader& file, const fits::Hdu& hdu) {
  for (const char* key : {"WAVEMIN", "WAVEMAX"}) {
    if (!hdu.header.number(key)) {
      const Status status = hdu.header.has(key) ? Status::kCorrupt : Status::kMissingKeyword;
      throw file.error(status, hdu, quoted(hdu, key) + ", expected a wavelength in Angstrom");
    }
  }
  const Domain d{*hdu.header.number("WAVEMIN"), *hdu.header.number("WAVEMAX")};
  if (!(d.min < d.max)) {
    throw file.error(Status::kCorrupt, hdu,
                     quoted(hdu, "WAVEMIN") + " and " + quoted(hdu, "WAVEMAX") + ", no range");
  }
  return d;
}

int require_integer(const fits::FitsReader& file, const fits::Hdu& hdu, const std::string& key,
                    int min, int max) {
  const auto value = hdu.header.integer(key);
  if (!hdu.header.has(key)) {
    throw file.error(Status::kMissingKeyword, hdu, "no keyword " + key);
  }
  if (!value || *value < min || *value > max) {
    throw file.error(
        Status::kCorrupt, hdu,
        quoted(hdu, key) + ", expected " + std::to_string(min) + " to " + std::to_string(max));
  }
  return static_cast<int>(*value);
}

PsfTable::PsfTable(const fits::FitsReader& file, const fits::Hdu& hdu, int nfiber,
                   std::optional<Domain> domain)
    : file_(file), hdu_(hdu), table_(file.read_table(hdu)), domain_(domain) {
  find_columns();
  find_size(nfiber);
}

void PsfTable::find_columns() {
  const auto names = table_.text_column("PARAM");
  if (!names) throw file_.error(Status::kMissingKeyword, hdu_, "no text column PARAM");
  names_ = *names;
  for (std::string& name : names_) name = fits::normal_name(name);
  const auto coeff = fits::find_column(table_, "COEFF");
  if (!coeff || (coeff->type != 'D' && coeff->type != 'E')) {
    throw file_.error(Status::kMissingKeyword, hdu_, "no floating-point column COEFF");
  }
  coeff_ = *coeff;
  if (domain_) return;
  wave_min_ = fits::find_column(table_, "WAVEMIN");
  wave_max_ = fits::find_column(table_, "WAVEMAX");
  if (!wave_min_ || !wave_max_) {
    throw file_.error(Status::kMissingKeyword, hdu_, "no columns WAVEMIN, WAVEMAX");
  }
}

/// Coefficients and fibres from the length of a row; TDIM, FIBERMIN and FIBERMAX must agree.
void PsfTable::find_size(int nfiber) {
  const auto dim = parse_dim(coeff_.dim);
  const bool usable = dim.size() == 2 && dim[0] > 0 && dim[0] <= kMaxCoef &&
                      dim[1] == coeff_.repeat / dim[0] && coeff_.repeat % dim[0] == 0;
  if (nfiber < 1 && usable)
    nfiber = static_cast<int>(std::min<std::size_t>(dim[1], kMaxFibers + 1));
  if (nfiber < 1) {
    nfiber = require_integer(file_, hdu_, "FIBERMAX", 0, kMaxFibers) + 1 -
             require_integer(file_, hdu_, "FIBERMIN", 0, kMaxFibers);
  }
  const auto fibers = static_cast<std::size_t>(std::max(nfiber, 0));
  if (fibers < 1 || nfiber > kMaxFibers || coeff_.repeat % fibers != 0 ||
      coeff_.repeat / fibers < 1 || coeff_.repeat / fibers > kMaxCoef ||
      (usable && dim[1] != fibers)) {
    throw file_.error(Status::kWrongShape, hdu_,
                      "COEFF holds " + std::to_string(coeff_.repeat) + " numbers (TDIM '" +
                          coeff_.dim + "'), expected a multiple of " + std::to_string(nfiber) +
                          " fibres");
  }
  nfiber_ = nfiber;
  ncoef_ = coeff_.repeat / fibers;
}

std::optional<std::size_t> PsfTable::row_of(const std::string& param) const {
  const auto it = std::find(names_.begin(), names_.end(), param);
  if (it == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(it - names_.begin());
}

bool PsfTable::has(const std::string& param) const { return row_of(param).has_value(); }

Domain PsfTable::row_domain(std::size_t row) const {
  if (domain_) return *domain_;
  const auto low = fits::column_row(table_, *wave_min_, row);
  const auto high = fits::column_row(table_, *wave_max_, row);
  if (low.size() != 1 || high.size() != 1 || !(low[0] < high[0]) || !std::isfinite(low[0]) ||
      !std::isfinite(high[0])) {
    throw file_.error(Status::kCorrupt, hdu_,
                      "row " + names_[row] + ": WAVEMIN and WAVEMAX make no range");
  }
  return {low[0], high[0]};
}

LegendreSeries PsfTable::series(const std::string& param) const {
  const auto row = row_of(param);
  if (!row) throw file_.error(Status::kMissingKeyword, hdu_, "no row " + param + " in PARAM");
  const Domain domain = row_domain(*row);
  const auto values = fits::column_row(table_, coeff_, *row);
  LegendreSeries out{domain.min, domain.max,
                     Array2D<double>(static_cast<std::size_t>(nfiber_), ncoef_)};
  std::copy(values.begin(), values.end(), out.coef.data());
  return out;
}

std::vector<int> PsfTable::integers(const std::string& param) const {
  const auto row = row_of(param);
  if (!row) return {};
  const auto values = fits::column_row(table_, coeff_, *row);
  std::vector<int> out;
  for (std::size_t i = 0; i < values.size(); i += ncoef_) {
    const bool usable = std::isfinite(values[i]) && std::abs(values[i]) < 1e9;
    out.push_back(usable ? static_cast<int>(std::lround(values[i])) : -1);
  }
  return out;
}

}  // namespace fiberloom::formats
