// SPDX-License-Identifier: BSD-3-Clause
// The parameter table of a Gauss-Hermite PSF: one row a parameter, Legendre coefficients of all
// fibres in it. Versions 1, 2 (own domain in each row) and 3 differ only here. Internal to
// formats/.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fiberloom/psf/psf_model.hpp"
#include "loom/fits/fits_reader.hpp"

namespace fiberloom::formats {

/// Wavelength domain of a Legendre series, Angstrom.
struct Domain {
  double min = 0, max = 0;
};

/// WAVEMIN and WAVEMAX of an HDU; throws kMissingKeyword, or kCorrupt when they make no range.
[[nodiscard]] Domain require_domain(const fits::FitsReader& file, const fits::Hdu& hdu);

/// An integer keyword in [min, max]; throws kMissingKeyword or kCorrupt.
[[nodiscard]] int require_integer(const fits::FitsReader& file, const fits::Hdu& hdu,
                                  const std::string& key, int min, int max);

class PsfTable {
 public:
  /// nfiber < 1: taken from the table (TDIM or FIBERMIN, FIBERMAX). Without `domain`, each row has
  /// its own in columns WAVEMIN and WAVEMAX.
  PsfTable(const fits::FitsReader& file, const fits::Hdu& hdu, int nfiber,
           std::optional<Domain> domain);

  [[nodiscard]] int nfiber() const noexcept { return nfiber_; }
  [[nodiscard]] bool has(const std::string& param) const;
  /// The series of a parameter; throws kMissingKeyword naming the row.
  [[nodiscard]] LegendreSeries series(const std::string& param) const;
  /// Coefficient 0 of every fibre, rounded: BUNDLE and STATUS. Empty when there is no such row.
  [[nodiscard]] std::vector<int> integers(const std::string& param) const;

 private:
  void find_columns();
  void find_size(int nfiber);
  [[nodiscard]] std::optional<std::size_t> row_of(const std::string& param) const;
  [[nodiscard]] Domain row_domain(std::size_t row) const;

  const fits::FitsReader& file_;
  const fits::Hdu& hdu_;
  RawTable table_;
  std::vector<std::string> names_;
  fits::TableColumn coeff_;
  std::optional<fits::TableColumn> wave_min_, wave_max_;
  std::optional<Domain> domain_;
  int nfiber_ = 0;
  std::size_t ncoef_ = 0;
};

}  // namespace fiberloom::formats
