// SPDX-License-Identifier: BSD-3-Clause
// FITS header cards and binary tables as Python sees them.
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "fiberloom/foundation.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::python {
namespace {

py::object value_of(const HeaderCards& cards, const std::string& key) {
  for (const std::string& card : cards.cards) {
    if (fits::card_keyword(card) != key) continue;
    const fits::CardValue value = fits::parse_card(card);
    switch (value.kind) {
      case fits::CardValue::Kind::kLogical:
        return py::bool_(value.text == "T");
      case fits::CardValue::Kind::kNumber:
        if (const auto integer = cards.integer(key);
            integer && value.text.find_first_of(".EeDd") == std::string::npos) {
          return py::int_(*integer);
        }
        return py::float_(cards.number(key).value_or(0));
      case fits::CardValue::Kind::kString:
        return py::str(cards.text(key).value_or(""));
      default:
        return py::none();
    }
  }
  throw py::key_error(key);
}

void set_value(HeaderCards& cards, const std::string& key, const py::object& given) {
  // numpy's scalars are none of Python's numbers
  const bool numpy = py::isinstance(given, py::module_::import("numpy").attr("generic"));
  const py::object value = numpy ? py::object(given.attr("item")()) : given;
  if (py::isinstance<py::bool_>(value)) {
    cards.set_logical(key, value.cast<bool>());
  } else if (py::isinstance<py::int_>(value)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow != 0) {
      throw py::value_error("header value of " + key + ": expected an integer of 64 bits, got " +
                            std::string(py::str(value)));
    }
    cards.set(key, std::int64_t{number});
  } else if (py::isinstance<py::float_>(value)) {
    cards.set(key, value.cast<double>());
  } else if (py::isinstance<py::str>(value)) {
    cards.set(key, value.cast<std::string>());
  } else {
    throw py::type_error("header value of " + key + ": expected bool, int, float or str");
  }
}

std::vector<std::string> keys_of(const HeaderCards& cards) {
  std::vector<std::string> keys;
  for (const std::string& card : cards.cards) {
    const auto value = fits::parse_card(card);
    if (value.kind == fits::CardValue::Kind::kNone) continue;
    keys.push_back(fits::card_keyword(card));
  }
  return keys;
}

/// numpy's name of a column's type; empty for one that numpy has no type for.
std::string numpy_type(const fits::TableColumn& column) {
  switch (column.type) {
    case 'L':
      return "S1";
    case 'X':
    case 'B':
      return "u1";
    case 'I':
      return ">i2";
    case 'J':
      return ">i4";
    case 'K':
      return ">i8";
    case 'E':
      return ">f4";
    case 'D':
      return ">f8";
    case 'C':
      return ">c8";
    case 'M':
      return ">c16";
    case 'A':
      return "S" + std::to_string(column.repeat);
    default:
      return "";
  }
}

py::dtype row_type(const RawTable& table) {
  py::list names, formats, offsets;
  for (const fits::TableColumn& column : fits::table_columns(table)) {
    const std::string type = numpy_type(column);
    if (type.empty() || column.repeat == 0 || column.bytes == 0) continue;
    names.append(column.name);
    if (column.type == 'A' || column.repeat == 1) {
      formats.append(type);
    } else {
      const std::size_t n = column.type == 'X' ? column.bytes : column.repeat;
      formats.append(py::make_tuple(type, py::make_tuple(n)));
    }
    offsets.append(column.offset);
  }
  py::dict spec;
  spec["names"] = names;
  spec["formats"] = formats;
  spec["offsets"] = offsets;
  spec["itemsize"] = table.row_bytes;
  return py::dtype::from_args(spec);
}

/// A read-only view of the rows; `self` stays alive as its base.
py::array rows_of(const py::object& self) {
  const RawTable& table = self.cast<const PyTable&>().table;
  py::array rows(row_type(table), {static_cast<py::ssize_t>(table.rows)},
                 {static_cast<py::ssize_t>(table.row_bytes)}, table.data.data(), self);
  rows.attr("setflags")(py::arg("write") = false);
  return rows;
}

/// A function of fiberloom._tables, which knows how columns and tables look in Python.
py::object in_python(const char* function) {
  return py::module_::import("fiberloom._tables").attr(function);
}

/// (name, TFORM letter, TSCAL, TZERO) of each column.
py::list columns_of(const PyTable& t) {
  py::list out;
  for (const fits::TableColumn& c : fits::table_columns(t.table)) {
    out.append(py::make_tuple(c.name, std::string(1, c.type), c.scale, c.zero));
  }
  return out;
}

/// TNULL of the columns that have one: the stored integer that stands for none.
py::dict nulls_of(const PyTable& t) {
  py::dict out;
  for (const fits::TableColumn& c : fits::table_columns(t.table)) {
    if (c.null) out[py::str(c.name)] = *c.null;
  }
  return out;
}

py::bytes to_bytes(const std::vector<std::uint8_t>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}
std::vector<std::uint8_t> from_bytes(const py::object& data) {
  const auto text = data.cast<std::string>();
  return {text.begin(), text.end()};
}

auto pickle_table() {
  return py::pickle(
      [](const PyTable& t) {
        return py::make_tuple(t.table.header.cards, t.table.column_cards, t.table.rows,
                              t.table.row_bytes, to_bytes(t.table.data), to_bytes(t.table.heap));
      },
      [](const py::tuple& state) {
        if (state.size() != 6) throw py::value_error("Table: a pickle of another version");
        PyTable t;
        t.table.header.cards = state[0].cast<std::vector<std::string>>();
        t.table.column_cards = state[1].cast<std::vector<std::string>>();
        t.table.rows = state[2].cast<std::size_t>();
        t.table.row_bytes = state[3].cast<std::size_t>();
        t.table.data = from_bytes(state[4]);
        t.table.heap = from_bytes(state[5]);
        if (t.table.row_bytes != 0 && t.table.data.size() / t.table.row_bytes < t.table.rows) {
          throw py::value_error("Table: a pickle that is cut off");
        }
        return t;
      });
}

auto pickle_header() {
  return py::pickle([](const PyHeader& h) { return py::make_tuple(h.cards.cards); },
                    [](const py::tuple& state) {
                      if (state.size() != 1) {
                        throw py::value_error("Header: a pickle of another version");
                      }
                      PyHeader h;
                      h.cards.cards = state[0].cast<std::vector<std::string>>();
                      return h;
                    });
}

}  // namespace

py::object optional_table(std::optional<RawTable>&& table) {
  if (!table) return py::none();
  return py::cast(PyTable{std::move(*table)});
}

void bind_headers(py::module_& m) {
  py::class_<PyHeader>(m, "Header", "Cards of a FITS header.")
      .def(py::init<>())
      .def(py::init([](const py::dict& values) {
        PyHeader h;
        for (const auto& [key, value] : values) {
          set_value(h.cards, py::cast<std::string>(key), py::reinterpret_borrow<py::object>(value));
        }
        return h;
      }))
      .def("__getitem__",
           [](const PyHeader& h, const std::string& k) { return value_of(h.cards, k); })
      .def("__setitem__",
           [](PyHeader& h, const std::string& k, const py::object& v) { set_value(h.cards, k, v); })
      .def("__delitem__",
           [](PyHeader& h, const std::string& k) {
             if (!h.cards.has(k)) throw py::key_error(k);
             h.cards.remove(k);
           })
      .def("__contains__", [](const PyHeader& h, const std::string& k) { return h.cards.has(k); })
      .def("__len__", [](const PyHeader& h) { return keys_of(h.cards).size(); })
      .def("keys", [](const PyHeader& h) { return keys_of(h.cards); })
      .def(
          "get",
          [](const PyHeader& h, const std::string& k, py::object missing) {
            return h.cards.has(k) ? value_of(h.cards, k) : missing;
          },
          py::arg("key"), py::arg("default") = py::none())
      .def("comment", [](const PyHeader& h, const std::string& k) { return h.cards.comment(k); })
      .def("copy", [](const PyHeader& h) { return h; })
      .def("__repr__", [](const py::object& self) { return in_python("header_repr")(self); })
      .def("_repr_html_", [](const py::object& self) { return in_python("header_html")(self); })
      .def(pickle_header())
      .def_property_readonly("cards", [](const PyHeader& h) { return h.cards.cards; });

  py::class_<PyTable>(m, "Table", "Rows of a FITS binary table, as in the file.")
      .def("__len__", [](const PyTable& t) { return t.table.rows; })
      .def_property_readonly("rows", &rows_of)
      .def_property_readonly("columns", &columns_of)
      .def_property_readonly("nulls", &nulls_of)
      .def("keys", [](const py::object& self) { return in_python("table_keys")(self); })
      .def("__getitem__", [](const py::object& self,
                             const py::object& key) { return in_python("table_item")(self, key); })
      .def("__contains__",
           [](const py::object& self, const py::object& key) {
             return py::bool_(in_python("table_keys")(self).contains(key));
           })
      .def("__repr__", [](const py::object& self) { return in_python("table_repr")(self); })
      .def("_repr_html_", [](const py::object& self) { return in_python("table_html")(self); })
      .def(pickle_table())
      .def_property_readonly("header", [](const PyTable& t) { return PyHeader{t.table.header}; })
      .def("slice", [](const PyTable& t, std::size_t first, std::size_t n) {
        return PyTable{t.table.slice(first, n)};
      });
}

}  // namespace fiberloom::python
