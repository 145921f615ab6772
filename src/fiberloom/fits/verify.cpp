// SPDX-License-Identifier: BSD-3-Clause
// A whole HDU with its CHECKSUM in place sums to all ones.
#include "fiberloom/fits/verify.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fiberloom/base/error.hpp"
#include "fiberloom/fits/checksum.hpp"
#include "fiberloom/fits/gzip.hpp"
#include "fiberloom/fits/hdu.hpp"

namespace fiberloom::fits {
namespace {

constexpr std::size_t kChunk = std::size_t{364} * kBlock;  // about 1 MB

std::uint32_t sum_of(const ByteSource& source, std::uint64_t first, std::uint64_t last) {
  Checksum sum;
  std::vector<std::uint8_t> chunk(kChunk);
  while (first < last) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, last - first));
    source.read(first, {chunk.data(), n});
    sum.add({chunk.data(), n});
    first += n;
  }
  return sum.value();
}

}  // namespace

std::uint32_t file_crc32(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    throw Error(Status::kNotFound, path + ": cannot open: " + std::strerror(error), error);
  }
  std::vector<std::uint8_t> chunk(kChunk);
  std::uint32_t crc = 0;
  ssize_t n = 0;
  do {
    n = ::read(fd, chunk.data(), chunk.size());
    if (n > 0) crc = crc32(crc, {chunk.data(), static_cast<std::size_t>(n)});
  } while (n > 0 || (n < 0 && errno == EINTR));
  const int error = errno;
  ::close(fd);
  if (n < 0) {
    throw Error(Status::kNotFound, path + ": cannot read: " + std::strerror(error), error);
  }
  return crc;
}

void verify_checksums(const std::string& path) {
  const auto source = ByteSource::open(path);
  std::uint64_t start = 0;
  for (const Hdu& hdu : scan_hdus(*source)) {
    const auto fail = [&](const std::string& what) {
      throw Error(Status::kCorrupt, path + ": " + hdu.label() + ": " + what);
    };
    const std::uint64_t end = hdu.data_offset + (hdu.data_bytes + kBlock - 1) / kBlock * kBlock;
    if (end > source->size()) fail("truncated in the padding of its data");
    const auto datasum = hdu.header.text("DATASUM");
    if (!datasum || !hdu.header.text("CHECKSUM")) fail("has no CHECKSUM and DATASUM");
    const std::uint32_t data = sum_of(*source, hdu.data_offset, end);
    if (std::strtoul(datasum->c_str(), nullptr, 10) != data) {
      fail("DATASUM is " + *datasum + ", its data sum to " + std::to_string(data));
    }
    Checksum whole;
    whole.add(sum_of(*source, start, hdu.data_offset));
    whole.add(data);
    if (whole.value() != 0xffffffffU && whole.value() != 0) fail("CHECKSUM does not match");
    start = end;
  }
  if (start != source->size()) {
    throw Error(Status::kCorrupt, path + ": " + std::to_string(source->size() - start) +
                                      " bytes after the last HDU belong to none");
  }
}

}  // namespace fiberloom::fits
