// SPDX-License-Identifier: BSD-3-Clause
// What a reconstruction is asked for, and what it says afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "loom/files/atomic_file.hpp"
#include "loom/runtime/usage.hpp"
#include "tomoloom/exchange/scan_reader.hpp"
#include "tomoloom/prepare/normalize.hpp"
#include "tomoloom/prepare/stripe.hpp"
#include "tomoloom/reconstruct/filter.hpp"

namespace tomoloom {

enum class Method { kExact, kGridrec };
/// What the numbers of the scan are.
enum class InputKind { kCounts, kTransmissions, kIntegrals };

struct ReconJob {
  std::string scan, group = "exchange", output;
  Method method = Method::kExact;
  FilterChoice filter = {};
  std::optional<double> centre = {};  ///< column of the axis; none: the middle of the row
  bool find_centre = false;           ///< look for it instead
  std::size_t first_row = 0;
  std::optional<std::size_t> end_row = {};  ///< none: all
  InputKind input = InputKind::kCounts;
  Averaging averaging = Averaging::kMean;
  double outlier = 0;  ///< of transmissions above their surroundings; 0: zingers stay
  std::size_t outlier_size = 3;
  StripeChoice stripe = {};
  double mask = 1;           ///< of the circle within a slice; 0: none
  std::uint64_t memory = 0;  ///< bytes; 0: what the machine grants
  Overwrite overwrite = Overwrite::kYes;
  bool resume = false;  ///< keep what is done of an interrupted run, and go on from there
};

struct ReconSummary {
  ScanLayout layout;
  std::size_t first_row = 0, slices = 0, grid = 0;
  std::size_t blind = 0;  ///< pixels of the rows whose flat is not above their dark
  double centre = 0;
  StageTime read, compute, write;
  std::uint64_t memory = 0;  ///< bound that was held against the grant
  bool overlap = true;       ///< reading, computing and writing went on at the same time
  bool spooled = false;      ///< rows went through a temporary file
  std::size_t resumed = 0;   ///< slices that an earlier run had left
};

}  // namespace tomoloom
