// SPDX-License-Identifier: BSD-3-Clause
// What a stage of work on a device took: reports carry it to those who know no device.
#pragma once

#include <string>

namespace loom {

struct DeviceStageTime {
  std::string name;
  double seconds = 0;  ///< by the device's own clock
  long count = 0, launches = 0;
  /// When it began for the first time and ended for the last, after the first of all stages began.
  double begin = 0, end = 0;
};

}  // namespace loom
