// SPDX-License-Identifier: BSD-3-Clause
#include "tomoloom/recipes/recon_files.hpp"

#include <algorithm>
#include <filesystem>
#include <numbers>
#include <optional>
#include <string>

#include "loom/base/error.hpp"
#include "loom/base/median.hpp"
#include "loom/base/number_text.hpp"
#include "loom/base/print.hpp"
#include "loom/files/input_file.hpp"
#include "loom/simd/isa.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/exchange/slice_folder.hpp"
#include "tomoloom/exchange/volume_writer.hpp"
#include "tomoloom/recipes/idle_options.hpp"
#include "tomoloom/recipes/recon_option_table.hpp"
#include "tomoloom/recipes/version.hpp"
#include "tomoloom/status.hpp"

namespace tomoloom {
namespace {

constexpr std::size_t kMostText = std::size_t{64} << 20;  ///< of a file of angles

std::optional<std::vector<double>> angles_of_range(std::string_view text, std::size_t count) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {};
  const auto first = number_in(text.substr(0, colon)), last = number_in(text.substr(colon + 1));
  if (!first || !last) return {};
  const double step = count > 1 ? (*last - *first) / static_cast<double>(count - 1) : 0;
  std::vector<double> theta(count);
  for (std::size_t a = 0; a < count; ++a) theta[a] = *first + step * static_cast<double>(a);
  return theta;
}

/// Numbers with blanks, commas or ends of lines between them; what follows a # is a remark.
std::vector<double> numbers_of_file(const std::string& path, const char* what) {
  const std::string all = read_text(path, kMostText);
  constexpr std::string_view kBetween = " \t\r,;";
  std::vector<double> numbers;
  std::size_t line_number = 0;
  for (std::size_t at = 0; at < all.size(); ++line_number) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    std::string_view line = std::string_view(all).substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find('#'));
    for (;;) {
      const std::size_t from = line.find_first_not_of(kBetween);
      if (from == std::string_view::npos) break;
      const std::size_t to = std::min(line.find_first_of(kBetween, from), line.size());
      const std::string_view word = line.substr(from, to - from);
      const auto value = number_in(word);
      if (!value) {
        throw Error(Status::kWrongShape,
                    print("%s: line %zu: found %s, expected %s", path.c_str(), line_number + 1,
                          std::string(word.substr(0, 40)).c_str(), what));
      }
      numbers.push_back(*value);
      line.remove_prefix(to);
    }
  }
  return numbers;
}

/// What makes the bytes of a volume: a run that was interrupted is gone on with where it is equal.
std::string making_of(const ReconJob& job, const FrameSource& scan,
                      std::span<const VolumeNote> notes, Backend made_on) {
  std::string text =
      "tomoloom " + std::string(version()) + " " + std::string(isa_name(active_isa())) +
      (made_on == Backend::kCpu ? "" : " card") +
      " scan=" + std::filesystem::absolute(job.scan).string() + " " + scan.identity();
  for (const VolumeNote& note : notes) text += " " + note.name + "=" + note.value;
  const auto add = [&](const std::string& option, const std::vector<double>& numbers) {
    if (option.empty()) return;
    for (const double number : numbers) text += print(" %.17g", number);
  };
  if (job.format == VolumeFormat::kZarr) text += print(" zarr_level=%d", job.zarr_level);
  add(job.theta, scan.layout().theta_deg);
  add(job.shifts, scan.layout().shift);
  add(job.weights, scan.layout().weight);
  add(job.centres, scan.layout().axis);
  add(job.filter_weights, scan.layout().filter);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// What angles, in degrees, look like that are none or that nobody has written; nothing of good
/// ones. Radians without a word of that turn by a few degrees, and make a volume of next to
/// nothing.
std::vector<std::string> doubts_about(std::vector<double> theta) {
  std::vector<std::string> doubts;
  if (theta.size() < 3) return doubts;
  std::sort(theta.begin(), theta.end());
  constexpr double kTurnInRadians = 2.02 * std::numbers::pi;  // with one more step
  if (const double arc = theta.back() - theta.front(); arc < kTurnInRadians) {
    doubts.push_back(
        print("%zu projections within %.4g degrees: are they radians?", theta.size(), arc));
  }
  struct Run {
    std::size_t length = 0;
    double angle = 0;
  } longest;
  std::vector<std::size_t> lengths;
  for (std::size_t a = 0; a < theta.size();) {
    const auto end = std::upper_bound(theta.begin(), theta.end(), theta[a]);
    const auto length = static_cast<std::size_t>(end - theta.begin()) - a;
    if (length > longest.length) longest = {length, theta[a]};
    lengths.push_back(length);
    a += length;
  }
  constexpr std::size_t kOften = 3;  // so many times, and times as often as the others
  if (longest.length > kOften * std::max<std::size_t>(1, upper_median(lengths))) {
    doubts.push_back(print("%zu of %zu projections have the angle %g: has nobody written it?",
                           longest.length, theta.size(), longest.angle));
  }
  return doubts;
}

}  // namespace

GivenNumbers read_numbers(const ReconJob& job) {
  const auto read = [](const std::string& path, const char* what) {
    return path.empty() ? std::vector<double>{} : numbers_of_file(path, what);
  };
  const bool file = !angles_of_range(job.theta, 1);
  return {.theta = read(file ? job.theta : "", "an angle in degrees"),
          .shifts = read(job.shifts, "a number of columns"),
          .weights = read(job.weights, "a weight"),
          .centres = read(job.centres, "a column"),
          .filter = read(job.filter_weights, "a weight of a frequency")};
}

void tell_scan(const ReconJob& job, const GivenNumbers& given, FrameSource& scan) {
  if (takes_weights(job.filter.filter) == job.filter_weights.empty()) {
    throw Error(Status::kUsage,
                job.scan +
                    ": --filter custom and custom2d go with --filter-weights FILE, others "
                    "without");
  }
  if (!job.theta.empty()) {
    const auto range = angles_of_range(job.theta, scan.projections());
    scan.give_angles(range ? *range : given.theta);
  }
  if (job.dark_zero) scan.leave_darks();
  if (!job.shifts.empty()) scan.give_shifts(given.shifts);
  if (!job.weights.empty()) scan.give_weights(given.weights);
  if (!job.centres.empty()) scan.give_axis(given.centres);
  if (!job.flats_at.empty()) scan.give_flat_places(job.flats_at);
  if (!job.filter_weights.empty()) {
    scan.give_filter(given.filter, job.filter.filter == Filter::kCustom2d);
  }
}

std::unique_ptr<FrameSource> open_scan(const ReconJob& job) {
  if (job.dark_zero && !job.darks.empty()) {
    throw Error(Status::kUsage, "--dark-zero, and --darks " + job.darks + ": expected one of them");
  }
  std::unique_ptr<FrameSource> scan;
  if (is_stack(job.scan)) {
    scan = std::make_unique<StackReader>(
        StackFiles{.data = job.scan, .flats = job.flats, .darks = job.darks, .kind = job.stack});
  } else {
    if (!job.flats.empty() || !job.darks.empty() || job.stack != StackKind::kProjections) {
      throw Error(Status::kUsage,
                  job.scan + ": --flats, --darks and --stack belong to a folder of TIFF images");
    }
    scan = std::make_unique<ScanReader>(job.scan, job.group);
  }
  tell_scan(job, read_numbers(job), *scan);
  if (job.window.all()) return scan;
  return std::make_unique<ScanWindow>(std::move(scan), job.window);
}

void check_frames(const ReconJob& job, const ScanLayout& layout, const Observer& observer) {
  const bool stack = layout.group.empty();
  for (const std::string& text : idle_options(job)) observer.warn(text);
  if (layout.source == AngleSource::kAssumed) {
    const std::string none =
        stack ? "no --theta" : "no " + layout.group + "/theta and no rotation_start, rotation_step";
    observer.warn(layout.path + ": " + none +
                  ": angles taken to be 0 to 180 degrees, both included");
  }
  if (!layout.name_kinds.empty()) {
    observer.warn(layout.path + ": images of several names (" + layout.name_kinds +
                  "), all taken as one scan: are flats or darks among them?");
  }
  const bool evenly = layout.source == AngleSource::kAssumed || angles_of_range(job.theta, 1);
  if (!layout.numbers_left_out.empty() && evenly) {
    observer.warn(layout.path + ": no images of " + layout.numbers_left_out +
                  ": angles are spread evenly over those that are there (--theta FILE says which)");
  }
  if (layout.source == AngleSource::kTheta && !layout.strange_unit.empty()) {
    throw Error(Status::kUnsupported,
                layout.path + ": " + layout.group + "/theta: units '" + layout.strange_unit +
                    "': expected degrees or radians (or --theta, in degrees)");
  }
  const auto& theta = layout.theta_deg;
  const auto first = [&](double degrees) { return degrees == theta.front(); };
  if (theta.size() > 1 && std::all_of(theta.begin(), theta.end(), first)) {
    throw Error(kScanMismatch,
                print("%s: all of %zu projections have the angle %g: expected a scan that "
                      "turns (--theta)",
                      layout.path.c_str(), theta.size(), theta.front()));
  }
  for (const std::string& doubt : doubts_about(theta)) {
    observer.warn(print("%s: %s (--theta)", layout.path.c_str(), doubt.c_str()));
  }
  if (job.input != InputKind::kCounts) return;
  if (layout.white.empty() && !layout.has_flat_value) {
    throw Error(kScanMismatch, layout.path + ": no flats (" +
                                   (stack ? "--flats" : layout.group + "/data_white") +
                                   "): expected some, or --input transmissions or "
                                   "integrals where the data are such");
  }
  if (layout.dark.empty() && !layout.has_dark_value) {
    observer.warn(layout.path + ": no darks (" + (stack ? "--darks" : layout.group + "/data_dark") +
                  "): taken to be 0");
  }
}

ZarrVolume::Chunks zarr_chunks(const ReconJob& job) {
  return {.slices_per_block = kSlicesPerGroup, .level = job.zarr_level};
}

std::unique_ptr<SliceSink> open_volume(const ReconJob& job, const FrameSource& scan,
                                       const VolumeShape& shape, std::span<const VolumeNote> notes,
                                       Backend made_on) {
  const std::optional<std::string> making =
      job.resume ? std::optional(making_of(job, scan, notes, made_on)) : std::nullopt;
  if (job.format == VolumeFormat::kTiff) {
    return std::make_unique<SliceFolder>(job.output, job.overwrite, shape, notes, making);
  }
  if (job.format == VolumeFormat::kZarr) {
    return std::make_unique<ZarrVolume>(job.output, job.overwrite, shape, notes, zarr_chunks(job),
                                        making);
  }
  return std::make_unique<VolumeWriter>(job.output, job.overwrite, shape, notes, making);
}

}  // namespace tomoloom
