// SPDX-License-Identifier: BSD-3-Clause
// Time-ordered data, wherever they come from: observations, their detectors, where the boresight
// looks, and signals detector by detector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "skyloom/pointing/focal_plane.hpp"
#include "skyloom/pointing/satellite.hpp"

namespace skyloom {

struct Observation {
  std::string name, session, telescope = "satellite";
  std::uint32_t uid = 0, session_uid = 0, telescope_uid = 0;
  FocalPlane plane;
  std::size_t samples = 0;
  double start_s = 0;      ///< Unix time of the first sample
  std::int64_t first = 0;  ///< its number in the mission
};

/// A detector's samples, to be filled.
struct Signal {
  std::span<double> values;
  std::span<std::uint8_t> flags;  ///< not 0: left out
};

class TodSource {
 public:
  virtual ~TodSource() = default;
  [[nodiscard]] virtual std::size_t observations() const = 0;
  [[nodiscard]] virtual const Observation& observation(std::size_t number) const = 0;
  [[nodiscard]] virtual Boresight boresight(std::size_t number) const = 0;
  /// One or two detectors from `first` on, all samples. Safe from any thread. What is read does not
  /// depend on the order; pairs begin with an even number.
  virtual void read(std::size_t number, const Boresight& boresight, std::size_t first,
                    std::span<const Signal> signals) const = 0;
  /// Nothing is read for a while: what reading works with is given back.
  virtual void rest() const {}
};

}  // namespace skyloom
