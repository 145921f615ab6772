// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom status`: what is done of a run folder's tasks, and why one of them is as it is.
#include <algorithm>
#include <array>
#include <ctime>
#include <map>
#include <memory>
#include <string>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/chain/chain_status.hpp"
#include "fiberloom/recipes/chain/stand.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/json/json.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

using chain::Explanation;
using chain::InputNews;
using chain::Standing;

struct StatusCommand {
  std::string output, why, json, state;
};

/// "2026-01-31T12:00:00Z".
std::string time_text(std::int64_t unix_s) {
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  return print("%04d-%02d-%02dT%02d:%02d:%02dZ", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
               utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string with_message(const std::string& state, const std::string& message) {
  return message.empty() ? state : state + ": " + message;
}

std::string input_line(const InputNews& news) {
  std::string line = print("  %-12s %s", chain::news_name(news.state).c_str(), news.path.c_str());
  if (!news.made_by.empty()) line += ", made by " + news.made_by;
  if (news.then && news.now && *news.then != *news.now) {
    line += print(" (CRC-32 %08x, was %08x)", *news.now, *news.then);
  } else if (news.then) {
    line += print(" (CRC-32 %08x)", *news.then);
  }
  return line + "\n";
}

std::string attempts_text(const std::vector<chain::Attempt>& attempts) {
  std::string text = attempts.empty() ? "attempts: none\n" : "attempts:\n";
  for (const chain::Attempt& a : attempts) {
    text += "  " + time_text(a.unix_s) +
            print(" %s, process %ld, rank %d: ", a.host.c_str(), a.pid, a.rank) +
            (a.exit_code == 0 ? "done" : print("exit code %d: ", a.exit_code) + a.message) + "\n";
  }
  return text;
}

std::string why_text(const Explanation& why) {
  std::string text = why.task.name + ": " + with_message(why.state, why.message) + "\n";
  for (const chain::Cause& cause : why.causes) {
    text += "  because " + cause.name + " is " + with_message(cause.state, cause.message) + "\n";
  }
  if (why.unmet > 1) text += print("  (%zu of what it needs are not done)\n", why.unmet);
  if (!why.inputs.empty()) text += "inputs:\n";
  for (const InputNews& news : why.inputs) text += input_line(news);
  for (const std::string& path : why.no_more) text += "  no more      " + path + "\n";
  text += "outputs:\n";
  for (const std::string& path : why.task.outputs) text += "  " + path + "\n";
  return text + attempts_text(why.attempts);
}

Json labels_json(const chain::Task& task) {
  Json json = {{"name", task.name}, {"step", chain::step_or_kind(task)}};
  for (const chain::Label& label : task.labels) {
    std::visit([&](const auto& value) { json[label.name] = value; }, label.value);
  }
  return json;
}

Json attempts_json(const std::vector<chain::Attempt>& attempts) {
  Json json = Json::array();
  for (const chain::Attempt& a : attempts) {
    json.push_back({{"time", time_text(a.unix_s)},
                    {"unix_s", a.unix_s},
                    {"host", a.host},
                    {"pid", a.pid},
                    {"rank", a.rank},
                    {"exit_code", a.exit_code},
                    {"message", a.message}});
  }
  return json;
}

std::string why_json(const Explanation& why) {
  Json json = {{"schema", "fiberloom-why-1"}};
  const Json labels = labels_json(why.task);
  for (const auto& [name, value] : labels.members()) json[name] = value;
  json["state"] = why.state;
  json["message"] = why.message;
  json["causes"] = Json::array();
  for (const chain::Cause& c : why.causes) {
    json["causes"].push_back({{"name", c.name}, {"state", c.state}, {"message", c.message}});
  }
  json["unmet"] = why.unmet;
  json["inputs"] = Json::array();
  for (const InputNews& news : why.inputs) {
    Json input = {
        {"path", news.path}, {"state", chain::news_name(news.state)}, {"made_by", news.made_by}};
    if (news.then) input["crc32_then"] = *news.then;
    if (news.now) input["crc32"] = *news.now;
    json["inputs"].push_back(std::move(input));
  }
  json["no_more"] = why.no_more;
  json["outputs"] = why.task.outputs;
  json["attempts"] = attempts_json(why.attempts);
  return json.dump(2) + "\n";
}

chain::StepCounts count_steps(const std::vector<Standing>& tasks) {
  std::map<std::string, chain::StateCounts> of;
  for (const Standing& s : tasks) ++of[chain::step_or_kind(s.task)][s.state];
  return chain::in_order_of_steps(std::move(of));
}

/// Tasks that a task holds back, by its name.
std::map<std::string, std::size_t> held_back(const std::vector<Standing>& tasks) {
  std::map<std::string, std::size_t> held;
  for (const Standing& s : tasks) {
    if (!s.root.empty()) ++held[s.root];
  }
  return held;
}

bool is_bad(const Standing& s) { return s.state == "failed" || s.state == "missing"; }

std::string stand_text(const std::vector<Standing>& tasks) {
  std::string text = print("%zu tasks\n", tasks.size());
  for (const auto& [step, counts] : count_steps(tasks)) {
    text += print("  %-10s ", step.c_str()) + chain::counts_text(counts) + "\n";
  }
  auto held = held_back(tasks);
  for (const Standing& s : tasks) {
    if (!is_bad(s)) continue;
    text += s.task.name + ": " + with_message(s.state, s.message);
    if (const std::size_t n = held[s.task.name])
      text += print("; %zu tasks are held back by it", n);
    text += "\n";
  }
  return text;
}

std::string stand_json(const std::vector<Standing>& tasks) {
  Json json = {{"schema", "fiberloom-tree-1"}, {"steps", Json::object()}, {"tasks", Json::array()}};
  for (const auto& [step, counts] : count_steps(tasks)) {
    json["steps"][step] = chain::counts_json(counts);
  }
  for (const Standing& s : tasks) {
    Json task = labels_json(s.task);
    task["state"] = s.state;
    task["message"] = s.message;
    task["because"] = s.root;
    json["tasks"].push_back(std::move(task));
  }
  return json.dump(1) + "\n";
}

// Of a database, which knows tasks as they were when their runs said so last.

std::string runs_text(const std::vector<chain::KnownRun>& runs) {
  std::string text = print("%zu runs\n", runs.size());
  for (const chain::KnownRun& run : runs) {
    text += run.folder + " (" + run.host + ", " + time_text(run.updated_unix_s) + ", id " + run.id +
            "): " + chain::counts_text(run.states) + "\n";
  }
  return text;
}

std::string runs_json(const std::vector<chain::KnownRun>& runs) {
  Json json = {{"schema", "fiberloom-runs-1"}, {"runs", Json::array()}};
  for (const chain::KnownRun& run : runs) {
    json["runs"].push_back({{"id", run.id},
                            {"folder", run.folder},
                            {"host", run.host},
                            {"version", run.version},
                            {"updated", time_text(run.updated_unix_s)},
                            {"tasks", chain::counts_json(run.states)}});
  }
  return json.dump(2) + "\n";
}

std::string task_text(const chain::LedgerRow& row) {
  std::string text = row.name + ": " + with_message(row.state, row.message) + "\n";
  if (!row.input_files.empty()) text += "inputs:\n";
  for (const auto& file : row.input_files) {
    text += "  " + file.path + print(" (%llu bytes)\n", static_cast<unsigned long long>(file.size));
  }
  if (!row.output_files.empty()) text += "outputs:\n";
  for (const auto& file : row.output_files) {
    text += "  " + file.stamp.path + print(" (CRC-32 %08x)\n", file.crc32);
  }
  return text + attempts_text(row.history);
}

std::string task_json(const chain::LedgerRow& row) {
  Json json = {{"schema", "fiberloom-task-1"}, {"name", row.name},
               {"state", row.state},           {"message", row.message},
               {"inputs", Json::array()},      {"outputs", Json::array()}};
  for (const auto& file : row.input_files) {
    json["inputs"].push_back({{"path", file.path}, {"size", file.size}});
  }
  for (const auto& file : row.output_files) {
    json["outputs"].push_back(
        {{"path", file.stamp.path}, {"size", file.stamp.size}, {"crc32", file.crc32}});
  }
  json["attempts"] = attempts_json(row.history);
  return json.dump(2) + "\n";
}

/// Text, or JSON, or both, as the options ask for.
void tell(const StatusCommand& c, const std::string& text, const std::string& json) {
  if (c.json != "-") put(text);
  if (!c.json.empty()) write_text(c.json, json);
}

int run_status(const StatusCommand& c) {
  if (c.output.empty() && (c.state.empty() || !c.why.empty())) {
    throw Error(Status::kUsage, "status: no run: give OUT, its folder");
  }
  if (!c.state.empty()) chain::check_state_url(c.state);
  chain::spare_state_of(c.output, c.state, c.json);
  check_text_outputs(std::array<NamedFile, 1>{{{"--json", c.json}}});
  if (c.output.empty()) {
    const std::vector<chain::KnownRun> runs = chain::runs_in(c.state);
    tell(c, runs_text(runs), runs_json(runs));
    return 0;
  }
  if (!c.state.empty() && !c.why.empty()) {
    const chain::LedgerRow row = chain::task_in(c.state, c.output, c.why);
    tell(c, task_text(row), task_json(row));
    return 0;
  }
  if (!c.why.empty()) {
    const Explanation why = chain::explain(c.output, c.why);
    chain::spare_files_of({why.task}, c.json);
    tell(c, why_text(why), why_json(why));
    return 0;
  }
  const std::vector<Standing> tasks =
      c.state.empty() ? chain::stand(c.output) : chain::stand_in(c.state, c.output);
  std::vector<chain::Task> known;
  for (const Standing& s : tasks) known.push_back(s.task);
  chain::spare_files_of(known, c.json);
  tell(c, stand_text(tasks), stand_json(tasks));
  return std::any_of(tasks.begin(), tasks.end(), is_bad) ? static_cast<int>(Status::kSomeFailed)
                                                         : 0;
}

}  // namespace

Command make_status() {
  Command command{
      .name = "status",
      .text = "say what is done of a night, and why a task is done, waits, failed or is held back",
      .footer =
          "Examples:\n  fiberloom status out\n  fiberloom status out --why sky-r0-00000004\n\n" +
          exit_codes_of({.reads = true, .writes = true, .more = {Status::kSomeFailed}})};
  const auto state = std::make_shared<StatusCommand>();
  Options& options = command.options;
  options.add("OUT", &state->output,
              "folder that fiberloom night, expose or redshift wrote to; with --state the id of a "
              "run too, or nothing for a list of them");
  options.add("--why", &state->why,
              "this task alone: its state, what it waits for down to the root, its inputs and "
              "whether they have changed, attempts at it",
              {.value = "TASK"});
  options.add("--state", &state->state,
              "what a database was told by night --state, instead of what the folder says",
              {.value = "URL"});
  options.add("--json", &state->json, "the same for programs (- is stdout, in place of the text)");
  command.run = [state](const Invocation&) { return run_status(*state); };
  return command;
}

}  // namespace fiberloom::cli
