// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/receipt.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "loom/base/error.hpp"
#include "loom/batch/normal_path.hpp"
#include "loom/batch/path_json.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/json/json.hpp"
#include "loom/page/page.hpp"
#include "loom/runtime/process_identity.hpp"

namespace loom::batch {
namespace {

namespace fs = std::filesystem;
constexpr const char* kReceipt = "receipt-1";
constexpr const char* kFailure = "failure-1";

/// A name may be any bytes, JSON is UTF-8: one that is none stands there as well as it can be read,
/// and in full beside it.
Json to_object(const FileStamp& s) {
  Json json = {{"path", page::to_utf8(s.path)}, {"size", s.size}, {"mtime_ns", s.mtime_ns}};
  if (!page::is_utf8(s.path)) json["path_bytes"] = to_hex(s.path);
  return json;
}

FileStamp to_stamp(const Json& json) {
  const Json* const bytes = json.find("path_bytes");
  return {
      bytes == nullptr ? json.at("path").get<std::string>() : from_hex(bytes->get<std::string>()),
      json.at("size").get<std::uint64_t>(), json.at("mtime_ns").get<std::int64_t>()};
}

Json measures_json(const std::vector<Measure>& measures) {
  Json json;
  for (const Measure& m : measures) json[m.name] = m.value;
  return json;
}

std::vector<Measure> to_measures(const Json& json) {
  std::vector<Measure> measures;
  for (const auto& [name, value] : json.members()) {
    measures.push_back({name, value.get<double>()});
  }
  return measures;
}

/// Inputs below OUT without it, so that a folder may be moved; others have absolute paths.
Json to_array(std::vector<FileStamp> stamps, const RunFolder& folder) {
  Json array = Json::array();
  for (FileStamp& s : stamps) {
    s.path = path_below(folder, s.path);
    array.push_back(to_object(s));
  }
  return array;
}

std::vector<FileStamp> to_stamps(const Json& array, const RunFolder& folder) {
  std::vector<FileStamp> stamps;
  for (const Json& s : array.elements()) {
    stamps.push_back(to_stamp(s));
    stamps.back().path = path_of(folder, stamps.back().path);
  }
  return stamps;
}

MadeFile made_file(const Json& stamp, const Json& with_sum) {
  return {to_stamp(stamp), with_sum.at("crc32").get<std::uint32_t>()};
}

Json to_array(const std::vector<Attempt>& history) {
  Json array = Json::array();
  for (const Attempt& a : history) {
    array.push_back({{"unix_s", a.unix_s},
                     {"host", a.host},
                     {"pid", a.pid},
                     {"rank", a.rank},
                     {"exit_code", a.exit_code},
                     {"message", a.message}});
  }
  return array;
}

std::vector<Attempt> to_history(const Json& array) {
  std::vector<Attempt> history;
  for (const Json& a : array.elements()) {
    history.push_back({a.at("unix_s").get<std::int64_t>(), a.at("host").get<std::string>(),
                       a.at("pid").get<long>(), a.at("rank").get<int>(),
                       a.at("exit_code").get<int>(), a.at("message").get<std::string>()});
  }
  return history;
}

Json seconds(const StageTime& t) { return {{"wall_s", t.wall_s}, {"cpu_s", t.cpu_s}}; }
StageTime to_time(const Json& json) {
  return {json.at("wall_s").get<double>(), json.at("cpu_s").get<double>()};
}

// Labels stand between these, so that a label is whatever has no other name.
Json head(const std::string& schema, const TaskRecord& r) {
  Json json = {{"schema", schema}, {"name", r.name}};
  for (const Label& label : r.labels) {
    std::visit([&](const auto& value) { json[label.name] = value; }, label.value);
  }
  json["version"] = r.version;
  json["options"] = r.options;
  return json;
}

void read_head(const Json& json, TaskRecord& r, const RunFolder& folder) {
  r.name = json.at("name").get<std::string>();
  for (const auto& [name, value] : json.members()) {
    if (name == "version") break;
    if (name == "schema" || name == "name") continue;
    if (value.is_integer()) {
      r.labels.push_back({name, value.get<long>()});
    } else {
      r.labels.push_back({name, value.get<std::string>()});
    }
  }
  r.version = json.at("version").get<std::string>();
  r.options = json.at("options").get<std::string>();
  r.inputs = to_stamps(json.at("inputs"), folder);
  r.attempts = json.at("attempts").get<int>();
  if (json.contains("history")) r.history = to_history(json.at("history"));
}

/// A record that is damaged says nothing, and the work is done again.
template <class Record, class Fill>
std::optional<Record> read_record(const std::string& path, const RunFolder& folder,
                                  const char* schema, Fill fill) {
  const auto text = read_text_file(path);
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text).value_or(Json());
    if (json.at("schema").get<std::string>() != folder.schema(schema)) return std::nullopt;
    Record record;
    read_head(json, record, folder);
    fill(json, record);
    return record;
  } catch (const JsonError&) {
    return std::nullopt;
  }
}

/// Reads all records of a folder by `read`.
template <class Record>
std::vector<Record> read_all(const RunFolder& folder, const std::string& where,
                             std::optional<Record> (*read)(const RunFolder&, const std::string&)) {
  std::vector<Record> records;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(where, ignored)) {
    if (entry.path().extension() != ".json") continue;
    if (auto record = read(folder, entry.path().stem().string())) {
      records.push_back(std::move(*record));
    }
  }
  return records;
}

std::int64_t nanoseconds(const timespec& t) {
  return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

std::optional<StampCache::Found> stamp_and_change(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return StampCache::Found{
      {path, static_cast<std::uint64_t>(info.st_size), nanoseconds(info.st_mtim)},
      nanoseconds(info.st_ctim)};
}

}  // namespace

std::optional<FileStamp> stamp_file(const std::string& path) {
  const auto both = stamp_and_change(path);
  if (!both) return std::nullopt;
  return both->stamp;
}

const std::optional<StampCache::Found>& StampCache::of(const std::string& path) {
  const auto [known, fresh] = known_.try_emplace(path);
  if (fresh) {
    if (const auto found = find_path(path)) known->second = stamp_and_change(normal_path(*found));
  }
  return known->second;
}

InputStamps stamp_inputs(const Task& task) {
  StampCache cache;
  return stamp_inputs(task, cache);
}

InputStamps stamp_inputs(const Task& task, StampCache& cache) {
  InputStamps stamps;
  const auto add = [&](const std::string& path) {
    const auto& found = cache.of(path);
    if (!found) return false;
    stamps.files.push_back(found->stamp);
    stamps.changed_ns.push_back(found->changed_ns);
    return true;
  };
  for (const std::string& path : task.inputs) {
    if (!add(path)) stamps.missing.push_back(path);
  }
  bool any = !needs_any(task);
  for (const std::string& path : task.any_inputs) any = add(path) || any;
  if (!any) stamps.missing.push_back(task.any_inputs.front());
  return stamps;
}

std::string to_json(const Receipt& r, const RunFolder& folder) {
  Json json = head(folder.schema(kReceipt), r);
  json["output"] = to_object(r.output.stamp);
  json["crc32"] = r.output.crc32;
  for (const MadeFile& file : r.more) {
    Json object = to_object(file.stamp);
    object["crc32"] = file.crc32;
    json["more_outputs"].push_back(std::move(object));
  }
  json["inputs"] = to_array(r.inputs, folder);
  if (!r.input_sums.empty()) json["input_crc32"] = r.input_sums;
  json["seconds"] = {
      {"read", seconds(r.read)}, {"compute", seconds(r.compute)}, {"write", seconds(r.write)}};
  json["attempts"] = r.attempts;
  json["history"] = to_array(r.history);
  if (!r.measures.empty()) json["quality"] = measures_json(r.measures);
  if (r.page) json["report"] = to_object(*r.page);
  return json.dump(1) + "\n";
}

std::string to_json(const Failure& f, const RunFolder& folder) {
  Json json = head(folder.schema(kFailure), f);
  json["inputs"] = to_array(f.inputs, folder);
  json["changed_ns"] = f.changed_ns;
  json["message"] = f.message;
  json["exit_code"] = f.exit_code;
  json["system_error"] = f.system_error;
  json["attempts"] = f.attempts;
  json["history"] = to_array(f.history);
  return json.dump(1) + "\n";
}

std::optional<Receipt> read_receipt(const RunFolder& folder, const std::string& name) {
  const auto fill = [](const Json& json, Receipt& r) {
    r.output = made_file(json.at("output"), json);
    if (json.contains("more_outputs")) {
      for (const Json& file : json.at("more_outputs").elements()) {
        r.more.push_back(made_file(file, file));
      }
    }
    const Json& s = json.at("seconds");
    r.read = to_time(s.at("read"));
    r.compute = to_time(s.at("compute"));
    r.write = to_time(s.at("write"));
    if (json.contains("quality")) r.measures = to_measures(json.at("quality"));
    r.input_sums = json.value("input_crc32", std::vector<std::uint32_t>{});
    if (json.contains("report")) r.page = to_stamp(json.at("report"));
  };
  return read_record<Receipt>(folder.receipt(name), folder, kReceipt, fill);
}

std::optional<Failure> read_failure(const RunFolder& folder, const std::string& name) {
  const auto fill = [](const Json& json, Failure& f) {
    f.message = json.at("message").get<std::string>();
    f.exit_code = json.at("exit_code").get<int>();
    f.system_error = json.value("system_error", 0);  // records of old have neither
    f.changed_ns = json.value("changed_ns", std::vector<std::int64_t>{});
  };
  return read_record<Failure>(folder.failure(name), folder, kFailure, fill);
}

Attempt attempt_of(const Outcome& outcome) {
  const ProcessIdentity me = this_process();
  return {static_cast<std::int64_t>(std::time(nullptr)),
          me.host,
          me.pid,
          outcome.rank,
          outcome.exit_code,
          outcome.message};
}

std::vector<Attempt> history_of(const RunFolder& folder, const std::string& name,
                                const Outcome& outcome) {
  constexpr std::ptrdiff_t kMost = 20;
  std::vector<Attempt> history;
  if (auto failure = read_failure(folder, name)) {  // the later one where there are both
    history = std::move(failure->history);
  } else if (auto receipt = read_receipt(folder, name)) {
    history = std::move(receipt->history);
  }
  history.insert(history.end(), outcome.tried.begin(), outcome.tried.end());
  history.push_back(attempt_of(outcome));
  const auto many = std::ssize(history);
  history.erase(history.begin(), history.begin() + std::max<std::ptrdiff_t>(many - kMost, 0));
  return history;
}

std::vector<Receipt> read_receipts(const RunFolder& folder) {
  return read_all<Receipt>(folder, folder.receipts(), read_receipt);
}

std::vector<Failure> read_failures(const RunFolder& folder) {
  return read_all<Failure>(folder, folder.failures(), read_failure);
}

}  // namespace loom::batch
