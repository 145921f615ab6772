// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/details_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

using hdf5::Type;
using redshift::Candidate;

/// Samples around a minimum that our own refinement keeps.
constexpr std::size_t kOwnPoints = 7;

std::string scan_name(const redshift::Template& t, const char* what) {
  return "zscan/" + t.full_type() + "/" + what;
}

Type type_of(const RedshiftColumn& column) {
  if (column.name == "NCOEFF" || column.cell == Cell::kTruth) return Type::kInt8;
  switch (column.cell) {
    case Cell::kInt64:
      return Type::kInt64;
    case Cell::kFloat32:
      return Type::kFloat32;
    case Cell::kFloat64:
      return Type::kFloat64;
    case Cell::kText:
      return Type::kText;
    default:
      return Type::kInt32;
  }
}

template <class T>
void put(T value, std::vector<std::uint8_t>& out) {
  const auto at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

void put_number(Type type, double value, std::vector<std::uint8_t>& out) {
  if (!std::isfinite(value)) value = 0;
  switch (type) {
    case Type::kInt8:
      return put(static_cast<std::int8_t>(value), out);
    case Type::kInt32:
      return put(static_cast<std::int32_t>(value), out);
    case Type::kFloat32:
      return put(to_float(value), out);
    default:
      return put(value, out);
  }
}

/// Samples in the order of their redshifts.
void put_samples(const Candidate& c, std::size_t points, bool chi2,
                 std::vector<std::uint8_t>& out) {
  std::vector<std::size_t> order(c.fine_z.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return c.fine_z[a] < c.fine_z[b]; });
  for (std::size_t i = 0; i < points; ++i) {
    const bool there = i < order.size();
    put_number(Type::kFloat32, !there ? 0 : chi2 ? c.fine_chi2[order[i]] : c.fine_z[order[i]], out);
  }
}

}  // namespace

std::size_t points_of(const RedshiftOptions& options) {
  return options.method == RedshiftMethod::kRedrock ? static_cast<std::size_t>(options.fine_points)
                                                    : kOwnPoints;
}

DetailsWriter::DetailsWriter(const std::string& path, Overwrite overwrite,
                             std::span<const std::int64_t> ids, const RedshiftModels& models,
                             const RedshiftShape& shape, std::size_t points)
    : ids_(ids.begin(), ids.end()),
      models_(models),
      shape_(shape),
      points_(points),
      file_(path, overwrite) {
  const std::size_t n = ids_.size();
  best_.reserve(n * 2 * sizeof(RedshiftRow));
  file_.create("targetids", Type::kInt64, {n});
  file_.write("targetids", 0, std::span<const std::int64_t>(ids_));
  for (const redshift::Template& t : models.templates) {
    const std::size_t nz = t.redshifts.size(), nb = t.nbasis();
    file_.create(scan_name(t, "redshifts"), Type::kFloat64, {nz});
    file_.write(scan_name(t, "redshifts"), 0, std::span<const double>(t.redshifts));
    file_.create(scan_name(t, "zchi2"), Type::kFloat32, {n, nz}, {1, nz});
    file_.create(scan_name(t, "penalty"), Type::kFloat32, {n, nz}, {1, nz});
    file_.create(scan_name(t, "zcoeff"), Type::kFloat32, {n, nz, nb}, {1, nz, nb});
  }
}

RedshiftShape DetailsWriter::shape_with(bool number) const {
  RedshiftShape shape = shape_;
  shape.lines &= !number;  // they are measured at the best redshift alone
  return shape;
}

std::vector<hdf5::Field> DetailsWriter::fields(bool with_number) const {
  const RedshiftShape shape = shape_with(with_number);
  std::vector<hdf5::Field> out;
  for (const RedshiftColumn& column : redshift_columns()) {
    const std::size_t width = column.values(shape);
    if (width == 0) continue;
    const bool list = column.width != nullptr && column.cell != Cell::kText;
    out.push_back({loom::in_small_letters(column.name), type_of(column), width, list});
    if (out.back().name == "chi2") {
      out.push_back({"zz", Type::kFloat32, points_, true});
      out.push_back({"zzchi2", Type::kFloat32, points_, true});
    }
    if (out.back().name == "ncoeff" && with_number) out.push_back({"znum", Type::kInt8, 1});
  }
  return out;
}

void DetailsWriter::append(std::int64_t id, const Candidate& candidate, int number,
                           bool with_number, std::vector<std::uint8_t>& out) const {
  const RedshiftShape shape = shape_with(with_number);
  const RedshiftEntry row{id, candidate};
  for (const RedshiftColumn& column : redshift_columns()) {
    const std::size_t width = column.values(shape);
    if (width == 0) continue;
    const Type type = type_of(column);
    if (const auto* get = std::get_if<RedshiftColumn::Integer>(&column.value)) {
      type == Type::kInt64 ? put((*get)(row), out)
                           : put_number(type, static_cast<double>((*get)(row)), out);
    } else if (const auto* text = std::get_if<RedshiftColumn::Text>(&column.value)) {
      std::string value = (*text)(row);
      value.resize(width, '\0');
      out.insert(out.end(), value.begin(), value.end());
    } else {
      const auto number_of_row = std::get<RedshiftColumn::Number>(column.value);
      for (std::size_t i = 0; i < width; ++i) put_number(type, number_of_row(row, i), out);
    }
    if (column.name == "CHI2") {
      put_samples(candidate, points_, false, out);
      put_samples(candidate, points_, true, out);
    }
    if (column.name == "NCOEFF" && with_number) {
      put(static_cast<std::int8_t>(std::min(number, 127)), out);
    }
  }
}

void DetailsWriter::add(std::size_t first, const TargetFits& fits,
                        std::span<const std::vector<Candidate>> candidates) {
  const std::size_t n = candidates.size();
  for (std::size_t k = 0; k < fits.curves.size(); ++k) {
    const redshift::Curve& curve = fits.curves[k];
    const redshift::Template& t = models_.templates[k];
    const std::size_t nz = t.redshifts.size(), nb = t.nbasis();
    // a redshift at which the template does not cover the spectra has no fit
    std::vector<double>&chi2 = chi2_, &penalty = penalty_;
    std::vector<float>& coefficients = coefficients_;
    chi2.assign(n * nz, redshift::kHugeChi2);
    penalty.assign(n * nz, 0.0);
    coefficients.assign(n * nz * nb, 0.0F);
    std::size_t at = 0;
    for (std::size_t i = 0; i < nz && at < curve.z.size(); ++i) {
      if (t.redshifts[i] != curve.z[at]) continue;
      for (std::size_t r = 0; r < n; ++r) {
        chi2[r * nz + i] = curve.chi2(r, at);
        penalty[r * nz + i] = curve.penalty(r, at);
        for (std::size_t a = 0; a < nb && !curve.coefficients.empty(); ++a) {
          coefficients[(r * nz + i) * nb + a] = curve.coefficients(r, at, a);
        }
      }
      ++at;
    }
    file_.write(scan_name(t, "zchi2"), first, std::span<const double>(chi2));
    file_.write(scan_name(t, "penalty"), first, std::span<const double>(penalty));
    file_.write(scan_name(t, "zcoeff"), first, std::span<const float>(coefficients));
  }
  const std::vector<hdf5::Field> numbered = fields(true);
  for (std::size_t r = 0; r < n; ++r) {
    const std::int64_t id = ids_[first + r];
    std::vector<std::uint8_t> rows;
    for (std::size_t c = 0; c < candidates[r].size(); ++c) {
      append(id, candidates[r][c], static_cast<int>(c), true, rows);
    }
    file_.table("zfit/" + std::to_string(id) + "/zfit", numbered, candidates[r].size(), rows);
    append(id, candidates[r].front(), 0, false, best_);
  }
}

void DetailsWriter::commit(FilesTogether* together) {
  file_.table("zbest", fields(false), ids_.size(), best_);
  file_.commit(together);
}

ScanFile::ScanFile(const std::string& path, const RedshiftModels& models)
    : file_(path), models_(models) {
  const std::vector<std::int64_t> ids = file_.read_integers("targetids");
  for (std::size_t r = 0; r < ids.size(); ++r) rows_.emplace(ids[r], r);
  for (const redshift::Template& t : models.templates) {
    redshifts_.push_back(file_.read(scan_name(t, "redshifts")));
    const std::vector<std::size_t> expected{ids.size(), redshifts_.back().size()};
    for (const char* what : {"zchi2", "penalty"}) {
      if (file_.shape(scan_name(t, what)) == expected) continue;
      throw Error(Status::kWrongShape,
                  path + ": " + scan_name(t, what) +
                      print(": expected %zu targets x %zu redshifts", expected[0], expected[1]));
    }
  }
}

std::vector<GivenCurve> ScanFile::curves(std::span<const std::int64_t> ids) const {
  std::vector<GivenCurve> out;
  for (std::size_t k = 0; k < redshifts_.size(); ++k) {
    const std::size_t nz = redshifts_[k].size();
    GivenCurve curve{redshifts_[k], Array2D<double>(ids.size(), nz),
                     Array2D<double>(ids.size(), nz)};
    for (std::size_t t = 0; t < ids.size(); ++t) {
      const auto found = rows_.find(ids[t]);
      if (found == rows_.end()) {
        throw Error(kFiberRange, file_.path() + print(": no scan of target %lld",
                                                      static_cast<long long>(ids[t])));
      }
      const redshift::Template& source = models_.templates[k];
      const auto chi2 = file_.read_row(scan_name(source, "zchi2"), found->second);
      const auto penalty = file_.read_row(scan_name(source, "penalty"), found->second);
      std::copy(chi2.begin(), chi2.end(), curve.chi2.row(t));
      std::copy(penalty.begin(), penalty.end(), curve.penalty.row(t));
    }
    out.push_back(std::move(curve));
  }
  return out;
}

}  // namespace fiberloom
