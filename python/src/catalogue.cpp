// SPDX-License-Identifier: BSD-3-Clause
// The catalogue: a query's answer by column.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/recipes/catalogue/load_files.hpp"
#include "fiberloom/recipes/catalogue/query_catalogue.hpp"
#include "watch.hpp"

namespace fiberloom::python {
namespace {

using catalogue::Cone;
using catalogue::Selection;

Selection selection_of(const py::dict& given) {
  Selection s;
  s.from = given["from"].cast<std::string>();
  s.columns = given["columns"].cast<std::vector<std::string>>();
  s.classes = given["classes"].cast<std::vector<std::string>>();
  s.targetids = given["targetids"].cast<std::vector<std::int64_t>>();
  s.tileids = given["tileids"].cast<std::vector<std::int64_t>>();
  s.good = given["good"].cast<bool>();
  s.none = given["none"].cast<bool>();
  s.limit = given["limit"].cast<std::size_t>();
  s.z_min = given["z_min"].cast<std::optional<double>>();
  s.z_max = given["z_max"].cast<std::optional<double>>();
  if (!given["cone"].is_none()) {
    const auto cone = given["cone"].cast<std::vector<double>>();
    s.cone = Cone{cone.at(0), cone.at(1), cone.at(2)};
  }
  return s;
}

/// Of each column its name, its values, and where they are known: an array of bytes.
py::list query(const std::string& database, const std::string& sql, const py::dict& selection,
               double seconds) {
  QueryJob job;
  job.database = database;
  job.sql = sql;
  if (sql.empty()) job.selection = selection_of(selection);
  job.seconds = seconds;
  const AnswerColumns answer =
      Watch().run([&](const Observer& observer) { return query_columns(job, observer); });
  using Kind = AnswerColumns::Column::Kind;
  py::list out;
  for (const AnswerColumns::Column& c : answer.all()) {
    std::vector<std::uint8_t> known(c.known.begin(), c.known.end());
    py::object values;
    if (c.kind == Kind::kText) {
      py::list texts;
      for (const std::string& text : c.texts) {  // a query may make any bytes
        texts.append(py::reinterpret_steal<py::object>(
            PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace")));
      }
      values = texts;
    } else if (c.kind == Kind::kInteger) {
      values = to_numpy(std::vector<std::int64_t>(c.integers));
    } else {
      std::vector<double> numbers = c.numbers;
      numbers.resize(known.size());
      values = to_numpy(std::move(numbers));
    }
    out.append(py::make_tuple(c.name, values, to_numpy(std::move(known))));
  }
  return out;
}

py::dict load(const std::string& database, const std::vector<std::string>& files, bool again,
              bool verify, py::object progress) {
  const LoadJob job{.inputs = files,
                    .database = database,
                    .again = again,
                    .verify = verify ? Verify::kYes : Verify::kNo};
  const LoadSummary s = Watch(std::move(progress)).run([&](const Observer& observer) {
    return load_files(job, observer);
  });
  py::dict out;
  out["files"] = s.files;
  out["unchanged"] = s.unchanged;
  out["redshifts"] = s.redshifts;
  out["groups"] = s.groups;
  out["spectra"] = s.spectra;
  out["frames"] = s.frames;
  out["exposures"] = s.exposures;
  py::list failed;
  for (const Error& error : s.failed) failed.append(error.what());
  out["failed"] = failed;
  return out;
}

}  // namespace

void bind_catalogue(py::module_& m) {
  m.def("query_catalogue", &query);
  m.def("load_catalogue", &load);
}

}  // namespace fiberloom::python
