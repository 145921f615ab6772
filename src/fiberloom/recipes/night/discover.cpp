// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/discover.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>

#include "fiberloom/recipes/night/frame_cost.hpp"
#include "loom/base/error.hpp"
#include "loom/base/replaced.hpp"
#include "loom/batch/normal_path.hpp"
#include "loom/files/files_below.hpp"
#include "loom/files/input_file.hpp"
#include "loom/files/output_files.hpp"
#include "loom/fits/fits_name.hpp"

namespace fiberloom::night {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kPsfWords{"{night}", "{expid}", "{camera}"};
constexpr int kDepth = 4;  // preproc/NIGHT/EXPID/file, and one to spare

bool all_digits(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_camera(const std::string& text) {
  return text.size() == 2 && std::string("brz").find(text[0]) != std::string::npos &&
         std::isdigit(static_cast<unsigned char>(text[1])) != 0;
}

/// Where an image lies, by the DESI rule ROOT/NIGHT/EXPID/file; else a flat folder.
struct Place {
  std::string night;      ///< empty where flat
  std::string below_out;  ///< NIGHT/EXPID, or nothing
};

/// A path up to its last slash, and what follows.
std::pair<std::string, std::string> cut_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {{}, path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

Place place_of(const std::string& image, const std::string& expid) {
  const auto [above, folder] = cut_path(cut_path(batch::normal_path(image)).first);
  if (folder != expid) return {};
  const std::string night = cut_path(above).second;
  if (night.size() != 8 || !all_digits(night)) return {{}, folder};
  return {night, night + "/" + folder};
}

/// frame-CAM-EXPID.html beside the frame.
std::string report_of(const std::string& output) {
  return loom::fits::without_fits_ending(output) + ".html";
}

/// Was a frame found in a folder, or named?
enum class Found { kNo, kYes };

/// Makes tasks of image paths and keeps what they share.
class TaskMaker {
 public:
  /// Throws kUsage where the pattern of PSFs has a word that stands for nothing.
  explicit TaskMaker(const FrameRequest& request) : request_(request) {
    const std::string word = unknown_word(request.psf_pattern, kPsfWords);
    if (word.empty()) return;
    throw Error(Status::kUsage, "PSFs at " + request.psf_pattern + ": found " + word +
                                    ", expected {night}, {expid} or {camera}");
  }

  /// `found`: in a folder, where nobody has named it.
  void add(const NamedFrame& named, Found found = Found::kNo) {
    const FrameName parsed = parse_frame_name(cut_path(named.image).second);
    const std::string camera = named.camera.empty() ? parsed.camera : named.camera;
    if (camera.empty() || (parsed.camera.empty() && named.expid < 0)) {
      throw Error(Status::kUsage, named.image +
                                      ": not named preproc-CAM-EXPID.fits; a job file can say "
                                      "camera and expid");
    }
    const std::string expid = named.expid < 0 ? parsed.expid : padded(named.expid);
    FrameTask task;
    task.camera = camera;
    task.expid = std::stol(expid);
    task.name = camera + "-" + expid;
    if (!wanted(task)) return;
    const Place place = place_of(named.image, expid);
    task.night = named.night.empty() ? place.night : named.night;
    task.job = request_.job;
    task.job.image = named.image;
    task.job.psf = named.psf.empty() ? find_psf(named.image, task, expid) : named.psf;
    task.job.output = named.output.empty() ? output(place, task) : named.output;
    if (request_.reports == Reports::kYes) task.report = report_of(task.job.output);
    set_band(task);
    measure(task);
    insert(std::move(task), found);
  }

  [[nodiscard]] std::vector<FrameTask> take() {
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const FrameTask& a, const FrameTask& b) {
      if (a.expid != b.expid) return a.expid < b.expid;
      if (a.cost_s != b.cost_s) return a.cost_s > b.cost_s;
      return a.name < b.name;
    });
    return std::move(tasks_);
  }

 private:
  static std::string padded(long expid) {
    std::string digits = std::to_string(expid);
    return std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
  }

  [[nodiscard]] bool wanted(const FrameTask& task) const {
    const auto in = [](const auto& list, const auto& value) {
      return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    return request_.skip.count(task.name) == 0 && in(request_.cameras, task.camera) &&
           in(request_.exposures, task.expid);
  }

  [[nodiscard]] std::string find_psf(const std::string& image_path, const FrameTask& task,
                                     const std::string& expid) const {
    if (!request_.psf_pattern.empty()) {
      std::string psf = request_.psf_pattern;
      const std::array<std::string, kPsfWords.size()> values{task.night, expid, task.camera};
      for (std::size_t w = 0; w < values.size(); ++w) {
        psf = replaced(std::move(psf), std::string(kPsfWords[w]), values[w]);
      }
      return psf;
    }
    const fs::path image = image_path;
    const std::string own = "psf-" + task.name + ".fits", shared = "psf-" + task.camera + ".fits";
    std::error_code ignored;
    for (const fs::path& folder : {image.parent_path(), image.parent_path() / ".."}) {
      for (const std::string& name : {own, own + ".gz", shared, shared + ".gz"}) {
        if (const fs::path path = folder / name; fs::exists(path, ignored)) return path.string();
      }
    }
    return (image.parent_path() / shared).string();  // missing, and named so
  }

  [[nodiscard]] std::string output(const Place& place, const FrameTask& task) const {
    const std::string name =
        "frame-" + task.name + (request_.compress == Compress::kYes ? ".fits.gz" : ".fits");
    std::string path = request_.output;
    for (const std::string& part : {place.below_out, name}) {
      if (part.empty()) continue;
      if (!path.empty() && !path.ends_with('/')) path += '/';
      path += part;
    }
    return path;
  }

  void set_band(FrameTask& task) const {
    const auto band = request_.bands.find(task.camera.front());
    if (band == request_.bands.end()) {
      if (!task.job.wave) {
        throw Error(Status::kUsage, task.job.image + ": no wavelength grid for camera " +
                                        task.camera + " (give -w, or a job file)");
      }
      return;
    }
    if (!task.job.wave) task.job.wave = band->second.wave;
    double& psferr = task.job.options.psferr;
    if (psferr < 0 || band->second.own_psferr) psferr = band->second.psferr;
  }

  void measure(FrameTask& task) {
    CameraCost& camera = cameras_[task.camera];
    if (!camera.psf) camera.psf = read_camera(task.job);
    if (camera.wave != *task.job.wave) {
      camera.wave = *task.job.wave;
      camera.engine = engine_memory(task.job, *camera.psf, camera.wave);
    }
    estimate_cost({measure_image(task.job.image), camera.engine}, task);
  }

  void insert(FrameTask task, Found found) {
    const auto [known, fresh] = names_.emplace(task.name, tasks_.size());
    if (!fresh) {
      FrameTask& first = tasks_[known->second];
      // The same frame packed and unpacked, side by side: the unpacked one is cheaper.
      if (loom::fits::without_fits_ending(first.job.image) ==
          loom::fits::without_fits_ending(task.job.image)) {
        return;
      }
      std::error_code ignored;  // a link to it is no other image
      if (fs::equivalent(first.job.image, task.job.image, ignored)) return;
      if (found == Found::kNo) {
        throw Error(Status::kUsage, task.job.image + " and " + first.job.image +
                                        ": two images of one frame, " + task.name);
      }
      if (first.twin.empty()) first.twin = task.job.image;  // which is right nobody knows
      return;
    }
    tasks_.push_back(std::move(task));
  }

  /// What frames of one camera share: the PSF of the first, and what that and the grid cost.
  struct CameraCost {
    std::unique_ptr<const PsfModel> psf;
    std::array<double, 3> wave{};
    EngineMemory engine;
  };
  static std::unique_ptr<const PsfModel> read_camera(const ExtractJob& job) {
    try {
      return std::make_unique<const PsfModel>(read_psf(job.psf, job.psf_options).model);
    } catch (const Error&) {  // the extraction will say what is wrong
      return std::make_unique<const PsfModel>(usual_camera(*job.wave));
    }
  }

  const FrameRequest& request_;
  std::vector<FrameTask> tasks_;
  std::map<std::string, std::size_t> names_;  ///< places in tasks_
  std::map<std::string, CameraCost> cameras_;
};

/// Image files below a folder, in the order of their names (so .fits before .fits.gz).
std::vector<std::string> images_below(const std::string& folder) {
  loom::FilesBelow below = loom::files_below(
      folder, kDepth, [](const std::string& name) { return !name.starts_with("."); });
  const auto itself =
      std::find_if(below.unreadable.begin(), below.unreadable.end(),
                   [&](const std::string& said) { return said.starts_with(folder + ": "); });
  if (itself != below.unreadable.end()) {  // others are somebody else's folders in the tree
    throw Error(Status::kNotFound, folder + ": cannot be read" + itself->substr(folder.size()));
  }
  std::erase_if(below.files, [](const std::string& path) {
    return parse_frame_name(cut_path(path).second).camera.empty();
  });
  return std::move(below.files);
}

/// A line of a list up to its comment; a # between double quotes starts none.
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '#' && !quoted) return line.substr(0, i);
  }
  return line;
}

/// The paths of a line; `place` is told where they make no sense.
std::vector<std::string> paths_of(const std::string& line, const std::string& place) {
  std::istringstream words(without_comment(line));
  std::vector<std::string> paths;
  while (!(words >> std::ws).eof()) {
    std::string path;
    if (!(words >> std::quoted(path))) {
      throw Error(Status::kUsage, place + ": a double quote is not closed");
    }
    paths.push_back(path);
  }
  constexpr std::size_t kMost = 3;
  if (paths.size() > kMost) {
    throw Error(Status::kUsage,
                place + ": found " + std::to_string(paths.size()) +
                    " paths, expected IMAGE [PSF [OUTPUT]]; one with a blank stands in double "
                    "quotes");
  }
  paths.resize(kMost);
  return paths;
}

/// IMAGE [PSF [OUTPUT]] a line; # starts a comment, a path with a blank stands in double quotes.
void read_list(const std::string& path, TaskMaker& maker) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw Error(Status::kNotFound, path + ": no such file or folder");
  constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  const std::string text = read_text(path, kMaxBytes);
  if (text.starts_with("SIMPLE  =") || text.find('\0') != std::string::npos) {
    throw Error(Status::kUsage,
                path +
                    ": is no text: expected a folder, a list of images or a job file (.toml); "
                    "a single image goes to fiberloom extract -i");
  }
  std::istringstream file(text);
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    const auto paths = paths_of(line, path + ", line " + std::to_string(++number));
    if (paths[0].empty()) continue;
    NamedFrame frame;
    frame.image = paths[0];
    frame.psf = paths[1];
    frame.output = paths[2];
    maker.add(frame);
  }
}

}  // namespace

std::map<char, BandSetup> FrameRequest::production_bands() {
  return {{'b', {{3600, 5800, 0.8}, 0.04}},
          {'r', {{5760, 7620, 0.8}, 0.01}},
          {'z', {{7520, 9824, 0.8}, 0.01}}};
}

FrameName parse_frame_name(const std::string& file_name) {
  constexpr std::string_view kStart = "preproc-";
  if (!file_name.starts_with(kStart) || !loom::fits::is_fits_name(file_name)) return {};
  const std::string name = loom::fits::without_fits_ending(file_name).substr(kStart.size());
  if (name.size() < 4 || name[2] != '-') return {};
  FrameName parsed{name.substr(0, 2), name.substr(3)};
  if (!is_camera(parsed.camera) || !all_digits(parsed.expid) || parsed.expid.size() > 12) return {};
  return parsed;
}

bool is_job_file(const std::string& path) { return loom::has_ending(path, ".toml"); }

std::vector<FrameTask> find_frames(const FrameRequest& request) {
  TaskMaker maker(request);
  if (!request.input.empty()) {
    std::error_code ignored;
    if (fs::is_directory(request.input, ignored)) {
      for (const std::string& image : images_below(request.input)) {
        NamedFrame frame;
        frame.image = image;
        maker.add(frame, Found::kYes);
      }
    } else {
      read_list(request.input, maker);
    }
  }
  for (const NamedFrame& frame : request.frames) maker.add(frame);
  return maker.take();
}

}  // namespace fiberloom::night
