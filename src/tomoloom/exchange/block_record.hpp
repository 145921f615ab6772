// SPDX-License-Identifier: BSD-3-Clause
// Which blocks of a volume are done, in a text file beside the unfinished volume: what a run that
// was interrupted has left for the next one.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tomoloom/foundation.hpp"

namespace tomoloom {

/// The first line says what is being made, each further one which slices are done: "0 32". A line
/// without its end was being written when the machine stopped: it counts as not there, and what is
/// added next takes its place.
class BlockRecord {
 public:
  /// Takes what is there where it is of the same making. `making` is one line.
  BlockRecord(std::string path, std::string making);

  /// A record of this making was there.
  [[nodiscard]] bool continues() const noexcept { return continues_; }
  [[nodiscard]] bool done(std::size_t first, std::size_t count) const;
  [[nodiscard]] std::size_t slices_done() const;
  /// Begins anew: nothing is done. Throws kUnwritable, kDiskFull, and leaves no file then; so does
  /// add(), and leaves what was there.
  void start();
  /// After the slices are on the disk.
  void add(std::size_t first, std::size_t count);
  void remove() const;

 private:
  void append(const std::string& line, int flags) const;

  std::string path_, making_;
  bool continues_ = false;
  std::vector<std::pair<std::size_t, std::size_t>> done_;
  std::size_t whole_ = 0;  // bytes of the lines that have an end
  bool torn_ = false;      // something without an end may follow them
};

}  // namespace tomoloom
