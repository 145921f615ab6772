// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom templates`: what templates hold, and making them.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/recipes/template_tools.hpp"
#include "loom/base/error.hpp"
#include "loom/program/standard_output.hpp"

namespace fiberloom::cli {
namespace {

struct TemplatesCommand {
  std::string action;
  std::vector<std::string> files;
  MakeTemplateJob job;
};

int run_templates(const TemplatesCommand& command) {
  if (command.action == "info") {
    for (const std::string& line : describe_templates(command.files)) put(line + "\n");
    return 0;
  }
  if (command.action != "make") {
    throw Error(Status::kUsage, "templates: found '" + command.action + "', expected info or make");
  }
  MakeTemplateJob job = command.job;
  job.spectra = command.files;
  if (job.output.empty() || job.spectra.empty() || job.redshifts.empty()) {
    throw Error(Status::kUsage, "templates make: expected files of spectra, --redshifts and -o");
  }
  put(make_template(job) + "\n");
  return 0;
}

}  // namespace

Command make_templates() {
  Command command{
      .name = "templates",
      .text = "say what templates of redshifts hold, or make one from spectra",
      .footer =
          "Example:\n"
          "  fiberloom templates info rrtemplate-galaxy.fits\n"
          "  fiberloom templates make coadd-0000.fits --redshifts truth-0000.fits --type STAR "
          "-o rrtemplate-star.fits\n\n" +
          exit_codes_of({.reads = true, .matches = true, .writes = true})};
  const auto state = std::make_shared<TemplatesCommand>();
  MakeTemplateJob& job = state->job;
  Options& options = command.options;
  options.add("ACTION", &state->action, "info or make", {.required = true});
  options.add("FILE", &state->files,
              "info: templates, a list or a folder of them, archetype files; none: what redshifts "
              "are fitted "
              "with. make: files of spectra or coadds");
  options.group("Making");
  options.add("-o,--output", &job.output, "template file to write");
  options.add("--redshifts", &job.redshifts,
              "tables REDSHIFTS (with ZWARN 0) or TRUTH with TARGETID, SPECTYPE and Z",
              {.one_a_time = true});
  options.add("--type", &job.spectype, "GALAXY, QSO or STAR", {.shows_default = true});
  options.add("--subtype", &job.subtype, "RRSUBTYP", {.may_be_empty = true});
  options.add("--template-version", &job.version, "VERSION", {.shows_default = true});
  options.choice<redshift::Method>(
      "--method", &job.method, {{"PCA", redshift::Method::kPca}, {"NMF", redshift::Method::kNmf}},
      "principal components, or factors without negative numbers");
  options.add("--nbasis", &job.nbasis, "vectors", {.interval = above(0), .shows_default = true});
  add_no_clobber_option(options, job.overwrite);
  command.run = [state](const Invocation&) { return run_templates(*state); };
  return command;
}

}  // namespace fiberloom::cli
