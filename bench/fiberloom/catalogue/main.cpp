// SPDX-License-Identifier: BSD-3-Clause
// What a catalogue costs: redshifts of tiles from files into a database, again without a change,
// and answers.
//   bench_catalogue [--targets 1000000] [--group 5000] [--db PATH or URL] [--folder DIR] [--keep]
// Prints seconds and CPU seconds of loading, milliseconds of answers (median and worst of 200), and
// how large the database is.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fiberloom/catalogue/catalogue.hpp"
#include "fiberloom/catalogue/selection.hpp"
#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/recipes/catalogue/load_files.hpp"
#include "loom/base/print.hpp"
#include "loom/base/rng.hpp"
#include "loom/program/run_program.hpp"
#include "loom/runtime/usage.hpp"

namespace {

using namespace fiberloom;
namespace fs = std::filesystem;
constexpr const char* kName = "bench_catalogue";
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// TARGETIDs look random, as those of a survey do.
std::int64_t target_id(std::size_t i) {
  return static_cast<std::int64_t>((i * 0x9E3779B97F4A7C15ULL) >> 3);
}
double ra_of(std::size_t i) { return 360 * CounterRng(1, 0).uniform(i); }
double dec_of(std::size_t i) { return 60 * CounterRng(1, 1).uniform(i) - 20; }

/// A file with the columns that `redshift` writes.
void write_group(const std::string& path, std::size_t first, std::size_t n, int tile) {
  const CounterRng rng(1, 2);
  std::vector<std::int64_t> ids, zwarn;
  std::vector<double> z, ra, dec;
  std::vector<std::int32_t> tiles(n, tile), fibers;
  std::vector<std::string> types, subtypes(n, "");
  constexpr const char* kTypes[] = {"GALAXY", "QSO", "STAR"};
  for (std::size_t i = first; i < first + n; ++i) {
    ids.push_back(target_id(i)), ra.push_back(ra_of(i)), dec.push_back(dec_of(i));
    z.push_back(3 * rng.uniform(i)), zwarn.push_back(i % 10 == 0 ? 4 : 0);
    types.emplace_back(kTypes[i % 3]), fibers.push_back(static_cast<std::int32_t>(i % 5000));
  }
  std::vector<float> some(n);
  for (std::size_t i = 0; i < n; ++i) some[i] = static_cast<float>(rng.uniform(first + i));
  const std::span<const float> f(some);
  const std::span<const std::int64_t> id(ids);
  RedshiftFile file;
  file.header.set("SPGRP", "cumulative");
  file.header.set("SPGRPVAL", 20260101);
  file.header.set("TILEID", tile);
  file.header.set("PETAL", 0);
  file.redshifts.add("TARGETID", id).add("Z", std::span<const double>(z)).add("ZERR", f);
  file.redshifts.add("ZWARN", std::span<const std::int64_t>(zwarn)).add("CHI2", f);
  Column coefficients{.name = "COEFF", .cell = Cell::kFloat32, .width = 10};
  coefficients.data.resize(n * 10 * sizeof(float), 0x3f);
  file.redshifts.columns.push_back(coefficients);
  file.redshifts.add("NPIXELS", std::span<const std::int32_t>(fibers));
  file.redshifts.add("SPECTYPE", std::span<const std::string>(types), 6);
  file.redshifts.add("SUBTYPE", std::span<const std::string>(subtypes), 20).add("DELTACHI2", f);
  Table map;
  map.add("TARGETID", id).add("TARGET_RA", std::span<const double>(ra), "deg");
  map.add("TARGET_DEC", std::span<const double>(dec), "deg");
  map.add("TILEID", std::span<const std::int32_t>(tiles));
  map.add("FIBER", std::span<const std::int32_t>(fibers));
  for (const char* name : {"COADD_EXPTIME", "EBV", "FLUX_G", "FLUX_R", "FLUX_Z", "FLUX_W1",
                           "FLUX_W2", "MEAN_DELTA_X", "RMS_DELTA_X", "MEAN_FIBER_RA"}) {
    map.add(name, f);
  }
  file.fibermap = std::move(map);
  file.tsnr2.emplace();
  file.tsnr2->add("TARGETID", id);
  for (const char* kind :
       {"GPBDARK", "ELG", "GPBBRIGHT", "LYA", "BGS", "GPBBACKUP", "QSO", "LRG"}) {
    for (const char* camera : {"_B", "_R", "_Z", ""}) {
      file.tsnr2->add(std::string("TSNR2_") + kind + camera, f);
    }
  }
  write_redshifts(path, file, Overwrite::kYes);
}

template <class Ask>
void time_answers(const char* what, const Ask& ask) {
  constexpr std::size_t kTimes = 200;
  std::vector<double> ms;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < kTimes; ++i) {
    const auto start = Clock::now();
    rows += ask(i);
    ms.push_back(1e3 * since(start));
  }
  std::sort(ms.begin(), ms.end());
  std::printf("%-34s median %7.3f ms, worst %7.3f ms, %.1f rows\n", what, ms[kTimes / 2], ms.back(),
              static_cast<double>(rows) / kTimes);
}

std::size_t count_rows(db::Connection& connection, const db::Query& query) {
  std::size_t rows = 0;
  connection.read(query, {.columns = {}, .row = [&](auto) {
                            ++rows;
                            return true;
                          }});
  return rows;
}

void time_all_answers(const std::string& database, std::size_t targets) {
  const catalogue::Catalogue catalogue(database, {db::Access::kRead, 10});
  const auto ask = [&](const catalogue::Selection& s) {
    return count_rows(catalogue.connection(), catalogue::query_of(s));
  };
  const auto some = [&](std::size_t i) { return i * 7919 % targets; };
  time_answers("a target", [&](std::size_t i) {
    catalogue::Selection s;
    s.targetids = {target_id(some(i))};
    return ask(s);
  });
  for (const double arcsec : {5.0, 60.0, 600.0}) {
    const std::string what = "a cone of " + std::to_string(static_cast<int>(arcsec)) + " arcsec";
    time_answers(what.c_str(), [&](std::size_t i) {
      catalogue::Selection s;
      s.cone = catalogue::Cone{ra_of(some(i)), dec_of(some(i)), arcsec};
      return ask(s);
    });
  }
  const auto start = Clock::now();
  const std::size_t classes =
      count_rows(catalogue.connection(),
                 {.sql = "SELECT spectype, count(*), avg(z) FROM zbest GROUP BY spectype"});
  std::printf("%-34s %zu classes in %.2f s\n", "all of zbest by class", classes, since(start));
}

std::uintmax_t size_of(const std::string& database) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(db::sqlite_path(database), none);
  return none ? 0 : size;
}

struct Setting {
  std::size_t targets = 1000000, group = 5000;
  std::string database, folder = (fs::temp_directory_path() / "bench_catalogue").string();
  bool keep = false;
};

void measure(const Setting& setting) {
  const std::string& folder = setting.folder;
  fs::create_directories(folder + "/files");
  std::string database = setting.database;
  if (database.empty()) {
    database = folder + "/catalogue.sqlite";
    fs::remove(database);
  }
  int tile = 1;
  for (std::size_t first = 0; first < setting.targets; first += setting.group, ++tile) {
    write_group(print("%s/files/redrock-0-%06d.fits", folder.c_str(), tile), first,
                std::min(setting.group, setting.targets - first), tile);
  }
  const LoadJob job{.inputs = {folder + "/files"}, .database = database};
  for (const char* what : {"load", "load again, nothing changed"}) {
    const auto start = Clock::now();
    const double cpu = cpu_seconds();
    const LoadSummary summary = load_files(job, {});
    std::printf("%-34s %.2f s, %.2f CPU-s, %zu rows of %zu files\n", what, since(start),
                cpu_seconds() - cpu, summary.redshifts, summary.files);
  }
  std::printf("%-34s %.2f GB\n", "the file", static_cast<double>(size_of(database)) / 1e9);
  time_all_answers(database, setting.targets);
}

Command make_command() {
  const auto setting = std::make_shared<Setting>();
  Command command{.name = kName, .text = "loading and asking a catalogue"};
  Options& options = command.options;
  const Interval some{.low = 1};
  options.add("--targets", &setting->targets, "redshifts",
              {.interval = some, .shows_default = true});
  options.add("--group", &setting->group, "of them in a file",
              {.interval = some, .shows_default = true});
  options.add("--db", &setting->database, "path or URL; none: a file in --folder");
  options.add("--folder", &setting->folder, "for the files", {.shows_default = true});
  options.flag("--keep", &setting->keep, "leave the files");
  command.run = [setting](const Invocation&) {
    measure(*setting);
    std::error_code ignored;
    if (!setting->keep) fs::remove_all(setting->folder, ignored);
    return 0;
  };
  return command;
}

}  // namespace

int main(int argc, char** argv) { return loom::run_program(kName, argc, argv, make_command); }
