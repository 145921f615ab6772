// SPDX-License-Identifier: BSD-3-Clause
// The peer leaves chunks without a hit out of the file; what is not there is read as the data set's
// fill value.
#include <algorithm>
#include <memory>
#include <sstream>

#include "loom/base/print.hpp"
#include "loom/hdf5/hdf5.hpp"
#include "skyloom/sky/map_contents.hpp"
#include "skyloom/status.hpp"

namespace skyloom {
namespace {

using hdf5::Reader;
using hdf5::TextKind;
using hdf5::Type;
using hdf5::Writer;

constexpr const char* kMap = "map";
constexpr std::int64_t kChunkNside = 16;  // of a chunk's pixels: 12 Nside^2, the peer's

/// Where no names are noted: those that so many columns have in the peer's files.
std::vector<std::string> usual_names(std::size_t columns) {
  if (columns == 1) return {"I_STOKES"};
  if (columns == 3) return {"I_STOKES", "Q_STOKES", "U_STOKES"};
  if (columns == 6) return {"II", "IQ", "IU", "QQ", "QU", "UU"};
  std::vector<std::string> out;
  for (std::size_t c = 0; c < columns; ++c) out.push_back(print("column %zu", c + 1));
  return out;
}

std::vector<std::string> names_of(const Reader& file, std::size_t columns) {
  std::istringstream words(file.description(kMap, "COLUMNS").value_or(""));
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out.size() == columns ? out : usual_names(columns);
}

Type type_of(MapType type) {
  return type == MapType::kFloat32   ? Type::kFloat32
         : type == MapType::kFloat64 ? Type::kFloat64
                                     : Type::kInt32;
}

}  // namespace

bool is_hdf5_map(const std::string& path) { return begins_as_hdf5(path) && Reader(path).has(kMap); }

MapContents open_hdf5_map(const std::string& path) {
  const auto file = std::make_shared<const Reader>(path);
  if (!file->has(kMap)) throw Error(Status::kMissingHdu, path + ": no data set " + kMap);
  const std::vector<std::size_t> shape = file->extent(kMap);
  if (shape.size() != 2 || shape[0] == 0) {
    throw Error(Status::kWrongShape, path + ": " + kMap + ": expected columns x pixels");
  }
  const auto ordering = file->description(kMap, "ORDERING");
  if (!ordering) throw Error(Status::kMissingKeyword, path + ": " + kMap + ": no ORDERING");
  MapContents out{.pixels = so_many_pixels(path, shape[1]),
                  .ordering = ordering_named(*ordering, path),
                  .names = names_of(*file, shape[0]),
                  .unit = file->description(kMap, "UNITS").value_or(""),
                  .frame = file->description(kMap, "COORDSYS").value_or("")};
  const auto nside = file->number(kMap, "NSIDE");
  if (nside && *nside != static_cast<double>(out.pixels.nside())) {
    throw Error(kPixelisation, path + print(": NSIDE %g and %zu pixels", *nside, shape[1]));
  }
  out.values = [file, pixels = shape[1]](std::size_t column) {
    std::vector<double> values(pixels);
    const std::size_t start[] = {column, 0}, count[] = {1, pixels};
    file->read_box(kMap, start, count, std::span<double>(values));
    return values;
  };
  return out;
}

void write_hdf5_map(const std::string& path, Overwrite overwrite, const Healpix& pixels,
                    const MapFile& file, const MapValues& values) {
  const std::size_t columns = file.columns.size();
  const auto all = static_cast<std::size_t>(pixels.pixels());
  const auto side = std::min(pixels.nside(), kChunkNside);
  const auto chunk = static_cast<std::size_t>(12 * side * side);
  Writer to(path, overwrite);
  to.create_sparse(kMap, type_of(file.type), {columns, all}, {columns, chunk}, file.empty);
  const std::vector<Pixel> numbers = numbers_of(pixels, file);
  std::vector<double> row(columns), box(columns * chunk);
  std::size_t next = 0;  // of numbers
  for (std::size_t first = 0; first < all; first += chunk) {
    std::fill(box.begin(), box.end(), file.empty);
    bool filled = false;
    const auto put = [&](std::size_t number) {
      const auto pixel = static_cast<Pixel>(number);
      values(file.ordering == Ordering::kNested ? pixel : pixels.to_nested(pixel), row.data());
      for (std::size_t c = 0; c < columns; ++c) {
        filled = filled || row[c] != file.empty;
        box[c * chunk + number - first] = row[c];
      }
    };
    if (file.part == nullptr) {
      for (std::size_t i = first; i < first + chunk; ++i) put(i);
    } else {
      while (next < numbers.size() && static_cast<std::size_t>(numbers[next]) < first + chunk) {
        put(static_cast<std::size_t>(numbers[next++]));
      }
    }
    if (!filled) continue;
    const std::size_t start[] = {0, first}, count[] = {columns, chunk};
    to.write_box(kMap, start, count, box);
  }
  std::string names;
  for (const std::string& name : file.columns) names += (names.empty() ? "" : " ") + name;
  const std::pair<const char*, std::string> texts[] = {{"ORDERING", name_of(file.ordering)},
                                                       {"UNITS", file.unit},
                                                       {"COORDSYS", file.frame},
                                                       {"COLUMNS", names}};
  for (const auto& [name, text] : texts) to.describe(kMap, name, text, TextKind::kVariable);
  to.describe(kMap, "NSIDE", std::int64_t{pixels.nside()});
  to.commit(file.together);
}

}  // namespace skyloom
