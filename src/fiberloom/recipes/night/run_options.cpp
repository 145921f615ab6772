// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/run_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "fiberloom/recipes/extract_option_table.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/batch/receipt.hpp"
#include "loom/files/atomic_file.hpp"
#include "loom/json/json.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;
constexpr const char* kOptionsSchema = "fiberloom-options-1";

/// "key=value key=value".
std::map<std::string, std::string> parse(const std::string& text) {
  std::map<std::string, std::string> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const auto at = word.find('=');
    if (at != std::string::npos) values[word.substr(0, at)] = word.substr(at + 1);
  }
  return values;
}

/// Numbers as a user wrote them: options_text() has all their digits.
std::string shown(const std::string& value) {
  std::string text;
  std::istringstream parts(value);
  for (std::string part; std::getline(parts, part, ',');) {
    char* end = nullptr;
    const double number = std::strtod(part.c_str(), &end);
    const bool whole = end != part.c_str() && *end == '\0';
    if (!text.empty()) text += ',';
    text += whole ? print("%.10g", number) : part;
  }
  return text;
}

/// Options of the frames of each band (first letter of the camera); the last frame's where those of
/// a band differ, which no input can ask for.
std::map<char, std::string> options_by_band(const std::vector<Task>& tasks) {
  std::map<char, std::string> bands;
  for (const Task& task : tasks) {
    const FrameTask& frame = frame_of(task);
    bands[frame.camera.front()] = options_text(frame.job);
  }
  return bands;
}

std::string path_of(const RunFolder& folder, char band) {
  return folder.options() + "/" + std::string(1, band) + ".json";
}

/// nullopt where nothing is remembered, or nothing that can be read.
std::optional<std::string> remembered(const RunFolder& folder, char band) {
  const auto text = read_text_file(path_of(folder, band));
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text).value_or(Json());
    if (json.at("schema").get<std::string>() != kOptionsSchema) return std::nullopt;
    return json.at("options").get<std::string>();
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

/// First letter of the camera; nothing of a record that has none.
std::optional<char> band_of(const Receipt& receipt) {
  const Label* const camera = find_label(receipt.labels, "camera");
  if (camera == nullptr) return std::nullopt;
  const auto* const name = std::get_if<std::string>(&camera->value);
  if (name == nullptr || name->empty()) return std::nullopt;
  return name->front();
}

/// Options of frames that are there, by band, where they are not `here`.
std::map<char, std::string> others_in_receipts(const RunFolder& folder,
                                               const std::map<char, std::string>& here) {
  std::map<char, std::string> others;
  for (const Receipt& receipt : read_receipts(folder)) {
    const auto its_band = band_of(receipt);
    const auto band = its_band ? here.find(*its_band) : here.end();
    if (band == here.end() || options_difference(receipt.options, band->second).empty()) continue;
    others.emplace(band->first, receipt.options);
  }
  return others;
}

void require_same(const RunFolder& folder, char band, const std::string& there,
                  const std::string& here) {
  const std::string difference = options_difference(there, here);
  if (difference.empty()) return;
  throw Error(Status::kUsage, folder.output() + ": the frames of band " + std::string(1, band) +
                                  " here are made with other options: " + difference +
                                  "; give another folder (-o), or --redo to make them again");
}

std::string record(char band, const std::string& options) {
  const Json json = {
      {"schema", kOptionsSchema}, {"band", std::string(1, band)}, {"options", options}};
  return json.dump(1) + "\n";
}

}  // namespace

std::string options_difference(const std::string& there, const std::string& here) {
  if (there == here) return {};
  const auto old = parse(there), now = parse(here);
  std::string text;
  for (const auto& [key, name, initial] : options_entries()) {
    const auto value = [&key = key, &initial = initial](const auto& values) {
      const auto found = values.find(key);
      return found == values.end() ? initial : found->second;
    };
    const std::string before = value(old), after = value(now);
    if (before == after) continue;
    text += (text.empty() ? "" : ", ") + name + " " + shown(before) + " there, " + shown(after) +
            " here";
    if (key == "method") break;  // each method has options of its own
  }
  return text;
}

void require_same_options(const std::vector<Task>& tasks, const RunFolder& folder) {
  const auto here = options_by_band(tasks);
  std::map<char, std::string> unknown;
  for (const auto& [band, options] : here) {
    if (const auto there = remembered(folder, band)) {
      require_same(folder, band, *there, options);
    } else {
      unknown.emplace(band, options);
    }
  }
  if (unknown.empty()) return;
  for (const auto& [band, options] : others_in_receipts(folder, unknown)) {
    require_same(folder, band, options, unknown.at(band));
  }
}

bool remember_options(const std::vector<Task>& tasks, const RunFolder& folder, Redo redo) {
  if (redo == Redo::kNo) require_same_options(tasks, folder);
  bool replaced = false;
  for (const auto& [band, options] : options_by_band(tasks)) {
    const std::string path = path_of(folder, band);
    if (remembered(folder, band) == options) continue;
    replaced = redo == Redo::kYes;
    try {
      write_text_file(path, record(band, options),
                      redo == Redo::kYes ? Overwrite::kYes : Overwrite::kNo);
    } catch (const Error& error) {
      if (error.status() != Status::kOutputExists) throw;
      if (const auto there = remembered(folder, band)) {  // another run was first
        require_same(folder, band, *there, options);
      } else {  // what nobody can read is nobody's word
        write_text_file(path, record(band, options));
      }
    }
  }
  return replaced;
}

std::size_t count_strays(const RunFolder& folder, const std::set<std::string>& beside) {
  std::map<char, std::string> bands;
  std::size_t strays = 0;
  for (const Receipt& receipt : read_receipts(folder)) {
    const auto band = band_of(receipt);
    if (!band || beside.contains(receipt.name)) continue;
    const auto [known, fresh] = bands.try_emplace(*band);
    if (fresh) known->second = remembered(folder, *band).value_or("");
    const std::string& options = known->second;
    strays += !options.empty() && !options_difference(receipt.options, options).empty();
  }
  return strays;
}

}  // namespace fiberloom::night
