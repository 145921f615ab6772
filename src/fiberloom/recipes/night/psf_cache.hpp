// SPDX-License-Identifier: BSD-3-Clause
// PSFs that many frames of a run share: read once, by whoever needs one first.
#pragma once

#include <cstddef>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "fiberloom/formats/formats.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "loom/batch/receipt.hpp"

namespace fiberloom::night {

/// Keeps the PSFs used last, at most `capacity`. Safe from any thread.
class PsfCache {
 public:
  explicit PsfCache(std::size_t capacity) : capacity_(capacity) {}

  /// Reads the PSF, or waits for who is reading it, or returns it. A file that changed since it was
  /// read is read again. Throws what read_psf() throws, to everybody who waited.
  [[nodiscard]] std::shared_ptr<const PsfFile> get(const std::string& path,
                                                   const PsfReadOptions& options);

 private:
  using Shared = std::shared_future<std::shared_ptr<const PsfFile>>;
  struct Entry {
    FileStamp stamp;
    PsfReadOptions options;
    Shared psf;
  };
  std::size_t capacity_;
  std::mutex mutex_;
  std::list<Entry> entries_;  ///< used last comes first
};

}  // namespace fiberloom::night
