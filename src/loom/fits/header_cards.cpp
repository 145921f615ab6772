// SPDX-License-Identifier: BSD-3-Clause
// Parsing and formatting of header cards (FITS standard 4.0, section 4).
#include "loom/fits/header_cards.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "loom/base/letter_case.hpp"

namespace loom {
namespace fits {
namespace {

constexpr std::size_t kCard = 80;

std::string_view trim(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\0')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\0')) s.remove_suffix(1);
  return s;
}

bool is_digits(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "TFORM12" with stem "TFORM".
bool is_indexed(std::string_view keyword, std::string_view stem) {
  return keyword.starts_with(stem) && is_digits(keyword.substr(stem.size()));
}

CardValue parse_quoted(std::string_view field) {
  CardValue out{CardValue::Kind::kInvalid, "", ""};
  std::size_t i = 1;
  for (; i < field.size(); ++i) {
    if (field[i] != '\'') {
      out.text += field[i];
    } else if (i + 1 < field.size() && field[i + 1] == '\'') {
      out.text += '\'';
      ++i;
    } else {
      out.kind = CardValue::Kind::kString;
      ++i;
      break;
    }
  }
  while (!out.text.empty() && (out.text.back() == ' ' || out.text.back() == '\0')) {
    out.text.pop_back();
  }
  const std::size_t slash = field.substr(std::min(i, field.size())).find('/');
  if (slash != std::string_view::npos) out.comment = trim(field.substr(i + slash + 1));
  return out;
}

bool is_complex(std::string_view token) {
  if (token.size() < 5 || token.front() != '(' || token.back() != ')') return false;
  const std::size_t comma = token.find(',');
  if (comma == std::string_view::npos) return false;
  return parse_number(trim(token.substr(1, comma - 1))) &&
         parse_number(trim(token.substr(comma + 1, token.size() - comma - 2)));
}

/// Position after the value indicator, or npos for a card without value.
std::size_t value_start(std::string_view card) {
  if (card.starts_with("HIERARCH ")) {
    const std::size_t equal = card.find('=');
    return equal == std::string_view::npos ? equal : equal + 1;
  }
  return card.size() >= 10 && card[8] == '=' && card[9] == ' ' ? 10 : std::string_view::npos;
}

}  // namespace

std::string normal_name(std::string_view name) {
  std::string out(trim(name));
  std::transform(out.begin(), out.end(), out.begin(), capital);
  return out;
}

std::string card_keyword(std::string_view card) {
  if (card.starts_with("HIERARCH ")) {
    const std::size_t equal = card.find('=');
    if (equal != std::string_view::npos) return normal_name(card.substr(9, equal - 9));
  }
  return normal_name(card.substr(0, std::min<std::size_t>(8, card.size())));
}

std::optional<double> parse_number(std::string_view token) {
  std::array<char, kCard> text{};
  if (token.starts_with("++") || token.starts_with("+-")) return std::nullopt;
  if (token.starts_with('+')) token.remove_prefix(1);
  if (token.empty() || token.size() > text.size()) return std::nullopt;
  std::transform(token.begin(), token.end(), text.begin(),
                 [](char c) { return c == 'D' || c == 'd' ? 'E' : c; });
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + token.size(), value);
  if (error != std::errc{} || end != text.data() + token.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::string format_number(double value) {
  std::array<char, 40> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  std::string out(text.data(), error == std::errc{} ? end : text.data());
  std::transform(out.begin(), out.end(), out.begin(), capital);
  if (out.find_first_of(".E") == std::string::npos) out += ".0";
  return out;
}

CardValue parse_card(std::string_view card) {
  const std::size_t start = value_start(card);
  if (start == std::string_view::npos) return {};
  const std::string_view field = trim(card.substr(start));
  if (field.empty()) return {CardValue::Kind::kUndefined, "", ""};
  if (field.front() == '\'') return parse_quoted(field);
  const std::size_t slash = field.find('/');
  const std::string_view token = trim(field.substr(0, slash));
  CardValue out{CardValue::Kind::kInvalid, std::string(token), ""};
  if (slash != std::string_view::npos) out.comment = trim(field.substr(slash + 1));
  if (token.empty()) {
    out.kind = CardValue::Kind::kUndefined;
  } else if (token == "T" || token == "F") {
    out.kind = CardValue::Kind::kLogical;
  } else if (parse_number(token) || is_complex(token)) {
    out.kind = CardValue::Kind::kNumber;
  }
  return out;
}

bool is_column_keyword(std::string_view keyword) {
  static constexpr std::array kStems{"TTYPE", "TFORM", "TUNIT", "TDIM",  "TNULL", "TSCAL", "TZERO",
                                     "TDISP", "TDMIN", "TDMAX", "TLMIN", "TLMAX", "TCOMM", "TBCOL"};
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](const char* stem) { return is_indexed(keyword, stem); });
}

bool is_structural(std::string_view keyword) {
  static constexpr std::array kExact{
      "SIMPLE",   "XTENSION", "BITPIX",  "NAXIS",    "PCOUNT",   "GCOUNT",   "TFIELDS",  "EXTEND",
      "EXTNAME",  "CHECKSUM", "DATASUM", "BZERO",    "BSCALE",   "BLANK",    "THEAP",    "GROUPS",
      "END",      "ZIMAGE",   "ZTABLE",  "ZCMPTYPE", "ZBITPIX",  "ZNAXIS",   "ZTENSION", "ZSIMPLE",
      "ZEXTEND",  "ZPCOUNT",  "ZGCOUNT", "ZBLANK",   "ZHECKSUM", "ZDATASUM", "ZQUANTIZ", "ZDITHER0",
      "ZMASKCMP", "ZSCALE",   "ZZERO",   "ZBLOCKED", "INHERIT"};
  static constexpr std::array kStems{"NAXIS", "ZNAXIS", "ZTILE", "ZNAME", "ZVAL"};
  return std::any_of(kExact.begin(), kExact.end(), [&](auto* k) { return keyword == k; }) ||
         std::any_of(kStems.begin(), kStems.end(), [&](auto* k) { return is_indexed(keyword, k); });
}

std::string ascii_card(const std::string& raw) {
  std::string card = raw.substr(0, kCard);
  card.resize(kCard, ' ');
  for (char& c : card) {
    if (c == '\0' || c == '\t') c = ' ';
    if (c < ' ' || c > '~') c = '?';
  }
  return card;
}

std::vector<std::string> safe_cards(const HeaderCards& header) {
  std::vector<std::string> out;
  out.reserve(header.cards.size());
  bool kept = false;  // the card before: a CONTINUE card shares its fate
  for (const std::string& raw : header.cards) {
    std::string card = ascii_card(raw);
    const std::string key = card_keyword(card);
    if (key == "CONTINUE" && !kept) continue;
    kept = false;
    if (is_structural(key)) continue;
    const bool valid_key =
        card.starts_with("HIERARCH ") || std::all_of(key.begin(), key.end(), [](char c) {
          return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        });
    if (!valid_key) continue;
    std::transform(card.begin(), card.begin() + 8, card.begin(), capital);
    const CardValue value = parse_card(card);
    if (value.kind != CardValue::Kind::kInvalid) {
      out.push_back(std::move(card));
      kept = true;
      continue;
    }
    HeaderCards quoted;  // one card, or a few where the quotes make it longer
    quoted.set(key, value.text, value.comment);
    out.insert(out.end(), quoted.cards.begin(), quoted.cards.end());
  }
  return out;
}

}  // namespace fits

namespace {

using fits::CardValue;

bool is_continue(const std::string& card) { return card.starts_with("CONTINUE  '"); }

CardValue parse_continue(const std::string& card) {
  return fits::parse_card("CONTINUE= " + card.substr(10));
}

/// Most cards are told apart by their first letter, without a copy of their keywords.
bool may_be(const std::string& card, const std::string& wanted) {
  const char first = card.empty() ? ' ' : card.front();
  return first == ' ' || first == '\0' || first == 'H' || wanted.empty() ||
         capital(first) == wanted.front();
}

std::optional<std::size_t> find_card(const HeaderCards& h, const std::string& key) {
  const std::string wanted = fits::normal_name(key);
  for (std::size_t i = 0; i < h.cards.size(); ++i) {
    const std::string& card = h.cards[i];
    if (may_be(card, wanted) && fits::card_keyword(card) == wanted) return i;
  }
  return std::nullopt;
}

/// "KEY     = ", or the HIERARCH form where the key does not fit.
std::string card_start(const std::string& key) {
  std::string name = fits::normal_name(key);
  for (char& c : name) {
    if (c < ' ' || c > '~' || c == '=') c = '_';
  }
  const bool plain = name.size() <= 8 && name.find(' ') == std::string::npos;
  if (!plain) return "HIERARCH " + name.substr(0, 40) + " = ";
  name.resize(8, ' ');
  return name + "= ";
}

std::string printable(const std::string& text) {
  std::string out = text;
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

void finish(std::string& card, const std::string& comment) {
  if (!comment.empty() && card.size() + 4 < 80) {
    if (card.size() < 30) card.resize(30, ' ');
    card += " / " + printable(comment);
  }
  card.resize(80, ' ');
}

/// Puts cards in the place of the first card of this key, else at the end.
void replace(HeaderCards& h, const std::string& key, std::vector<std::string> cards) {
  const auto at = find_card(h, key);
  if (!at) {
    h.cards.insert(h.cards.end(), cards.begin(), cards.end());
    return;
  }
  std::size_t last = *at + 1;
  while (last < h.cards.size() && is_continue(h.cards[last])) ++last;
  const auto begin = h.cards.begin();
  const auto where = h.cards.erase(begin + static_cast<std::ptrdiff_t>(*at),
                                   begin + static_cast<std::ptrdiff_t>(last));
  h.cards.insert(where, cards.begin(), cards.end());
}

void set_token(HeaderCards& h, const std::string& key, const std::string& token,
               const std::string& comment) {
  std::string card = card_start(key);
  if (token.size() < 20) card += std::string(20 - token.size(), ' ');
  card += token;
  finish(card, comment);
  replace(h, key, {card});
}

}  // namespace

bool HeaderCards::has(const std::string& key) const { return find_card(*this, key).has_value(); }

std::optional<std::string> HeaderCards::text(const std::string& key) const {
  const auto at = find_card(*this, key);
  if (!at) return std::nullopt;
  const CardValue value = fits::parse_card(cards[*at]);
  std::string out = value.text;
  if (value.kind != CardValue::Kind::kString) return out;
  for (std::size_t i = *at + 1; i < cards.size() && out.ends_with('&') && is_continue(cards[i]);
       ++i) {
    out.pop_back();
    out += parse_continue(cards[i]).text;
  }
  return out;
}

std::optional<double> HeaderCards::number(const std::string& key) const {
  const auto value = text(key);
  if (!value) return std::nullopt;
  const std::size_t first = value->find_first_not_of(' ');
  return first == std::string::npos ? std::nullopt : fits::parse_number(value->substr(first));
}

std::optional<std::int64_t> HeaderCards::integer(const std::string& key) const {
  const auto token = text(key);
  if (!token) return std::nullopt;
  // All 64 bits count, where there is no fraction and no exponent.
  std::int64_t whole = 0;
  const char* const end = token->data() + token->size();
  const char* begin = token->data() + std::min(token->find_first_not_of(' '), token->size());
  if (end - begin > 1 && begin[0] == '+' && begin[1] != '-') ++begin;
  if (const auto [next, error] = std::from_chars(begin, end, whole);
      error == std::errc{} && next == end) {
    return whole;
  }
  const auto value = number(key);
  if (!value || std::abs(*value) > 9e15 || *value != std::floor(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> HeaderCards::logical(const std::string& key) const {
  const auto value = text(key);
  if (!value || (*value != "T" && *value != "F")) return std::nullopt;
  return *value == "T";
}

std::string HeaderCards::comment(const std::string& key) const {
  const auto at = find_card(*this, key);
  return at ? fits::parse_card(cards[*at]).comment : "";
}

void HeaderCards::remove(const std::string& key) {
  while (has(key)) replace(*this, key, {});
}

void HeaderCards::set(const std::string& key, const std::string& value,
                      const std::string& comment) {
  std::vector<std::string> out;
  std::string card = card_start(key) + "'";
  const std::string clean = printable(value);
  std::size_t content = 0;  // characters of the value on this card
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::size_t width = clean[i] == '\'' ? 2 : 1;
    const bool last = i + 1 == clean.size();
    if (card.size() + width + (last ? 1 : 2) > 80) {
      card += "&'";
      finish(card, "");
      out.push_back(card);
      card = "CONTINUE  '";
    }
    card += clean[i];
    if (width == 2) card += '\'';
    ++content;
  }
  if (out.empty() && content < 8) card += std::string(8 - content, ' ');
  card += '\'';
  finish(card, comment);
  out.push_back(card);
  replace(*this, key, std::move(out));
}

void HeaderCards::set(const std::string& key, double value, const std::string& comment) {
  if (std::isfinite(value)) {
    set_token(*this, key, fits::format_number(value), comment);
  } else {
    set(key, std::string(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"), comment);
  }
}

void HeaderCards::set(const std::string& key, std::int64_t value, const std::string& comment) {
  set_token(*this, key, std::to_string(value), comment);
}

void HeaderCards::set_logical(const std::string& key, bool value, const std::string& comment) {
  set_token(*this, key, value ? "T" : "F", comment);
}

}  // namespace loom
