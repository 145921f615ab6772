// SPDX-License-Identifier: BSD-3-Clause
// In a build without the library: each way in says so.
#include "loom/base/error.hpp"
#include "loom/hdf5/hdf5.hpp"

namespace loom::hdf5 {

struct Writer::Impl {};
struct Reader::Impl {
  std::string path;
};

bool available() noexcept { return false; }

void require_available(const std::string& what) {
  throw Error(Status::kUnsupported, what + ": this program was built without HDF5 (libhdf5-dev)");
}

std::size_t Field::bytes() const noexcept { return 0; }

std::string part_name(const std::string& path) { return path + ".part"; }

bool is_being_written(const std::string& /*path*/) { return false; }

Writer::Writer(const std::string& path, Overwrite /*overwrite*/, Unfinished /*unfinished*/) {
  require_available(path);
}
Writer::~Writer() = default;
void Writer::create(const std::string&, Type, const std::vector<std::size_t>&,
                    const std::vector<std::size_t>&, Room) {}
void Writer::create_sparse(const std::string&, Type, const std::vector<std::size_t>&,
                           const std::vector<std::size_t>&, double) {}
void Writer::write_box(const std::string&, std::span<const std::size_t>,
                       std::span<const std::size_t>, std::span<const double>) {}
void Writer::write(const std::string&, std::size_t, std::span<const float>) {}
void Writer::write(const std::string&, std::size_t, std::span<const double>) {}
void Writer::write(const std::string&, std::size_t, std::span<const std::int64_t>) {}
void Writer::write(const std::string&, std::size_t, std::span<const std::uint16_t>) {}
void Writer::write(const std::string&, std::size_t, std::span<const std::uint8_t>) {}
void Writer::describe(const std::string&, const std::string&, double) {}
void Writer::describe(const std::string&, const std::string&, std::int64_t) {}
void Writer::group(const std::string&) {}
void Writer::texts(const std::string&, const std::vector<std::string>&) {}
void Writer::text(const std::string&, const std::string&) {}
void Writer::describe(const std::string&, const std::string&, const std::string&, TextKind) {}
void Writer::table(const std::string&, std::span<const Field>, std::size_t,
                   std::span<const std::uint8_t>) {}
bool Writer::continues() const noexcept { return false; }
void Writer::sync() {}
void Writer::commit(FilesTogether* /*together*/) {}

Reader::Reader(const std::string& path, Writing /*writing*/) { require_available(path); }
Reader::~Reader() = default;
const std::string& Reader::path() const noexcept { return impl_->path; }
bool Reader::has(const std::string&) const { return false; }
std::vector<std::string> Reader::children(const std::string&) const { return {}; }
std::vector<std::size_t> Reader::shape(const std::string&) const { return {}; }
std::vector<double> Reader::read(const std::string&) const { return {}; }
std::vector<std::int64_t> Reader::read_integers(const std::string&) const { return {}; }
std::vector<double> Reader::read_row(const std::string&, std::size_t) const { return {}; }
std::vector<double> Reader::read_field(const std::string&, const std::string&) const { return {}; }
std::vector<std::string> Reader::read_text_field(const std::string&, const std::string&) const {
  return {};
}
std::vector<std::string> Reader::read_texts(const std::string&) const { return {}; }

std::vector<std::size_t> Reader::extent(const std::string&) const { return {}; }
std::set<std::string> Reader::files(const std::string&) const { return {}; }
std::vector<std::size_t> Reader::chunk(const std::string&) const { return {}; }
std::optional<Type> Reader::type(const std::string&) const { return std::nullopt; }
void Reader::read_box(const std::string&, std::span<const std::size_t>,
                      std::span<const std::size_t>, std::span<float>) const {}
void Reader::read_box(const std::string&, std::span<const std::size_t>,
                      std::span<const std::size_t>, std::span<std::uint16_t>) const {}
void Reader::read_box(const std::string&, std::span<const std::size_t>,
                      std::span<const std::size_t>, std::span<double>) const {}
void Reader::read_box(const std::string&, std::span<const std::size_t>,
                      std::span<const std::size_t>, std::span<std::uint8_t>) const {}
std::optional<double> Reader::number(const std::string&) const { return std::nullopt; }
std::optional<double> Reader::number(const std::string&, const std::string&) const {
  return std::nullopt;
}
std::optional<std::string> Reader::text(const std::string&) const { return std::nullopt; }
std::optional<std::string> Reader::description(const std::string&, const std::string&) const {
  return std::nullopt;
}

}  // namespace loom::hdf5
