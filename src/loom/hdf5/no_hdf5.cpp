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

Writer::Writer(const std::string& path, Overwrite /*overwrite*/) { require_available(path); }
Writer::~Writer() = default;
void Writer::create(const std::string&, Type, const std::vector<std::size_t>&,
                    const std::vector<std::size_t>&) {}
void Writer::write(const std::string&, std::size_t, std::span<const float>) {}
void Writer::write(const std::string&, std::size_t, std::span<const double>) {}
void Writer::write(const std::string&, std::size_t, std::span<const std::int64_t>) {}
void Writer::table(const std::string&, std::span<const Field>, std::size_t,
                   std::span<const std::uint8_t>) {}
void Writer::commit() {}

Reader::Reader(const std::string& path) { require_available(path); }
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

}  // namespace loom::hdf5
