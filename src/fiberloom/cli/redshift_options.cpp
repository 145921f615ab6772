// SPDX-License-Identifier: BSD-3-Clause
// A script that calls rrdesi changes one word; here is what makes that true.
#include "fiberloom/cli/redshift_options.hpp"

#include <string_view>

#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "loom/base/error.hpp"

namespace fiberloom::cli {
namespace {

/// Options of rrdesi that this program accepts and answers with a warning.
struct Ignored {
  const char* name;
  const char* reason;
};
constexpr Ignored kIgnoredFlags[] = {
    {"--gpu", "the CPU computes"},
    {"--no-mpi-abort", "a fault ends the run with its exit code"},
    {"--debug", "there is no Python behind this program; -v says more"},
};
constexpr Ignored kIgnoredValues[] = {
    {"--mp", "--threads says how many threads there are"},
    {"--ncpu", "--threads says how many threads there are"},
    {"--max-gpuprocs", "the CPU computes"},
};

/// Declares the option of a row by the kind of its member.
struct Declare {
  Options& options;
  const RedshiftOptionRow& row;
  RedshiftJob& job;

  void operator()(bool* member) const {
    if (row.flag_clears) {
      options.flag(
          row.names, [member] { *member = false; }, row.text);
    } else {
      options.flag(row.names, member, row.text);
    }
  }
  void operator()(int* member) const { plain(member); }
  void operator()(double* member) const { plain(member); }
  void operator()(std::string* member) const { plain(member); }
  void operator()(std::vector<std::string>* member) const { plain(member); }
  void operator()(RedshiftMethod*) const { by_text(redshift_methods()); }
  void operator()(PerCamera*) const { by_text({"True", "False"}); }
  template <class Other>
  void operator()(Other*) const {
    by_text({});
  }

 private:
  template <class Member>
  void plain(Member* member) const {
    options.add(row.names, member, row.text,
                {.value = row.value, .interval = row.interval, .shows_default = row.shows_default});
  }
  void by_text(std::vector<std::string> words) const {
    options.add(row.names,
                [this_row = &row, to = &job](const std::string& text) {
                  set_redshift_option(*this_row, *to, text);
                },
                row.text, {.value = row.value, .words = std::move(words)});
  }
};

void add_rows(Options& options, RedshiftJob& job, std::string_view group) {
  options.group(std::string(group));
  for (const RedshiftOptionRow& row : redshift_option_rows()) {
    if (row.group == group) std::visit(Declare{options, row, job}, row.field(job));
  }
}

void add_file_options(Options& options, RedshiftCommand& c) {
  options.group("Files");
  options.add("-i,--infiles", &c.job.inputs,
              "spectra, coadds or frames; the spectra of one TARGETID belong together",
              {.required = true});
  options.add("-o,--outfile", &c.job.output, "redshifts to write (.fits)");
  options.add("-d,--details", &c.job.details, "chi2 at every redshift, all minima (.h5)");
  options.add("--model", &c.job.model, "best models to write (.fits)");
  add_rows(options, c.job, "Files");
  options.flag(
      "--no-clobber", [&c] { c.job.overwrite = Overwrite::kNo; },
      "refuse to replace an existing output");
  add_verify_option(options, c.job.verify);
}

}  // namespace

void add_redshift_options(Options& options, RedshiftCommand& c) {
  add_file_options(options, c);
  add_rows(options, c.job, "Which targets");
  add_rows(options, c.job, "Method");
  add_rows(options, c.job, "Archetypes");
  options.group("Running");
  add_thread_option(options, c.threads);
  options.add("--json", &c.json, "write a summary: times, memory, options, counts (- is stdout)");
  options.add("--trace", &c.trace, "write a timeline for chrome://tracing or Perfetto");
  add_log_options(options, c.log);
  options.group("Running");
  add_rank_option(options, c.ranks);
  options.group("Accepted for rrdesi");
  const std::string ignored = "ignored: ";
  for (const Ignored& flag : kIgnoredFlags) options.flag(flag.name, {}, ignored + flag.reason);
  for (const Ignored& value : kIgnoredValues) options.add(value.name, {}, ignored + value.reason);
}

void finish_redshift_options(const Given& given, const RedshiftCommand& command,
                             const Observer& observer) {
  validate(command.job);
  const auto warn_ignored = [&](const Ignored& option) {
    if (given.has(option.name)) {
      observer.warn(std::string(option.name) + " is ignored: " + option.reason);
    }
  };
  for (const Ignored& option : kIgnoredFlags) warn_ignored(option);
  for (const Ignored& option : kIgnoredValues) warn_ignored(option);
  if (command.job.options.method == RedshiftMethod::kRedrock) return;
  for (const char* name : {"--zminfit-npoints", "--cosmics-nsig"}) {
    if (given.has(name)) {
      observer.warn(std::string(name) + " is ignored: only --method redrock follows that rule");
    }
  }
}

}  // namespace fiberloom::cli
