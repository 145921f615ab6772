// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/find_redshifts.hpp"

#include <algorithm>
#include <future>
#include <map>

#include "fiberloom/recipes/redshift/details_file.hpp"
#include "fiberloom/recipes/redshift/model_spool.hpp"
#include "fiberloom/recipes/redshift/redshift_option_table.hpp"
#include "fiberloom/recipes/redshift/sdss_plates.hpp"
#include "fiberloom/status.hpp"
#include "fiberloom/templates/priors_file.hpp"
#include "fiberloom/templates/template_file.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/files/atomic_file.hpp"

namespace fiberloom {
namespace {

std::vector<redshift::Prior> priors_of(const RedshiftJob& job, const RedshiftInputs& inputs,
                                       const Observer& observer) {
  if (job.priors.empty()) return {};
  const auto known = templates::read_priors(job.priors);
  std::vector<redshift::Prior> out;
  std::size_t missing = 0;
  for (const std::int64_t id : inputs.ids()) {
    const auto found = known.find(id);
    missing += found == known.end();
    out.push_back(found == known.end() ? redshift::Prior{} : found->second);
  }
  if (missing > 0) {
    observer.warn(job.priors + print(": nothing of %zu of %zu targets, which have no prior",
                                     missing, out.size()));
  }
  return out;
}

/// What no table of all targets has: memory holds a row of each target.
void forget_scan(redshift::Candidate& c) {
  c.fine_z = {};
  c.fine_chi2 = {};
}

/// What the table of candidates has beside the best.
void keep_others(std::span<const redshift::Candidate> all, const RedshiftOptions& options,
                 RedshiftRow& row) {
  if ((row.best.zwarn & redshift::zwarn::kNoData) != 0) return;  // all of them say so
  const auto most = static_cast<std::size_t>(std::max(options.candidates, 0));
  const std::size_t kept = has_evidence(options) ? std::min(most, all.size()) : 0;
  for (std::size_t k = 1; k < kept; ++k) {
    row.others.push_back(all[k]);
    forget_scan(row.others.back());
  }
}

}  // namespace

/// What is written group by group.
struct RedshiftSearch::Extras {
  std::vector<std::unique_ptr<FolderOf>> folders;  ///< go again where nothing came into them
  std::vector<ModelSpool> models;                  ///< of each grid; none: not wanted
  std::unique_ptr<DetailsWriter> details;
  std::size_t next = 0;  ///< the group that comes next
};

std::vector<std::string> model_files(const RedshiftJob& job) {
  std::vector<std::string> out;
  if (!templates::falls_back(job.templates)) out = templates::find_templates(job.templates);
  if (job.archetypes.empty()) return out;
  const std::vector<std::string> more = templates::find_archetypes(job.archetypes);
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void warn_of_fallback(const RedshiftJob& job, const Observer& observer) {
  if (templates::falls_back(job.templates)) observer.warn(templates::fallback_note());
}

void warn_of_unused(const TargetFits& fits, const Observer& observer) {
  for (const redshift::Curve& curve : fits.curves) {
    if (!curve.z.empty()) continue;
    observer.warn(curve.fitter->source().full_type() +
                  print(" is not tried: it covers %g-%g Angstrom at none of its redshifts",
                        fits.set->lowest_edge(), fits.set->highest_edge()));
  }
}

RedshiftModels load_models(const RedshiftJob& job) {
  RedshiftModels out;
  out.templates = templates::choose_templates(job.templates, {}, job.options.grids).set;
  if (job.archetypes.empty()) return out;
  for (const std::string& path : templates::find_archetypes(job.archetypes)) {
    out.archetypes.push_back(templates::read_archetypes(path));
    const std::string& type = out.archetypes.back().spectype;
    const auto same = std::count_if(out.archetypes.begin(), out.archetypes.end(),
                                    [&](const auto& a) { return a.spectype == type; });
    if (same > 1) throw Error(kBadTemplate, path + ": a second file of type " + type);
  }
  return out;
}

namespace {

/// Files that folders, lists and plates stand for. What cannot be told, who reads them will say.
void add_files_behind(const RedshiftJob& job, std::vector<NamedFile>& out) {
  for (const std::string& path : frames_behind(job)) out.push_back({"frame", path});
  try {
    for (const std::string& path : model_files(job)) out.push_back({"templates", path});
  } catch (const Error&) {
  }
}

}  // namespace

std::vector<NamedFile> inputs_of(const RedshiftJob& job) {
  std::vector<NamedFile> out;
  for (const std::string& path : job.inputs) out.push_back({"input", path});
  for (const std::string& path : job.templates) out.push_back({"templates", path});
  out.push_back({"archetypes", job.archetypes});
  out.push_back({"priors", job.priors});
  out.push_back({"chi2 scan", job.chi2_scan});
  add_files_behind(job, out);
  return out;
}

std::vector<NamedFile> outputs_of(const RedshiftJob& job) {
  return {{"redshifts", job.output}, {"details", job.details}, {"models", job.model}};
}

void check_outputs(const RedshiftJob& job, std::span<const NamedFile> more) {
  std::vector<NamedFile> outputs = outputs_of(job);
  outputs.insert(outputs.end(), more.begin(), more.end());
  check_distinct(outputs, inputs_of(job));
  if (!job.details.empty()) hdf5::require_available("--details " + job.details);
  if (!job.chi2_scan.empty()) hdf5::require_available("--chi2-scan " + job.chi2_scan);
  loom::check_outputs(paths_of(outputs_of(job)), job.overwrite);
}

RedshiftSearch::RedshiftSearch(RedshiftJob job, const RedshiftModels& models,
                               const Observer& observer, redshift::FastScanner* scanner)
    : job_(std::move(job)),
      models_(models),
      scanner_(scanner),
      inputs_(job_, observer),
      priors_(priors_of(job_, inputs_, observer)) {
  if (!job_.chi2_scan.empty()) job_.options.evidence = false;  // that scan has none
  if (!job_.chi2_scan.empty()) scan_ = std::make_unique<ScanFile>(job_.chi2_scan, models_);
  if (job_.model.empty() && job_.details.empty()) return;
  extras_ = std::make_unique<Extras>();
  for (const std::string& path : {job_.details, job_.model}) {
    if (!path.empty()) extras_->folders.push_back(std::make_unique<FolderOf>(path));
  }
  if (!job_.details.empty()) {
    extras_->details = std::make_unique<DetailsWriter>(
        job_.details, job_.overwrite, inputs_.ids(), models_,
        widest_shape(models_, job_.options, inputs_.grids().size()), points_of(job_.options));
  }
  if (!job_.model.empty()) {
    for (const RedshiftInputs::Grid& grid : inputs_.grids()) {
      extras_->models.emplace_back(job_.model, grid.wave.size());
    }
  }
}

RedshiftSearch::~RedshiftSearch() = default;

void RedshiftSearch::keep_extras(std::size_t group, const TargetFits& fits,
                                 std::span<const RedshiftRow> rows) {
  if (!extras_) return;
  if (group != extras_->next++) {
    throw Error(Status::kInternal, "groups of targets out of their order");
  }
  const std::size_t first = inputs_.targets_of(group).first;
  if (extras_->details) extras_->details->add(first, fits, fits.candidates);
  if (extras_->models.empty()) return;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const bool none = (rows[t].best.zwarn & redshift::zwarn::kNoData) != 0;
    std::vector<std::vector<double>> models(fits.set->grids.size());
    if (!none) models = model_of(fits, t, rows[t].best, models_, job_.options);
    for (std::size_t g = 0; g < inputs_.grids().size(); ++g) {
      std::size_t of_set = 0;
      while (of_set < models.size() && fits.set->grids[of_set].wave != inputs_.grids()[g].wave) {
        ++of_set;
      }
      extras_->models[g].append(of_set < models.size() ? models[of_set] : std::vector<double>{});
    }
  }
}

std::vector<redshift::SkyWidth> RedshiftSearch::measure_sky(Executor& executor) const {
  if (scan_ || !has_sky_continuum(job_.options, models_)) return {};
  redshift::SkyMeans means;
  for (std::size_t i = 0; i < inputs_.skies(); i += kTargetsOfGroup) {
    const TargetGroup group = inputs_.read_skies(i, kTargetsOfGroup);
    means.add(*ready_spectra(group.targets, job_.options, executor).set);
  }
  return means.widths();
}

/// Bins that were left out for what they say they hold.
struct AbsurdBins {
  long bins = 0, targets = 0, first = 0;

  void add(const redshift::TargetSet& set) {
    for (const redshift::PreparedTarget& target : set.targets) {
      if (target.absurd_pixels == 0) continue;
      if (targets++ == 0) first = target.id;
      bins += target.absurd_pixels;
    }
  }
  void tell(const Observer& observer) const {
    if (bins == 0) return;
    const redshift::PrepareOptions rules;
    observer.warn(
        print("%ld bins of %ld targets (%ld first) are left out: their ivar is more than %g times "
              "the median of their spectrum's, their flux more than %g of its errors, or their "
              "row of the resolution sums to more than %g",
              bins, targets, first, rules.most_ivar_ratio, rules.most_snr, rules.most_row_sum));
  }
};

std::vector<RedshiftRow> RedshiftSearch::fit(std::size_t first, std::size_t last,
                                             Executor& executor, const Observer& observer,
                                             Tracer* tracer) {
  std::vector<RedshiftRow> out;
  if (first >= last) return out;
  out.reserve(inputs_.targets_of(last - 1).second - inputs_.targets_of(first).first);
  const auto read = [&](std::size_t g) {
    return std::async(std::launch::async, [this, g, tracer] {
      const Span span(tracer, "read");
      return inputs_.read(g);
    });
  };
  if (first == 0) {  // of many who share the targets one looks at all bytes
    const Span span(tracer, "verify");
    inputs_.verify();
  }
  std::call_once(sky_known_, [&] { sky_ = measure_sky(executor); });
  AbsurdBins absurd;
  std::future<TargetGroup> next = read(first);
  for (std::size_t g = first; g < last; ++g) {
    if (observer.stop_requested && observer.stop_requested()) {
      throw Error(Status::kInterrupted, "interrupted; nothing was written");
    }
    TargetGroup group;
    executor.idle([&] { group = next.get(); });
    if (g + 1 < last) next = read(g + 1);
    const Span span(tracer, "fit");
    const auto [low, high] = inputs_.targets_of(g);
    const auto priors =
        std::span(priors_).subspan(priors_.empty() ? 0 : low, priors_.empty() ? 0 : high - low);
    const auto given = scan_ ? scan_->curves(std::span(inputs_.ids()).subspan(low, high - low))
                             : std::vector<GivenCurve>{};
    const bool details = extras_ && extras_->details;
    TargetFits fits =
        fit_targets(group.targets, models_, job_.options, priors, given,
                    details ? KeepScan::kCoefficients : KeepScan::kNo, executor, scanner_, sky_);
    if (g == 0) warn_of_unused(fits, observer);
    absurd.add(*fits.set);
    std::vector<RedshiftRow> rows;
    for (std::size_t t = low; t < high; ++t) {
      auto& candidates = fits.candidates[t - low];
      for (redshift::Candidate& c : candidates) apply_verdict(inputs_.zwarn[t], c);
      RedshiftRow row{inputs_.ids()[t], candidates.front(), SIZE_MAX, 0, {}};
      for (const redshift::Candidate& c : candidates) {
        row.fewest = std::min(row.fewest, c.coefficients.size());
        row.most = std::max(row.most, c.coefficients.size());
      }
      keep_others(candidates, job_.options, row);
      forget_scan(row.best);
      rows.push_back(std::move(row));
    }
    keep_extras(g, fits, rows);
    std::move(rows.begin(), rows.end(), std::back_inserter(out));
    if (observer.progress) observer.progress("redshift", high, inputs_.ids().size());
  }
  absurd.tell(observer);
  return out;
}

void RedshiftSearch::write(std::span<const RedshiftRow> rows, Tracer* tracer) {
  const Span span(tracer, "write");
  if (rows.size() != inputs_.ids().size()) {
    throw Error(Status::kInternal,
                print("%zu rows for %zu targets", rows.size(), inputs_.ids().size()));
  }
  RedshiftFile file;
  file.header = redshift_header(models_, job_, inputs_.header());
  const RedshiftShape shape =
      shape_of(rows, widest_shape(models_, job_.options, inputs_.grids().size()));
  file.redshifts = redshift_table(rows, shape);
  if (has_evidence(job_.options) && job_.options.candidates > 0) {
    file.candidates = candidate_table(rows, shape);
  }
  file.fibermap = inputs_.fibermap;
  file.exp_fibermap = inputs_.exp_fibermap;
  file.tsnr2 = inputs_.tsnr2;
  FilesTogether together;
  if (!job_.model.empty()) {
    std::vector<ModelCamera> cameras;
    for (std::size_t g = 0; g < inputs_.grids().size(); ++g) {
      cameras.push_back(
          {inputs_.grids()[g].name, inputs_.grids()[g].wave, extras_->models[g].values()});
    }
    write_models(job_.model, file.header, file.redshifts, cameras, job_.overwrite, &together);
  }
  if (extras_ && extras_->details) extras_->details->commit(&together);
  std::optional<FolderOf> folder;
  if (!job_.output.empty()) {
    folder.emplace(job_.output);
    write_redshifts(job_.output, file, job_.overwrite, &together);
  }
  together.commit();
}

RedshiftSummary summarize(std::span<const RedshiftRow> rows) {
  namespace zw = redshift::zwarn;
  RedshiftSummary out;
  std::map<std::string, std::size_t> types;
  out.targets = rows.size();
  for (const RedshiftRow& row : rows) {
    out.sure += row.best.zwarn == 0;
    out.ambiguous += (row.best.zwarn & zw::kSmallDeltaChi2) != 0;
    out.without_data += (row.best.zwarn & zw::kNoData) != 0;
    out.probable += row.best.probability > kProbable;
    for (std::size_t bit = 0; bit < out.cuts.size(); ++bit) {
      out.cuts[bit].second += (row.best.quality >> bit) & 1U;
    }
    if ((row.best.zwarn & zw::kNoData) == 0) ++types[row.best.spectype];
  }
  out.types.assign(types.begin(), types.end());
  return out;
}

RedshiftSummary find_redshifts(const RedshiftJob& job, Executor& executor, const Observer& observer,
                               Tracer* tracer, redshift::FastScanner* scanner) {
  validate(job);
  warn_of_fallback(job, observer);
  StageClock clock;
  const RedshiftModels models = load_models(job);
  RedshiftSearch search(job, models, observer, scanner);
  const StageTime read = clock.lap();
  const std::vector<RedshiftRow> rows =
      search.fit(0, search.inputs().groups(), executor, observer, tracer);
  const StageTime compute = clock.lap();
  search.write(rows, tracer);
  RedshiftSummary out = summarize(rows);
  out.read = read;
  out.compute = compute;
  out.write = clock.lap();
  for (const RedshiftInputs::Grid& grid : search.inputs().grids()) {
    out.grids.push_back(grid.name + print(" %.1f-%.1f", grid.wave.front(), grid.wave.back()));
  }
  return out;
}

}  // namespace fiberloom
