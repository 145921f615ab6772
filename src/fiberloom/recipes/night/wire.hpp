// SPDX-License-Identifier: BSD-3-Clause
// Structs as bytes between the ranks of one job: same program, same machine type, nothing kept.
// A message that does not read back is an Error (kInternal), never a crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fiberloom/recipes/night/dispatcher.hpp"
#include "fiberloom/recipes/night/frame_task.hpp"
#include "fiberloom/recipes/night/part_collector.hpp"
#include "loom/base/array.hpp"

namespace fiberloom::night {

using Bytes = std::vector<std::byte>;

/// Appends values; the counterpart of WireReader, called with the same list of fields.
class WireWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  void put(const std::string& text) {
    put(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values.size());
    raw(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void put(const Array2D<T>& a) {
    put(a.rows());
    put(a.cols());
    raw(a.data(), a.size() * sizeof(T));
  }
  template <class T>
  void put(const Array3D<T>& a) {
    put(a.planes());
    put(a.rows());
    put(a.cols());
    raw(a.data(), a.size() * sizeof(T));
  }
  void raw(const void* data, std::size_t n) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + n);
    if (n > 0) std::memcpy(bytes_.data() + at, data, n);
  }

  Bytes bytes_;
};

class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  /// Throws when something is left over.
  void finish() const;

 private:
  template <class T>
  void get(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(&value, sizeof value);
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    values.resize(count(sizeof(T)));
    raw(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void get(Array2D<T>& a) {
    std::size_t rows = 0, cols = 0;
    (*this)(rows, cols);
    check_size(rows, cols, sizeof(T));
    a = Array2D<T>(rows, cols);
    raw(a.data(), a.size() * sizeof(T));
  }
  template <class T>
  void get(Array3D<T>& a) {
    std::size_t planes = 0, rows = 0, cols = 0;
    (*this)(planes, rows, cols);
    check_size(planes, rows, sizeof(T));
    check_size(planes * rows, cols, sizeof(T));
    a = Array3D<T>(planes, rows, cols);
    raw(a.data(), a.size() * sizeof(T));
  }
  void raw(void* to, std::size_t n);
  [[nodiscard]] std::size_t count(std::size_t element_size);
  void check_size(std::size_t a, std::size_t b, std::size_t element_size) const;

  std::span<const std::byte> rest_;
};

/// A frame for the queue: its number in the run's list, and the priority of its exposure.
struct QueuedTask {
  std::size_t number = 0;
  long priority = 0;
  FrameTask task;
};

/// What computes on a rank: the CPU, the CPU in place of a card, or a card's compute capability (90
/// for 9.0). The results of two kinds differ by rounding.
enum class RankDevice : int { kCpu = 0, kEmulated = 1 };

/// What a rank says of itself when it comes.
struct RankHello {
  std::string host;
  double cores = 0;             ///< threads that it will run; 0: its share of its processors
  int isa = 0;                  ///< simd/isa.hpp
  std::vector<int> processors;  ///< affinity mask
  RankDevice device = RankDevice::kCpu;
};

/// What a rank says when it goes.
struct RankReport {
  int rank = 0;
  std::string host;
  double cores = 1;
  double launch_s = 0;      ///< from the start of the process until MPI was to be opened
  double open_s = 0;        ///< MPI_Init and what belongs to it
  double first_unit_s = 0;  ///< from the start of the process until its first unit was there
  double wait_s = 0;        ///< the pipeline waited for units, the wait for the end left out
  double mpi_s = 0;         ///< inside MPI calls
  double loop_cpu_s = 0;    ///< processor time of the thread that speaks MPI, MPI's own included
  double cpu_s = 0;         ///< of the whole process
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t bytes_sent = 0;
  int frames = 0, parts = 0;
  std::string trace;  ///< events of its timeline
};

[[nodiscard]] Bytes to_bytes(const FrameOutcome& outcome);
[[nodiscard]] Bytes to_bytes(const std::vector<QueuedTask>& tasks);
[[nodiscard]] Bytes to_bytes(const Assignment& assignment, const FrameTask& task);
[[nodiscard]] Bytes to_bytes(const PartialFrame& part);
[[nodiscard]] Bytes to_bytes(const RankHello& hello);
[[nodiscard]] Bytes to_bytes(const RankReport& report);
void from_bytes(std::span<const std::byte> bytes, FrameOutcome& outcome);
void from_bytes(std::span<const std::byte> bytes, std::vector<QueuedTask>& tasks);
void from_bytes(std::span<const std::byte> bytes, Assignment& assignment, FrameTask& task);
void from_bytes(std::span<const std::byte> bytes, PartialFrame& part);
void from_bytes(std::span<const std::byte> bytes, RankHello& hello);
void from_bytes(std::span<const std::byte> bytes, RankReport& report);

}  // namespace fiberloom::night
