// SPDX-License-Identifier: BSD-3-Clause
// For tests: small template and archetype files as the field writes them, and the same with one
// thing changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fiberloom/templates/template_file.hpp"
#include "loom/fits/fits_writer.hpp"
#include "loom/testing/test_files.hpp"

namespace fiberloom::templates::test {

/// What goes into a template file.
struct Parts {
  HeaderCards header;
  std::vector<double> flux;
  std::vector<std::size_t> axes{40, 3};
  std::vector<double> redshifts;  ///< empty: no HDU
  std::vector<double> training;   ///< rows of `training_columns`; empty: no HDU
  std::size_t training_columns = 3;
  std::string basis_name = "BASIS_VECTORS";
};

inline Parts good_parts() {
  Parts p;
  p.header.set("CRVAL1", 3.5);
  p.header.set("CDELT1", 1e-3);
  p.header.set("LOGLAM", 1);
  p.header.set("RRTYPE", "QSO");
  p.header.set("RRSUBTYP", "HIZ");
  p.header.set("VERSION", "1.1");
  for (std::size_t i = 0; i < 120; ++i) p.flux.push_back(0.25 * static_cast<double>(i) - 3);
  p.redshifts = {1.4, 1.5, 1.625};
  p.training = {1, 2, 3, 4, 5, 6};
  return p;
}

inline std::vector<std::uint8_t> bytes_of(const Parts& p) {
  MemorySink sink;
  fits::FitsWriter writer(sink);
  writer.image(p.basis_name, std::span(p.flux), p.axes, fits::PixelType::kFloat64, p.header);
  if (!p.redshifts.empty()) {
    writer.image("REDSHIFTS", std::span(p.redshifts), {p.redshifts.size()},
                 fits::PixelType::kFloat64);
  }
  if (!p.training.empty()) {
    writer.image("ARCHETYPE_COEFF", std::span(p.training),
                 {p.training_columns, p.training.size() / p.training_columns},
                 fits::PixelType::kFloat64);
  }
  return sink.bytes();
}

inline std::vector<std::uint8_t> template_bytes(const std::function<void(Parts&)>& change = {}) {
  Parts p = good_parts();
  if (change) change(p);
  return bytes_of(p);
}

inline std::vector<std::uint8_t> archetype_bytes(
    const std::function<void(RawTable&)>& change = {}) {
  std::vector<double> flux(80);
  for (std::size_t i = 0; i < flux.size(); ++i) flux[i] = static_cast<double>(i);
  const std::vector<std::string> subtypes{"ELG", "LRG"};
  RawTable table =
      fits::TableBuilder(2).add_vector("ARCHETYPE", flux, 40).add("SUBTYPE", subtypes, 3).build();
  table.header.set("CRVAL1", 3000);
  table.header.set("CDELT1", 0.5);
  table.header.set_logical("LOGLAM", false);
  table.header.set("RRTYPE", "GALAXY");
  table.header.set("VERSION", "0.1");
  if (change) change(table);
  MemorySink sink;
  fits::FitsWriter(sink).table("ARCHETYPES", table);
  return sink.bytes();
}

}  // namespace fiberloom::templates::test
