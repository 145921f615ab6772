// SPDX-License-Identifier: BSD-3-Clause
// FITS header cards as text: look up, set, long strings (CONTINUE), HIERARCH. Knows no files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loom {

/// Header cards as 80-character strings, without structural ones (SIMPLE, XTENSION, BITPIX, NAXISn,
/// PCOUNT, GCOUNT, TFIELDS, EXTEND, EXTNAME, CHECKSUM, DATASUM, Z..., BZERO, BSCALE).
struct HeaderCards {
  std::vector<std::string> cards;

  /// The value as text: a string without its quotes and trailing blanks (CONTINUEd ones joined), or
  /// the bare token. nullopt when the key is absent.
  [[nodiscard]] std::optional<std::string> text(const std::string& key) const;
  /// The value as a finite number (also when it stands in quotes); nullopt when it is none.
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  /// The value as an integer; nullopt when it is none or has a fraction.
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& key) const;
  /// The value as T or F.
  [[nodiscard]] std::optional<bool> logical(const std::string& key) const;
  /// The comment after the slash; empty when there is none.
  [[nodiscard]] std::string comment(const std::string& key) const;
  [[nodiscard]] bool has(const std::string& key) const;

  /// Replaces the card of this key or appends one. A number that is not finite becomes a string,
  /// since FITS has no card for it.
  void set(const std::string& key, const std::string& value, const std::string& comment = "");
  void set(const std::string& key, double value, const std::string& comment = "");
  void set(const std::string& key, std::int64_t value, const std::string& comment = "");
  void set(const std::string& key, int value, const std::string& comment = "") {
    set(key, static_cast<std::int64_t>(value), comment);
  }
  void set(const std::string& key, const char* value, const std::string& comment = "") {
    set(key, std::string(value), comment);
  }
  void set_logical(const std::string& key, bool value, const std::string& comment = "");
  /// Removes every card of this key with its CONTINUE cards.
  void remove(const std::string& key);
};

namespace fits {

/// The keyword of a card, upper case, without trailing blanks; for HIERARCH the long keyword.
[[nodiscard]] std::string card_keyword(std::string_view card);

/// What a card says, CONTINUE cards not looked at.
struct CardValue {
  enum class Kind { kNone, kUndefined, kString, kLogical, kNumber, kInvalid };
  Kind kind = Kind::kNone;  ///< kNone: a card without value (COMMENT, HISTORY, blank)
  std::string text;         ///< string without quotes, or the token
  std::string comment;
};
[[nodiscard]] CardValue parse_card(std::string_view card);

/// A finite number in FITS notation (also with a D exponent), or nullopt.
[[nodiscard]] std::optional<double> parse_number(std::string_view token);

/// Shortest decimal that reads back as the same double, with a point or an exponent.
[[nodiscard]] std::string format_number(double value);

/// A card of 80 characters, all of them ASCII: NUL and tab become blanks, others that are none `?`.
[[nodiscard]] std::string ascii_card(const std::string& raw);

/// Cards that every reader accepts: 80 printable characters, no structural keyword, an invalid
/// value (a bare nan, say) put in quotes.
[[nodiscard]] std::vector<std::string> safe_cards(const HeaderCards& header);

/// True for keywords that describe the layout of an HDU and never travel with a header.
[[nodiscard]] bool is_structural(std::string_view keyword);

/// True for keywords that describe a table column (TTYPE1, TFORM12 ...).
[[nodiscard]] bool is_column_keyword(std::string_view keyword);

/// Upper case without blanks at either end.
[[nodiscard]] std::string normal_name(std::string_view name);

}  // namespace fits
}  // namespace loom
