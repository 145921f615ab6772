// SPDX-License-Identifier: BSD-3-Clause
// Frames by exposure, spectrograph and tile; then a task for each file that is made of them; then
// what of these goes into a catalogue.
#include "fiberloom/recipes/chain/planner.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "fiberloom/recipes/catalogue/which_catalogue.hpp"
#include "fiberloom/recipes/chain/catalogue_tasks.hpp"
#include "fiberloom/recipes/chain/places.hpp"
#include "fiberloom/recipes/chain/step_kind.hpp"
#include "fiberloom/recipes/frame_depth.hpp"
#include "fiberloom/recipes/redshift/redshift_kind.hpp"
#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom::chain {
namespace {

using night::FrameTask;

/// Seconds and bytes of a step on one frame, roughly; only order and memory's sharing depend on it.
struct Size {
  double spectra_mb = 0;  ///< of one frame in memory
  [[nodiscard]] std::uint64_t bytes(double frames) const {
    return static_cast<std::uint64_t>(1e6 * (20 + frames * spectra_mb));
  }
};

Size size_of(const FrameTask& frame) {
  constexpr double kFibers = 500, kBytesOfBin = 64, kPixelsOfBin = 8, kBytesOfPixel = 8;
  const auto& wave = *frame.job.wave;
  const double bins = kFibers * (1 + (wave[1] - wave[0]) / wave[2]);
  const double of_image = static_cast<double>(frame.image_bytes) / kBytesOfPixel / kPixelsOfBin;
  return {kBytesOfBin * (frame.image_bytes > 0 ? std::min(bins, of_image) : bins) / 1e6};
}

/// Of a watch: what holds back all of a night, before the newest exposure.
constexpr long kFirst = std::numeric_limits<long>::max();

class Planner {
 public:
  Planner(const std::string& output, night::Compress compress, const ChainRequest& request,
          const Observer& observer, Unreadable unreadable)
      : output_(absolute(output)),
        places_(output_, compress, request),
        request_(request),
        observer_(observer),
        unreadable_(unreadable) {}

  std::vector<Task> plan(std::vector<Task> extractions, ExposureCache& cache) {
    sort_frames(extractions, cache);
    std::set<const FrameTask*> used, urgent;
    used = unknown_;
    for (const Frame& f : fields_) used.insert(f.task);
    for (const Frame& f : lamps_) {
      used.insert(f.task);
      urgent.insert(f.task);
    }
    if (wants(Step::kFiberFlat) && request_.flats.empty()) add_flats();
    if (wants(Step::kSky)) add_skies();
    if (wants(Step::kStdStars) && request_.stars.empty()) add_stars();
    if (wants(Step::kFluxCalib)) add_flux_calibrations();
    if (wants(Step::kCalibrate)) add_calibrated();
    if (wants(Step::kQuality)) add_quality();
    if (wants(Step::kCoadd)) add_coadds();
    std::vector<Task> all;
    if (is_made(Step::kExtract)) {
      for (Task& task : extractions) {
        const FrameTask& frame = night::frame_of(task);
        if (!used.contains(&frame)) continue;
        if (urgent.contains(&frame)) task.priority = kFirst;
        all.push_back(std::move(task));
      }
    }
    std::move(tasks_.begin(), tasks_.end(), std::back_inserter(all));
    for (Task& task : all) task.by_content = true;
    return all;
  }

 private:
  /// Is the step needed, or asked for?
  [[nodiscard]] bool wants(Step step) const { return step <= last(); }
  [[nodiscard]] Step last() const { return request_.only.value_or(request_.until); }
  /// Are its files made, or taken as they are?
  [[nodiscard]] bool is_made(Step step) const { return !request_.only || *request_.only == step; }

  void sort_frames(std::vector<Task>& extractions, ExposureCache& cache) {
    // As a folder's are found, in whatever order they have arrived: the order is in the bytes.
    std::stable_sort(extractions.begin(), extractions.end(), [](const Task& a, const Task& b) {
      const FrameTask &x = night::frame_of(a), &y = night::frame_of(b);
      return std::tie(x.expid, y.cost_s, x.name) < std::tie(y.expid, x.cost_s, y.name);
    });
    std::map<std::string, std::set<long>> passed_over;
    std::vector<ExposureImage> images;
    for (const Task& task : extractions) {
      const FrameTask& frame = night::frame_of(task);
      images.push_back({frame.job.image, frame.night, frame.expid});
    }
    const std::vector<ExposureInfo> infos = read_exposures(images, cache);
    for (std::size_t i = 0; i < infos.size(); ++i) {
      const FrameTask& frame = night::frame_of(extractions[i]);
      const std::string path = absolute(frame.job.output);
      const Frame f{&frame,
                    infos[i],
                    print("%08ld", frame.expid),
                    frame.camera.substr(1),
                    path,
                    path.substr(0, path.rfind('/'))};
      if (!f.info.known && unreadable_ == Unreadable::kNothing) {
        unknown_.insert(&frame);
        continue;
      }
      if (f.info.kind == ExposureKind::kOther) passed_over[f.info.flavor].insert(frame.expid);
      if (f.info.kind == ExposureKind::kLamp && request_.flats.empty()) lamps_.push_back(f);
      if (f.info.kind == ExposureKind::kField) fields_.push_back(f);
    }
    for (const auto& [flavor, exposures] : passed_over) {
      std::string numbers;
      for (const long e : exposures) numbers += (numbers.empty() ? "" : ", ") + std::to_string(e);
      observer_.info("passed over, neither lamps nor fields but " + flavor + ": exposure" +
                     (exposures.size() > 1 ? "s " : " ") + numbers);
    }
  }

  /// A task of a step that makes `work.output` of what `inputs` names.
  void add(StepWork work, std::string name, const std::string& unit, const Frame& like,
           std::vector<std::string> inputs, double seconds, double frames, long newest = -1) {
    if (!is_made(work.step)) return;
    const std::vector<std::string> beside = work.beside;
    work.root = output_;
    work.options = options_of(request_.options, work.step);
    Task task;
    task.name = std::move(name);
    task.kind = kStepKind;
    task.labels = {{"night", like.night()}, {"step", name_of(work.step)}, {"of", unit}};
    if (newest < 0) newest = like.task->expid;
    const bool of_many = work.step == Step::kCoadd || is_night_flat(work);
    if (!of_many) task.labels.push_back({"expid", like.task->expid});
    if (work.step == Step::kCoadd) task.labels.push_back({"tile", like.info.tile});
    const bool any = work.step == Step::kCoadd || work.step == Step::kQuality;
    task.any_inputs = beside;
    (any ? task.any_inputs : task.inputs) = std::move(inputs);
    task.outputs = {work.output};
    if (work.step == Step::kQuality) task.page = places_.picture(like);
    task.priority = work.step == Step::kFiberFlat ? kFirst : newest;
    const Size size = size_of(*like.task);
    task.cost_s = 0.05 + seconds * size.spectra_mb / 75;
    task.memory_bytes = size.bytes(frames);
    task.content = content_of(std::move(work));
    tasks_.push_back(std::move(task));
  }

  void add_flats() {
    std::map<std::pair<std::string, std::string>, std::vector<const Frame*>> nights;
    for (const Frame& f : lamps_) {
      StepWork work{.step = Step::kFiberFlat};
      work.input = f.path;
      work.output = places_.lamp_flat(f);
      add(work, "fiberflat-" + f.camera() + "-" + f.number, f.camera(), f, {work.input}, 1.5, 4);
      nights[{f.night(), f.camera()}].push_back(&f);
    }
    for (const auto& [key, frames] : nights) {
      const auto& [night, camera] = key;
      StepWork work{.step = Step::kFiberFlat};
      for (const Frame* f : frames) work.flats.push_back(places_.lamp_flat(*f));
      for (const auto& [other, its] : nights) {
        if (other == key || other.first != night || other.second[0] != camera[0]) continue;
        for (const Frame* f : its) {
          work.beside.push_back(places_.lamp_flat(*f));
        }
      }
      work.output = places_.night_flat(night, camera);
      const double count = static_cast<double>(frames.size() + work.beside.size());
      const std::vector<std::string> inputs = work.flats;
      add(std::move(work), "fiberflatnight-" + camera + "-" + night, camera, *frames.front(),
          inputs, 0.3 * count, count + 1);
    }
  }

  void add_skies() {
    for (const Frame& f : fields_) {
      StepWork work{.step = Step::kSky};
      work.input = f.path;
      work.flat = places_.flat(f);
      work.output = places_.sky(f);
      add(work, "sky-" + f.camera() + "-" + f.number, f.camera(), f, {work.input, work.flat}, 1.5,
          4);
    }
  }

  /// Frames of fields by exposure and spectrograph.
  [[nodiscard]] std::map<std::pair<long, std::string>, std::vector<const Frame*>> petals() const {
    std::map<std::pair<long, std::string>, std::vector<const Frame*>> out;
    for (const Frame& f : fields_) out[{f.task->expid, f.petal}].push_back(&f);
    for (auto& [key, frames] : out) {
      std::sort(frames.begin(), frames.end(),
                [](const Frame* a, const Frame* b) { return a->camera() < b->camera(); });
    }
    return out;
  }

  void add_stars() {
    const std::vector<std::string> passbands = passbands_in(request_.passbands);
    for (const auto& [key, frames] : petals()) {
      const Frame& first = *frames.front();
      StepWork work{.step = Step::kStdStars};
      for (const Frame* f : frames) {
        work.frames.push_back(f->path);
        work.flats.push_back(places_.flat(*f));
        work.skies.push_back(places_.sky(*f));
      }
      work.models = absolute(request_.models);
      work.passbands = absolute(request_.passbands);
      work.output = places_.stars(first);
      std::vector<std::string> inputs = work.frames;
      inputs.insert(inputs.end(), work.flats.begin(), work.flats.end());
      inputs.insert(inputs.end(), work.skies.begin(), work.skies.end());
      inputs.push_back(work.models);
      inputs.insert(inputs.end(), passbands.begin(), passbands.end());
      add(std::move(work), "stdstars-" + first.petal + "-" + first.number, first.petal, first,
          inputs, 3, 5);
    }
  }

  /// A step on a frame with its flat and its sky.
  [[nodiscard]] StepWork beyond_sky(Step step, const Frame& f) {
    StepWork work{.step = step};
    work.input = f.path;
    work.flat = places_.flat(f);
    work.sky = places_.sky(f);
    return work;
  }

  /// What desimodel knows of the frame's camera, where there is one.
  bool add_model(const Frame& f, StepWork& work, std::vector<std::string>& inputs) const {
    if (request_.desimodel.empty()) return false;
    const std::string folder = absolute(request_.desimodel);
    if (request_.desimodel_asked) work.desimodel = folder;
    for (std::string& path : model_files(folder, f.camera())) inputs.push_back(std::move(path));
    return true;
  }

  void add_flux_calibrations() {
    for (const Frame& f : fields_) {
      StepWork work = beyond_sky(Step::kFluxCalib, f);
      work.stars = places_.stars(f);
      work.output = places_.flux(f);
      std::vector<std::string> inputs{work.input, work.flat, work.sky, work.stars};
      work.average = places_.average(f);
      if (!work.average.empty()) inputs.push_back(work.average);
      add_model(f, work, inputs);
      add(work, "fluxcalib-" + f.camera() + "-" + f.number, f.camera(), f, inputs, 1.5, 4);
    }
  }

  void add_calibrated() {
    for (const Frame& f : fields_) {
      StepWork work = beyond_sky(Step::kCalibrate, f);
      work.flux = places_.flux(f);
      work.output = places_.cframe(f);
      std::vector<std::string> inputs{work.input, work.flat, work.sky, work.flux};
      if (add_model(f, work, inputs)) {
        work.psf = absolute(f.task->job.psf);
        inputs.push_back(work.psf);
      }
      add(work, "cframe-" + f.camera() + "-" + f.number, f.camera(), f, inputs, 0.6, 5);
    }
  }

  void add_quality() {
    std::map<long, std::vector<const Frame*>> exposures;
    for (const auto& [key, frames] : petals()) {
      auto& all = exposures[key.first];
      all.insert(all.end(), frames.begin(), frames.end());
    }
    for (const auto& [expid, frames] : exposures) {
      const Frame& first = *frames.front();
      StepWork work{.step = Step::kQuality};
      std::set<std::string> stars;
      for (const Frame* f : frames) {
        work.frames.push_back(places_.cframe(*f));
        work.skies.push_back(places_.sky(*f));
        work.fluxes.push_back(places_.flux(*f));
        stars.insert(places_.stars(*f));
      }
      work.star_files.assign(stars.begin(), stars.end());
      if (request_.desimodel_asked) work.desimodel = absolute(request_.desimodel);
      const std::vector<std::string> inputs = work.frames;
      work.output = places_.quality(first);
      add(std::move(work), "qa-" + first.number, "all", first, inputs,
          0.5 * static_cast<double>(frames.size()), 2.0 * static_cast<double>(frames.size()));
    }
  }

  /// Exposures of a tile and spectrograph, whatever their number.
  void add_coadds() {
    std::map<std::pair<long, std::string>, std::vector<const Frame*>> tiles;
    std::map<long, std::string> last_night;
    for (const auto& [key, frames] : petals()) {
      for (const Frame* f : frames) {
        tiles[{f->info.tile, f->petal}].push_back(f);
        std::string& last = last_night[f->info.tile];
        last = std::max(last, f->night());
      }
    }
    for (const auto& [key, frames] : tiles) {
      const auto& [tile, petal] = key;
      const std::string name = tile < 0 ? "none" : std::to_string(tile);
      const std::string& night = last_night[tile];
      const std::string rest = petal + "-" + name + "-thru" + night;
      StepWork work{.step = Step::kCoadd};
      for (const Frame* f : frames) work.frames.push_back(places_.cframe(*f));
      work.output = places_.coadd(name, night, rest);
      if (tile >= 0) work.night = night;
      const double count = static_cast<double>(frames.size());
      const std::vector<std::string> inputs = work.frames;
      const std::string coadd = work.output;
      const long newest = frames.back()->task->expid;  // they are in the order of their numbers
      add(std::move(work), "coadd-" + rest, petal, *frames.front(), inputs, count, 2.5 * count,
          newest);
      if (wants(Step::kRedshift)) add_redshift(*frames.front(), coadd, rest, newest);
    }
  }

  void add_redshift(const Frame& like, const std::string& coadd, const std::string& rest,
                    long newest) {
    if (!is_made(Step::kRedshift)) return;
    RedshiftJob job = request_.redshift;
    apply(options_of(request_.options, Step::kRedshift), job);
    job.inputs = {coadd};
    job.output = coadd.substr(0, coadd.rfind('/') + 1) + "redrock-" + rest + ".fits";
    Task task = survey::to_task("redshift-" + rest, std::move(job));
    task.labels = {{"night", like.night()},
                   {"step", name_of(Step::kRedshift)},
                   {"of", like.petal},
                   {"tile", like.info.tile}};
    task.priority = newest;
    constexpr double kSecondsOfTarget = 0.05, kMbOfTarget = 0.2;
    task.cost_s = 0.2 + kSecondsOfTarget * size_of(*like.task).spectra_mb / kMbOfTarget;
    tasks_.push_back(std::move(task));
  }

  std::string output_;
  Places places_;
  const ChainRequest& request_;
  const Observer& observer_;
  Unreadable unreadable_;
  std::vector<Frame> lamps_, fields_;
  std::set<const FrameTask*> unknown_;
  std::vector<Task> tasks_;
};

}  // namespace

std::vector<Task> plan_steps(std::vector<Task> extractions, const std::string& output,
                             night::Compress compress, const ChainRequest& request,
                             const Observer& observer, Unreadable unreadable,
                             ExposureCache& cache) {
  const auto plan = [&](const ChainRequest& r) {
    return Planner(output, compress, r, observer, unreadable).plan(std::move(extractions), cache);
  };
  if (request.only.value_or(request.until) != Step::kCatalogue) return plan(request);
  ChainRequest before = request;
  before.only.reset();
  before.until = Step::kRedshift;
  std::vector<Task> tasks = plan(before);
  const std::string database = database_of(request, output);
  const bool afresh = !request.writes && !is_noted(database, catalogue_note(output));
  std::vector<Task> loads = catalogue_tasks(tasks, output, database, afresh);
  if (request.only) return loads;
  std::move(loads.begin(), loads.end(), std::back_inserter(tasks));
  return tasks;
}

}  // namespace fiberloom::chain
