// SPDX-License-Identifier: BSD-3-Clause
// Rows of recon's option table: the scan.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tomoloom/recipes/recon_option_parts.hpp"

namespace tomoloom {
namespace {

constexpr Word<StackKind> kStacks[] = {{"projections", StackKind::kProjections},
                                       {"sinograms", StackKind::kSinograms}};

/// FIRST:END as two numbers; throws kUsage.
std::pair<std::size_t, std::size_t> range_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  std::size_t first = 0, end = 0;
  if (colon == std::string_view::npos || !parse(text.substr(0, colon), first) ||
      !parse(text.substr(colon + 1), end)) {
    expected("FIRST:END, such as 100:132");
  }
  return {first, end};
}

Field range_field(std::size_t& first, std::optional<std::size_t>& end) {
  return TextField{[&first, &end](const std::string& text) {
                     if (text == "all") {
                       first = 0;
                       end.reset();
                       return;
                     }
                     const auto range = range_of(text);
                     first = range.first;
                     end = range.second;
                   },
                   [&first, &end] {
                     if (!end) return std::string("all");
                     return std::to_string(first) + ":" + std::to_string(*end);
                   }};
}

Field rows_field(ReconJob& job) { return range_field(job.first_row, job.end_row); }
Field columns_field(ReconJob& job) {
  return range_field(job.window.first_column, job.window.end_column);
}

/// Calls each(word) with what lies between commas.
template <class Each>
void split(std::string_view text, const Each& each) {
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    each(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
}

Field skip_field(ReconJob& job) {
  auto& skipped = job.window.skipped;
  return TextField{[&skipped](const std::string& text) {
                     skipped.clear();
                     split(text, [&](std::string_view word) {
                       std::size_t one = 0;
                       if (parse(word, one)) {
                         skipped.emplace_back(one, one + 1);
                       } else {
                         skipped.push_back(range_of(word));
                       }
                     });
                   },
                   [&skipped] {
                     std::string text;
                     for (const auto& [first, end] : skipped) {
                       if (!text.empty()) text += ',';
                       text += std::to_string(first);
                       text += ':';
                       text += std::to_string(end);
                     }
                     return text;
                   }};
}

Field flats_at_field(ReconJob& job) {
  return TextField{[&job](const std::string& text) {
                     job.flats_at.clear();
                     split(text, [&](std::string_view word) {
                       std::size_t place = 0;
                       if (!parse(word, place)) expected("projections, such as 0,720");
                       job.flats_at.push_back(place);
                     });
                   },
                   [&job] {
                     std::string text;
                     for (const std::size_t place : job.flats_at) {
                       if (!text.empty()) text += ',';
                       text += std::to_string(place);
                     }
                     return text;
                   }};
}

const ReconRow kScanRows[] = {
    {.key = "group",
     .names = "--group",
     .group = kScanOptions,
     .text = "group of the scan: exchange, exchange1 ...",
     .field = [](ReconJob& j) -> Field { return &j.group; },
     .shows_default = true},
    {.key = "stack",
     .names = "--stack",
     .group = kScanOptions,
     .text = "what the images of a TIFF stack are",
     .field = [](ReconJob& j) -> Field { return word_field(&j.stack, kStacks); }},
    {.key = "flats",
     .names = "--flats",
     .group = kScanOptions,
     .text = "flats of a TIFF stack, a folder or a file of many pages",
     .field = [](ReconJob& j) -> Field { return &j.flats; },
     .value = "STACK",
     .decides_numbers = false},
    {.key = "darks",
     .names = "--darks",
     .group = kScanOptions,
     .text = "its darks",
     .field = [](ReconJob& j) -> Field { return &j.darks; },
     .value = "STACK",
     .decides_numbers = false},
    {.key = "theta",
     .names = "--theta",
     .group = kScanOptions,
     .text = "angles in degrees: FIRST:LAST, both included, or a text file of them; default: what "
             "the scan says",
     .field = [](ReconJob& j) -> Field { return &j.theta; },
     .value = "FIRST:LAST|FILE"},
    {.key = "rows",
     .names = "--rows",
     .group = kScanOptions,
     .text = "rows FIRST to END - 1 of the projections; default: all",
     .field = rows_field,
     .value = "FIRST:END"},
    {.key = "columns",
     .names = "--columns",
     .group = kScanOptions,
     .text = "columns FIRST to END - 1 of the projections; default: all",
     .field = columns_field,
     .value = "FIRST:END"},
    {.key = "bin",
     .names = "--bin",
     .group = kScanOptions,
     .text = "average N x N pixels of the detector; --rows, --columns, --center stay in its pixels",
     .field = [](ReconJob& j) -> Field { return &j.window.bin; },
     .value = "N",
     .interval = between(1, 64),
     .shows_default = true},
    {.key = "skip",
     .names = "--skip",
     .group = kScanOptions,
     .text = "projections that are left out, from 0: 17,300:310",
     .field = skip_field,
     .value = "LIST"},
    {.key = "shifts",
     .names = "--shifts",
     .group = kScanOptions,
     .text = "a text file with a number for each projection: columns that it is moved to the right",
     .field = [](ReconJob& j) -> Field { return &j.shifts; },
     .value = "FILE"},
    {.key = "weights",
     .names = "--weights",
     .group = kScanOptions,
     .text = "likewise: how much it counts beside the others",
     .field = [](ReconJob& j) -> Field { return &j.weights; },
     .value = "FILE"},
    {.key = "flats_at",
     .names = "--flats-at",
     .group = kScanOptions,
     .text =
         "projections before which the sets of flats were taken, such as 0,720: each projection "
         "is divided by the nearest set",
     .field = flats_at_field,
     .value = "LIST"},
};

}  // namespace

std::span<const ReconRow> scan_option_rows() { return kScanRows; }

}  // namespace tomoloom
