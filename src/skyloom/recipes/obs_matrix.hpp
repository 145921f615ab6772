// SPDX-License-Identifier: BSD-3-Clause
// The observation matrix: what filtering and binning make of a map, as a sparse matrix. Detector by
// detector while the samples are read, then row by row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "loom/base/executor.hpp"
#include "loom/base/log.hpp"
#include "skyloom/filters/joint_matrix.hpp"
#include "skyloom/mapping/symmetric3.hpp"
#include "skyloom/recipes/map_job.hpp"
#include "skyloom/recipes/rank_company.hpp"
#include "skyloom/recipes/sample_pointing.hpp"
#include "skyloom/tod/observation.hpp"

namespace skyloom {

/// What a detector has in an observation: P^T (1 - F (F^T F)^-1 F^T) P times the weight.
struct StreamMatrix {
  double weight = 0;               ///< 1/K^2 of a sample
  std::vector<Pixel> pixels;       ///< that it hit, growing
  std::vector<Symmetric3> counts;  ///< P^T P of each
  std::vector<PixelFactor> factors;
};

/// Of a detector (by its number) of an observation of `source`, whose samples were read, filtered
/// and flagged. From any thread.
[[nodiscard]] StreamMatrix stream_matrix(const TodSource& source, std::size_t number,
                                         const Boresight& boresight, std::size_t detector,
                                         const Signal& signal, const SkyGrid& grid,
                                         SamplePointing& pointing);

/// Compressed rows, as scipy.sparse has them. Rows and columns: I of every pixel of the sky in the
/// files' order, then Q, then U.
struct SparseMatrix {
  std::size_t size = 0;
  std::vector<std::int64_t> starts;  ///< of rows, and the end
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

/// C^-1 P^T N^-1 Z P, Z the filter; weighted: without C^-1. Rows of cut pixels are empty then, not
/// when weighted. Every sum is in the order of the streams: the same bytes for any number of
/// threads. Throws kMemory where there are more entries than `most`.
[[nodiscard]] SparseMatrix observation_matrix(const std::vector<StreamMatrix>& streams,
                                              const MapJob& job, Executor& executor,
                                              const Observer& observer);

/// The most entries of a matrix whose indices are numbers of 32 bits, as scipy.sparse chooses them.
inline constexpr std::size_t kMostNarrowEntries = 0x7fffffff;

/// As scipy.sparse.save_npz has it. With more entries than `most_narrow` all indices are numbers of
/// 64 bits; less than kMostNarrowEntries makes small matrices such as large ones are. Throws as
/// write_npz().
void write_sparse_matrix(const std::string& path, Overwrite overwrite, const SparseMatrix& matrix,
                         FilesTogether* together = nullptr,
                         std::size_t most_narrow = kMostNarrowEntries);

/// Those of all ranks, in their order, to the first one; the others have none then.
void gather_streams(std::vector<StreamMatrix>& streams, RankCompany& company);

/// Writes the matrix where the job asks for one: all ranks call it, the first one writes. Takes the
/// streams. Alone (`together` null) it makes the file's folder.
void write_observation_matrix(std::vector<StreamMatrix> streams, const MapJob& job,
                              Executor& executor, const Observer& observer, RankCompany* company,
                              FilesTogether* together);

/// Bytes of records, and of the matrix that is made of them, at most: by where all detectors look.
struct MatrixPlan {
  double streams = 0, matrix = 0;
  double work = 0;  ///< of a thread, beside
};
[[nodiscard]] MatrixPlan plan_matrix(const TodSource& source, const MapJob& job);
/// Where --memory bounds nothing: throws kMemory where the machine has less left.
void check_matrix_fits(const MatrixPlan& plan, std::size_t threads);

}  // namespace skyloom
