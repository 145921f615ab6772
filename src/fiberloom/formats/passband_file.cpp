// SPDX-License-Identifier: BSD-3-Clause
// Passbands as text: speclite's ECSV.
#include <charconv>
#include <cmath>
#include <sstream>

#include "fiberloom/formats/calibration_file.hpp"
#include "loom/base/error.hpp"
#include "loom/files/input_file.hpp"

namespace fiberloom {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 22;

/// What a wavelength is multiplied by, as the header's line of that column says.
double angstrom_of(const std::string& line, const std::string& label) {
  const std::size_t at = line.find("unit:");
  if (at == std::string::npos) return 1;
  const std::size_t first = line.find_first_not_of(" '\"", at + 5);
  const std::size_t last = line.find_first_of(" ,'\"}", first);
  const std::string unit = first == std::string::npos ? "" : line.substr(first, last - first);
  if (unit == "Angstrom" || unit == "AA") return 1;
  if (unit == "nm") return 10;
  if (unit == "um" || unit == "micron") return 1e4;
  throw Error(Status::kCorrupt,
              label + ": wavelengths in '" + unit + "', expected Angstrom, nm or um");
}

bool read_number(const std::string& word, double& out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size() && std::isfinite(out);
}

}  // namespace

Passband parse_passband(const std::string& text, const std::string& label) {
  std::istringstream lines(text);
  Passband out;
  double scale = 1;
  std::size_t number = 0;
  bool named = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty()) continue;
    if (line.front() == '#') {
      if (line.find("name: wavelength") != std::string::npos) scale = angstrom_of(line, label);
      continue;
    }
    std::istringstream words(line);
    std::string first, second, more;
    words >> first >> second;
    const std::string where = label + ": line " + std::to_string(number) + ": ";
    if (!named) {
      if (first != "wavelength" || second != "response" || words >> more) {
        throw Error(Status::kCorrupt,
                    where + "'" + line.substr(0, 40) + "', expected 'wavelength response'");
      }
      named = true;
      continue;
    }
    double wave = 0, response = 0;
    if (!read_number(first, wave) || !read_number(second, response) || words >> more) {
      throw Error(Status::kCorrupt,
                  where + "'" + line.substr(0, 40) + "', expected a wavelength and a response");
    }
    wave *= scale;
    if (!(wave > (out.wave.empty() ? 0 : out.wave.back())) || response < 0) {
      throw Error(Status::kCorrupt,
                  where + "'" + line.substr(0, 40) +
                      "', expected wavelengths above 0 that increase, and responses of 0 or more");
    }
    out.wave.push_back(wave);
    out.response.push_back(response);
  }
  constexpr std::size_t kFewest = 3;
  if (out.wave.size() >= kFewest) return out;
  throw Error(Status::kCorrupt, label + ": " + std::to_string(out.wave.size()) +
                                    " points, expected 3 at least of a passband");
}

Passband read_passband(const std::string& path) {
  return parse_passband(read_text(path, kLongestFile), path);
}

}  // namespace fiberloom
