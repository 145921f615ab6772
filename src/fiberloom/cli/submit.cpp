// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/cli/submit.hpp"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "fiberloom/recipes/chain/job_arrays.hpp"
#include "fiberloom/recipes/chain/stand.hpp"
#include "loom/base/error.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

namespace fs = std::filesystem;
using chain::After;
using chain::JobArray;

/// What a shell command printed, and its exit code.
struct Ran {
  std::string text;
  int code = 0;
};

Ran run_shell(const std::string& command) {
  const auto close = [](std::FILE* file) { return ::pclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> pipe(::popen((command + " 2>&1").c_str(), "r"),
                                                   close);
  if (!pipe) throw Error(Status::kUnsupported, "night: no shell can be started");
  Ran ran;
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe.get()) != nullptr) ran.text += part.data();
  const int status = ::pclose(pipe.release());
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  while (ran.text.ends_with('\n')) ran.text.pop_back();
  return ran;
}

/// Does the word of the command line start the option `name`? Options may be shortened.
bool is_option(const std::string& word, const std::string& name, std::size_t shortest) {
  const std::string given = word.substr(0, word.find('='));
  return given.size() >= shortest && name.starts_with(given);
}

/// This command without what is for its submission alone; as it was typed, so that each element
/// understands it as this process does.
std::vector<std::string> command_of_elements() {
  std::vector<std::string> words{fs::read_symlink("/proc/self/exe").string()};
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::size_t skip = 1;  // the program
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\0', at), all.size());
    const std::string word = all.substr(at, end - at);
    at = end + 1;
    if (skip > 0) {
      --skip;
    } else if (is_option(word, "--submit", 4) || is_option(word, "--dry-run", 4) ||
               is_option(word, "--dryrun", 4)) {
    } else if (is_option(word, "--sbatch", 4) || is_option(word, "--json", 4) ||
               is_option(word, "--trace", 4) || is_option(word, "--array-size", 3)) {
      skip = word.find('=') == std::string::npos ? 1 : 0;
    } else {
      words.push_back(word);
    }
  }
  return words;
}

chain::ScriptSetup setup_of(const NightCommand& command) {
  chain::ScriptSetup setup;
  setup.command = command_of_elements();
  setup.folder = fs::current_path().string();
  setup.jobs = fs::absolute(command.job.request.output).lexically_normal().string();
  while (setup.jobs.ends_with('/')) setup.jobs.pop_back();
  setup.jobs += "/.fiberloom/jobs";
  setup.threads = std::max<std::size_t>(command.job.pipeline.threads, 1);
  setup.more = command.sbatch;
  return setup;
}

/// "afterany:12:13,aftercorr:14"; empty: it may start at once.
std::string dependency(const JobArray& array, const std::vector<std::string>& ids) {
  std::string all, twins;
  for (const auto& [before, how] : array.after) {
    (how == After::kTwin ? twins : all) += ":" + ids[before];
  }
  std::string text = all.empty() ? "" : "afterany" + all;
  if (!twins.empty()) text += (text.empty() ? "" : ",") + std::string("aftercorr") + twins;
  return text;
}

void print_scripts(const std::vector<JobArray>& arrays, const chain::ScriptSetup& setup) {
  std::vector<std::string> names;
  for (const JobArray& array : arrays) names.push_back(array.name);
  for (const JobArray& array : arrays) {
    const std::string after = dependency(array, names);
    put("# " + script_path(array, setup) + (after.empty() ? "" : "  --dependency=" + after) + "\n" +
        array_script(array, setup) + "# " + list_path(array, setup) + "\n" + array_list(array) +
        "\n");
  }
}

/// Ids of the arrays. When one is refused none is left.
std::vector<std::string> submit(const std::vector<JobArray>& arrays,
                                const chain::ScriptSetup& setup) {
  std::vector<std::string> ids;
  for (const JobArray& array : arrays) {
    std::string call = "sbatch --parsable";
    const std::string after = dependency(array, ids);
    if (!after.empty()) call += " --dependency=" + after;
    const Ran ran = run_shell(call + " " + chain::shell_word(script_path(array, setup)));
    const std::string id = ran.text.substr(0, ran.text.find(';'));  // "12;cluster"
    const bool good =
        ran.code == 0 && !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
    if (good) {
      ids.push_back(id);
      continue;
    }
    std::string all;
    for (const std::string& before : ids) all += " " + before;
    if (!ids.empty()) static_cast<void>(run_shell("scancel" + all));
    throw Error(Status::kUnsupported, "night: sbatch does not take " + script_path(array, setup) +
                                          " (" + ran.text + "); nothing is left in the queue");
  }
  return ids;
}

}  // namespace

int submit_night(const NightCommand& command, const Observer& observer) {
  const night::BatchPlan plan = night::plan_night(command.job, observer);
  const auto forecasts = night::forecast(plan, command.job.pipeline.retry);
  const std::vector<JobArray> arrays =
      chain::job_arrays(plan, forecasts, static_cast<std::size_t>(command.array_size));
  const chain::ScriptSetup setup = setup_of(command);
  if (command.dry_run) {
    print_scripts(arrays, setup);
    return 0;
  }
  if (arrays.empty()) {
    observer.info("nothing is to do");
    return 0;
  }
  night::keep_plan(command.job, plan.tasks);
  std::vector<NamedFile> texts;
  for (const JobArray& array : arrays) {
    texts.push_back({"script of " + array.name, script_path(array, setup)});
    texts.push_back({"list of " + array.name, list_path(array, setup)});
  }
  check_text_outputs(texts);
  for (const JobArray& array : arrays) {
    write_text(script_path(array, setup), array_script(array, setup));
    write_text(list_path(array, setup), array_list(array));
  }
  const std::vector<std::string> ids = submit(arrays, setup);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const std::string after = dependency(arrays[k], ids);
    observer.info("job " + ids[k] + ": " + arrays[k].name + ", " +
                  std::to_string(arrays[k].elements.size()) + " elements" +
                  (after.empty() ? "" : ", " + after));
  }
  return 0;
}

}  // namespace fiberloom::cli
