// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/redshift_inputs.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "fiberloom/recipes/flux_unit.hpp"
#include "fiberloom/recipes/redshift/copied_light.hpp"
#include "fiberloom/recipes/redshift/exposure_rows.hpp"
#include "fiberloom/recipes/redshift/exposure_status.hpp"
#include "fiberloom/recipes/redshift/repeated_exposures.hpp"
#include "fiberloom/recipes/redshift/sdss_plates.hpp"
#include "fiberloom/recipes/redshift/target_range.hpp"
#include "fiberloom/redshift/candidate.hpp"
#include "fiberloom/spectrum/gaussian_resolution.hpp"
#include "fiberloom/spectrum/same_wave.hpp"
#include "fiberloom/spectrum/whole_ids.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

std::optional<std::vector<std::int64_t>> own_ids_of(const SpectraReader& file) {
  if (!file.fibermap) return std::nullopt;
  return file.fibermap->integers("TARGETID", kNoTarget);
}

/// TARGETID of each spectrum; numbers of rows where a file does not say it.
std::vector<std::int64_t> ids_of(const SpectraReader& file, const Observer& observer) {
  if (const auto ids = own_ids_of(file)) return *ids;
  observer.warn(file.path() + ": " + (file.fibermap ? "FIBERMAP has no TARGETID" : "no FIBERMAP") +
                ": targets are numbered by their rows");
  std::vector<std::int64_t> rows(file.nspec());
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = static_cast<std::int64_t>(r);
  return rows;
}

redshift::CameraView view_of(const Spectra& s, std::size_t r) {
  const std::size_t n = s.nwave(), nd = s.resolution.rows();
  redshift::CameraView out{.wave = s.wave,
                           .flux = std::span(s.flux.row(r), n),
                           .ivar = std::span(s.ivar.row(r), n),
                           .mask = {},
                           .resolution = {}};
  if (!s.mask.empty()) out.mask = {s.mask.row(r), n};
  if (!s.resolution.empty()) {
    out.resolution = std::span<const float>(s.resolution.data() + r * nd * n, nd * n);
    out.ndiag = nd;
  }
  return out;
}

}  // namespace

RedshiftInputs::RedshiftInputs(const RedshiftJob& job, const Observer& observer)
    : sigma_aa_(job.options.sigma_aa), as_redrock_(job.options.method == RedshiftMethod::kRedrock) {
  open_files(job, observer);
  index_targets(job, observer);
  find_forbidden(observer);
  find_skies();
  find_grids();
  make_tables(observer);
}

void RedshiftInputs::open_files(const RedshiftJob& job, const Observer& observer) {
  const AndMask and_mask = job.options.use_and_mask ? AndMask::kUse : AndMask::kIgnore;
  for (const SdssInput& input : sdss_inputs(job, observer)) {
    SpectraReader& file = files_.emplace_back(input.path, job.verify, and_mask);
    name_targets(input, file);
    if (file.fibermap) require_whole_ids(*file.fibermap, file.path());
    if (file.exp_fibermap) require_whole_ids(*file.exp_fibermap, file.path(), "EXP_FIBERMAP");
    if (!file.has_own_waves()) continue;
    group_ = 1;
    if (job.model.empty()) continue;
    throw Error(Status::kUsage, "--model: each fibre of " + input.path +
                                    " has wavelengths of its own; expected none of its kind");
  }
  tell_of_and_mask(job, files_, observer);
  header_ = files_.front().header();
  FluxUnits units;
  bool all_have_width = true;
  for (const SpectraReader& file : files_) {
    keep_common_group(file.header(), header_);
    for (const SpectraReader::Camera& camera : file.cameras()) {
      units.add(file.path(), camera.unit);
      all_have_width = all_have_width && (camera.ndiag > 0 || camera.has_sigma);
    }
  }
  units.tell(observer);
  if (!as_redrock_) join_grids();  // redrock's are of the same bits, or two
  if (sigma_aa_ > 0 && all_have_width) {
    observer.warn("--resolution-sigma is ignored: all spectra have RESOLUTION or SIGMA");
  }
}

void RedshiftInputs::join_grids() {
  std::vector<const std::vector<double>*> known;
  for (SpectraReader& file : files_) {
    for (std::size_t c = 0; c < file.cameras().size() && !file.has_own_waves(); ++c) {
      const std::vector<double>& wave = file.cameras()[c].wave;
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const auto* other) { return same_grid(*other, wave); });
      if (same == known.end()) {
        known.push_back(&wave);
      } else if (**same != wave) {
        file.take_grid(c, **same);
      }
    }
  }
}

void RedshiftInputs::index_targets(const RedshiftJob& job, const Observer& observer) {
  const std::unordered_set<std::int64_t> wanted(job.target_ids.begin(), job.target_ids.end());
  std::size_t repeated = 0;
  require_comparable_ids(files_);
  require_different_exposures(files_);
  unsure_exposures_ = unsure_exposures(files_);
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const std::vector<std::int64_t> all = ids_of(files_[f], observer);
    const std::vector<std::int64_t> kept = in_range(unique_of(all), job, files_[f].path());
    const std::unordered_set<std::int64_t> here(kept.begin(), kept.end());
    std::unordered_set<std::int64_t> in_file;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (!here.contains(all[r]) || (!wanted.empty() && !wanted.contains(all[r]))) continue;
      if (!in_file.insert(all[r]).second && files_[f].exp_fibermap) ++repeated;
      asked_.add(all[r], {f, r});
    }
  }
  if (repeated > 0) {
    observer.warn(
        print("%zu rows of coadds repeat a TARGETID: they are taken for exposures of one "
              "target",
              repeated));
  }
  warn_of_missing(job.target_ids, asked_.place, observer);
  if (asked_.ids.empty()) {
    throw Error(kFiberRange, files_.front().path() + ": none of the targets asked for");
  }
}

void RedshiftInputs::Targets::add(std::int64_t id, At at) {
  const auto [found, is_new] = place.emplace(id, ids.size());
  if (is_new) {
    ids.push_back(id);
    rows.emplace_back();
  }
  rows[found->second].push_back(at);
}

void RedshiftInputs::find_skies() {
  if (group_ == 1) return;  // wavelengths that no other spectrum has tell nothing of a camera
  Targets all;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const auto ids = own_ids_of(files_[f]);
    if (!ids) continue;
    const std::vector<std::uint32_t> bits = zwarn_of(*files_[f].fibermap);
    for (std::size_t r = 0; r < bits.size(); ++r) {
      if ((bits[r] & redshift::zwarn::kSky) != 0) all.add((*ids)[r], {f, r});
    }
  }
  const std::size_t count = std::min(all.ids.size(), kMostSkies);
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t from = k * all.ids.size() / count;
    for (const At& at : all.rows[from]) skies_.add(all.ids[from], at);
  }
}

void RedshiftInputs::find_forbidden(const Observer& observer) {
  status_ = status_of_exposures(files_);
  if (as_redrock_) return;
  std::size_t spectra = 0;
  for (const Rows& rows : asked_.rows) {
    for (const At& at : rows) {
      for (const SpectraReader::Camera& camera : files_[at.file].cameras()) {
        spectra += is_forbidden(status_[at.file][at.row], camera.name);
      }
    }
  }
  if (spectra > 0) observer.info(print("FIBERSTATUS keeps %zu spectra out", spectra));
}

void RedshiftInputs::find_grids() {
  std::map<std::string, int> used;
  for (const SpectraReader& file : files_) {
    for (const SpectraReader::Camera& camera : file.cameras()) {
      const bool known = !file.has_own_waves() &&
                         std::any_of(grids_.begin(), grids_.end(),
                                     [&](const Grid& g) { return g.wave == camera.wave; });
      if (known) continue;
      const int n = ++used[camera.name];
      grids_.push_back({camera.name + (n > 1 ? std::to_string(n) : ""), camera.wave});
    }
  }
}

std::pair<std::size_t, std::size_t> RedshiftInputs::targets_of(std::size_t g) const noexcept {
  return {g * group_, std::min((g + 1) * group_, asked_.ids.size())};
}

void RedshiftInputs::verify() const {
  for (const SpectraReader& file : files_) file.verify();
}

TargetGroup RedshiftInputs::read(std::size_t group) const {
  const auto [first, last] = targets_of(group);
  return read_some(asked_, first, last - first);
}

TargetGroup RedshiftInputs::read_skies(std::size_t first, std::size_t most) const {
  return read_some(skies_, first, std::min(most, skies() - first));
}

TargetGroup RedshiftInputs::read_some(const Targets& targets, std::size_t first,
                                      std::size_t count) const {
  const auto ids = std::span(targets.ids).subspan(first, count);
  const auto of_target = std::span(targets.rows).subspan(first, count);
  TargetGroup out;
  std::vector<std::vector<std::size_t>> rows(files_.size());
  for (const Rows& some : of_target) {
    for (const At& at : some) rows[at.file].push_back(at.row);
  }
  std::vector<std::vector<const Spectra*>> cameras(files_.size());
  for (std::size_t f = 0; f < files_.size(); ++f) {
    std::sort(rows[f].begin(), rows[f].end());
    const bool one_by_one = files_[f].has_own_waves();
    const std::size_t at_once = one_by_one ? 1 : rows[f].size();
    for (std::size_t c = 0; c < files_[f].cameras().size(); ++c) {
      for (std::size_t r = 0; r < rows[f].size(); r += at_once) {
        const auto some = std::span(rows[f]).subspan(r, at_once);
        Spectra& spectra = out.spectra.emplace_back(files_[f].read(c, some));
        if (!as_redrock_) leave_out(status_[f], some, files_[f].cameras()[c].name, spectra);
        if (spectra.resolution.empty() && sigma_aa_ > 0) {
          const Array2D<double> sigma(spectra.nspec(), spectra.nwave(), sigma_aa_);
          spectra.resolution = gaussian_resolution(spectra.wave, sigma);
        }
        cameras[f].push_back(&spectra);
      }
    }
  }
  const bool unsure = !unsure_exposures_.empty();
  for (std::size_t t = 0; t < ids.size(); ++t) {
    redshift::TargetView& view = out.targets.emplace_back();
    view.id = ids[t];
    std::vector<SeenLight> seen;
    for (const At& at : of_target[t]) {
      const std::vector<std::size_t>& of_file = rows[at.file];
      const auto place = static_cast<std::size_t>(
          std::lower_bound(of_file.begin(), of_file.end(), at.row) - of_file.begin());
      const bool one_by_one = files_[at.file].has_own_waves();
      const std::size_t r = one_by_one ? 0 : place;
      for (std::size_t c = 0; c < files_[at.file].cameras().size(); ++c) {
        const Spectra* s = cameras[at.file][one_by_one ? c * of_file.size() + place : c];
        view.spectra.push_back(view_of(*s, r));
        if (unsure) {
          seen.push_back(
              light_of(files_[at.file].path(), unsure_exposures_[at.file][at.row], *s, r));
        }
      }
    }
    if (unsure) require_no_copies(view.id, seen);
  }
  return out;
}

void RedshiftInputs::make_tables(const Observer& observer) {
  const bool coadds = std::none_of(files_.begin(), files_.end(), has_exposures);
  const bool maps = std::all_of(files_.begin(), files_.end(), [](const SpectraReader& f) {
    return f.fibermap && f.fibermap->find("TARGETID") != nullptr;
  });
  zwarn.assign(asked_.ids.size(), 0U);
  if (maps && coadds) stack_tables(observer);
  if (maps && !coadds) coadd_tables(observer);
  std::vector<const Table*> scores;
  std::vector<std::vector<ScoreRow>> rows(asked_.ids.size());
  for (const SpectraReader& file : files_) scores.push_back(file.scores ? &*file.scores : nullptr);
  for (std::size_t t = 0; t < asked_.ids.size(); ++t) {
    for (const At& at : asked_.rows[t]) rows[t].push_back({at.file, at.row});
  }
  tsnr2 = sum_tsnr2(scores, asked_.ids, rows);
}

/// Of coadds: the first row of each target, all exposures of all files.
void RedshiftInputs::stack_tables(const Observer& observer) {
  std::vector<std::vector<std::size_t>> first(files_.size());
  std::vector<std::pair<std::size_t, std::size_t>> place;  // file, row of its part
  for (std::size_t t = 0; t < asked_.ids.size(); ++t) {
    for (const At& at : asked_.rows[t]) {
      zwarn[t] |= zwarn_of(files_[at.file].fibermap->take(std::vector{at.row})).front();
    }
    const At& at = asked_.rows[t].front();
    place.emplace_back(at.file, first[at.file].size());
    first[at.file].push_back(at.row);
  }
  std::vector<Table> maps, exposures;
  FibermapColumns exposure_columns("EXP_FIBERMAP");
  std::vector<std::size_t> offset;
  std::size_t rows = 0;
  const std::unordered_set<std::int64_t> wanted(asked_.ids.begin(), asked_.ids.end());
  for (std::size_t f = 0; f < files_.size(); rows += first[f++].size()) {
    offset.push_back(rows);
    maps.push_back(files_[f].fibermap->take(first[f]));
    columns_.add(files_[f].path(), maps.back());
    if (!files_[f].exp_fibermap) continue;
    const auto ids = files_[f].exp_fibermap->integers("TARGETID", kNoTarget);
    std::vector<std::size_t> kept;
    for (std::size_t r = 0; ids && r < ids->size(); ++r) {
      if (wanted.contains((*ids)[r])) kept.push_back(r);
    }
    exposures.push_back(files_[f].exp_fibermap->take(kept));
    exposure_columns.add(files_[f].path(), exposures.back());
  }
  std::vector<std::size_t> order;
  for (const auto& [file, row] : place) order.push_back(offset[file] + row);
  fibermap = stack(maps).take(order);
  columns_.tell({&*fibermap}, observer);
  if (exposures.empty()) return;
  exp_fibermap = stack(exposures);
  exposure_columns.tell({&*exp_fibermap}, observer);
}

/// Of exposures: one row a target, as a coadd of them has it.
void RedshiftInputs::coadd_tables(const Observer& observer) {
  std::vector<std::vector<std::size_t>> rows(files_.size());
  std::vector<std::vector<At>> used(asked_.ids.size());
  std::set<Exposure> seen;
  std::vector<std::vector<Exposure>> exposures_of_file;
  std::vector<Table> maps;
  std::vector<std::vector<std::int64_t>> status;  // of the rows that stand for an exposure
  for (const SpectraReader& file : files_) {
    Table map = *file.fibermap;
    map.heap.clear();
    add_exposure_columns(file.header(), map);
    columns_.add(file.path(), map);
    exposures_of_file.push_back(exposures_of(file));
    status.emplace_back(map.rows, 0);
    maps.push_back(std::move(map));
  }
  for (std::size_t t = 0; t < asked_.ids.size(); ++t) {
    for (const At& at : asked_.rows[t]) {
      const Exposure& exposure = exposures_of_file[at.file][at.row];
      if (exposure.expid >= 0 && files_.size() > 1) {
        if (!seen.insert(exposure).second) continue;  // another camera's file
      }
      used[t].push_back({at.file, at.row});
      status[at.file][at.row] = status_[at.file][at.row];
    }
  }
  for (std::size_t f = 0; f < maps.size(); ++f) join_status(status[f], maps[f]);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> place;
  for (std::size_t t = 0; t < asked_.ids.size(); ++t) {
    for (const At& at : used[t]) rows[at.file].push_back(at.row);
  }
  std::size_t n = 0;
  std::vector<Table> parts;
  for (std::size_t f = 0; f < files_.size(); ++f) {
    std::sort(rows[f].begin(), rows[f].end());
    for (const std::size_t r : rows[f]) place[{f, r}] = n++;
    parts.push_back(maps[f].take(rows[f]));
  }
  std::vector<std::vector<std::size_t>> rows_of(asked_.ids.size());
  for (std::size_t t = 0; t < asked_.ids.size(); ++t) {
    for (const At& at : used[t]) rows_of[t].push_back(place.at({at.file, at.row}));
  }
  const Table exposures = stack(parts);
  check_exposure_rows(exposures, rows_of, observer);
  CoaddedFibermap coadded = coadd_fibermap(exposures, rows_of);
  fibermap = std::move(coadded.targets);
  exp_fibermap = std::move(coadded.exposures);
  columns_.tell({&exposures, &*fibermap, &*exp_fibermap}, observer);
  zwarn = zwarn_of(*fibermap);
}

}  // namespace fiberloom
