// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/formats/psf_parts.hpp"

#include <cmath>

#include "fiberloom/formats/from_reader.hpp"
#include "fiberloom/formats/psf_table.hpp"

namespace fiberloom::formats {

using fits::FitsReader;
using fits::Hdu;

namespace {

constexpr int kMaxPixels = 100000;

/// Trace image [nfiber][ncoef] with its domain.
LegendreSeries read_trace(const FitsReader& file, const Hdu& hdu) {
  const Domain domain = require_domain(file, hdu);
  return {domain.min, domain.max, read_matrix(file, hdu)};
}

void switch_off(PsfModel& model, std::size_t fiber) {
  for (LegendreSeries* s : {&model.sigma_x, &model.sigma_y}) {
    for (std::size_t k = 0; k < s->coef.cols(); ++k) s->coef(fiber, k) = 0;
  }
}

}  // namespace

const Hdu* find_any(const FitsReader& file, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Hdu* hdu = file.find(name)) return hdu;
  }
  return nullptr;
}

std::optional<std::string> text_of(std::initializer_list<const Hdu*> hdus, const char* key) {
  for (const Hdu* hdu : hdus) {
    if (hdu == nullptr) continue;
    if (auto value = hdu->header.text(key)) return value;
  }
  return std::nullopt;
}

std::optional<double> number_of(std::initializer_list<const Hdu*> hdus, const char* key) {
  for (const Hdu* hdu : hdus) {
    if (hdu == nullptr) continue;
    if (const auto value = hdu->header.number(key)) return value;
  }
  return std::nullopt;
}

void read_traces(const FitsReader& file, const Hdu& xtrace, const Hdu& ytrace, PsfModel& model) {
  model.x = read_trace(file, xtrace);
  model.y = read_trace(file, ytrace);
  if (model.x.coef.rows() == model.y.coef.rows()) return;
  throw file.error(Status::kWrongShape, ytrace,
                   std::to_string(model.y.coef.rows()) + " fibres, but " + xtrace.label() +
                       " has " + std::to_string(model.x.coef.rows()));
}

void read_ccd_keywords(const FitsReader& file, const Hdu& hdu,
                       std::initializer_list<const Hdu*> others, PsfModel& model) {
  model.npix_x = require_integer(file, hdu, "NPIX_X", 1, kMaxPixels);
  model.npix_y = require_integer(file, hdu, "NPIX_Y", 1, kMaxPixels);
  auto psferr = hdu.header.number("PSFERR");
  if (!psferr) psferr = number_of(others, "PSFERR");
  model.psferr = psferr.value_or(0.01);
  if (!(model.psferr >= 0 && model.psferr < 1e3)) {
    throw file.error(Status::kCorrupt, hdu,
                     "PSFERR is " + std::to_string(model.psferr) + ", expected a fraction");
  }
}

void check_fibers(const FitsReader& file, const Hdu& hdu, const PsfModel& model) {
  const auto first = hdu.header.integer("FIBERMIN"), last = hdu.header.integer("FIBERMAX");
  if (!first || !last || *last - *first + 1 == model.nfiber()) return;
  throw file.error(Status::kWrongShape, hdu,
                   "FIBERMIN, FIBERMAX are " + std::to_string(*first) + ", " +
                       std::to_string(*last) + ", but there are " + std::to_string(model.nfiber()) +
                       " fibres");
}

void switch_off_bad_fibers(const FitsReader& file, const Hdu& hdu, PsfModel& model) {
  std::vector<LegendreSeries*> all{&model.x, &model.y, &model.sigma_x, &model.sigma_y};
  for (LegendreSeries& g : model.gh) all.push_back(&g);
  for (LegendreSeries* t : {&model.tails.amp, &model.tails.core, &model.tails.xscale,
                            &model.tails.yscale, &model.tails.index}) {
    if (!t->coef.empty()) all.push_back(t);
  }
  const auto n = static_cast<std::size_t>(model.nfiber());
  std::size_t bad = 0;
  for (std::size_t f = 0; f < n; ++f) {
    bool good = true;
    for (LegendreSeries* s : all) {
      for (std::size_t k = 0; k < s->coef.cols(); ++k) {
        double& c = s->coef(f, k);
        if (std::abs(c) < 1e100) continue;  // false for NaN
        good = false;
        c = 0;
      }
    }
    if (good) continue;
    ++bad;
    switch_off(model, f);
    if (model.status.empty()) model.status.assign(n, 0);
    model.status[f] = kStatusNan;
  }
  if (bad == n) throw file.error(Status::kCorrupt, hdu, "no fibre has finite coefficients");
}

void switch_off_unfit_fibers(PsfModel& model) {
  for (std::size_t f = 0; f < model.status.size(); ++f) {
    if (model.status[f] != 0) switch_off(model, f);
  }
}

}  // namespace fiberloom::formats
