// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/answer_parquet.hpp"

#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/page/page.hpp"

namespace fiberloom {
namespace {

namespace parquet = loom::parquet;

std::vector<std::string> in_utf8(std::vector<std::string> texts) {
  for (std::string& text : texts) {
    if (!loom::page::is_utf8(text)) text = loom::page::to_utf8(text);
  }
  return texts;
}

/// Adds columns under names of their own.
class Columns {
 public:
  void add(const std::string& name, parquet::Values values, std::vector<bool> known = {}) {
    const std::string bare = name.empty() ? "column" : loom::page::to_utf8(name);
    std::string its = bare;
    for (int k = 2; !names_.insert(its).second; ++k) its = bare + "_" + std::to_string(k);
    all_.push_back({its, std::move(values), std::move(known)});
  }
  [[nodiscard]] std::vector<parquet::Column> take() { return std::move(all_); }

 private:
  std::set<std::string> names_;
  std::vector<parquet::Column> all_;
};

/// Value k of each row of a column of fixed types.
template <class T>
std::vector<T> stored(const Column& column, std::size_t rows, std::size_t k) {
  std::vector<T> out(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    std::memcpy(&out[r], column.data.data() + (r * column.width + k) * sizeof(T), sizeof(T));
  }
  return out;
}

parquet::Values values_of(const Column& column, std::size_t rows, std::size_t k) {
  switch (column.cell) {
    case Cell::kTruth: {
      std::vector<bool> out(rows);
      for (std::size_t r = 0; r < rows; ++r) out[r] = column.data[r * column.width + k] == 'T';
      return out;
    }
    case Cell::kInt16:
      return stored<std::int16_t>(column, rows, k);
    case Cell::kInt32:
      return stored<std::int32_t>(column, rows, k);
    case Cell::kInt64:
      return stored<std::int64_t>(column, rows, k);
    case Cell::kFloat32:
      return stored<float>(column, rows, k);
    case Cell::kFloat64:
      return stored<double>(column, rows, k);
    default:
      throw Error(Status::kInternal, "Parquet: column " + column.name + " of a type of its own");
  }
}

}  // namespace

std::vector<parquet::Column> to_parquet(const AnswerColumns& answer) {
  using Kind = AnswerColumns::Column::Kind;
  Columns out;
  for (const AnswerColumns::Column& c : answer.all()) {
    if (c.kind == Kind::kInteger) {
      out.add(c.name, c.integers, c.known);
    } else if (c.kind == Kind::kText) {
      out.add(c.name, in_utf8(c.texts), c.known);
    } else {
      std::vector<double> numbers = c.numbers;
      numbers.resize(answer.rows());
      out.add(c.name, std::move(numbers), c.known);
    }
  }
  return out.take();
}

std::vector<parquet::Column> to_parquet(const Table& table) {
  Columns out;
  for (const Column& column : table.columns) {
    if (column.cell == Cell::kText) {
      out.add(column.name, in_utf8(table.text_column(column.name).value()));
      continue;
    }
    for (std::size_t k = 0; k < column.width; ++k) {
      const std::string name = column.name + (column.width > 1 ? "_" + std::to_string(k) : "");
      out.add(name, values_of(column, table.rows, k));
    }
  }
  return out.take();
}

}  // namespace fiberloom
