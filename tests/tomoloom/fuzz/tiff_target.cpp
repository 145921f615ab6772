// SPDX-License-Identifier: BSD-3-Clause
#include "tests/tomoloom/fuzz/tiff_target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "loom/base/error.hpp"
#include "loom/tiff/test_tiff.hpp"
#include "loom/tiff/tiff.hpp"

namespace tomoloom::fuzz {
namespace {

constexpr std::size_t kMostPixels = 100000, kMostPages = 64;

/// A file without a place on a disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes) : fd_(::memfd_create("image", 0)) {
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error("no file in memory");
    }
  }
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace

void fuzz_tiff(std::span<const std::uint8_t> bytes) {
  const MemoryFile file(bytes);
  try {
    const loom::tiff::Reader reader(file.path());
    std::vector<float> out;
    for (std::size_t i = 0; i < reader.pages() && i < kMostPages; ++i) {
      const loom::tiff::Page& page = reader.page(i);
      if (page.width * page.height > kMostPixels) continue;
      out.resize(page.width * page.height);
      reader.read(i, 0, page.height, out);
      reader.read(i, page.height - 1, 1, std::span(out).first(page.width));
    }
  } catch (const loom::Error&) {
  }
}

std::vector<TiffSeed> tiff_seeds() {
  using loom::test::TiffBuild;
  const auto pixel = [](std::size_t p, std::size_t r, std::size_t c) { return p + 3 * r * r + c; };
  return {
      {"plain", TiffBuild{.pages = 2, .value = pixel}.bytes()},
      {"imagej",
       TiffBuild{.strip_rows = 4, .description = "ImageJ=1\nimages=1\n", .value = pixel}.bytes()},
      {"big",
       TiffBuild{.big_endian = true, .version_43 = true, .bits = 32, .value = pixel}.bytes()},
      {"deflate", TiffBuild{.compression = 8, .predictor = 2, .value = pixel}.bytes()},
      {"lzw",
       TiffBuild{.width = 40, .height = 30, .bits = 8, .compression = 5, .value = pixel}.bytes()}};
}

}  // namespace tomoloom::fuzz
