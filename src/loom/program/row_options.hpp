// SPDX-License-Identifier: BSD-3-Clause
// Rows of a job's option table as options of a command.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "loom/options/option_row.hpp"
#include "loom/program/options.hpp"

namespace loom {

/// Declares the option of one row.
struct DeclareRow {
  Options& options;
  std::string names, text;
  OptionTraits traits;
  bool flag_clears;
  std::function<void(const std::string&)> set;

  void operator()(bool* member) {
    if (flag_clears) {
      options.flag(
          names, [member] { *member = false; }, text);
    } else {
      options.flag(names, member, text);
    }
  }
  void operator()(const WordField& field) {
    traits.words = field.words;
    traits.word_case = WordCase::kAny;
    traits.shows_default = true;
    traits.initial = field.words[field.get()];
    options.add(names, set, text, traits);
  }
  void operator()(const TextField& field) {
    traits.words = field.words;
    options.add(names, set, text, traits);
  }
  template <class Member>
  void operator()(Member* member) {
    options.add(names, member, text, traits);
  }
};

/// Declares a row. The job must outlive the parsing.
template <class Job>
void add_row(Options& options, const OptionRow<Job>& row, Job& job) {
  std::visit(DeclareRow{options,
                        row.names,
                        row.text,
                        {.value = row.value,
                         .interval = row.interval,
                         .required = row.required,
                         .shows_default = row.shows_default},
                        row.flag_clears,
                        [&row, &job](const std::string& text) { set_option(row, job, text); }},
             row.field(job));
}

/// Declares the rows under this heading, and begins it; "": rows without one, under that which is.
template <class Job>
void add_rows(Options& options, std::span<const OptionRow<Job>> rows, const char* group, Job& job) {
  if (*group != 0) options.group(group);
  for (const OptionRow<Job>& row : rows) {
    if (std::string_view(row.group) == group) add_row(options, row, job);
  }
}

}  // namespace loom
