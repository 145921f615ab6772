// SPDX-License-Identifier: BSD-3-Clause
// The options of an extraction, a row each: what the command line, job files, receipts, messages
// between ranks and Python know of them. A new option is a row here and one use of its member.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "fiberloom/recipes/extract_frame.hpp"
#include "loom/base/interval.hpp"

namespace fiberloom {

using WaveTriple = std::optional<std::array<double, 3>>;

/// The member of a job that an option sets.
using ExtractOptionField =
    std::variant<bool*, int*, std::uint32_t*, double*, Method*, Gh00*, Verify*, WaveTriple*>;

/// How an option stands in a receipt, whose text is a contract: receipts of earlier versions stay
/// valid. Options of one key are one entry, with `join` between them.
struct ReceiptPlace {
  int place = 0;              ///< order of the entries
  const char* key = nullptr;  ///< none: no number of a frame depends on the option
  char join = '\0';
  bool if_changed = false;  ///< only where it is not the default: what is younger than receipts
};

struct ExtractOptionRow {
  const char* key;    ///< in job files (options.KEY) and Python
  const char* names;  ///< on the command line; of a bool a flag
  const char* group;  ///< heading in help
  const char* unit;   ///< empty: a number without one, or a word
  const char* text;
  ExtractOptionField (*field)(ExtractJob&);
  std::optional<Interval> interval = {};
  bool odd = false;
  bool negative_is_unset = false;  ///< below 0: nobody has said it, whatever the interval
  bool shows_default = false;
  bool flag_clears = false;         ///< the flag says no: --no-scores
  std::optional<Method> only = {};  ///< the other method does not read it
  ReceiptPlace receipt = {};

  /// "--nspec", the first long name.
  [[nodiscard]] std::string long_name() const;
  /// Text for help: with "patch only: " where that is so.
  [[nodiscard]] std::string help() const;
  /// Whether a job file may say it: all but the grid, which there is the band's.
  [[nodiscard]] bool in_job_file() const;
};

/// All of them, in the order of help.
[[nodiscard]] std::span<const ExtractOptionRow> extract_option_rows();

/// That of a key; throws kInternal where there is none.
[[nodiscard]] const ExtractOptionRow& extract_option_row(std::string_view key);

/// The words for a method and for GH00, in the order of their values.
[[nodiscard]] std::vector<std::string> option_words(const Method*);
[[nodiscard]] std::vector<std::string> option_words(const Gh00*);

/// Calls use(row, member) for every option of `job`.
template <class Job, class Use>
void each_extract_option(Job& job, const Use& use) {
  using Plain = std::remove_const_t<Job>;
  for (const ExtractOptionRow& row : extract_option_rows()) {
    std::visit(
        [&](auto* member) {
          if constexpr (std::is_const_v<Job>) {
            use(row, std::as_const(*member));
          } else {
            use(row, *member);
          }
        },
        row.field(const_cast<Plain&>(job)));  // const again before anyone sees it
  }
}

/// All that the numbers of a frame depend on, beside its files: two jobs with equal text give equal
/// bytes. Readable rather than hashed, so that a difference can be seen.
[[nodiscard]] std::string options_text(const ExtractJob& job);

/// The entries of options_text(): key, what a user calls the options, their defaults.
struct OptionsEntry {
  std::string key, names, initial;
};
[[nodiscard]] std::vector<OptionsEntry> options_entries();

/// Throws kUsage, with the key, where an option is outside its interval or makes no sense for any
/// image and PSF.
void validate(const ExtractJob& job);
/// Of it what options ask of each other: kUsage where one would be passed over beside the others,
/// or light beyond the stamps cannot be had with them.
void validate_together(const ExtractJob& job);

}  // namespace fiberloom
