// SPDX-License-Identifier: BSD-3-Clause
// Where the bytes of a FITS file come from: a plain file (pread) or memory (unpacked gzip, tests).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/files/gzip.hpp"

namespace loom {

/// The name that exists: `path`, else path.gz, else `path` without .gz. Throws kNotFound.
/// A name is only a name: no cfitsio expressions in [ ] ( ) +.
[[nodiscard]] std::string resolve_path(const std::string& path);
/// The same; nullopt, and errno of `path` itself, where none is there.
[[nodiscard]] std::optional<std::string> find_path(const std::string& path);

/// Random access to bytes. Safe to read from several threads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `out` from `offset`. Throws kCorrupt where the file ends before.
  virtual void read(std::uint64_t offset, std::span<std::uint8_t> out) const = 0;
  [[nodiscard]] const std::string& label() const noexcept { return label_; }

  /// Opens an existing file; gzip is known by its first bytes and unpacked into memory, by all
  /// threads of `executor` where there is one: the same bytes. Throws kNotFound, kCorrupt.
  [[nodiscard]] static std::shared_ptr<const ByteSource> open(const std::string& path,
                                                              Executor* executor = nullptr);
  /// Takes a copy; gzip is unpacked here too.
  [[nodiscard]] static std::shared_ptr<const ByteSource> from_memory(
      std::span<const std::uint8_t> bytes, const std::string& label,
      std::size_t max_unpacked = kMaxUnpacked);

 protected:
  explicit ByteSource(std::string label) : label_(std::move(label)) {}

 private:
  std::string label_;
};

}  // namespace loom
