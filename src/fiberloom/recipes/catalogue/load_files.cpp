// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/catalogue/load_files.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>

#include "fiberloom/catalogue/catalogue.hpp"
#include "fiberloom/catalogue/errors.hpp"
#include "fiberloom/formats/file_tables.hpp"
#include "fiberloom/formats/redshift_file.hpp"
#include "fiberloom/recipes/catalogue/details_table.hpp"
#include "fiberloom/recipes/catalogue/group_labels.hpp"
#include "fiberloom/spectrum/whole_ids.hpp"
#include "loom/base/error.hpp"
#include "loom/base/letter_case.hpp"
#include "loom/base/median.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/byte_source.hpp"
#include "loom/files/files_below.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_name.hpp"

namespace fiberloom {
namespace {

namespace fs = std::filesystem;
using catalogue::Catalogue;

constexpr std::int64_t kNoTarget = std::numeric_limits<std::int64_t>::min();

using Clock = std::chrono::steady_clock;
/// Files of so long a time are one transaction.
constexpr std::chrono::seconds kTogether{2};

/// Names of what is looked for below a folder; frames first: redshifts may know their exposures
/// better.
constexpr std::array<std::string_view, 8> kLoadable{
    "frame-", "fframe-", "sframe-", "cframe-", "exposure-qa-", "spectra-", "coadd-", "redrock-"};

std::size_t load_rank(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  const auto found = std::find_if(kLoadable.begin(), kLoadable.end(),
                                  [&](std::string_view p) { return name.starts_with(p); });
  return static_cast<std::size_t>(found - kLoadable.begin());
}

void loadable_below(const std::string& folder, std::vector<std::string>& out) {
  const loom::FilesBelow below = loom::files_below(folder);
  if (!below.unreadable.empty()) throw Error(Status::kNotFound, below.unreadable.front());
  std::vector<std::string> found;
  std::copy_if(below.files.begin(), below.files.end(), std::back_inserter(found),
               [](const std::string& path) {
                 return loom::fits::is_fits_name(path) && load_rank(path) < kLoadable.size() &&
                        loom::is_file_or_lost(path);
               });
  std::sort(found.begin(), found.end(), [](const std::string& a, const std::string& b) {
    return std::pair(load_rank(a), a) < std::pair(load_rank(b), b);
  });
  if (found.empty()) {
    throw Error(Status::kNotFound, folder + ": no redrock-*.fits, coadd-*.fits or frames below it");
  }
  out.insert(out.end(), found.begin(), found.end());
}

std::vector<std::string> loadable_files(const LoadJob& job) {
  std::vector<std::string> out;
  for (const std::string& path : job.inputs) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      loadable_below(path, out);
    } else {
      out.push_back(path);
    }
  }
  if (out.empty()) throw Error(Status::kUsage, "catalogue load: no file or folder is named");
  return out;
}

using Figures = std::vector<std::pair<std::string, double>>;

/// Of equal names the first counts, as everywhere.
void add_figure(const std::string& name, double value, Figures& out) {
  const bool known =
      std::any_of(out.begin(), out.end(), [&](const auto& one) { return one.first == name; });
  if (!known) out.emplace_back(name, value);
}

/// Medians over the fibres of a frame of what SCORES say.
Figures medians_of(const Table& scores) {
  Figures out;
  for (const Column& column : scores.columns) {
    if (column.name == "TARGETID" || column.width != 1) continue;
    auto values = scores.column(column.name);  // the first of that name
    if (!values) continue;
    std::erase_if(*values, [](double v) { return !std::isfinite(v); });
    if (values->empty()) continue;
    add_figure(column.name, median_of(*values), out);
  }
  return out;
}

/// One file after the other.
class Loader {
 public:
  Loader(const LoadJob& job, const Observer& observer)
      : job_(job),
        observer_(observer),
        catalogue_(job.database, {db::Access::kWrite, job.wait_s}) {}

  /// What was loaded in the last seconds becomes visible.
  void settle() {
    if (catalogue_.in_many()) catalogue_.end_many();
  }
  /// The same where it has been long enough.
  void settle_now_and_then() {
    if (catalogue_.in_many() && Clock::now() - begun_ > kTogether) settle();
  }

  void load(const std::string& path) {
    if (!catalogue_.in_many()) {
      catalogue_.begin_many();
      begun_ = Clock::now();
    }
    const FileTables file = read_file_tables(path, job_.verify);
    // what is of another target in a catalogue, nobody finds again
    if (file.fibermap) require_whole_ids(*file.fibermap, file.path);
    if (file.exp_fibermap) require_whole_ids(*file.exp_fibermap, file.path, "EXP_FIBERMAP");
    switch (file.kind) {
      case FileKind::kRedshifts:
        return load_redshifts(file);
      case FileKind::kCoadd:
      case FileKind::kSpectra:
        return load_spectra(file);
      case FileKind::kFrame:
        return load_frame(file);
      case FileKind::kQuality:
        return load_quality(file);
      default:
        throw Error(
            Status::kMissingHdu,
            path +
                ": neither redshifts nor spectra, a frame or the quality of an exposure; it "
                "seems to be of kind '" +
                name_of(file.kind) + "'");
    }
  }
  LoadSummary summary;

 private:
  void load_redshifts(const FileTables& tables) {
    const catalogue::GroupLabels labels = labels_of(tables.header, tables.fibermap, tables.path);
    require_first_of_group(labels.key(), tables.path);
    const std::vector<catalogue::Location> beside = files_beside(tables.path);
    std::string stamp = stamp_of(tables.path), details;
    for (const auto& [kind, path] : beside) {
      if (kind == "details") details = path;
    }
    if (!details.empty()) stamp += " " + stamp_of(details);
    if (!job_.again && catalogue_.has(labels, absolute_path(tables.path), stamp)) {
      ++summary.unchanged;
      return;
    }
    RedshiftFile file = read_redshifts(tables.path, job_.verify);
    catalogue::RedshiftGroup group{.labels = labels,
                                   .path = absolute_path(tables.path),
                                   .stamp = stamp,
                                   .program = file.header.text("RRVER").value_or(""),
                                   .redshifts = std::move(file.redshifts),
                                   .fibermap = std::move(file.fibermap),
                                   .exp_fibermap = std::move(file.exp_fibermap),
                                   .tsnr2 = std::move(file.tsnr2),
                                   .candidates = std::move(file.candidates),
                                   .locations = beside};
    if (group.exp_fibermap) require_whole_ids(*group.exp_fibermap, tables.path, "EXP_FIBERMAP");
    if (!group.candidates && !details.empty() && can_read_details()) {
      group.candidates = details_table(details, *group.redshifts.integers("TARGETID", kNoTarget));
    }
    if (group.candidates) require_whole_ids(*group.candidates, tables.path, "CANDIDATES");
    tell_strangers(group);
    summary.redshifts += catalogue_.put(group);
    ++summary.groups;
  }

  /// Targets of which FIBERMAP does not say a place on the sky: a cone does not find them.
  void tell_strangers(const catalogue::RedshiftGroup& group) const {
    const auto targets = group.redshifts.integers("TARGETID", kNoTarget);
    if (!targets || targets->empty()) return;
    for (const char* name : {"TARGET_RA", "TARGET_DEC"}) {
      if (group.fibermap && group.fibermap->column(name)) continue;
      observer_.warn(print("%s: no FIBERMAP with numbers %s: %zu targets get no place on the sky",
                           group.path.c_str(), name, targets->size()));
      return;
    }
    auto known =
        group.fibermap->integers("TARGETID", kNoTarget).value_or(std::vector<std::int64_t>());
    std::sort(known.begin(), known.end());
    const auto strangers = std::count_if(targets->begin(), targets->end(), [&](std::int64_t id) {
      return !std::binary_search(known.begin(), known.end(), id);
    });
    if (strangers == 0) return;
    observer_.warn(
        print("%s: FIBERMAP has no row of %td of %zu targets: they get no place on the sky",
              group.path.c_str(), strangers, targets->size()));
  }

  /// A group's redshifts are replaced as a whole: of two files of one group that are named
  /// together, parts of a tile say, the second would take the place of the first.
  void require_first_of_group(const std::string& key, const std::string& path) {
    const auto [known, is_new] = group_files_.emplace(key, path);
    if (is_new || file_identity(known->second) == file_identity(path)) return;
    throw Error(Status::kUsage, path + ": redshifts of the same group as " + known->second + " (" +
                                    key + "), expected one file a group; not loaded");
  }

  void load_spectra(const FileTables& tables) {
    catalogue_.put(
        catalogue::SpectraGroup{.labels = labels_of(tables.header, tables.fibermap, tables.path),
                                .fibermap = tables.fibermap,
                                .exp_fibermap = tables.exp_fibermap,
                                .location = {tables.kind == FileKind::kCoadd ? "coadd" : "spectra",
                                             absolute_path(tables.path)}});
    ++summary.spectra;
  }

  void load_frame(const FileTables& tables) {
    const std::string name = fs::path(tables.path).filename().string();
    const std::string camera = camera_of(tables);
    const std::string stamp = stamp_of(tables.path);
    const std::string kind = name.substr(0, name.find('-'));
    catalogue::FrameRecord frame{
        .kind = kind.ends_with("frame") && kind.size() <= 6 ? kind : "frame",
        .path = absolute_path(tables.path),
        .stamp = stamp,
        .camera = camera,
        .nspec = static_cast<std::int64_t>(tables.nspec),
        .header = header_table(tables.header),
        .fibermap = tables.fibermap,
        .scores = {}};
    const auto expid = tables.header.integer("EXPID");
    const auto id = expid ? catalogue::frame_id(*expid, camera) : std::nullopt;
    if (!job_.again && id && catalogue_.has_frame(*id, frame.kind, frame.path, stamp)) {
      ++summary.unchanged;
      return;
    }
    catalogue_.put(frame);
    if (tables.scores) {
      catalogue_.put(catalogue::QualityRecord{*expid, frame.kind, camera, camera[1] - '0',
                                              medians_of(*tables.scores)});
    }
    ++summary.frames;
  }

  static std::string camera_of(const FileTables& tables) {
    std::string camera = tables.header.text("CAMERA").value_or("");
    if (camera.empty()) {  // cframe-r0-00000012.fits
      const std::string name = fs::path(tables.path).filename().string();
      const std::size_t dash = name.find('-');
      if (dash != std::string::npos) camera = name.substr(dash + 1, 2);
    }
    return loom::in_small_letters(std::move(camera));
  }

  void load_quality(const FileTables& tables) {
    const auto expid = tables.header.integer("EXPID");
    if (!expid || !tables.petals) {
      throw Error(Status::kMissingKeyword, tables.path + ": no EXPID, or no HDU PETALQA");
    }
    const auto petals = tables.petals->integers("PETAL_LOC", 0);
    for (std::size_t r = 0; r < tables.petals->rows; ++r) {
      catalogue::QualityRecord record{*expid, "exposure-qa", "", petals ? (*petals)[r] : 0, {}};
      for (const Column& column : tables.petals->columns) {
        const double value = number_of(column, r);
        if (column.name != "PETAL_LOC" && column.width == 1 && std::isfinite(value)) {
          add_figure(column.name, value, record.values);
        }
      }
      catalogue_.put(record);
    }
    if (const auto seconds = tables.header.number("EFFTIME"))
      catalogue_.put_effective_time(*expid, *seconds);
    ++summary.exposures;
  }

  const LoadJob& job_;
  const Observer& observer_;
  Clock::time_point begun_{};
  Catalogue catalogue_;
  std::map<std::string, std::string> group_files_;  ///< the file of each group's redshifts
};

}  // namespace

LoadSummary load_files(const LoadJob& job, const Observer& observer) {
  return catalogue::with_exit_codes([&] {
    const std::vector<std::string> files = loadable_files(job);
    if (files.size() == 1) (void)loom::resolve_path(files.front());  // else a catalogue of nothing
    Loader loader(job, observer);
    for (std::size_t i = 0; i < files.size(); ++i) {
      stop_if_asked(observer);
      if (observer.progress) observer.progress("load", i, files.size());
      try {
        loader.load(files[i]);
        ++loader.summary.files;
      } catch (const db::Fault&) {
        throw;  // the database's: all that follow would meet it too
      } catch (const Error& error) {
        if (files.size() == 1) throw;
        loader.summary.failed.push_back(error);
        observer.warn(error.what());
      }
      loader.settle_now_and_then();
    }
    loader.settle();
    if (observer.progress) observer.progress("load", files.size(), files.size());
    return std::move(loader.summary);
  });
}

}  // namespace fiberloom
