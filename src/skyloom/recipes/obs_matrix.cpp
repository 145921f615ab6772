// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/obs_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"
#include "loom/base/stop.hpp"
#include "loom/files/npz_writer.hpp"
#include "loom/files/output_files.hpp"

namespace skyloom {
namespace {

constexpr std::size_t kBlock = kTemplateBlock;
constexpr std::size_t kPixelsATask = 64;

/// The number of a pixel in the files.
std::int64_t number_of(const SkyGrid& grid, Ordering ordering, Pixel pixel) {
  if (const WcsGrid* const flat = grid.wcs()) {
    const GridCell cell = grid.cell(pixel);
    return static_cast<std::int64_t>(cell.row * flat->columns + cell.column);
  }
  return ordering == Ordering::kRing ? grid.healpix().to_ring(pixel) : pixel;
}

std::size_t pixels_of(const SkyGrid& grid) {
  if (const WcsGrid* const flat = grid.wcs()) return flat->columns * flat->rows;
  return static_cast<std::size_t>(grid.healpix().pixels());
}

/// A factor, and where its pixels stand among all that were hit.
struct Placed {
  const PixelFactor* factor;
  double weight;
  std::vector<std::uint32_t> hits;
};

/// All streams by the pixels that they hit, in the order of the pixels' numbers in the files.
class HitIndex {
 public:
  /// Where a pixel stands in something.
  struct Seen {
    std::uint32_t in, at;
  };

  HitIndex(const std::vector<StreamMatrix>& streams, const SkyGrid& grid, Ordering ordering)
      : streams_(streams) {
    std::vector<std::pair<std::int64_t, Pixel>> all;
    for (const StreamMatrix& of : streams) {
      for (const Pixel pixel : of.pixels) all.emplace_back(number_of(grid, ordering, pixel), pixel);
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
    }
    std::vector<std::pair<Pixel, std::uint32_t>> place;
    for (const auto& [number, pixel] : all) {
      place.emplace_back(pixel, static_cast<std::uint32_t>(numbers_.size()));
      numbers_.push_back(number);
    }
    std::sort(place.begin(), place.end());
    streams_of_.resize(numbers_.size());
    factors_of_.resize(numbers_.size());
    for (std::size_t s = 0; s < streams.size(); ++s) {
      std::vector<std::uint32_t> hits;
      for (const Pixel pixel : streams[s].pixels) {
        const auto at =
            std::lower_bound(place.begin(), place.end(), std::pair<Pixel, std::uint32_t>{pixel, 0});
        streams_of_[at->second].push_back(
            {static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(hits.size())});
        hits.push_back(at->second);
      }
      for (const PixelFactor& factor : streams[s].factors) add(factor, streams[s].weight, hits);
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
  [[nodiscard]] std::int64_t number(std::size_t hit) const noexcept { return numbers_[hit]; }
  [[nodiscard]] std::span<const Seen> factors_of(std::size_t hit) const noexcept {
    return factors_of_[hit];
  }
  [[nodiscard]] const Placed& factor(std::size_t number) const noexcept { return factors_[number]; }
  /// P^T N^-1 P.
  [[nodiscard]] Symmetric3 counts(std::size_t hit) const noexcept {
    Symmetric3 sum;
    for (const Seen& seen : streams_of_[hit]) {
      const double w = streams_[seen.in].weight;
      const Symmetric3& of = streams_[seen.in].counts[seen.at];
      sum += {w * of.ii, w * of.iq, w * of.iu, w * of.qq, w * of.qu, w * of.uu};
    }
    return sum;
  }

 private:
  void add(const PixelFactor& factor, double weight, const std::vector<std::uint32_t>& hits) {
    Placed placed{.factor = &factor, .weight = weight, .hits = {}};
    for (std::size_t p = 0; p < factor.pixels.size(); ++p) {
      const std::uint32_t hit = hits[factor.pixels[p]];
      placed.hits.push_back(hit);
      factors_of_[hit].push_back(
          {static_cast<std::uint32_t>(factors_.size()), static_cast<std::uint32_t>(p)});
    }
    factors_.push_back(std::move(placed));
  }

  const std::vector<StreamMatrix>& streams_;
  std::vector<std::int64_t> numbers_;
  std::vector<std::vector<Seen>> streams_of_, factors_of_;
  std::vector<Placed> factors_;
};

/// Three rows at a time: of I, Q and U of a pixel.
class Rows {
 public:
  explicit Rows(const HitIndex& index)
      : index_(index), kernels_(harmonic_kernels(active_isa())), touched_(index.size(), 0) {
    for (auto& row : sums_) row.assign(3 * index.size(), 0.0);
  }

  /// Pixels that a row has entries for, growing.
  [[nodiscard]] std::span<const std::uint32_t> columns_of(std::size_t hit) {
    columns_.assign(1, static_cast<std::uint32_t>(hit));
    touched_[hit] = 1;
    for (const HitIndex::Seen& seen : index_.factors_of(hit)) {
      for (const std::uint32_t other : index_.factor(seen.in).hits) {
        if (touched_[other] != 0) continue;
        touched_[other] = 1;
        columns_.push_back(other);
      }
    }
    for (const std::uint32_t other : columns_) touched_[other] = 0;
    std::sort(columns_.begin(), columns_.end());
    return columns_;
  }
  /// P^T N^-1 Z P; behind columns_of(). [row][3 hit + I, Q, U].
  const std::array<std::vector<double>, 3>& sum(std::size_t hit) {
    for (const std::uint32_t other : columns_) {
      for (auto& row : sums_) std::fill_n(row.data() + 3 * std::size_t{other}, 3, 0.0);
    }
    for (const HitIndex::Seen& seen : index_.factors_of(hit)) subtract(seen);
    const Symmetric3 c = index_.counts(hit);
    const double own[3][3] = {{c.ii, c.iq, c.iu}, {c.iq, c.qq, c.qu}, {c.iu, c.qu, c.uu}};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = 0; k < 3; ++k) sums_[r][3 * hit + k] += own[r][k];
    }
    return sums_;
  }

 private:
  void subtract(const HitIndex::Seen& seen) {
    const Placed& of = index_.factor(seen.in);
    const PixelFactor& factor = *of.factor;
    const std::size_t rank = factor.rank, n = 3 * of.hits.size();
    left_.resize(3 * rank);
    for (std::size_t r = 0; r < 3; ++r) {
      const std::size_t j = 3 * std::size_t{seen.at} + r;
      const double* const block = factor.rows.data() + j / kBlock * rank * kBlock;
      for (std::size_t k = 0; k < rank; ++k) {
        left_[r * rank + k] = of.weight * block[k * kBlock + j % kBlock];
      }
    }
    std::array<double, kBlock> mixed{};
    for (std::size_t b = 0; b < factor.blocks(); ++b) {
      const std::size_t first = b * kBlock, end = std::min(n, first + kBlock);
      for (std::size_t r = 0; r < 3; ++r) {
        kernels_.mix(factor.rows.data() + b * rank * kBlock, rank, left_.data() + r * rank,
                     mixed.data());
        double* const to = sums_[r].data();
        for (std::size_t j = first; j < end; ++j) {
          to[3 * std::size_t{of.hits[j / 3]} + j % 3] -= mixed[j - first];
        }
      }
    }
  }

  const HitIndex& index_;
  const HarmonicKernels& kernels_;
  std::vector<std::uint8_t> touched_;
  std::vector<std::uint32_t> columns_;
  std::vector<double> left_;
  std::array<std::vector<double>, 3> sums_;
};

/// [I, Q, U][I, Q, U] that the rows of a pixel are multiplied with; nothing where it is cut.
std::optional<std::array<Stokes, 3>> left_of(const HitIndex& index, const MapJob& job,
                                             std::size_t hit) {
  if (job.obs_matrix_weighted) return std::array<Stokes, 3>{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Symmetric3 m = invert(index.counts(hit), job.solve.least_reciprocal).inverse;
  if (!(m.ii > 0)) return std::nullopt;
  return std::array<Stokes, 3>{{{m.ii, m.iq, m.iu}, {m.iq, m.qq, m.qu}, {m.iu, m.qu, m.uu}}};
}

}  // namespace

SparseMatrix observation_matrix(const std::vector<StreamMatrix>& streams, const MapJob& job,
                                Executor& executor, const Observer& observer) {
  const SkyGrid grid = grid_of(job);
  const HitIndex index(streams, grid, job.ordering);
  const std::size_t all = pixels_of(grid), hits = index.size();
  SparseMatrix out;
  out.size = 3 * all;
  out.starts.assign(out.size + 1, 0);
  if (out.size > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw Error(Status::kUsage, "--obs-matrix: expected a map of less than 2^31 numbers");
  }
  const auto over_pixels = [&](const auto& use) {
    executor.run((hits + kPixelsATask - 1) / kPixelsATask, [&](std::size_t task) {
      stop_if_asked(observer);
      Rows rows(index);
      const std::size_t end = std::min(hits, (task + 1) * kPixelsATask);
      for (std::size_t hit = task * kPixelsATask; hit < end; ++hit) {
        if (const auto left = left_of(index, job, hit)) use(hit, *left, rows);
      }
    });
  };
  const auto row_of = [&](std::size_t hit, std::size_t stokes) {
    return stokes * all + static_cast<std::size_t>(index.number(hit));
  };
  over_pixels([&](std::size_t hit, const auto& /*left*/, Rows& rows) {
    const auto n = static_cast<std::int64_t>(3 * rows.columns_of(hit).size());
    for (std::size_t k = 0; k < 3; ++k) out.starts[row_of(hit, k) + 1] = n;
  });
  for (std::size_t r = 0; r < out.size; ++r) out.starts[r + 1] += out.starts[r];
  const auto entries = static_cast<std::size_t>(out.starts.back());
  out.columns.resize(entries);
  out.values.resize(entries);
  over_pixels([&](std::size_t hit, const std::array<Stokes, 3>& left, Rows& rows) {
    const auto columns = rows.columns_of(hit);
    const auto& sums = rows.sum(hit);
    for (std::size_t r = 0; r < 3; ++r) {
      auto at = static_cast<std::size_t>(out.starts[row_of(hit, r)]);
      for (std::size_t k = 0; k < 3; ++k) {
        for (const std::uint32_t other : columns) {
          const std::size_t j = 3 * std::size_t{other} + k;
          out.columns[at] = static_cast<std::int32_t>(row_of(other, k));
          out.values[at++] =
              left[r].i * sums[0][j] + left[r].q * sums[1][j] + left[r].u * sums[2][j];
        }
      }
    }
  });
  return out;
}

void write_sparse_matrix(const std::string& path, Overwrite overwrite, const SparseMatrix& matrix,
                         FilesTogether* together, std::size_t most_narrow) {
  // both kinds of numbers are 4 bytes where that suffices, as scipy.sparse chooses them
  const bool wide = matrix.values.size() > most_narrow;
  std::vector<std::int32_t> starts;
  std::vector<std::int64_t> columns;
  if (wide) {
    columns.assign(matrix.columns.begin(), matrix.columns.end());
  } else {
    for (const std::int64_t start : matrix.starts) {
      starts.push_back(static_cast<std::int32_t>(start));
    }
  }
  const std::array<std::int64_t, 2> shape{static_cast<std::int64_t>(matrix.size),
                                          static_cast<std::int64_t>(matrix.size)};
  const std::uint64_t n = matrix.values.size(), rows = matrix.starts.size();
  using Longs = std::span<const std::int64_t>;
  using Ints = std::span<const std::int32_t>;
  const NpzArray arrays[] = {
      {"indices",
       wide ? "<i8" : "<i4",
       {n},
       wide ? raw_bytes(Longs(columns)) : raw_bytes(Ints(matrix.columns))},
      {"indptr",
       wide ? "<i8" : "<i4",
       {rows},
       wide ? raw_bytes(Longs(matrix.starts)) : raw_bytes(Ints(starts))},
      {"format", "|S3", {}, raw_bytes(std::span<const char>("csr", 3))},
      {"shape", "<i8", {2}, raw_bytes(Longs(shape))},
      {"data", "<f8", {n}, raw_bytes(std::span<const double>(matrix.values))}};
  write_npz(path, overwrite, arrays, together);
}

void write_observation_matrix(std::vector<StreamMatrix> streams, const MapJob& job,
                              Executor& executor, const Observer& observer, RankCompany* company,
                              FilesTogether* together) {
  if (job.obs_matrix.empty()) return;
  if (company != nullptr) gather_streams(streams, *company);
  if (company != nullptr && !company->first()) return;
  const SparseMatrix matrix = observation_matrix(streams, job, executor, observer);
  std::vector<StreamMatrix>().swap(streams);
  observer.info(print("observation matrix: %zu entries of %zu x %zu", matrix.values.size(),
                      matrix.size, matrix.size));
  std::optional<FolderOf> folder;
  if (together == nullptr) folder.emplace(job.obs_matrix);
  write_sparse_matrix(job.obs_matrix, job.overwrite, matrix, together);
}

}  // namespace skyloom
