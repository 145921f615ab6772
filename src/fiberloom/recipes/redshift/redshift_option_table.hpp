// SPDX-License-Identifier: BSD-3-Clause
// The options of a search for redshifts, a row each: what the command line, receipts and Python
// know of them. A new option is a row here and one use of its member.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fiberloom/recipes/redshift/redshift_job.hpp"
#include "loom/base/interval.hpp"

namespace fiberloom {

/// The member that an option sets.
using RedshiftOptionField =
    std::variant<bool*, int*, double*, std::string*, std::vector<std::string>*,
                 std::vector<std::int64_t>*, std::optional<std::size_t>*, RedshiftMethod*,
                 PerCamera*, redshift::GridRule*>;

struct RedshiftOptionRow {
  const char* key;    ///< in Python
  const char* names;  ///< on the command line, redrock's; of a bool a flag
  const char* group;  ///< heading in help
  const char* text;
  RedshiftOptionField (*field)(RedshiftJob&);
  const char* value = "";  ///< what help shows for it
  std::optional<Interval> interval = {};
  bool shows_default = false;
  bool flag_clears = false;     ///< the flag says no: --no-skymask
  bool decides_numbers = true;  ///< of an output: it is part of a receipt

  /// "--nminima", the first long name.
  [[nodiscard]] std::string long_name() const;
};

/// All of them, in the order of help.
[[nodiscard]] std::span<const RedshiftOptionRow> redshift_option_rows();

/// Puts the text of an option where it belongs. Throws kUsage with the option's name.
void set_redshift_option(const RedshiftOptionRow& row, RedshiftJob& job, const std::string& text);

/// The words for a method, in the order of its values.
[[nodiscard]] const std::vector<std::string>& redshift_methods();
[[nodiscard]] std::string redshift_method_name(RedshiftMethod method);

/// All that the bytes of the outputs depend on beside input files and templates: for receipts.
[[nodiscard]] std::string redshift_options_text(const RedshiftJob& job);

/// Throws kUsage, with the option's name, where options contradict each other or make no sense.
void validate(const RedshiftJob& job);

}  // namespace fiberloom
