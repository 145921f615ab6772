// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/receipt.hpp"

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/page/page.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kReceiptSchema = "fiberloom-receipt-1";
constexpr const char* kFailureSchema = "fiberloom-failure-1";

std::string to_hex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes)
    text += print("%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return text;
}

std::string from_hex(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::strtoul(text.substr(i, 2).c_str(), nullptr, 16));
  }
  return bytes;
}

/// A name may be any bytes, JSON is UTF-8: one that is none stands there as well as it can be read,
/// and in full beside it.
Json to_object(const FileStamp& s) {
  Json json = {{"path", page::to_utf8(s.path)}, {"size", s.size}, {"mtime_ns", s.mtime_ns}};
  if (!page::is_utf8(s.path)) json["path_bytes"] = to_hex(s.path);
  return json;
}

FileStamp to_stamp(const Json& json) {
  const auto bytes = json.find("path_bytes");
  const bool plain = bytes == json.end();
  return {plain ? json.at("path").get<std::string>() : from_hex(*bytes), json.at("size"),
          json.at("mtime_ns")};
}

Json quality_json(const FrameQuality& quality) {
  Json json;
  for (std::size_t m = 0; m < kMetrics; ++m) json[metric_name(m)] = metric_value(quality, m);
  return json;
}

FrameQuality to_quality(const Json& json) {
  return {json.at("snr"), json.at("chi2"), json.at("flagged"), json.at("resolution")};
}

Json to_array(const std::vector<FileStamp>& stamps) {
  Json array = Json::array();
  for (const FileStamp& s : stamps) array.push_back(to_object(s));
  return array;
}

std::vector<FileStamp> to_stamps(const Json& array) {
  std::vector<FileStamp> stamps;
  for (const Json& s : array) stamps.push_back(to_stamp(s));
  return stamps;
}

Json seconds(const StageTime& t) { return {{"wall_s", t.wall_s}, {"cpu_s", t.cpu_s}}; }
StageTime to_time(const Json& json) { return {json.at("wall_s"), json.at("cpu_s")}; }

/// Which frame, made how: the same members in receipts and failures.
template <class Record>
Json head(const char* schema, const Record& r) {
  return {{"schema", schema},   {"name", r.name},       {"night", r.night},    {"expid", r.expid},
          {"camera", r.camera}, {"version", r.version}, {"options", r.options}};
}

template <class Record>
void read_head(const Json& json, Record& r) {
  r.name = json.at("name");
  r.night = json.at("night");
  r.expid = json.at("expid");
  r.camera = json.at("camera");
  r.version = json.at("version");
  r.options = json.at("options");
  r.inputs = to_stamps(json.at("inputs"));
  r.attempts = json.at("attempts");
}

/// A record that is damaged says nothing, and the work is done again.
template <class Record, class Fill>
std::optional<Record> read_record(const std::string& path, const char* schema, Fill fill) {
  const auto text = read_text_file(path);
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema") != schema) return std::nullopt;
    Record record;
    read_head(json, record);
    fill(json, record);
    return record;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::int64_t nanoseconds(const timespec& t) {
  return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

/// A stamp, and InputStamps::changed_ns.
std::optional<std::pair<FileStamp, std::int64_t>> stamp_and_change(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return std::pair{
      FileStamp{path, static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim)},
      nanoseconds(info.st_ctim)};
}

}  // namespace

std::optional<FileStamp> stamp_file(const std::string& path) {
  const auto both = stamp_and_change(path);
  if (!both) return std::nullopt;
  return both->first;
}

InputStamps stamp_inputs(const ExtractJob& job) {
  InputStamps stamps;
  for (const std::string* path : {&job.image, &job.psf, &job.fibermap}) {
    if (path->empty()) continue;
    std::optional<std::pair<FileStamp, std::int64_t>> stamp;
    try {
      const std::string found = resolve_path(*path);
      stamp = stamp_and_change(fs::absolute(found).lexically_normal().string());
    } catch (const Error&) {  // not there
    }
    if (stamp) {
      stamps.files.push_back(stamp->first);
      stamps.changed_ns.push_back(stamp->second);
    } else {
      stamps.missing.push_back(*path);
    }
  }
  return stamps;
}

std::string to_json(const Receipt& r) {
  Json json = head(kReceiptSchema, r);
  json["output"] = to_object(r.output);
  json["crc32"] = r.crc32;
  json["inputs"] = to_array(r.inputs);
  json["seconds"] = {
      {"read", seconds(r.read)}, {"compute", seconds(r.compute)}, {"write", seconds(r.write)}};
  json["attempts"] = r.attempts;
  if (r.quality) json["quality"] = quality_json(*r.quality);
  if (r.report) json["report"] = to_object(*r.report);
  return json.dump(1) + "\n";
}

std::string to_json(const Failure& f) {
  Json json = head(kFailureSchema, f);
  json["inputs"] = to_array(f.inputs);
  json["changed_ns"] = f.changed_ns;
  json["message"] = f.message;
  json["exit_code"] = f.exit_code;
  json["system_error"] = f.system_error;
  json["attempts"] = f.attempts;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Receipt> read_receipt(const std::string& path) {
  return read_record<Receipt>(path, kReceiptSchema, [](const Json& json, Receipt& r) {
    r.output = to_stamp(json.at("output"));
    r.crc32 = json.at("crc32");
    const Json& s = json.at("seconds");
    r.read = to_time(s.at("read"));
    r.compute = to_time(s.at("compute"));
    r.write = to_time(s.at("write"));
    if (json.contains("quality")) r.quality = to_quality(json.at("quality"));
    if (json.contains("report")) r.report = to_stamp(json.at("report"));
  });
}

std::optional<Failure> read_failure(const std::string& path) {
  return read_record<Failure>(path, kFailureSchema, [](const Json& json, Failure& f) {
    f.message = json.at("message");
    f.exit_code = json.at("exit_code");
    f.system_error = json.value("system_error", 0);  // records of old have neither
    f.changed_ns = json.value("changed_ns", std::vector<std::int64_t>{});
  });
}

}  // namespace fiberloom::night
