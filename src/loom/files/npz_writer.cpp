// SPDX-License-Identifier: BSD-3-Clause
#include "loom/files/npz_writer.hpp"

#include <bit>

#include "loom/base/print.hpp"
#include "loom/files/gzip.hpp"

namespace loom {
namespace {

static_assert(std::endian::native == std::endian::little, "types are told as little-endian");

using Text = std::vector<std::uint8_t>;

constexpr std::uint64_t kElsewhere = 0xffffffff;       // in 32 bits: see the zip64 field
constexpr std::uint16_t kStored = 0, kNewYear = 0x21;  // method; 1 January 1980
constexpr std::uint16_t kVersion = 45;                 // that knows zip64

void put(Text& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}
void put(Text& to, const std::string& text) { to.insert(to.end(), text.begin(), text.end()); }

/// What stands in the 32 bits of a number.
std::uint64_t narrow(std::uint64_t value, std::uint64_t most) {
  return value > most ? kElsewhere : value;
}

/// What a .npy begins with: a multiple of 64 bytes.
Text npy_header(const NpzArray& array) {
  std::string text = "{'descr': '" + array.type + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    text += print(i == 0 ? "%llu" : " %llu", static_cast<unsigned long long>(array.shape[i]));
    if (i == 0 || i + 1 < array.shape.size()) text += ",";
  }
  text += "), }";
  constexpr std::size_t kBefore = 10;
  const std::size_t length = (kBefore + text.size() + 1 + 63) / 64 * 64 - kBefore;
  text.resize(length - 1, ' ');
  Text out{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  put(out, length, 2);
  put(out, text + "\n");
  return out;
}

/// A member, as both its own header and the directory tell of it.
struct Member {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t crc = 0;
};

void put_facts(Text& to, const Member& of, std::uint16_t extra_bytes, std::uint64_t most) {
  put(to, kVersion, 2);
  put(to, 0, 2);  // flags
  put(to, kStored, 2);
  put(to, 0, 2);  // time
  put(to, kNewYear, 2);
  put(to, of.crc, 4);
  const std::uint64_t size = narrow(of.size, most);
  put(to, size, 4);
  put(to, size, 4);
  put(to, of.name.size(), 2);
  put(to, extra_bytes, 2);
}

/// The numbers that have no room in 32 bits.
Text zip64_field(std::span<const std::uint64_t> values) {
  Text out;
  if (values.empty()) return out;
  put(out, 1, 2);
  put(out, 8 * values.size(), 2);
  for (const std::uint64_t value : values) put(out, value, 8);
  return out;
}

Text local_header(const Member& of, std::uint64_t most) {
  std::vector<std::uint64_t> large;
  if (of.size > most) large = {of.size, of.size};
  const Text extra = zip64_field(large);
  Text out{'P', 'K', 3, 4};
  put_facts(out, of, static_cast<std::uint16_t>(extra.size()), most);
  put(out, of.name);
  out.insert(out.end(), extra.begin(), extra.end());
  return out;
}

Text directory_entry(const Member& of, std::uint64_t most) {
  std::vector<std::uint64_t> large;
  if (of.size > most) large = {of.size, of.size};
  if (of.offset > most) large.push_back(of.offset);
  const Text extra = zip64_field(large);
  Text out{'P', 'K', 1, 2};
  put(out, kVersion, 2);
  put_facts(out, of, static_cast<std::uint16_t>(extra.size()), most);
  put(out, 0, 2 + 2 + 2 + 4);  // comment, disk, attributes
  put(out, narrow(of.offset, most), 4);
  put(out, of.name);
  out.insert(out.end(), extra.begin(), extra.end());
  return out;
}

/// What an archive ends with: where its directory is.
Text directory_end(std::uint64_t at, std::uint64_t size, std::size_t members, std::uint64_t most) {
  Text out;
  if (at > most || size > most) {
    out = {'P', 'K', 6, 6};
    put(out, 44, 8);
    put(out, kVersion, 2);
    put(out, kVersion, 2);
    put(out, 0, 4 + 4);
    put(out, members, 8);
    put(out, members, 8);
    put(out, size, 8);
    put(out, at, 8);
    out.insert(out.end(), {'P', 'K', 6, 7});
    put(out, 0, 4);
    put(out, at + size, 8);
    put(out, 1, 4);
  }
  out.insert(out.end(), {'P', 'K', 5, 6});
  put(out, 0, 2 + 2);
  put(out, members, 2);
  put(out, members, 2);
  put(out, narrow(size, most), 4);
  put(out, narrow(at, most), 4);
  put(out, 0, 2);
  return out;
}

}  // namespace

void write_npz(const std::string& path, Overwrite overwrite, std::span<const NpzArray> arrays,
               FilesTogether* together, std::uint64_t most) {
  AtomicFile file(path, overwrite);
  std::uint64_t at = 0;
  const auto write = [&](std::span<const std::uint8_t> bytes) {
    file.write_at(at, bytes);
    at += bytes.size();
  };
  Text directory;
  for (const NpzArray& array : arrays) {
    const Text header = npy_header(array);
    const Member member{.name = array.name + ".npy",
                        .offset = at,
                        .size = header.size() + array.bytes.size(),
                        .crc = crc32(crc32(0, header), array.bytes)};
    write(local_header(member, most));
    write(header);
    write(array.bytes);
    const Text entry = directory_entry(member, most);
    directory.insert(directory.end(), entry.begin(), entry.end());
  }
  const std::uint64_t begin = at;
  write(directory);
  write(directory_end(begin, directory.size(), arrays.size(), most));
  file.commit(together);
}

}  // namespace loom
