// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/extract_option_table.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "loom/base/error.hpp"

namespace fiberloom {
namespace {

/// A member as receipts have it: all digits of a number.
std::string text_of(bool value) { return value ? "on" : "off"; }
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(std::uint32_t value) { return std::to_string(value); }
std::string text_of(double value) { return print("%.17g", value); }
std::string text_of(Method value) { return option_words(&value)[static_cast<std::size_t>(value)]; }
std::string text_of(Gh00 value) { return option_words(&value)[static_cast<std::size_t>(value)]; }
std::string text_of(Verify value) { return text_of(value == Verify::kYes); }
std::string text_of(const WaveTriple& wave) {
  if (!wave) return text_of(false);
  return text_of((*wave)[0]) + "," + text_of((*wave)[1]) + "," + text_of((*wave)[2]);
}

struct Entry {
  std::string key;
  std::vector<std::string> names;
  std::string value;
  bool if_changed = false;
  std::optional<Method> only;
};

/// By place.
std::map<int, Entry> entries_of(const ExtractJob& job) {
  std::map<int, Entry> entries;
  each_extract_option(job, [&](const ExtractOptionRow& row, const auto& value) {
    if (row.receipt.key == nullptr) return;
    Entry& entry = entries[row.receipt.place];
    if (!entry.names.empty()) entry.value += row.receipt.join;
    entry.key = row.receipt.key;
    entry.names.push_back(row.long_name());
    entry.value += text_of(value);
    entry.if_changed = row.receipt.if_changed;
    entry.only = row.only;
  });
  return entries;
}

/// "--specmin and --nspec", "--a, --b or --c".
std::string listed(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    const bool last = i + 1 == names.size();
    text += (!last ? ", " : names.size() == 2 ? " and " : " or ") + names[i];
  }
  return text;
}

}  // namespace

std::string ExtractOptionRow::long_name() const {
  const std::string all(names);
  const std::size_t start = all.find("--");
  return all.substr(start, all.find(',', start) - start);
}

std::string ExtractOptionRow::help() const {
  return (only ? text_of(*only) + " only: " : std::string()) + text;
}

bool ExtractOptionRow::in_job_file() const {
  ExtractJob job;
  return !std::holds_alternative<WaveTriple*>(field(job));
}

const ExtractOptionRow& extract_option_row(std::string_view key) {
  for (const ExtractOptionRow& row : extract_option_rows()) {
    if (row.key == key) return row;
  }
  throw Error(Status::kInternal, "there is no option " + std::string(key));
}

std::vector<std::string> option_words(const Method*) { return {"exact", "patch"}; }
std::vector<std::string> option_words(const Gh00*) { return {"file", "one"}; }

std::string options_text(const ExtractJob& job) {
  std::map<int, Entry> initial = entries_of({});
  std::string text;
  for (const auto& [place, entry] : entries_of(job)) {
    if (entry.only && *entry.only != job.method) continue;
    if (entry.if_changed && entry.value == initial[place].value) continue;
    text += (text.empty() ? "" : " ") + entry.key + "=" + entry.value;
  }
  return text;
}

std::vector<OptionsEntry> options_entries() {
  std::vector<OptionsEntry> list;
  for (const auto& [place, entry] : entries_of({})) {
    list.push_back({entry.key, listed(entry.names), entry.value});
  }
  return list;
}

namespace {

void validate_wings(const ExtractJob& job) {
  if (job.wings < 0) return;
  if (job.method != Method::kExact)
    throw Error(Status::kUsage, "wings are of the exact method; --method patch has none");
  if (!job.psf_options.tails) {
    throw Error(Status::kUsage,
                "wings: they are the PSF's tails beyond the stamps; expected psf_tails, too");
  }
  if (job.options.oversample > 1) {
    throw Error(Status::kUsage, "wings and oversample: expected one of the two");
  }
}

}  // namespace

void validate_together(const ExtractJob& job) {
  if (job.trace_shifts >= 0 && job.method != Method::kExact) {
    throw Error(
        Status::kUsage,
        "trace_shifts are of the exact method; --method patch leaves traces where they are");
  }
  if (job.trace_widths && job.trace_shifts < 0)
    throw Error(Status::kUsage, "trace_widths without trace_shifts, which the exact method has");
  if (job.barycentric_fibers && !job.barycentric) {
    throw Error(Status::kUsage, "--barycentric-fibers goes with --barycentric-correction");
  }
  validate_wings(job);
}

void validate(const ExtractJob& job) {
  validate(job.options);
  validate_together(job);
  each_extract_option(job, [](const ExtractOptionRow& row, const auto& value) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) {
      const auto number = static_cast<double>(value);
      const bool infinite = std::isinf(number);  // no interval ends there, and none means it
      if (!row.interval || (row.interval->contains(number) && !infinite)) return;
      if (row.negative_is_unset && number < 0) return;
      throw Error(Status::kUsage, print("%s %g: expected a %snumber %s", row.key, number,
                                        infinite ? "finite " : "", row.interval->words().c_str()));
    }
  });
}

}  // namespace fiberloom
