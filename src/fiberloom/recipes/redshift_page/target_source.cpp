// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift_page/target_source.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "fiberloom/recipes/redshift/redshift_inputs.hpp"
#include "fiberloom/recipes/redshift_page/stored_fits.hpp"
#include "fiberloom/status.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::redshift_page {
namespace {

using redshift::Candidate;

/// The most fits of a target that are shown.
constexpr std::size_t kMostFits = 5;

using RowOf = std::unordered_map<std::int64_t, std::size_t>;

RowOf rows_by_id(const Table& table) {
  RowOf out;
  const std::vector<std::int64_t> ids = *table.integers("TARGETID", -1);
  for (std::size_t r = 0; r < ids.size(); ++r) out.emplace(ids[r], r);
  return out;
}

/// Do archetypes reach over the spectra?
bool archetypes_cover(const TargetFits& fits, const redshift::Archetypes& archetypes, double z) {
  return z > -1 && fits.set->lowest_edge() >= archetypes.wave.front() * (1 + z) &&
         fits.set->highest_edge() <= archetypes.wave.back() * (1 + z);
}

/// Templates and archetypes that the coefficients of a file belong to, by what its header says.
class Provenance {
 public:
  explicit Provenance(const HeaderCards& header) {
    for (int k = 0; k < 100; ++k) {
      const auto name = header.text(print("TEMNAM%02d", k));
      if (!name) break;
      known_[*name] = {header.text(print("TEMVER%02d", k)).value_or(""),
                       header.text(print("TEMSHA%02d", k)).value_or("")};
    }
    for (int k = 0; k < 100; ++k) {
      const auto name = header.text(print("ARCNAM%02d", k));
      if (!name) break;
      archetypes_[*name] = header.text(print("ARCSHA%02d", k)).value_or("");
    }
  }
  [[nodiscard]] bool same(const redshift::Archetypes& a) const {
    const auto found = archetypes_.find(a.spectype);
    return found == archetypes_.end() || found->second.empty() || found->second == a.hash;
  }
  [[nodiscard]] bool same(const redshift::Template& t) const {
    const auto found = known_.find(t.full_type());
    if (found == known_.end()) return known_.empty();
    const auto& [version, hash] = found->second;
    if (!hash.empty() && !t.hash.empty()) return hash == t.hash;
    return version.empty() || version == t.version;
  }

 private:
  std::unordered_map<std::string, std::pair<std::string, std::string>> known_;
  std::unordered_map<std::string, std::string> archetypes_;  ///< hashes
};

class Source {
 public:
  Source(const SourceFiles& files, const std::vector<std::size_t>& rows, SharedGrids& grids,
         Notes& notes, Executor& executor, const Observer& observer)
      : files_(files),
        grids_(grids),
        notes_(notes),
        executor_(executor),
        row_of_(rows_by_id(files.redshifts.redshifts)),
        provenance_(files.redshifts.header),
        inputs_(open(rows, observer)) {
    if (!files.input.model.empty()) {
      models_.emplace(files.input.model, files.verify);
      model_rows_ = rows_by_id(models_->redshifts());
    }
    if (!files.input.details.empty()) details_.emplace(files.input.details);
    if (files.verify == Verify::kYes) inputs_->verify();
    if (files.redshifts.candidates) stored_.emplace(*files.redshifts.candidates);
  }

  void run(const Observer& observer,
           const std::function<void(std::size_t, const PageTarget&)>& take) {
    for (std::size_t g = 0; g < inputs_->groups(); ++g) {
      if (observer.stop_requested && observer.stop_requested()) {
        throw Error(Status::kInterrupted, "interrupted; nothing was written");
      }
      group(g, take);
      if (observer.progress) {
        observer.progress("targets", inputs_->targets_of(g).second, inputs_->ids().size());
      }
    }
    tell();
  }

 private:
  std::unique_ptr<RedshiftInputs> open(const std::vector<std::size_t>& rows,
                                       const Observer& observer) {
    RedshiftJob job;
    job.inputs = files_.input.spectra;
    job.verify = files_.verify;
    const std::vector<std::int64_t> ids = *files_.redshifts.redshifts.integers("TARGETID", -1);
    for (const std::size_t r : rows) job.target_ids.push_back(ids[r]);
    Observer quiet = observer;
    quiet.message = [this](LogLevel, const std::string& text) { notes_.push_back(text); };
    try {
      return std::make_unique<RedshiftInputs>(job, quiet);
    } catch (const Error& error) {
      if (error.status() != kFiberRange) throw;
      throw Error(kFiberRange, files_.input.spectra.front() +
                                   print(": holds none of %zu targets of ", rows.size()) +
                                   files_.redshifts.path);
    }
  }

  void group(std::size_t g, const std::function<void(std::size_t, const PageTarget&)>& take) {
    const TargetGroup group = inputs_->read(g);
    // What the files do not say is found anew: chi2 over z, and fits where none are stored.
    const bool refit = files_.models != nullptr && !details_;
    const RedshiftOptions options;
    fits_ = refit ? fit_targets(group.targets, *files_.models, options, {}, {}, KeepScan::kNo,
                                executor_)
            : files_.models != nullptr
                ? ready_targets(group.targets, *files_.models, options, executor_)
                : ready_spectra(group.targets, options, executor_);
    for (std::size_t t = 0; t < group.targets.size(); ++t) {
      const std::int64_t id = group.targets[t].id;
      const std::size_t row = row_of_.at(id);
      PageTarget target;
      target.id = id;
      target.fits = fits_of(t, id, row);
      target.curves = curves_of(t, id);
      target.cameras = cameras_of(t, id, target.fits);
      take(row, target);
    }
  }

  [[nodiscard]] std::vector<ShownFit> fits_of(std::size_t t, std::int64_t id, std::size_t row) {
    ShownFit best = fit_of_row(files_.redshifts.redshifts, row);
    if ((best.fit.zwarn & redshift::zwarn::kNoData) != 0) return {std::move(best)};
    std::vector<ShownFit> others;
    made_here_ = false;
    if (stored_) {
      others = stored_->of(id);
    } else if (details_ && details_->holds(id)) {
      others = details_->fits(id);
    } else if (!fits_.candidates.empty()) {
      made_here_ = true;
      for (const Candidate& c : fits_.candidates[t]) {
        others.push_back({c, c.probability > 0 ? std::optional(c.probability) : std::nullopt});
      }
    }
    others = ordered_fits(std::move(best), std::move(others));
    if (others.size() > kMostFits) others.resize(kMostFits);
    return others;
  }

  [[nodiscard]] std::vector<ClassCurve> curves_of(std::size_t t, std::int64_t id) {
    std::vector<ClassCurve> out;
    if (details_ && details_->holds(id)) {
      for (StoredCurve& c : details_->curves(id)) {
        out.push_back({c.name, grids_.redshifts_at(c.z), std::move(c.chi2)});
      }
    } else if (!fits_.candidates.empty()) {
      for (const redshift::Curve& c : fits_.curves) {
        if (c.z.empty()) continue;
        ClassCurve curve{c.fitter->source().full_type(), grids_.redshifts_at(c.z), {}};
        for (std::size_t i = 0; i < c.z.size(); ++i) {
          curve.chi2.push_back(c.chi2(t, i) + c.penalty(t, i));
        }
        out.push_back(std::move(curve));
      }
    }
    return joined_curves(std::move(out));
  }

  /// Models of a fit on the grids of the set; empty where they cannot be had.
  [[nodiscard]] std::vector<std::vector<double>> models_of(std::size_t t, const ShownFit& shown,
                                                           bool of_file) {
    Candidate c = shown.fit;
    if (fits_.curves.empty() || c.method == "NONE") return {};
    if (c.method == "ARCH") return archetype_models(t, std::move(c));
    for (std::size_t k = 0; k < fits_.curves.size(); ++k) {
      const redshift::Template& source = fits_.curves[k].fitter->source();
      if (source.spectype != c.spectype || source.subtype != c.subtype) continue;
      if (c.coefficients.size() != source.nbasis() || (of_file && !provenance_.same(source))) {
        other_templates_.insert(source.full_type());
        return {};
      }
      c.curve = k;
      return model_of(fits_, t, c, *files_.models, RedshiftOptions{});
    }
    return {};
  }

  /// Of archetypes where they are given: with the hydrogen of the template that led to them.
  [[nodiscard]] std::vector<std::vector<double>> archetype_models(std::size_t t, Candidate c) {
    const auto& all = files_.models->archetypes;
    const auto of_type = std::find_if(all.begin(), all.end(),
                                      [&](const auto& a) { return a.spectype == c.spectype; });
    if (of_type == all.end() || !provenance_.same(*of_type)) {
      other_archetypes_.insert(c.spectype);
      return {};
    }
    std::optional<std::size_t> place;
    for (std::size_t k = 0; k < fits_.curves.size(); ++k) {
      const redshift::Template& source = fits_.curves[k].fitter->source();
      if (source.spectype != c.spectype) continue;
      if (!place || source.subtype == c.template_subtype) place = k;
    }
    const LegendreTerms terms = legendre_terms(files_.redshifts.redshifts);
    RedshiftOptions options;
    options.legendre_terms = static_cast<int>(terms.terms);
    options.legendre_percamera = terms.cameras;
    if (!place || !archetypes_cover(fits_, *of_type, c.z)) return {};
    c.curve = *place;
    return model_of(fits_, t, c, *files_.models, options);
  }

  /// Models of the fit that was made here at the same redshift: where coefficients of a file are of
  /// other templates.
  [[nodiscard]] std::vector<std::vector<double>> models_anew(std::size_t t, const ShownFit& shown) {
    if (fits_.candidates.empty()) return {};
    for (const Candidate& c : fits_.candidates[t]) {
      if (same_fit(c, shown.fit)) return models_of(t, {c, std::nullopt}, false);
    }
    return {};
  }

  /// The best model as its file has it, on a grid of the set.
  [[nodiscard]] std::vector<double> model_from_file(std::int64_t id,
                                                    const std::vector<double>& wave) const {
    const auto row = model_rows_.find(id);
    if (!models_ || row == model_rows_.end()) return {};
    for (std::size_t c = 0; c < models_->cameras().size(); ++c) {
      if (models_->cameras()[c].wave == wave) return models_->read(c, row->second);
    }
    return {};
  }

  [[nodiscard]] std::vector<CameraSpectrum> cameras_of(std::size_t t, std::int64_t id,
                                                       const std::vector<ShownFit>& shown) {
    const redshift::TargetSet& set = *fits_.set;
    std::vector<std::vector<std::vector<double>>> models;
    for (std::size_t k = 0; k < shown.size(); ++k) {
      models.push_back(models_of(t, shown[k], k == 0 || !made_here_));
      if (models.back().empty()) models.back() = models_anew(t, shown[k]);
    }
    std::vector<CameraSpectrum> out;
    for (const redshift::Block& block : set.targets[t].blocks) {
      const std::vector<double>& wave = set.grids[block.grid].wave;
      CameraSpectrum camera;
      camera.grid = grids_.wave_at(name_of(wave), wave);
      for (std::size_t i = 0; i < block.pixels; ++i) {
        const double w = block.weight[i];
        camera.flux.push_back(block.flux[i]);
        camera.sigma.push_back(w > 0 ? 1 / std::sqrt(w) : 0);
      }
      for (std::size_t k = 0; k < shown.size(); ++k) {
        std::vector<double> model = k == 0 ? model_from_file(id, wave) : std::vector<double>{};
        if (model.empty() && !models[k].empty()) model = models[k][block.grid];
        has_models_ |= !model.empty();
        camera.models.push_back(std::move(model));
      }
      out.push_back(std::move(camera));
    }
    std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) {
      return grids_.waves[a.grid].wave.front() < grids_.waves[b.grid].wave.front();
    });
    return out;
  }

  [[nodiscard]] std::string name_of(const std::vector<double>& wave) const {
    for (const RedshiftInputs::Grid& grid : inputs_->grids()) {
      if (grid.wave == wave) return grid.name;
    }
    return {};
  }

  void tell() {
    for (const std::string& type : other_templates_) {
      notes_.push_back(files_.redshifts.path + ": coefficients of " + type +
                       " are of other templates than those given: models are of a fit made anew, "
                       "or left out");
    }
    for (const std::string& type : other_archetypes_) {
      notes_.push_back(files_.redshifts.path + ": archetypes of " + type +
                       " are not given (--archetypes), or others: models are of "
                       "templates fitted anew, or left out");
    }
    if (!has_models_ && other_templates_.empty() && other_archetypes_.empty()) {
      notes_.push_back(files_.redshifts.path +
                       ": no models: neither rrmodel-*.fits beside it nor templates (--templates)");
    }
  }

  const SourceFiles& files_;
  SharedGrids& grids_;
  Notes& notes_;
  Executor& executor_;
  RowOf row_of_, model_rows_;
  Provenance provenance_;
  std::unique_ptr<RedshiftInputs> inputs_;
  std::optional<ModelReader> models_;
  std::optional<StoredDetails> details_;
  std::optional<StoredCandidates> stored_;
  TargetFits fits_;  ///< of the group at hand
  bool made_here_ = false, has_models_ = false;
  std::set<std::string> other_templates_, other_archetypes_;
};

}  // namespace

std::size_t SharedGrids::wave_at(const std::string& name, const std::vector<double>& wave) {
  for (std::size_t k = 0; k < waves.size(); ++k) {
    if (waves[k].wave == wave) return k;
  }
  waves.push_back({name, wave});
  return waves.size() - 1;
}

std::size_t SharedGrids::redshifts_at(const std::vector<double>& z) {
  const auto found = std::find(redshifts.begin(), redshifts.end(), z);
  if (found != redshifts.end()) return static_cast<std::size_t>(found - redshifts.begin());
  redshifts.push_back(z);
  return redshifts.size() - 1;
}

void for_each_target(const SourceFiles& files, const std::vector<std::size_t>& rows,
                     SharedGrids& grids, Notes& notes, Executor& executor, const Observer& observer,
                     const std::function<void(std::size_t, const PageTarget&)>& take) {
  if (rows.empty()) return;
  Source(files, rows, grids, notes, executor, observer).run(observer, take);
}

}  // namespace fiberloom::redshift_page
