// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/scans/scan_list.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/files_below.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "tomoloom/exchange/image_stack.hpp"

namespace tomoloom::scans {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{64} << 20;  ///< of a list
constexpr std::array kScanEnds{".h5", ".hdf5", ".hdf", ".nxs"};
constexpr std::string_view kMade = "_rec";  ///< what a volume's name has more than its scan's

bool is_list(const std::string& path) { return has_ending(path, ".txt"); }

bool is_scan_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return !name.starts_with('.') &&  // hidden, as macOS's ._NAME
         std::ranges::any_of(kScanEnds, [&](auto end) { return has_ending(name, end); }) &&
         !path.stem().string().ends_with(kMade);
}

/// Sorted; no more than `most` of them.
std::vector<fs::path> scans_below(const std::string& folder, std::size_t most) {
  const FilesBelow below = files_below(folder);
  std::vector<fs::path> found;
  for (const std::string& path : below.files) {
    if (found.size() >= most) break;
    std::error_code gone;
    if (fs::is_regular_file(path, gone) && is_scan_file(path)) found.emplace_back(path);
  }
  if (found.empty() && !below.unreadable.empty()) {
    throw Error(Status::kNotFound, below.unreadable.front());
  }
  return found;
}

/// Words of a line up to a remark; one in quotes may have blanks.
std::vector<std::string> words_of(std::string_view line, const std::string& place) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  std::vector<std::string> words;
  for (;;) {
    const std::size_t from = line.find_first_not_of(kBlanks);
    if (from == std::string_view::npos || line[from] == '#') return words;
    line.remove_prefix(from);
    const bool quoted = line.front() == '"';
    if (quoted) line.remove_prefix(1);
    const std::size_t to =
        quoted ? line.find('"') : std::min(line.find_first_of(kBlanks), line.size());
    if (to == std::string_view::npos) throw Error(Status::kUsage, place + "expected a second \"");
    words.emplace_back(line.substr(0, to));
    line.remove_prefix(std::min(to + (quoted ? 1 : 0), line.size()));
  }
}

}  // namespace

std::vector<FoundScan> parse_scan_list(std::string_view text, const std::string& name,
                                       const std::string& folder) {
  std::vector<FoundScan> found;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string place = print("%s: line %zu: ", name.c_str(), number + 1);
    const std::vector<std::string> words = words_of(text.substr(at, end - at), place);
    at = end + 1;
    if (words.empty()) continue;
    if (words.size() > 2 || words[0].empty()) {
      throw Error(Status::kUsage,
                  place + print("found %zu words, expected a scan (in quotes where its name has "
                                "blanks) and, where wanted, the column of its axis",
                                words.size()));
    }
    const fs::path path(words[0]);
    const fs::path whole = path.is_absolute() ? path : fs::path(folder) / path;
    found.push_back({.path = whole.string(), .axis = words.size() > 1 ? words[1] : ""});
  }
  return found;
}

bool is_folder_of_scans(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored) && !holds_images(path) && !scans_below(path, 1).empty();
}

void check_folder(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || holds_images(path) || !scans_below(path, 1).empty()) {
    return;
  }
  std::string ends;
  for (const char* end : kScanEnds) ends += (ends.empty() ? "*" : ", *") + std::string(end);
  throw Error(Status::kNotFound, path +
                                     ": no images in it (*.tif, *.tiff), and no Data Exchange "
                                     "files in or below it (" +
                                     ends + ")");
}

bool are_many(const std::vector<std::string>& inputs) {
  return inputs.size() > 1 ||
         (inputs.size() == 1 && (is_list(inputs[0]) || is_folder_of_scans(inputs[0])));
}

std::vector<FoundScan> find_scans(const std::vector<std::string>& inputs) {
  std::vector<FoundScan> found;
  for (const std::string& input : inputs) {
    if (is_list(input)) {
      const auto listed = parse_scan_list(read_text(input, kMostText), input,
                                          fs::path(input).parent_path().string());
      if (listed.empty()) throw Error(Status::kNotFound, input + ": names no scan");
      found.insert(found.end(), listed.begin(), listed.end());
    } else if (is_folder_of_scans(input)) {
      for (const fs::path& path : scans_below(input, static_cast<std::size_t>(-1))) {
        // by its name: what a link leads to may lie elsewhere
        found.push_back({path.string(), path.parent_path().lexically_relative(input).string()});
      }
    } else {
      found.push_back({.path = input});
    }
  }
  return found;
}

std::string volume_name(const std::string& scan) {
  fs::path path(scan);
  if (!path.has_filename()) path = path.parent_path();
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  return (folder ? path.filename() : path.stem()).string() + std::string(kMade);
}

}  // namespace tomoloom::scans
