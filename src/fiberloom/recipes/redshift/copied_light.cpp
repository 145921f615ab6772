// SPDX-License-Identifier: BSD-3-Clause
#include "fiberloom/recipes/redshift/copied_light.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace fiberloom {
namespace {

std::string_view bytes_of(std::span<const double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

bool are_the_same(const SeenLight& a, const SeenLight& b) {
  const bool two = a.exposure >= 0 && b.exposure >= 0 && a.exposure != b.exposure;
  return !two && bytes_of(a.flux) == bytes_of(b.flux) && bytes_of(a.ivar) == bytes_of(b.ivar) &&
         bytes_of(a.wave) == bytes_of(b.wave);
}

bool counts(const SeenLight& light) {
  return std::any_of(light.ivar.begin(), light.ivar.end(), [](double w) { return w > 0; });
}

}  // namespace

std::vector<std::int64_t> exposure_numbers(const Table& table,
                                           std::optional<std::int64_t> of_header) {
  if (auto exposures = table.integers("EXPID", -1)) return std::move(*exposures);
  std::vector<std::int64_t> out(table.rows, of_header.value_or(-1));
  const auto plates = table.integers("PLATE", -1), days = table.integers("MJD", -1);
  if (of_header || !plates || !days) return out;
  constexpr std::int64_t kDays = 100000;
  for (std::size_t r = 0; r < out.size(); ++r) {
    if ((*plates)[r] > 0 && (*days)[r] > 0) out[r] = (*plates)[r] * kDays + (*days)[r];
  }
  return out;
}

bool tells_exposures(const Table& table, std::optional<std::int64_t> of_header) {
  const auto fibers = table.integers("FIBER", -1);
  const auto known = [](const std::vector<std::int64_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n >= 0; });
  };
  return fibers && known(*fibers) && known(exposure_numbers(table, of_header));
}

SeenLight light_of(const std::string& path, std::int64_t exposure, const Spectra& spectra,
                   std::size_t row) {
  const std::size_t n = spectra.nwave();
  return {.path = &path,
          .exposure = exposure,
          .wave = spectra.wave,
          .flux = {spectra.flux.row(row), n},
          .ivar = {spectra.ivar.row(row), n}};
}

void require_no_copies(std::int64_t target, std::span<const SeenLight> seen) {
  if (seen.size() < 2) return;
  std::unordered_multimap<std::size_t, const SeenLight*> known;
  for (const SeenLight& light : seen) {
    if (!counts(light)) continue;
    const std::size_t key = std::hash<std::string_view>()(bytes_of(light.flux));
    const auto [from, to] = known.equal_range(key);
    const auto same = std::find_if(
        from, to, [&](const auto& other) { return are_the_same(light, *other.second); });
    if (same == to) {
      known.emplace(key, &light);
      continue;
    }
    throw Error(Status::kUsage,
                *light.path + print(": target %lld has the same flux and ivar %s, and neither "
                                    "EXPID nor FIBER tells them apart: expected all light once",
                                    static_cast<long long>(target),
                                    *same->second->path == *light.path
                                        ? "twice"
                                        : ("as in " + *same->second->path).c_str()));
  }
}

void require_no_copies(const Spectra& spectra, const Table& fibermap,
                       std::span<const std::string> paths,
                       std::span<const std::vector<std::size_t>> targets) {
  const std::vector<std::int64_t> ids = fibermap.integers("TARGETID", -1).value();
  const std::vector<std::int64_t> exposures = exposure_numbers(fibermap);
  for (const std::vector<std::size_t>& rows : targets) {
    std::vector<SeenLight> seen;
    for (const std::size_t r : rows) {
      seen.push_back(light_of(paths[r], exposures[r], spectra, r));
    }
    require_no_copies(ids[rows.front()], seen);
  }
}

}  // namespace fiberloom
