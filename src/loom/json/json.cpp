// SPDX-License-Identifier: BSD-3-Clause
// The tree is ours, the text nlohmann's: its parser, its numbers, its escapes.
#include "loom/json/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace loom {
namespace {

using Library = nlohmann::ordered_json;

std::string scalar(const Library& value, JsonText text) {
  return value.dump(-1, ' ', text == JsonText::kAscii, Library::error_handler_t::replace);
}

/// Builds the tree while the library reads.
class Builder final : public nlohmann::json_sax<Library> {
 public:
  explicit Builder(std::size_t deepest) : deepest_(deepest) {}
  bool null() override { return put(Json()); }
  bool boolean(bool value) override { return put(Json(value)); }
  bool number_integer(std::int64_t value) override { return put(Json(value)); }
  bool number_unsigned(std::uint64_t value) override { return put(Json(value)); }
  bool number_float(double value, const std::string& /*text*/) override { return put(Json(value)); }
  bool string(std::string& value) override { return put(Json(std::move(value))); }
  bool binary(Library::binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool key(std::string& name) override {
    names_.back() = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  bool open(Json container) {
    if (open_.size() == deepest_) return false;
    open_.push_back(std::move(container));
    names_.emplace_back();
    return true;
  }
  bool close() {
    Json done = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return put(std::move(done));
  }
  bool put(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object()) {
      open_.back()[names_.back()] = std::move(value);
    } else {
      open_.back().push_back(std::move(value));
    }
    return true;
  }

  const std::size_t deepest_;
  Json root_;
  std::vector<Json> open_;
  std::vector<std::string> names_;  ///< of the member that comes next, for each that is open
};

void new_line(std::string& out, int indent, std::size_t depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * depth, ' ');
}

}  // namespace

Json::Json(std::initializer_list<Json> list) {
  const auto is_member = [](const Json& element) {
    const auto* const pair = std::get_if<Array>(&element.value_);
    return pair != nullptr && pair->size() == 2 && pair->front().is_string();
  };
  if (list.size() == 0) return;
  if (!std::all_of(list.begin(), list.end(), is_member)) {
    value_ = Array(list);
    return;
  }
  value_ = Object{};
  for (const Json& element : list) {
    const auto& pair = std::get<Array>(element.value_);
    (*this)[std::get<std::string>(pair[0].value_)] = pair[1];
  }
}

Json Json::array(std::initializer_list<Json> list) {
  Json json;
  json.value_ = Array(list);
  return json;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) value_ = Object{};
  auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) throw JsonError("not an object, so without " + std::string(name));
  for (Member& member : *members) {
    if (member.first == name) return member.second;
  }
  return members->emplace_back(std::string(name), Json()).second;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array{};
  auto* const elements = std::get_if<Array>(&value_);
  if (elements == nullptr) throw JsonError("not an array");
  elements->push_back(std::move(value));
}

const Json* Json::find(std::string_view name) const noexcept {
  const auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.first == name) return &member.second;
  }
  return nullptr;
}

const Json& Json::at(std::string_view name) const {
  const Json* const member = find(name);
  if (member == nullptr) throw JsonError("no member " + std::string(name));
  return *member;
}

const Json::Array& Json::elements() const {
  const auto* const elements = std::get_if<Array>(&value_);
  if (elements == nullptr) throw JsonError("not an array");
  return *elements;
}

const Json::Object& Json::members() const {
  const auto* const members = std::get_if<Object>(&value_);
  if (members == nullptr) throw JsonError("not an object");
  return *members;
}

std::size_t Json::size() const noexcept {
  if (const auto* const elements = std::get_if<Array>(&value_)) return elements->size();
  if (const auto* const members = std::get_if<Object>(&value_)) return members->size();
  return 0;
}

void Json::out_of_range() { throw JsonError("a number that does not fit"); }

std::int64_t Json::to_signed() const {
  if (const auto* const value = std::get_if<std::int64_t>(&value_)) return *value;
  const std::uint64_t value = to_unsigned();
  if (!std::in_range<std::int64_t>(value)) out_of_range();
  return static_cast<std::int64_t>(value);
}

std::uint64_t Json::to_unsigned() const {
  if (const auto* const value = std::get_if<std::uint64_t>(&value_)) return *value;
  const auto* const value = std::get_if<std::int64_t>(&value_);
  if (value == nullptr) throw JsonError("not an integer");
  if (*value < 0) out_of_range();
  return static_cast<std::uint64_t>(*value);
}

double Json::to_double() const {
  if (const auto* const value = std::get_if<double>(&value_)) return *value;
  if (const auto* const value = std::get_if<std::int64_t>(&value_)) {
    return static_cast<double>(*value);
  }
  if (const auto* const value = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<double>(*value);
  }
  throw JsonError("not a number");
}

const std::string& Json::to_string() const {
  const auto* const text = std::get_if<std::string>(&value_);
  if (text == nullptr) throw JsonError("not a text");
  return *text;
}

bool Json::to_bool() const {
  const auto* const value = std::get_if<bool>(&value_);
  if (value == nullptr) throw JsonError("neither true nor false");
  return *value;
}

namespace {

void write(const Json& json, int indent, JsonText text, std::size_t depth, std::string& out) {
  const char* const colon = indent < 0 ? ":" : ": ";
  if (json.is_object()) {
    out += '{';
    const char* between = "";
    for (const auto& [name, value] : json.members()) {
      out += between;
      new_line(out, indent, depth + 1);
      out += scalar(name, text) + colon;
      write(value, indent, text, depth + 1, out);
      between = ",";
    }
    if (json.size() > 0) new_line(out, indent, depth);
    out += '}';
  } else if (json.is_array()) {
    out += '[';
    const char* between = "";
    for (const Json& value : json.elements()) {
      out += between;
      new_line(out, indent, depth + 1);
      write(value, indent, text, depth + 1, out);
      between = ",";
    }
    if (json.size() > 0) new_line(out, indent, depth);
    out += ']';
  } else {
    out += json.scalar_text(text);
  }
}

}  // namespace

std::string Json::scalar_text(JsonText text) const {
  return std::visit(
      [&](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::same_as<T, std::monostate>) {
          return "null";
        } else if constexpr (std::same_as<T, Array> || std::same_as<T, Object>) {
          return {};
        } else {
          return scalar(value, text);
        }
      },
      value_);
}

std::string Json::dump(int indent, JsonText text) const {
  std::string out;
  write(*this, indent, text, 0, out);
  return out;
}

std::optional<Json> Json::parse(std::string_view text, std::size_t deepest) {
  Builder builder(deepest);
  if (!Library::sax_parse(text, &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace loom
