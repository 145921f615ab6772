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
#include "loom/files/parallel_gunzip.hpp"

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
  MemorySource(const std::string& label, Bytes bytes) : ByteSource(label), size_(bytes.size) {
    pieces_.push_back({std::move(bytes.storage), 0, bytes.size});
    first_.push_back(0);
  }
  MemorySource(const std::string& label, std::vector<Piece> pieces)
      : ByteSource(label), pieces_(std::move(pieces)) {
    std::erase_if(pieces_, [](const Piece& p) { return p.size == 0; });
    for (const Piece& p : pieces_) {
      first_.push_back(size_);
      size_ += p.size;
    }
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  void read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    if (offset > size_ || out.size() > size_ - offset) {
      ends_early(label(), offset + out.size(), size_);
    }
    auto k = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), offset) -
                                      first_.begin());
    while (!out.empty()) {
      const Piece& piece = pieces_[--k];
      const auto at = static_cast<std::size_t>(offset - first_[k]);
      const std::size_t n = std::min(out.size(), piece.size - at);
      std::memcpy(out.data(), piece.view().data() + at, n);
      out = out.subspan(n);
      offset += n;
      k += 2;
    }
  }

 private:
  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> first_;  ///< where each begins
  std::uint64_t size_ = 0;
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

std::shared_ptr<const ByteSource> ByteSource::open(const std::string& path, Executor* executor) {
  auto file = std::make_shared<FileSource>(path);
  std::array<std::uint8_t, 3> magic{};
  if (file->size() < magic.size()) return file;
  file->read(0, magic);
  if (!is_gzip(magic)) return file;
  Buffer<std::uint8_t> packed(static_cast<std::size_t>(file->size()));
  const std::span<const std::uint8_t> bytes(packed.data(), packed.size());
  // by all threads, too: half of it is the kernel's clearing of fresh pages
  run_in_parts(executor != nullptr ? *executor : serial_executor(), packed.size(), kLeastPart,
               [&](std::size_t first, std::size_t n) {
                 file->read(first, {packed.data() + first, n});
               });
  if (executor != nullptr) {
    if (auto pieces = parallel_gunzip(bytes, kMaxUnpacked, *executor))
      return std::make_shared<MemorySource>(path, std::move(*pieces));
  }
  return std::make_shared<MemorySource>(path, gunzip(bytes, path));
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
