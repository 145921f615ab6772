// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/write_observations.hpp"

#include <algorithm>

#include "loom/base/stop.hpp"
#include "loom/files/output_files.hpp"
#include "skyloom/recipes/other_files.hpp"
#include "skyloom/tod/detector_group.hpp"
#include "skyloom/tod/observation_writer.hpp"

namespace skyloom {
namespace {

/// A pair of detectors whose samples wait to be written.
struct TruePair : DetectorGroup {
  Truth truth[2];
};

void write_signals(const TodSource& source, std::size_t number, const Boresight& boresight,
                   ObservationWriter& writer, Executor& executor, const Observer& observer) {
  const Observation& observation = source.observation(number);
  const std::size_t detectors = observation.plane.detectors.size();
  const std::size_t at_once = 2 * executor.concurrency();
  std::vector<TruePair> pairs(executor.concurrency());
  const auto motion = source.motion(number);
  for (std::size_t first = 0; first < detectors; first += at_once) {
    stop_if_asked(observer);
    const std::size_t n = std::min(at_once, detectors - first);
    executor.run((n + 1) / 2, [&](std::size_t p) {
      const auto signals = pairs[p].room(observation.samples, n - 2 * p);
      for (std::size_t i = 0; i < signals.size(); ++i) {
        pairs[p].truth[i] = source.truth(number, first + 2 * p + i);
      }
      source.read(number, boresight, first + 2 * p, signals);
    });
    for (std::size_t i = 0; i < n; ++i) {
      TruePair& pair = pairs[i / 2];
      if (motion) {  // what read() took from the mount stands in shared flags
        std::vector<std::uint8_t>& flags = pair.flags[i % 2];
        for (std::size_t k = 0; k < flags.size(); ++k) {
          if ((motion->flags[k] & kSharedMask) != 0) flags[k] = 0;
        }
      }
      writer.signal(first + i, pair.values[i % 2], pair.flags[i % 2]);
      writer.truth(first + i, pair.truth[i % 2]);
    }
    if (observer.progress) {
      observer.progress("detectors", number * detectors + first + n,
                        source.observations() * detectors);
    }
  }
}

/// Whether a file is named as the observations are, whatever its number.
bool same_series(const std::string& name, const TodSource& source) {
  if (!name.ends_with(".h5")) return false;
  const std::string series = name.substr(0, name.find_first_of("0123456789"));
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const std::string& own = source.observation(i).name;
    if (own.substr(0, own.find_first_of("0123456789")) == series) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> observation_files(const TodSource& source, const std::string& folder) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < source.observations(); ++i) {
    out.push_back(folder + "/" + source.observation(i).name + ".h5");
  }
  return out;
}

std::vector<std::string> write_observations(const TodSource& source, const std::string& folder,
                                            Overwrite overwrite, Executor& executor,
                                            const Observer& observer, const Turn& turn) {
  const std::vector<std::string> files = observation_files(source, folder);
  std::vector<std::string> paths;  // of this turn
  for (std::size_t i = turn.rank; i < files.size(); i += turn.size) paths.push_back(files[i]);
  check_outputs(paths, overwrite);
  for (std::size_t i = turn.rank; i < files.size(); i += turn.size) {
    const FolderOf made(files[i]);
    const Boresight boresight = source.boresight(i);
    const auto motion = source.motion(i);
    ObservationWriter writer(files[i], overwrite, source.observation(i), boresight, motion.get());
    source.prepare(i, boresight, executor, observer);
    write_signals(source, i, boresight, writer, executor, observer);
    writer.commit();
  }
  if (turn.rank == 0 && !files.empty()) {
    tell_of_others(
        folder, files, [&](const std::string& name) { return same_series(name, source); },
        observer);
  }
  return paths;
}

}  // namespace skyloom
