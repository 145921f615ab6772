// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/night/psf_cache.hpp"

#include <algorithm>

#include "loom/files/byte_source.hpp"

namespace fiberloom::night {

std::shared_ptr<const PsfFile> PsfCache::get(const std::string& path,
                                             const PsfReadOptions& options) {
  const auto stamp = stamp_file(resolve_path(path));
  std::promise<std::shared_ptr<const PsfFile>> promise;
  Shared psf;
  bool mine = false;
  {
    const std::lock_guard lock(mutex_);
    const auto known = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) {
      return stamp && e.stamp == *stamp && e.options.gh00 == options.gh00 &&
             e.options.tails == options.tails && e.options.status == options.status &&
             e.options.verify == options.verify;
    });
    if (known != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, known);
      psf = known->psf;
    } else {
      mine = true;
      psf = promise.get_future().share();
      entries_.push_front({stamp.value_or(FileStamp{}), options, psf});
      if (entries_.size() > capacity_) entries_.pop_back();
    }
  }
  if (mine) {
    try {
      promise.set_value(std::make_shared<const PsfFile>(read_psf(path, options)));
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);  // do not remember a failure: the file may get better
      std::erase_if(entries_, [&](const Entry& e) { return stamp && e.stamp == *stamp; });
    }
  }
  return psf.get();
}

}  // namespace fiberloom::night
