// SPDX-License-Identifier: BSD-3-Clause
#include "loom/batch/plan_file.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/batch/inspect.hpp"
#include "loom/batch/normal_path.hpp"
#include "loom/batch/path_json.hpp"
#include "loom/files/input_file.hpp"

namespace loom::batch {
namespace {

constexpr const char* kSchema = "plan-1";
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// Texts that many tasks share, each once.
class Texts {
 public:
  std::size_t number_of(const std::string& text) {
    const auto [known, fresh] = numbers_.try_emplace(text, texts_.size());
    if (fresh) texts_.push_back(text);
    return known->second;
  }
  [[nodiscard]] const std::vector<std::string>& all() const { return texts_; }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
};

/// Below OUT without it, so that a folder may be moved.
Json paths_json(const RunFolder& folder, const std::vector<std::string>& paths) {
  Json array = Json::array();
  for (const std::string& path : paths) {
    array.push_back(path_json(path_below(folder, normal_path(path))));
  }
  return array;
}

std::vector<std::string> paths_of(const RunFolder& folder, const Json* array) {
  std::vector<std::string> paths;
  if (array == nullptr) return paths;
  for (const Json& element : array->elements()) {
    paths.push_back(path_of(folder, path_of(element)));
  }
  return paths;
}

Json to_object(const RunFolder& folder, const Task& task, std::size_t options) {
  Json json = {{"name", task.name}, {"kind", task.kind}, {"labels", Json::object()}};
  for (const Label& label : task.labels) {
    std::visit([&](const auto& value) { json["labels"][label.name] = value; }, label.value);
  }
  json["inputs"] = paths_json(folder, task.inputs);
  if (!task.any_inputs.empty()) json["any_inputs"] = paths_json(folder, task.any_inputs);
  json["outputs"] = paths_json(folder, task.outputs);
  if (!task.after.empty()) json["after"] = task.after;
  if (task.by_content) json["by_content"] = true;
  json["options"] = options;
  return json;
}

PlannedTask to_task(const Json& json, const RunFolder& folder,
                    const std::vector<std::string>& options) {
  PlannedTask planned;
  Task& task = planned.task;
  task.name = json.at("name").get<std::string>();
  task.kind = json.at("kind").get<std::string>();
  for (const auto& [name, value] : json.at("labels").members()) {
    if (value.is_integer()) {
      task.labels.push_back({name, value.get<long>()});
    } else {
      task.labels.push_back({name, value.get<std::string>()});
    }
  }
  task.inputs = paths_of(folder, json.find("inputs"));
  task.any_inputs = paths_of(folder, json.find("any_inputs"));
  task.outputs = paths_of(folder, json.find("outputs"));
  task.after = json.value("after", std::vector<std::string>{});
  task.by_content = json.value("by_content", false);
  const auto number = json.at("options").get<std::size_t>();
  if (number < options.size()) planned.options = options[number];
  if (task.outputs.empty()) throw JsonError("a task that makes nothing");
  return planned;
}

std::string text_of(const RunFolder& folder, const std::vector<const PlannedTask*>& tasks) {
  Texts options;
  std::string lines;
  for (const PlannedTask* planned : tasks) {
    lines += to_object(folder, planned->task, options.number_of(planned->options)).dump(-1) + "\n";
  }
  const Json head = {{"schema", folder.schema(kSchema)}, {"options", options.all()}};
  return head.dump(-1) + "\n" + lines;
}

std::optional<std::string> text_of_file(const RunFolder& folder) {
  try {
    return read_text(folder.plan(), kMostBytes);
  } catch (const Error&) {  // not there, or none of ours
    return std::nullopt;
  }
}

/// What the text says; nothing of a text that is none of ours.
std::vector<PlannedTask> tasks_of(const RunFolder& folder, const std::string& text) {
  std::vector<PlannedTask> tasks;
  std::vector<std::string> options;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    try {
      const Json json = Json::parse(std::string_view(text).substr(at, end - at)).value_or(Json());
      if (at == 0) {
        if (json.at("schema").get<std::string>() != folder.schema(kSchema)) return {};
        options = json.at("options").get<std::vector<std::string>>();
      } else {
        tasks.push_back(to_task(json, folder, options));
      }
    } catch (const JsonError&) {
      if (at == 0) return {};
    }
    at = end + 1;
  }
  return tasks;
}

}  // namespace

void save_plan(const RunFolder& folder, const std::vector<Task>& tasks, const WorkKinds& kinds) {
  std::unordered_map<std::string_view, const PlannedTask*> fresh;
  std::vector<PlannedTask> ours;
  ours.reserve(tasks.size());
  for (const Task& task : tasks) {
    ours.push_back({task, kinds.of(task).fingerprint(task)});
    fresh[task.name] = &ours.back();
  }
  std::unordered_set<std::string> made;
  for (const Task& task : tasks) {
    for (const std::string& path : task.outputs) made.insert(normal_path(path));
  }
  const auto is_replaced = [&](const Task& old) {
    return std::any_of(old.outputs.begin(), old.outputs.end(),
                       [&](const std::string& path) { return made.contains(path); });
  };
  const std::string before = text_of_file(folder).value_or("");
  const std::vector<PlannedTask> there = tasks_of(folder, before);
  std::vector<const PlannedTask*> all;
  for (const PlannedTask& planned : there) {
    const auto found = fresh.find(planned.task.name);
    if (found != fresh.end()) {
      all.push_back(found->second);
      fresh.erase(found);
    } else if (!is_replaced(planned.task)) {  // what it made is another task's now
      all.push_back(&planned);
    }
  }
  for (const PlannedTask& planned : ours) {
    if (fresh.contains(planned.task.name)) all.push_back(&planned);
  }
  const std::string text = text_of(folder, all);
  if (text != before) write_text_file(folder.plan(), text);
}

std::vector<PlannedTask> read_plan(const RunFolder& folder) {
  return tasks_of(folder, text_of_file(folder).value_or(""));
}

}  // namespace loom::batch
