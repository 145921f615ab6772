// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/job_options.hpp"

#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/recipes/extract_option_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {

namespace {

/// Declares the option of a row by the kind of its member.
struct Declare {
  Options& options;
  const ExtractOptionRow& row;
  const JobOptions& to;

  void operator()(bool& member) const {
    if (row.flag_clears) {
      options.flag(
          row.names, [&member] { member = false; }, row.help());
    } else {
      options.flag(row.names, &member, row.help());
    }
  }
  void operator()(Verify& member) const { add_verify_option(options, member); }
  void operator()(WaveTriple&) const {
    options.add(row.names, &to.wavelength, row.help() + "; default: " + to.wave_default);
  }
  void operator()(Method& member) const { choose(member); }
  void operator()(Gh00& member) const { choose(member); }
  template <class Number>
  void operator()(Number& member) const {
    options.add(row.names, &member, row.help(),
                {.interval = row.interval, .shows_default = row.shows_default});
  }

 private:
  template <class Word>
  void choose(Word& member) const {
    std::vector<std::pair<std::string, Word>> meanings;
    for (const std::string& word : option_words(&member)) {
      meanings.emplace_back(word, static_cast<Word>(meanings.size()));
    }
    options.choice<Word>(row.names, &member, meanings, row.help());
  }
};

}  // namespace

void add_job_options(Options& options, const char* group, const JobOptions& to) {
  options.group(group);
  each_extract_option(to.job, [&](const ExtractOptionRow& row, auto& member) {
    if (std::string_view(row.group) == group) Declare{options, row, to}(member);
  });
}

std::array<double, 3> parse_wavelength(const std::string& text) {
  std::array<double, 3> values{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    while (at != end && *at == ' ') ++at;
    const auto [next, error] = std::from_chars(at, end, values[i]);
    const bool separated = i + 1 == values.size() ? next == end : next != end && *next == ',';
    if (error != std::errc() || !separated) {
      throw Error(Status::kUsage, "--wavelength " + text + ": expected wmin,wmax,dw");
    }
    at = next + 1;
  }
  return values;
}

}  // namespace fiberloom::cli
