// SPDX-License-Identifier: BSD-3-Clause
#include "skyloom/recipes/split.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "loom/base/error.hpp"
#include "loom/base/print.hpp"

namespace skyloom {
namespace {

constexpr const char* kTime = "time=";

}  // namespace

SplitOptions split_of(const std::string& text) {
  if (text == "none") return {};
  if (text == "detectors") return {.by = SplitBy::kDetectors};
  if (text == "observations") return {.by = SplitBy::kObservations};
  const std::string start = kTime;
  if (text.starts_with(start)) {
    std::size_t parts = 0;
    const char* const last = text.data() + text.size();
    const auto [end, fault] = std::from_chars(text.data() + start.size(), last, parts);
    if (fault == std::errc() && end == last && parts >= 2 && parts <= kMostParts) {
      return {.by = SplitBy::kTime, .parts = parts};
    }
  }
  throw Error(Status::kUsage,
              print("none, detectors, observations or time=N, N from 2 to %zu", kMostParts));
}

std::string split_text(const SplitOptions& options) {
  switch (options.by) {
    case SplitBy::kDetectors:
      return "detectors";
    case SplitBy::kObservations:
      return "observations";
    case SplitBy::kTime:
      return kTime + std::to_string(options.parts);
    default:
      return "none";
  }
}

SplitPlan::SplitPlan(const TodSource& source, const SplitOptions& options)
    : by_(options.by), parts_(parts_of(options)) {
  if (parts_ == 0) return;
  std::map<std::string, std::size_t> numbers;  // of detectors, as they come
  for (std::size_t i = 0; i < source.observations(); ++i) {
    const Observation& observation = source.observation(i);
    if (by_ == SplitBy::kDetectors) {
      std::vector<std::size_t>& own = numbers_.emplace_back();
      for (const Detector& detector : observation.plane.detectors) {
        own.push_back(numbers.emplace(detector.name, numbers.size()).first->second);
      }
    }
    begin_s_.push_back(all_s_);
    rate_hz_.push_back(observation.plane.rate_hz);
    all_s_ += static_cast<double>(observation.samples) / observation.plane.rate_hz;
  }
  if (by_ == SplitBy::kDetectors && numbers.size() < 2) {
    throw Error(Status::kUsage,
                print("--split detectors: expected 2 or more, not %zu", numbers.size()));
  }
  if (by_ == SplitBy::kObservations && source.observations() < 2) {
    throw Error(Status::kUsage,
                print("--split observations: expected 2 or more, not %zu", source.observations()));
  }
}

std::size_t SplitPlan::part(std::size_t observation, std::size_t detector,
                            std::size_t sample) const noexcept {
  if (by_ == SplitBy::kDetectors) return numbers_[observation][detector] % 2;
  if (by_ == SplitBy::kObservations) return observation % 2;
  const double at = begin_s_[observation] + static_cast<double>(sample) / rate_hz_[observation];
  const auto part = static_cast<std::size_t>(static_cast<double>(parts_) * at / all_s_);
  return std::min(part, parts_ - 1);
}

std::size_t Parts::of(std::size_t number, std::size_t detector, std::size_t sample) const {
  if (shared == nullptr) return plan.part(number, detector, sample);
  const Share& at = shared->share(number);
  return plan.part(at.observation, at.first + detector, sample);
}

Stretch Parts::samples(std::size_t part, std::size_t number, std::size_t detector,
                       std::size_t samples, std::size_t step) const {
  const std::size_t length = step == 0 ? samples : step;
  Stretch out;
  for (std::size_t first = 0; first < samples; first += length) {
    if (of(number, detector, first) != part) continue;
    if (out.end == 0) out.first = first;
    out.end = std::min(first + length, samples);
  }
  return out;
}

}  // namespace skyloom
