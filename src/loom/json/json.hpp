// SPDX-License-Identifier: BSD-3-Clause
// JSON values: made, read, written. The library that knows the text stands in json.cpp alone, so
// that whoever writes a record does not compile it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace loom {

/// A value is not what was asked of it: another type, no such member, a number that does not fit.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What becomes of characters beyond ASCII in written text.
enum class JsonText {
  kUtf8,   ///< they stay; bytes that are no UTF-8 become U+FFFD
  kAscii,  ///< they are escaped
};

/// Objects keep the order in which their members came; one of a name that is there is replaced.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  ///< null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(double value) : value_(value) {}
  Json(const char* text) : value_(std::string(text)) {}
  Json(std::string text) : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  template <std::signed_integral T>
  Json(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : value_(static_cast<std::uint64_t>(value)) {}
  template <class T>
  requires std::constructible_from<Json, const T&> Json(const std::vector<T>& values)
      : value_(Array(values.begin(), values.end())) {}
  template <class T>
  requires std::constructible_from<Json, const T&> Json(const std::map<std::string, T>& members)
      : value_(Object(members.begin(), members.end())) {}
  /// {{"name", value}, ...} is an object, any other list an array; {} is null, as Json() is.
  Json(std::initializer_list<Json> list);
  [[nodiscard]] static Json array(std::initializer_list<Json> list = {});
  [[nodiscard]] static Json object() { return Json(Object{}); }

  /// The member of an object; null is made an object, a member that is not there is made null.
  Json& operator[](std::string_view name);
  /// Appends to an array; null is made one.
  void push_back(Json value);

  [[nodiscard]] bool is_null() const noexcept { return holds<std::monostate>(); }
  [[nodiscard]] bool is_object() const noexcept { return holds<Object>(); }
  [[nodiscard]] bool is_array() const noexcept { return holds<Array>(); }
  [[nodiscard]] bool is_string() const noexcept { return holds<std::string>(); }
  [[nodiscard]] bool is_integer() const noexcept {
    return holds<std::int64_t>() || holds<std::uint64_t>();
  }
  [[nodiscard]] bool is_number() const noexcept { return is_integer() || holds<double>(); }

  // Reading. They throw JsonError.
  [[nodiscard]] const Json& at(std::string_view name) const;
  [[nodiscard]] const Json* find(std::string_view name) const noexcept;  ///< null: not there
  [[nodiscard]] bool contains(std::string_view name) const noexcept {
    return find(name) != nullptr;
  }
  [[nodiscard]] const Array& elements() const;
  [[nodiscard]] const Object& members() const;
  /// Elements, or members; 0 of anything else.
  [[nodiscard]] std::size_t size() const noexcept;
  template <class T>
  [[nodiscard]] T get() const;
  /// Of an object: the member, or what to take where there is none.
  template <class T>
  [[nodiscard]] T value(std::string_view name, T otherwise) const {
    const Json* const member = find(name);
    return member == nullptr ? std::move(otherwise) : member->get<T>();
  }

  /// `indent` < 0: in one line. Numbers that are none are null.
  [[nodiscard]] std::string dump(int indent = -1, JsonText text = JsonText::kUtf8) const;
  /// Of what is neither array nor object.
  [[nodiscard]] std::string scalar_text(JsonText text) const;
  /// nullopt where the text is no JSON, or is nested deeper than that.
  [[nodiscard]] static std::optional<Json> parse(std::string_view text, std::size_t deepest = 200);

 private:
  explicit Json(Object members) : value_(std::move(members)) {}
  template <class T>
  [[nodiscard]] bool holds() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  [[nodiscard]] std::int64_t to_signed() const;
  [[nodiscard]] std::uint64_t to_unsigned() const;
  [[nodiscard]] double to_double() const;
  [[nodiscard]] const std::string& to_string() const;
  [[nodiscard]] bool to_bool() const;
  [[noreturn]] static void out_of_range();

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Array,
               Object>
      value_;
};

template <class T>
T Json::get() const {
  if constexpr (std::same_as<T, bool>) {
    return to_bool();
  } else if constexpr (std::signed_integral<T>) {
    const std::int64_t value = to_signed();
    if (!std::in_range<T>(value)) out_of_range();
    return static_cast<T>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    const std::uint64_t value = to_unsigned();
    if (!std::in_range<T>(value)) out_of_range();
    return static_cast<T>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(to_double());
  } else if constexpr (std::same_as<T, std::string>) {
    return to_string();
  } else {  // a list
    T list;
    for (const Json& element : elements()) {
      list.push_back(element.get<typename T::value_type>());
    }
    return list;
  }
}

}  // namespace loom
