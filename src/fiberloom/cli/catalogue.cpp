// SPDX-License-Identifier: BSD-3-Clause
// `fiberloom catalogue`: files into a database, and what it knows out of it.
#include <memory>

#include "fiberloom/cli/command.hpp"
#include "fiberloom/cli/exit_codes.hpp"
#include "fiberloom/cli/one_process.hpp"
#include "fiberloom/recipes/catalogue/load_files.hpp"
#include "fiberloom/recipes/catalogue/query_catalogue.hpp"
#include "fiberloom/recipes/catalogue/site.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/http/server.hpp"
#include "loom/program/console.hpp"
#include "loom/program/standard_output.hpp"
#include "loom/runtime/executors.hpp"

namespace fiberloom::cli {
namespace {

constexpr const char* kDefault = "catalogue.sqlite";

std::string codes_of(bool reads, bool writes) {
  return exit_codes_of({.reads = reads,
                        .writes = writes,
                        .more = {Status::kSomeFailed, Status::kInterrupted, kBadQuery, kNewerSchema,
                                 kCatalogueBusy, kServerGone}});
}

void add_database_option(Options& options, std::string& database, double& wait) {
  database = kDefault;
  options.add("--db", &database,
              "a SQLite file, or a PostgreSQL server: postgresql://user@host/name",
              {.value = "PATH or URL", .shows_default = true});
  options.add("--wait", &wait, "seconds to wait for the locks of others",
              {.interval = at_least(0), .shows_default = true});
}

struct LoadCommand {
  LoadJob job;
  RankChoice ranks;
  LogOptions log;
};

int run_load(const LoadCommand& c) {
  if (!part_of_rank(c.ranks, "one process loads files as fast as the database takes them").works) {
    return 0;
  }
  Console console(c.log.threshold());
  const Observer observer = console.observer();
  const LoadSummary s = load_files(c.job, observer);
  observer.info(
      print("%zu files: %zu redshifts of %zu groups, %zu files of spectra, %zu frames, "
            "quality of %zu exposures; %zu had not changed",
            s.files, s.redshifts, s.groups, s.spectra, s.frames, s.exposures, s.unchanged));
  if (s.failed.empty()) return 0;
  throw Error(Status::kSomeFailed, print("%zu of %zu files could not be loaded", s.failed.size(),
                                         s.failed.size() + s.files));
}

Command make_load() {
  Command command{.name = "load",
                  .text = "put redshifts, spectra, frames and quality into a catalogue",
                  .footer = "Example:\n  fiberloom catalogue load redux --db catalogue.sqlite\n\n" +
                            codes_of(true, true)};
  const auto state = std::make_shared<LoadCommand>();
  Options& options = command.options;
  options.add("FILE", &state->job.inputs,
              "redrock-*, coadd-*, spectra-*, *frame-* and exposure-qa-*.fits, or folders of them",
              {.required = true});
  add_database_option(options, state->job.database, state->job.wait_s);
  options.flag("--again", &state->job.again, "load also what has not changed since");
  add_verify_option(options, state->job.verify);
  options.group("Running");
  add_rank_option(options, state->ranks);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_load(*state); };
  return command;
}

/// What `query` and `export` select by.
struct SelectionWords {
  std::string cone, z;
  std::vector<std::string> columns, classes, targetids, tileids;
};

void add_selection_options(Options& options, catalogue::Selection& s, SelectionWords& words) {
  options.group("Selecting");
  options.add(
      "--from", &s.from,
      "zbest (one row a target), zpix, ztile, candidate, exposure, frame, tile, fiberassign, "
      "photometry, quality, spgroup",
      {.value = "TABLE", .shows_default = true});
  options.add("--columns", &words.columns, "a,b,c, or * for all",
              {.value = "NAMES", .delimiter = ',', .one_a_time = true});
  options.add("--cone", &words.cone, "targets around a place, nearest first; degrees and arcsec",
              {.value = "RA,DEC,ARCSEC"});
  options.add("--class", &words.classes, "SPECTYPE: GALAXY, QSO, STAR",
              {.value = "CLASS", .delimiter = ',', .one_a_time = true});
  options.add("--z", &words.z, "redshifts; either end may be left out", {.value = "MIN,MAX"});
  options.add("--targetid", &words.targetids, "targets",
              {.value = "ID", .delimiter = ',', .one_a_time = true});
  options.add("--tileid", &words.tileids, "tiles",
              {.value = "ID", .delimiter = ',', .one_a_time = true});
  options.flag("--good", &s.good, "ZWARN 0 alone");
  options.add("--limit", &s.limit, "rows at most; 0: all",
              {.interval = at_least(0), .shows_default = true});
}

void take_words(catalogue::Selection& s, const SelectionWords& words) {
  s.columns = words.columns;
  s.classes = words.classes;
  if (!words.cone.empty()) s.cone = catalogue::parse_cone(words.cone);
  if (!words.z.empty()) catalogue::parse_z_range(words.z, s);
  s.targetids = catalogue::parse_numbers("--targetid", words.targetids);
  s.tileids = catalogue::parse_numbers("--tileid", words.tileids);
}

struct QueryCommand {
  QueryJob job;
  SelectionWords words;
  std::string output = "-";
  LogOptions log;
};

/// SQL and options that would change it are a mistake, not nothing.
void check_sql(const Given& given, const QueryCommand& c) {
  if (!given.has("SQL")) return;
  if (c.job.sql.empty()) throw Error(Status::kUsage, "SQL: expected a query, found no text");
  for (const char* name : {"--from", "--columns", "--cone", "--class", "--z", "--targetid",
                           "--tileid", "--good", "--limit"}) {
    if (given.has(name)) {
      throw Error(Status::kUsage, std::string(name) + ": does not go together with SQL");
    }
  }
}

int run_query(const Given& given, QueryCommand& c) {
  check_sql(given, c);
  take_words(c.job.selection, c.words);
  Console console(c.log.threshold());
  const bool to_file = c.output != "-";
  c.job.output = c.output;
  std::string all;
  const TextSink sink = [&](std::string_view text) {
    all += text;
    if (to_file || all.size() < (1U << 16)) return;
    put(all);
    all.clear();
  };
  if (to_file) check_answer(c.job);
  (void)query_catalogue(c.job, sink, console.observer());
  if (c.job.format == AnswerFormat::kFits || c.job.format == AnswerFormat::kParquet) return 0;
  if (to_file) {
    const FolderOf folder(c.output);
    write_whole(c.output, all, c.job.overwrite);
  } else {
    put(all);
  }
  return 0;
}

Command make_query() {
  Command command{
      .name = "query",
      .text = "what a catalogue knows, by SQL or by options",
      .footer =
          "Examples:\n"
          "  fiberloom catalogue query --cone 150.1,2.2,30 --good\n"
          "  fiberloom catalogue query \"SELECT spectype, count(*) FROM zbest GROUP BY spectype\"\n"
          "  fiberloom catalogue query --class QSO --z 2.1, --format fits -o quasars.fits\n\n" +
          codes_of(true, true)};
  const auto state = std::make_shared<QueryCommand>();
  Options& options = command.options;
  options.add("SQL", &state->job.sql,
              "one SELECT; nothing can be written. None: what the options select");
  add_database_option(options, state->job.database, state->job.wait_s);
  options.choice<AnswerFormat>("--format", &state->job.format,
                               {{"table", AnswerFormat::kTable},
                                {"csv", AnswerFormat::kCsv},
                                {"json", AnswerFormat::kJson},
                                {"fits", AnswerFormat::kFits},
                                {"parquet", AnswerFormat::kParquet}},
                               "of the answer");
  options.add("-o,--output", &state->output, "file; - is standard output",
              {.value = "FILE", .shows_default = true});
  add_no_clobber_option(options, state->job.overwrite);
  options.add("--seconds", &state->job.seconds, "give the query up after so many; 0: never",
              {.interval = at_least(0), .shows_default = true});
  add_selection_options(options, state->job.selection, state->words);
  options.group("Running");
  add_log_options(options, state->log);
  command.run = [state](const Invocation& call) { return run_query(call.given, *state); };
  return command;
}

int run_export(QueryCommand& c) {
  take_words(c.job.selection, c.words);
  Console console(c.log.threshold());
  const std::size_t rows = export_catalogue(c.job, console.observer());
  console.observer().info(print("%zu rows -> %s", rows, c.job.output.c_str()));
  return 0;
}

Command make_export() {
  Command command{.name = "export",
                  .text = "a catalogue of redshifts as the field's FITS file, or as Parquet",
                  .footer =
                      "Examples:\n  fiberloom catalogue export --from ztile -o ztile-all.fits\n"
                      "  fiberloom catalogue export --format parquet -o zall.parquet\n\n" +
                      codes_of(true, true)};
  const auto state = std::make_shared<QueryCommand>();
  Options& options = command.options;
  state->job.format = AnswerFormat::kFits;
  options.add("-o,--output", &state->job.output, "file to write, HDU ZCATALOG",
              {.value = "FILE", .required = true});
  options.choice<AnswerFormat>("--format", &state->job.format,
                               {{"fits", AnswerFormat::kFits}, {"parquet", AnswerFormat::kParquet}},
                               "of the file; Parquet has no lists: COEFF_0, COEFF_1 ...");
  add_no_clobber_option(options, state->job.overwrite);
  add_database_option(options, state->job.database, state->job.wait_s);
  add_selection_options(options, state->job.selection, state->words);
  options.group("Running");
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_export(*state); };
  return command;
}

struct ServeCommand {
  SiteOptions site;
  std::uint64_t port = 8000;
  std::size_t threads = 0;
  LogOptions log;
};

int run_serve(const ServeCommand& c) {
  Console console(c.log.threshold());
  const Observer observer = console.observer();
  const auto executor = make_executor(c.threads);
  CatalogueSite site(c.site, *executor, {observer.message, {}, observer.stop_requested});
  http::Server server({.port = static_cast<std::uint16_t>(c.port)},
                      [&](const http::Request& request) { return site.answer(request); });
  // On standard output, at once and alone: a script that starts this one waits for it.
  put("http://127.0.0.1:" + std::to_string(server.port()) + "/\n");
  server.run(observer.stop_requested);
  return 0;
}

Command make_serve() {
  Command command{
      .name = "serve",
      .text = "show a catalogue in a browser of this machine",
      .footer =
          "Example:\n  fiberloom catalogue serve --db catalogue.sqlite --port 8000\n\n"
          "It listens on 127.0.0.1 alone, until Ctrl-C or SIGTERM. No page can write.\n\n" +
          exit_codes_of({.reads = true,
                         .writes = true,
                         .more = {kNewerSchema, kCatalogueBusy, kServerGone}})};
  const auto state = std::make_shared<ServeCommand>();
  Options& options = command.options;
  add_database_option(options, state->site.database, state->site.wait_s);
  options.add("--port", &state->port, "port to listen on; 0: one that is free",
              {.interval = between(0, 65535), .shows_default = true});
  options.add("--seconds", &state->site.seconds, "that the query of a page may take",
              {.interval = above(0), .shows_default = true});
  options.group("Running");
  add_thread_option(options, state->threads);
  add_log_options(options, state->log);
  command.run = [state](const Invocation&) { return run_serve(*state); };
  return command;
}

}  // namespace

Command make_catalogue() {
  return {.name = "catalogue",
          .text = "a database of what was found",
          .parts = {make_load(), make_query(), make_export(), make_serve()}};
}

}  // namespace fiberloom::cli
