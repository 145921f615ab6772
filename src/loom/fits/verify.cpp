// SPDX-License-Identifier: BSD-3-Clause
// A whole HDU with its CHECKSUM in place sums to all ones.
#include "loom/fits/verify.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "loom/base/error.hpp"
#include "loom/files/byte_source.hpp"

namespace loom::fits {
namespace {

constexpr std::size_t kVerifiedAtOnce = std::size_t{364} * kBlock;  // about 1 MB

std::string card_or_nothing(const Hdu& hdu, const char* key) {
  const std::string text = hdu.header.text(key).value_or("");
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

}  // namespace

bool has_checksums(const Hdu& hdu) {
  return !card_or_nothing(hdu, "DATASUM").empty() || !card_or_nothing(hdu, "CHECKSUM").empty();
}

void add_bytes(Checksum& sum, const ByteSource& source, std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint8_t> chunk(
      static_cast<std::size_t>(std::min<std::uint64_t>(kVerifiedAtOnce, last - first)));
  while (first < last) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), last - first));
    source.read(first, {chunk.data(), n});
    sum.add({chunk.data(), n});
    first += n;
  }
}

std::string checksum_fault(const Hdu& hdu, std::uint32_t data_sum) {
  const std::string datasum = card_or_nothing(hdu, "DATASUM");
  if (!datasum.empty() && hdu.header.number("DATASUM") != static_cast<double>(data_sum)) {
    return "DATASUM is " + datasum + ", but the data sum to " + std::to_string(data_sum);
  }
  if (card_or_nothing(hdu, "CHECKSUM").empty()) return {};
  Checksum whole;
  whole.add(hdu.header_sum);
  whole.add(data_sum);
  if (whole.value() == 0xffffffffU || whole.value() == 0) return {};
  return "CHECKSUM: header and data sum to " + std::to_string(whole.value()) +
         ", expected 4294967295" + (datasum.empty() ? "" : " (the data are good: the header)");
}

std::string checksum_fault(const Hdu& hdu, const ByteSource& source) {
  Checksum sum;
  add_bytes(sum, source, hdu.data_offset, hdu.end());
  return checksum_fault(hdu, sum.value());
}

void verify_checksums(const std::string& path) {
  const auto source = ByteSource::open(path);
  std::uint64_t start = 0;
  for (const Hdu& hdu : scan_hdus(*source)) {
    const auto fail = [&](const std::string& what) {
      throw Error(Status::kCorrupt, path + ": " + hdu.label() + ": " + what);
    };
    start = hdu.end();
    for (const char* key : {"DATASUM", "CHECKSUM"}) {
      if (card_or_nothing(hdu, key).empty()) fail("has no CHECKSUM and DATASUM");
    }
    if (const auto fault = checksum_fault(hdu, *source); !fault.empty()) fail(fault);
  }
  if (start != source->size()) {
    throw Error(Status::kCorrupt, path + ": " + std::to_string(source->size() - start) +
                                      " bytes after the last HDU belong to none");
  }
}

}  // namespace loom::fits
