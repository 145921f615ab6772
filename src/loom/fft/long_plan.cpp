// SPDX-License-Identifier: BSD-3-Clause
#include "loom/fft/long_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>

#include "loom/base/error.hpp"

namespace loom::fft {
namespace {

constexpr std::size_t kLane = kLanes, kPair = 2 * kLanes;

std::size_t row_count(std::size_t n) {
  if (!LongPlan::is_length(n)) {
    throw Error(Status::kInternal, "a long transform of length " + std::to_string(n) +
                                       ": expected a power of two from 64 on");
  }
  return std::size_t{1} << (std::bit_width(n) / 2);
}

void push_turn(std::vector<double>& table, double sign, std::size_t part, std::size_t whole) {
  const double angle =
      sign * 2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  table.push_back(std::cos(angle));
  table.push_back(std::sin(angle));
}

}  // namespace

bool LongPlan::is_length(std::size_t n) noexcept { return n >= 64 && std::has_single_bit(n); }

LongPlan::LongPlan(std::size_t n, Sign sign, Isa isa)
    : rows_(row_count(n)),
      columns_(n / rows_),
      isa_(isa),
      down_(rows_, sign, isa),
      across_(columns_, sign, isa) {
  const double way = static_cast<int>(sign);
  coarse_.reserve(n / kLane * 2);
  for (std::size_t k = 0; k < n / kLane; ++k) push_turn(coarse_, way, k, n / kLane);
  fine_.reserve(rows_ * kPair);
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t lane = 0; lane < kLane; ++lane) push_turn(fine_, way, row * lane, n);
  }
  // real parts of a row's lanes, then the imaginary ones, as elements have them
  for (std::size_t row = 0; row < rows_; ++row) {
    double pairs[kPair];
    std::memcpy(pairs, fine_.data() + row * kPair, sizeof pairs);
    for (std::size_t lane = 0; lane < kLane; ++lane) {
      fine_[row * kPair + lane] = pairs[2 * lane];
      fine_[row * kPair + kLane + lane] = pairs[2 * lane + 1];
    }
  }
}

std::size_t LongPlan::work_size() const noexcept {
  return columns_ * kPair + std::max(down_.work_size(), across_.work_size());
}

void LongPlan::run(double* data, double* work) const {
  double* const row = work;  // eight rows, one a lane
  double* const short_work = work + columns_ * kPair;
  const std::size_t blocks = columns_ / kLane, mask = length() / kLane - 1;
  const Kernels& table = kernels(isa_);
  for (std::size_t c = 0; c < blocks; ++c) {
    double* const column = down_.run(data + c * kPair, blocks, rows_, short_work);
    table.turn_rows(column, rows_, fine_.data(), coarse_.data(), c, mask);
    for (std::size_t r = 0; r < rows_; ++r) {
      std::memcpy(data + (r * blocks + c) * kPair, column + r * kPair, kPair * sizeof(double));
    }
  }
  for (std::size_t b = 0; b < rows_ / kLane; ++b) {
    double* const eight = data + b * columns_ * kPair;  // their numbers, and then their results
    for (std::size_t c = 0; c < blocks; ++c) {
      double block[kLane * kPair];
      for (std::size_t r = 0; r < kLane; ++r) {
        std::memcpy(block + r * kPair, eight + (r * blocks + c) * kPair, kPair * sizeof(double));
      }
      table.transpose(block, row + c * kLane * kPair);
    }
    const double* const result = across_.run(row, 1, columns_, short_work);
    std::memcpy(eight, result, columns_ * kPair * sizeof(double));
  }
}

void LongPlan::take(const double* data, Part part, std::size_t first, std::span<double> out) const {
  // X[j rows + r] is lane r % 8 of element j of the eight rows r / 8. Some j at a time: whole
  // stretches of memory are read for each eight rows.
  constexpr std::size_t kAtOnce = 8;
  const std::size_t end = first + out.size();
  const std::size_t offset = part == Part::kReal ? 0 : kLane;
  for (std::size_t j0 = first / rows_; j0 * rows_ < end; j0 += kAtOnce) {
    const std::size_t j1 = std::min(j0 + kAtOnce, columns_);
    for (std::size_t b = 0; b < rows_ / kLane; ++b) {
      for (std::size_t j = j0; j < j1; ++j) {
        const double* const from = data + (b * columns_ + j) * kPair + offset;
        const std::size_t at = j * rows_ + b * kLane;
        const std::size_t low = std::max(at, first), high = std::min(at + kLane, end);
        for (std::size_t k = low; k < high; ++k) out[k - first] = from[k - at];
      }
    }
  }
}

}  // namespace loom::fft
