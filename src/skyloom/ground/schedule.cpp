// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/ground/schedule.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <optional>
#include <sstream>
#include <string_view>

#include "loom/base/error.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/print.hpp"
#include "loom/files/input_file.hpp"

namespace skyloom {
namespace {

std::string trimmed(std::string_view text) {
  const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return std::string(text);
}

/// Between |, or between blanks where there is none.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> out;
  if (line.find('|') != std::string::npos) {
    std::size_t from = 0;
    for (;;) {
      const std::size_t to = line.find('|', from);
      out.push_back(trimmed(std::string_view(line).substr(from, to - from)));
      if (to == std::string::npos) return out;
      from = to + 1;
    }
  }
  std::istringstream words(line);
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

/// Lines of a schedule, with where they stand for who has to be told.
class Parser {
 public:
  Parser(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  GroundSchedule parse() {
    const bool table = text_.rfind("# %ECSV", 0) == 0;
    std::istringstream lines(text_);
    bool header = true;
    for (std::string line; std::getline(lines, line);) {
      ++number_;
      line = trimmed(line);
      if (table && !line.empty() && line[0] == '#') take_note(line);
      if (line.empty() || line[0] == '#' || line.find("SPECIAL") != std::string::npos) continue;
      const std::vector<std::string> fields = fields_of(line);
      if (header) {
        table ? take_columns(fields) : take_site(fields);
        header = false;
        continue;
      }
      add(table ? by_column(fields) : by_version(fields));
    }
    if (out_.scans.empty()) fault("no scan", "a line of the site, then a line a scan");
    check_site();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fault(const std::string& found, const std::string& expected) const {
    const std::string line = number_ > 0 ? print(": line %zu: ", number_) : ": ";
    throw Error(Status::kCorrupt, path_ + line + found + ": expected " + expected);
  }
  double number(const char* what, const std::string& text) const {
    const auto value = number_in(text);
    if (!value) fault(std::string(what) + " '" + text + "'", "a number");
    return *value;
  }
  double time(const char* what, const std::string& text) const {
    try {
      return unix_time_of(text);
    } catch (const Error& error) {
      fault(std::string(what) + " '" + text + "'", "a time such as 2026-03-01 04:00:00");
    }
  }
  void check_site() const {
    const std::string found = fault_of(out_.site);
    if (!found.empty()) throw Error(Status::kCorrupt, path_ + ": " + found);
  }
  void take_site(const std::vector<std::string>& fields) {
    if (fields.size() != 5) {
      fault(print("%zu fields", fields.size()), "site, telescope, latitude, longitude, altitude");
    }
    out_.site_name = fields[0];
    out_.telescope_name = fields[1];
    out_.site.latitude_deg = number("latitude", fields[2]);
    out_.site.longitude_deg = number("longitude", fields[3]);
    out_.site.height_m = number("altitude", fields[4]);
  }

  /// A line of the table's notes: site and telescope, as the peer's tables have them.
  void take_note(const std::string& line) {
    std::string text = trimmed(std::string_view(line).substr(1));
    const auto named = [&](const char* name) { return text.find(name) != std::string::npos; };
    if (text.rfind("- ", 0) == 0) {
      target_ = named("site_lat")   ? &out_.site.latitude_deg
                : named("site_lon") ? &out_.site.longitude_deg
                : named("site_alt") ? &out_.site.height_m
                                    : nullptr;
      std::string* const word = named("site_name")        ? &out_.site_name
                                : named("telescope_name") ? &out_.telescope_name
                                                          : nullptr;
      const std::size_t colon = text.find(':'), end = text.find('}');
      if (word != nullptr && colon != std::string::npos) {
        *word = trimmed(std::string_view(text).substr(colon + 1, end - colon - 1));
      }
      return;
    }
    if (target_ == nullptr || text.rfind("value:", 0) != 0) return;
    *target_ = number("value", trimmed(std::string_view(text).substr(6)));
    target_ = nullptr;
  }
  static constexpr std::array<const char*, 9> kColumns{
      "start_time", "stop_time", "boresight_angle", "name",         "azmin",
      "azmax",      "el",        "scan_index",      "subscan_index"};
  void take_columns(const std::vector<std::string>& fields) {
    for (const char* name : kColumns) {
      const auto at = std::find(fields.begin(), fields.end(), name);
      if (at == fields.end()) fault(std::string("no column ") + name, "those of version 5");
      places_.push_back(static_cast<std::size_t>(at - fields.begin()));
    }
    width_ = fields.size();
  }
  [[nodiscard]] GroundScan by_column(const std::vector<std::string>& fields) const {
    if (fields.size() != width_) {
      fault(print("%zu fields", fields.size()), print("%zu, one a column", width_));
    }
    std::vector<std::string> nine;
    for (const std::size_t place : places_) nine.push_back(fields[place]);
    return scan_of(nine);
  }
  /// The nine fields of version 4 out of those of a line.
  [[nodiscard]] GroundScan by_version(std::vector<std::string> fields) const {
    if (fields.size() == 24 || fields.size() == 11) {  // date and time apart
      for (const std::size_t at : {0, 1}) {
        fields[at] += " " + fields[at + 1];
        fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      }
    }
    if (fields.size() == 22) {
      return scan_of({fields[0], fields[1], fields[4], fields[5], fields[6], fields[7], fields[8],
                      fields[19], fields[20]});
    }
    if (fields.size() != 9 && fields.size() != 10) {
      fault(print("%zu fields", fields.size()),
            "start, stop, rotation, patch, azimuth from and to, elevation, pass, sub");
    }
    return scan_of(fields);
  }
  [[nodiscard]] GroundScan scan_of(const std::vector<std::string>& f) const {
    if (f.size() != 9) fault(print("%zu fields", f.size()), "9");
    GroundScan scan{.name = f[3],
                    .start_s = time("start", f[0]),
                    .stop_s = time("stop", f[1]),
                    .boresight_angle_deg = number("rotation", f[2]),
                    .azimuth_min_deg = number("azimuth", f[4]),
                    .azimuth_max_deg = number("azimuth", f[5]),
                    .elevation_deg = number("elevation", f[6])};
    const double pass = number("pass", f[7]), sub = number("sub", f[8]);
    if (std::fabs(pass) > 1e9 || std::fabs(sub) > 1e9) fault("pass " + f[7], "a small number");
    scan.scan = static_cast<long>(pass);
    scan.subscan = static_cast<long>(sub);
    return scan;
  }
  void add(const GroundScan& scan) {
    if (scan.name.empty()) fault("no name of the patch", "a name");
    if (scan.name.find('/') != std::string::npos) fault("patch " + scan.name, "a name without /");
    if (!(scan.stop_s > scan.start_s)) fault("stop before start", "times that grow");
    if (!(scan.elevation_deg > 0 && scan.elevation_deg < 90)) {
      fault(print("elevation %g", scan.elevation_deg), "above 0 and below 90 degrees");
    }
    for (const double azimuth : {scan.azimuth_min_deg, scan.azimuth_max_deg}) {
      if (std::fabs(azimuth) > 720) fault(print("azimuth %g", azimuth), "-720 to 720 degrees");
    }
    if (!out_.scans.empty() && scan.start_s < out_.scans.back().start_s) {
      fault("start before that of the line above", "scans in their order");
    }
    out_.scans.push_back(scan);
  }

  const std::string& text_;
  std::string path_;
  GroundSchedule out_;
  std::size_t number_ = 0, width_ = 0;
  std::vector<std::size_t> places_;  ///< of kColumns
  double* target_ = nullptr;         ///< what the next value of the notes is
};

/// Digits [at, at + n) as a number; -1 where they are none.
int digits(const std::string& text, std::size_t at, std::size_t n) {
  if (at + n > text.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + n; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

}  // namespace

double unix_time_of(const std::string& given) {
  const std::string text = trimmed(given);
  const Error error(Status::kUsage, "'" + given + "': expected a time such as 2026-03-01 04:00:00");
  const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  const bool marks = text.size() >= 19 && text[4] == '-' && text[7] == '-' &&
                     (text[10] == ' ' || text[10] == 'T') && text[13] == ':' && text[16] == ':';
  if (!marks || year < 0 || month < 0 || day < 0 || !date.ok() || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 59) {
    throw error;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  double seconds = 86400.0 * static_cast<double>(days) + 3600 * hour + 60 * minute + second;
  std::size_t at = 19;
  if (at < text.size() && text[at] == '.') {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const auto fraction = number_in(print("0%s", text.substr(at, end - at).c_str()));
    if (!fraction || end == at + 1) throw error;
    seconds += *fraction;
    at = end;
  }
  const std::string zone = text.substr(at);
  if (zone.empty() || zone == "Z") return seconds;
  const int zone_hour = digits(zone, 1, 2), zone_minute = digits(zone, zone.size() - 2, 2);
  if ((zone[0] != '+' && zone[0] != '-') || zone_hour < 0 || zone_minute < 0 ||
      (zone.size() != 5 && !(zone.size() == 6 && zone[3] == ':'))) {
    throw error;
  }
  return seconds - (zone[0] == '+' ? 1 : -1) * (3600.0 * zone_hour + 60.0 * zone_minute);
}

std::string utc_text(double unix_time) {
  const double micro = std::round(unix_time * 1e6) / 1e6, whole = std::floor(micro);
  const std::chrono::sys_seconds at{std::chrono::seconds(static_cast<long>(whole))};
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{at - day};
  std::string text =
      print("%04d-%02u-%02u %02ld:%02ld:%02ld", static_cast<int>(date.year()),
            static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
            static_cast<long>(clock.hours().count()), static_cast<long>(clock.minutes().count()),
            static_cast<long>(clock.seconds().count()));
  if (micro > whole) text += print("%.6f", micro - whole).substr(1);
  return text;
}

GroundSchedule parse_schedule(const std::string& text, const std::string& path) {
  return Parser(text, path).parse();
}

GroundSchedule read_schedule(const std::string& path) {
  return parse_schedule(read_text(path, kMostScheduleBytes), path);
}

std::string schedule_text(const GroundSchedule& schedule) {
  std::string out =
      "# Site | Telescope | Latitude [deg] | Longitude [deg] | Elevation [m]\n" +
      print("%-15s | %-15s | %15.9g | %15.9g | %15.9g\n", schedule.site_name.c_str(),
            schedule.telescope_name.c_str(), schedule.site.latitude_deg,
            schedule.site.longitude_deg, schedule.site.height_m) +
      "# Start time UTC | Stop time UTC | Rotation | Patch name | Az min. | Az max. | Elev. | "
      "Pass | Sub\n";
  for (const GroundScan& scan : schedule.scans) {
    out += print("%20s | %20s | %8.2f | %-35s | %10.4f | %10.4f | %10.4f | %5ld | %3ld\n",
                 utc_text(scan.start_s).c_str(), utc_text(scan.stop_s).c_str(),
                 scan.boresight_angle_deg, scan.name.c_str(), scan.azimuth_min_deg,
                 scan.azimuth_max_deg, scan.elevation_deg, scan.scan, scan.subscan);
  }
  return out;
}

}  // namespace skyloom
