// SPDX-License-Identifier: BSD-3-Clause
// Files by descriptor and pread, so that a file truncated under us is an error and not a SIGBUS.
#include "loom/files/byte_source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "loom/base/error.hpp"
#include "loom/files/input_file.hpp"

namespace loom {
namespace {

[[noreturn]] void ends_early(const std::string& label, std::uint64_t wanted, std::uint64_t size) {
  throw Error(Status::kCorrupt, label + ": truncated: " + std::to_string(wanted) +
                                    " bytes expected, found " + std::to_string(size));
}

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : ByteSource(path), file_(path) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.size(); }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > size() || out.size() > size() - offset) {
      ends_early(label(), offset + out.size(), size());
    }
    const std::size_t n = file_.read(offset, out);
    if (n < out.size()) ends_early(label(), offset + out.size(), offset + n);
  }

 private:
  InputFile file_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(const std::string& label, Bytes bytes)
      : ByteSource(label), bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size; }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > bytes_.size || out.size() > bytes_.size - offset) {
      ends_early(label(), offset + out.size(), bytes_.size);
    }
    if (!out.empty()) std::memcpy(out.data(), bytes_.storage.data() + offset, out.size());
  }

 private:
  Bytes bytes_;
};

bool exists(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0;
}

}  // namespace

std::optional<std::string> find_path(const std::string& path) {
  if (path.empty()) return std::nullopt;
  if (exists(path)) return path;
  const int error = errno;
  std::string other = path.ends_with(".gz") ? path.substr(0, path.size() - 3) : path + ".gz";
  if (exists(other)) return other;
  errno = error;
  return std::nullopt;
}

std::string resolve_path(const std::string& path) {
  if (path.empty()) throw Error(Status::kNotFound, "empty file name");
  if (auto found = find_path(path)) return std::move(*found);
  const int error = errno;
  const bool gz = path.ends_with(".gz");
  throw Error(Status::kNotFound,
              path + ": " + std::strerror(error) + (gz ? " (nor without .gz)" : " (nor with .gz)"),
              error);
}

std::shared_ptr<const ByteSource> ByteSource::open(const std::string& path) {
  auto file = std::make_shared<FileSource>(path);
  std::array<std::uint8_t, 3> magic{};
  if (file->size() < magic.size()) return file;
  file->read(0, magic);
  if (!is_gzip(magic)) return file;
  Buffer<std::uint8_t> packed(static_cast<std::size_t>(file->size()));
  file->read(0, {packed.data(), packed.size()});
  return std::make_shared<MemorySource>(path, gunzip({packed.data(), packed.size()}, path));
}

std::shared_ptr<const ByteSource> ByteSource::from_memory(std::span<const std::uint8_t> bytes,
                                                          const std::string& label,
                                                          std::size_t max_unpacked) {
  if (is_gzip(bytes)) {
    return std::make_shared<MemorySource>(label, gunzip(bytes, label, max_unpacked));
  }
  Bytes copy{Buffer<std::uint8_t>(bytes.size()), bytes.size()};
  std::copy(bytes.begin(), bytes.end(), copy.storage.data());
  return std::make_shared<MemorySource>(label, std::move(copy));
}

}  // namespace loom
